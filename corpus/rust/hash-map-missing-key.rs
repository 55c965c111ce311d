// expect: panic 13
// expect: panic 10
// The thread that panics poisons the lock.
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;
pub fn main() {
    let map = Mutex::new(HashMap::from([(1, "one")]));
    thread::scope(|scope| {
        scope.spawn(|| map.lock().unwrap().insert(2, "two"));
        scope.spawn(|| {
            let map = map.lock().unwrap();
            assert_eq!(map[&2], "two");
        });
    });
}
