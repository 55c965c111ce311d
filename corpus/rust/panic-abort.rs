// expect: panic 4
use std::process;
pub fn main() {
    process::abort();
}
