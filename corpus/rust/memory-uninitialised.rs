// expect: memory 6
use std::alloc::{Layout, alloc, dealloc};
pub fn main() {
    let layout = Layout::new::<u32>();
    let p = unsafe { alloc(layout) } as *mut u32;
    if unsafe { *p } == 0 {
        std::hint::spin_loop();
    }
    unsafe { dealloc(p.cast(), layout) };
}
