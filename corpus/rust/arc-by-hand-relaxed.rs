// expect: race 18
// expect: race 29
// expect: memory 18
// expect: memory 29
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
struct Inner {
    count: AtomicUsize,
    value: u32,
}
struct Shared(*mut Inner);
unsafe impl Send for Shared {}
impl Shared {
    fn new(value: u32) -> Shared {
        Shared(Box::into_raw(Box::new(Inner { count: AtomicUsize::new(1), value })))
    }
    fn get(&self) -> u32 {
        unsafe { (*self.0).value }
    }
    fn share(&self) -> Shared {
        unsafe { (*self.0).count.fetch_add(1, Relaxed) };
        Shared(self.0)
    }
}
impl Drop for Shared {
    fn drop(&mut self) {
        let inner = unsafe { &*self.0 };
        if inner.count.fetch_sub(1, Relaxed) == 1 {
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}
pub fn main() {
    let a = Shared::new(7);
    let b = a.share();
    let t = thread::spawn(move || b.get());
    assert_eq!(a.get(), 7);
    drop(a);
    assert_eq!(t.join().unwrap(), 7);
}
