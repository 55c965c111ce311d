// expect: memory 8
fn dangling() -> *const u32 {
    let x = 5u32;
    std::hint::black_box(&x) as *const u32
}
pub fn main() {
    let p = dangling();
    assert_eq!(unsafe { *p }, 5);
}
