// expect: deadlock 6
use std::sync::OnceLock;
static VALUE: OnceLock<u32> = OnceLock::new();
pub fn main() {
    // Documented: whoever initialises it again from the inside waits for ever, or panics.
    VALUE.get_or_init(|| *VALUE.get_or_init(|| 1));
}
