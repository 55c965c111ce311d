// expect: panic 6
use std::panic;
pub fn main() {
    let result = panic::catch_unwind(|| panic!("first"));
    if let Err(payload) = result {
        panic::resume_unwind(payload);
    }
}
