// expect: safe
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static CALLS: AtomicU32 = AtomicU32::new(0);
static VALUE: LazyLock<Vec<u32>> = LazyLock::new(|| vec![CALLS.fetch_add(1, Relaxed)]);
pub fn main() {
    let t = thread::spawn(|| VALUE[0]);
    assert_eq!(VALUE[0], 0);
    assert_eq!(t.join().unwrap(), 0);
    assert_eq!(CALLS.load(Relaxed), 1);
}
