// expect: safe
// std: real
use std::sync::RwLock;
use std::thread;
static L: RwLock<(u32, u32)> = RwLock::new((0, 0));
pub fn main() {
    let t = thread::spawn(|| {
        let mut pair = L.write().unwrap();
        pair.0 = 1;
        pair.1 = 1;
    });
    let pair = *L.read().unwrap();
    assert_eq!(pair.0, pair.1);
    t.join().unwrap();
}
