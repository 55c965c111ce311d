// expect: memory 5
pub fn main() {
    let p: *const u32 = std::ptr::null();
    let p = std::hint::black_box(p);
    assert_eq!(unsafe { p.read_volatile() }, 0);
}
