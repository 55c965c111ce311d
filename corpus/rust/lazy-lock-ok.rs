// expect: safe
use std::sync::LazyLock;
use std::thread;
static CELL: LazyLock<String> = LazyLock::new(|| "made".to_string());
pub fn main() {
    let t = thread::spawn(|| CELL.len());
    assert_eq!((CELL.len(), t.join().unwrap()), (4, 4));
}
