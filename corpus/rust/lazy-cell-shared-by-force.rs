// expect: race 9
// A cell for one thread, which two threads use.
use std::cell::LazyCell;
use std::thread;
struct Shared(LazyCell<u32>);
unsafe impl Sync for Shared {}
impl Shared {
    fn get(&self) -> u32 {
        *self.0
    }
}
static VALUE: Shared = Shared(LazyCell::new(|| 7));
pub fn main() {
    let t = thread::spawn(|| VALUE.get());
    VALUE.get();
    t.join().unwrap();
}
