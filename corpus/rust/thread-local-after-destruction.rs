// expect: panic 13
// A destructor uses what was destroyed before it: the variable that was used last. A panic in a destructor of a
// thread-local variable aborts.
use std::cell::RefCell;
use std::thread;
thread_local! {
    static VALUES: RefCell<Vec<u32>> = RefCell::new(Vec::new());
    static LAST: RefCell<Option<Last>> = RefCell::new(None);
}
struct Last;
impl Drop for Last {
    fn drop(&mut self) {
        VALUES.with(|values| values.borrow_mut().push(1));
    }
}
pub fn main() {
    let t = thread::spawn(|| {
        LAST.with(|last| *last.borrow_mut() = Some(Last));
        VALUES.with(|values| values.borrow_mut().push(0));
    });
    let _ = t.join();
}
