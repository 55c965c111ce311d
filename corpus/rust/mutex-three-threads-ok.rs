// expect: safe
use std::sync::Mutex;
use std::thread;
static M: Mutex<u32> = Mutex::new(0);
pub fn main() {
    let threads = [(); 3].map(|()| thread::spawn(|| *M.lock().unwrap() += 1));
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*M.lock().unwrap(), 3);
}
