// expect: race 11
// expect: race 12
use std::cell::Cell;
use std::thread;
struct Racy(Cell<u32>);
unsafe impl Sync for Racy {}
pub fn main() {
    let c = Racy(Cell::new(0));
    let c = &c;
    thread::scope(|s| {
        s.spawn(move || c.0.set(1));
        c.0.set(2);
    });
}
