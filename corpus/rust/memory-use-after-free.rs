// expect: memory 5
pub fn main() {
    let p = Box::into_raw(Box::new(1));
    drop(unsafe { Box::from_raw(p) });
    assert_eq!(unsafe { *p }, 1);
}
