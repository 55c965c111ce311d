// expect: panic 10
use std::panic::catch_unwind;
use std::sync::Once;
static START: Once = Once::new();
pub fn main() {
    let first = catch_unwind(|| START.call_once(|| panic!("not this time")));
    assert!(first.is_err());
    assert!(!START.is_completed());
    // It is poisoned, and nothing is called.
    START.call_once(|| {});
}
