// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| {
        if true {
            panic!("heard");
        }
    });
    assert!(t.join().is_err());
}
