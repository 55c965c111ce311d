// expect: panic 6
use std::cell::RefCell;
pub fn main() {
    let c = RefCell::new(1);
    let _first = c.borrow_mut();
    let _second = c.borrow_mut();
}
