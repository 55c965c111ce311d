// expect: panic 9
use std::panic::catch_unwind;
use std::sync::LazyLock;
static VALUE: LazyLock<u32> = LazyLock::new(|| panic!("no value"));
pub fn main() {
    let first = catch_unwind(|| *VALUE);
    assert!(first.is_err());
    // The function is not called again.
    assert_eq!(*VALUE, 1);
}
