// expect: safe
use std::collections::BTreeMap;
pub fn main() {
    let map: BTreeMap<u32, u32> = (0..20).map(|n| (n, n * n)).collect();
    assert_eq!(map.values().sum::<u32>(), 2470);
}
