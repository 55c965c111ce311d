// expect: safe
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::thread;
pub fn main() {
    let map = Mutex::new(HashMap::new());
    thread::scope(|scope| {
        scope.spawn(|| *map.lock().unwrap().entry("key").or_insert(0) += 1);
        scope.spawn(|| *map.lock().unwrap().entry("key").or_insert(0) += 2);
    });
    let map = map.into_inner().unwrap();
    assert_eq!(map["key"], 3);
    let keys: HashSet<&str> = map.keys().copied().collect();
    assert!(keys.contains("key") && keys.len() == 1);
}
