// expect: safe
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering::*};
static DROPS: AtomicU32 = AtomicU32::new(0);
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Relaxed);
    }
}
pub fn main() {
    let result = panic::catch_unwind(|| {
        let _a = Guard;
        let _b = vec![Guard, Guard];
        if true {
            panic!("three guards");
        }
    });
    assert!(result.is_err());
    assert_eq!(DROPS.load(Relaxed), 3);
}
