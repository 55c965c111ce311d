// expect: safe
use std::thread;
pub fn main() {
    let v: Vec<u64> = (1..=6).collect();
    let sum: u64 = thread::scope(|s| {
        let halves: Vec<_> = v.chunks(3).map(|part| s.spawn(move || part.iter().sum::<u64>())).collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    assert_eq!(sum, 21);
}
