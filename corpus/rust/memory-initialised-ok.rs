// expect: safe
use std::alloc::{Layout, alloc_zeroed, dealloc};
pub fn main() {
    let layout = Layout::new::<u32>();
    let p = unsafe { alloc_zeroed(layout) } as *mut u32;
    assert_eq!(unsafe { *p }, 0);
    unsafe { dealloc(p.cast(), layout) };
}
