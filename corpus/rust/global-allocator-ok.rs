// expect: safe
// alone
// There is one allocator for all of a program.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
struct Counting;
static BYTES: AtomicUsize = AtomicUsize::new(0);
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;
pub fn main() {
    let before = BYTES.load(Relaxed);
    let text = vec![7_u8; 100];
    assert_eq!(BYTES.load(Relaxed), before + 100);
    let t = thread::spawn(move || drop(text));
    t.join().unwrap();
    let large: Box<[u64; 8]> = Box::default();
    assert!(BYTES.load(Relaxed) >= 64);
    drop(large);
}
