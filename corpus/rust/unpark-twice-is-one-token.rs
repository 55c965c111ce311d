// expect: deadlock 7
use std::thread;
pub fn main() {
    let me = thread::current();
    me.unpark();
    me.unpark();
    (thread::park(), thread::park());
}
