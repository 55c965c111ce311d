// expect: safe
// executions: 6
// A loop around a compare-and-swap whose failure says what is there: the three additions come in any order, and a
// failure leads to nothing that the first load does not lead to.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn add() {
    let mut seen = COUNT.load(Relaxed);
    while let Err(now) = COUNT.compare_exchange(seen, seen + 1, AcqRel, Relaxed) {
        seen = now;
    }
}

pub fn main() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(add)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(COUNT.load(Relaxed), 3);
}
