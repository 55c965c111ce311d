// expect: safe
pub fn main() {
    let mut v = vec![5, 3, 9, 1, 7];
    v.sort();
    assert_eq!(v, [1, 3, 5, 7, 9]);
    v.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(v, [9, 7, 5, 3, 1]);
}
