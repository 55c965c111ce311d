// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| {
        if true {
            std::panic::panic_any(7u32);
        }
    });
    let payload = t.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<u32>(), Some(&7));
}
