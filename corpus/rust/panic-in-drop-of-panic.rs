// The process aborts, in the cleanup of the closure and because of the second panic.
// expect: panic 7
// expect: panic 11
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        panic!("second");
    }
}
pub fn main() {
    let result = std::panic::catch_unwind(|| {
        let _guard = Guard;
        panic!("first");
    });
    assert!(result.is_err());
}
