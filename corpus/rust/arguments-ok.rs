// expect: safe
// The program knows its name and has no arguments.
pub fn main() {
    let mut arguments = std::env::args();
    assert!(arguments.next().is_some_and(|name| !name.is_empty()));
    assert_eq!(arguments.next(), None);
    assert!(std::env::var("PORF_NO_SUCH_VARIABLE").is_err());
    assert!(std::env::vars().all(|(name, _)| name != "PORF_NO_SUCH_VARIABLE"));
}
