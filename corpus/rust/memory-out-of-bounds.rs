// expect: memory 5
pub fn main() {
    let v = vec![1u32, 2];
    let p = v.as_ptr();
    assert_eq!(unsafe { p.add(2).read_volatile() }, 3);
}
