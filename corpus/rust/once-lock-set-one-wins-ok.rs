// expect: safe
use std::sync::OnceLock;
use std::thread;
static CELL: OnceLock<u32> = OnceLock::new();
pub fn main() {
    let t = thread::spawn(|| CELL.set(1).is_ok());
    let here = CELL.set(2).is_ok();
    assert!(here != t.join().unwrap());
}
