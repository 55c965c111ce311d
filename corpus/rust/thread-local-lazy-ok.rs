// expect: safe
use std::cell::RefCell;
use std::thread;
thread_local! {
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![1]);
}
pub fn main() {
    let t = thread::spawn(|| LIST.with_borrow_mut(|list| list.push(2)));
    t.join().unwrap();
    LIST.with_borrow(|list| assert_eq!(list.len(), 1));
}
