// expect: safe
use std::sync::Mutex;
use std::thread;
static A: Mutex<()> = Mutex::new(());
static B: Mutex<()> = Mutex::new(());
fn both() {
    let _a = A.lock().unwrap();
    let _b = B.lock().unwrap();
}
pub fn main() {
    let t = thread::spawn(both);
    both();
    t.join().unwrap();
}
