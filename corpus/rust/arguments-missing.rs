// expect: panic 3
pub fn main() {
    let first = std::env::args().nth(1).expect("an argument");
    assert!(!first.is_empty());
}
