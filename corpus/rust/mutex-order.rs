// expect: deadlock 11
// expect: deadlock 15
// std: real
use std::sync::Mutex;
use std::thread;
static A: Mutex<()> = Mutex::new(());
static B: Mutex<()> = Mutex::new(());
pub fn main() {
    let t = thread::spawn(|| {
        let _a = A.lock().unwrap();
        let _b = B.lock().unwrap();
    });
    {
        let _b = B.lock().unwrap();
        let _a = A.lock().unwrap();
    }
    t.join().unwrap();
}
