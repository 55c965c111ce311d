// expect: panic 7
use std::sync::OnceLock;
use std::thread;
static CELL: OnceLock<u32> = OnceLock::new();
pub fn main() {
    let t = thread::spawn(|| CELL.set(1));
    let value = CELL.get().expect("not there yet");
    assert_eq!(*value, 1);
    t.join().unwrap().unwrap();
}
