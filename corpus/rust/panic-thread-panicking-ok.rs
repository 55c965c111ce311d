// expect: safe
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static SEEN: AtomicBool = AtomicBool::new(false);
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        SEEN.store(thread::panicking(), Relaxed);
    }
}
pub fn main() {
    let t = thread::spawn(|| {
        let _guard = Guard;
        if true {
            panic!("on the way");
        }
    });
    assert!(t.join().is_err());
    assert!(SEEN.load(Relaxed));
}
