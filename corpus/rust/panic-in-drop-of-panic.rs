// expect: panic 5
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        panic!("second");
    }
}
pub fn main() {
    let _guard = Guard;
    std::hint::black_box(());
    let result = std::panic::catch_unwind(|| {
        let _guard = Guard;
        panic!("first");
    });
    assert!(result.is_err());
}
