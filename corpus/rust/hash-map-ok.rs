// expect: safe
use std::collections::HashMap;
pub fn main() {
    let mut map = HashMap::new();
    map.insert("a", 1);
    map.insert("b", 2);
    assert_eq!(map["a"] + map["b"], 3);
}
