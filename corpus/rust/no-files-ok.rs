// expect: safe
// What is not there cannot be opened.
use std::path::Path;

pub fn main() {
    let path = Path::new("/no such file");
    assert!(std::fs::read(path).is_err());
    assert!(!path.exists() && std::fs::metadata(path).is_err());
    assert!(std::fs::read_link(path).is_err());
    assert!(std::process::id() > 0);
}
