// expect: panic 4
pub fn main() {
    assert!(std::env::var_os("PORF_NO_SUCH_VARIABLE").is_none());
    std::env::var("PORF_NO_SUCH_VARIABLE").unwrap();
}
