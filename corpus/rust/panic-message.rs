// expect: panic 4
pub fn main() {
    let left = 1 + 1;
    assert_eq!(left, 3, "arithmetic");
}
