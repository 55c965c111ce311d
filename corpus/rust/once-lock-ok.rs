// expect: safe
use std::sync::OnceLock;
use std::thread;
static CELL: OnceLock<Vec<u32>> = OnceLock::new();
pub fn main() {
    let t = thread::spawn(|| CELL.get_or_init(|| vec![1, 2]).len());
    let here = CELL.get_or_init(|| vec![1, 2]).len();
    assert_eq!((here, t.join().unwrap()), (2, 2));
}
