// expect: safe
use std::panic;
pub fn main() {
    let result = panic::catch_unwind(|| {
        if true {
            panic!("caught");
        }
    });
    let payload = result.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"caught"));
}
