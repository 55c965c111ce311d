// expect: race 12
// expect: race 20
// The end of a scope does not wait for the destructors of the thread's variables.
use std::cell::{Cell, UnsafeCell};
use std::thread;
struct Plain(UnsafeCell<u32>);
unsafe impl Sync for Plain {}
static PLAIN: Plain = Plain(UnsafeCell::new(0));
struct Writes(Cell<u32>);
impl Drop for Writes {
    fn drop(&mut self) {
        unsafe { *PLAIN.0.get() = self.0.get() };
    }
}
thread_local! {
    static WRITES: Writes = const { Writes(Cell::new(0)) };
}
pub fn main() {
    thread::scope(|scope| { scope.spawn(|| WRITES.with(|writes| writes.0.set(5))); });
    unsafe { *PLAIN.0.get() += 1 };
}
