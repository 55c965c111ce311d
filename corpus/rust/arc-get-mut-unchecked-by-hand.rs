// expect: race 9
// expect: race 12
use std::sync::Arc;
use std::thread;
pub fn main() {
    let mine = Arc::new(1);
    let other = Arc::clone(&mine);
    let t = thread::spawn(move || {
        let value: u32 = *other;
        value
    });
    unsafe { *Arc::as_ptr(&mine).cast_mut() += 1 };
    t.join().unwrap();
}
