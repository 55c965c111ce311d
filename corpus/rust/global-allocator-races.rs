// expect: race 20
// expect: race 22
// alone
// There is one allocator for all of a program.
// It hands out memory of an array, and counts without an atomic how much is taken.
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::thread;
const SIZE: usize = 1 << 16;
#[repr(align(64))]
struct Bump {
    memory: UnsafeCell<[u8; SIZE]>,
    taken: UnsafeCell<usize>,
}
unsafe impl Sync for Bump {}
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe {
            let align = layout.align();
            let begin = (*self.taken.get() + align - 1) & !(align - 1);
            assert!(begin + layout.size() <= SIZE);
            *self.taken.get() = begin + layout.size();
            self.memory.get().cast::<u8>().add(begin)
        }
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
#[global_allocator]
static ALLOCATOR: Bump = Bump { memory: UnsafeCell::new([0; SIZE]), taken: UnsafeCell::new(0) };
pub fn main() {
    let t = thread::spawn(|| drop(Box::new(1)));
    drop(Box::new(2));
    t.join().unwrap();
}
