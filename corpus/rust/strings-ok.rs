// expect: safe
pub fn main() {
    let text = format!("{}-{:?}-{:>4}-{:x}", 1, Some("two"), 3.5, 255);
    assert_eq!(text, "1-Some(\"two\")- 3.5-ff");
    assert_eq!("a,b,c".split(',').rev().collect::<String>(), "cba");
}
