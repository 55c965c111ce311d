// expect: safe
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicU32, Ordering::*};
static PANICS: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    set_hook(Box::new(|information| {
        assert!(information.location().is_some());
        PANICS.fetch_add(1, Relaxed);
    }));
    let message = catch_unwind(|| panic!("one {}", PANICS.load(Relaxed) + 1)).unwrap_err();
    assert_eq!(message.downcast_ref::<String>().map(String::as_str), Some("one 1"));
    assert_eq!(PANICS.load(Relaxed), 1);
    drop(take_hook());
}
