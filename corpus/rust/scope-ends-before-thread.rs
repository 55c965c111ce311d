// expect: race 18
// expect: race 19
// expect: race 22
// std: real
// A thread that is not of the scope goes on when the scope is over.
use std::cell::UnsafeCell;
use std::thread;
struct Plain(UnsafeCell<u32>);
unsafe impl Sync for Plain {}
static PLAIN: Plain = Plain(UnsafeCell::new(0));
pub fn main() {
    let mut other = None;
    thread::scope(|scope| {
        scope.spawn(|| {});
        other = Some(thread::spawn(|| unsafe {
            // Nobody has joined it.
            let place = PLAIN.0.get();
            *place += 1;
        }));
    });
    // The scope did not wait for that thread.
    unsafe { *PLAIN.0.get() += 1 };
    other.unwrap().join().unwrap();
}
