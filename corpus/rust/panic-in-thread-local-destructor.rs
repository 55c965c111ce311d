// expect: panic 7
use std::thread;
struct Fails;
impl Drop for Fails {
    fn drop(&mut self) {
        // Nothing can catch it: the process aborts.
        panic!("at the end of the thread");
    }
}
thread_local! {
    static FAILS: Fails = const { Fails };
}
pub fn main() {
    let _ = thread::spawn(|| FAILS.with(|_| ())).join();
}
