// expect: safe
pub fn main() {
    let v = vec![1u32, 2];
    assert_eq!(unsafe { *v.as_ptr().add(1) }, 2);
}
