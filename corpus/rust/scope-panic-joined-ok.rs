// expect: safe
use std::thread;
pub fn main() {
    thread::scope(|s| {
        let t = s.spawn(|| {
            if true {
                panic!("in a scope");
            }
        });
        assert!(t.join().is_err());
    });
}
