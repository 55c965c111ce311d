// expect: safe
// std: real
use std::sync::Mutex;
use std::thread;
static M: Mutex<u32> = Mutex::new(0);
pub fn main() {
    let t = thread::spawn(|| match M.try_lock() {
        Ok(mut value) => {
            *value += 1;
            1
        }
        Err(_) => 0,
    });
    *M.lock().unwrap() += 1;
    let got = t.join().unwrap();
    assert_eq!(*M.lock().unwrap(), 1 + got);
}
