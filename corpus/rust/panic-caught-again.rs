// expect: panic 9
use std::panic;
pub fn main() {
    let result = panic::catch_unwind(|| {
        if true {
            panic!("caught");
        }
    });
    assert!(result.is_ok());
}
