// expect: safe
use std::cell::Cell;
use std::thread;
thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}
pub fn main() {
    COUNT.set(5);
    let t = thread::spawn(|| {
        COUNT.set(COUNT.get() + 1);
        COUNT.get()
    });
    assert_eq!(t.join().unwrap(), 1);
    assert_eq!(COUNT.get(), 5);
}
