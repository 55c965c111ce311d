// expect: safe
use std::thread;
pub fn main() {
    let t = thread::Builder::new().name("worker".to_string()).spawn(|| {
        assert_eq!(thread::current().name(), Some("worker"));
    });
    t.unwrap().join().unwrap();
}
