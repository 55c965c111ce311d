// expect: panic 6
use std::thread;
pub fn main() {
    let t = thread::spawn(|| {
        let v: Vec<u32> = Vec::new();
        v[0]
    });
    t.join().unwrap();
}
