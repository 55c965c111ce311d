// expect: panic 7
use std::sync::Mutex;
use std::thread;
static M: Mutex<u32> = Mutex::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        drop(M.try_lock().unwrap());
    });
    drop(M.lock().unwrap());
    t.join().unwrap();
}
