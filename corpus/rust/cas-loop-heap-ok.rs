// expect: safe
// executions: 6
// As cas-loop-ok, with two fields of an object on the heap, in a program that frees other memory.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

struct Counter {
    count: AtomicUsize,
    step: AtomicUsize,
}

fn add(counter: &Counter) {
    let mut seen = counter.count.load(Relaxed);
    loop {
        let step = counter.step.load(Relaxed);
        match counter.count.compare_exchange(seen, seen + step, AcqRel, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
}

pub fn main() {
    let counter: &'static Counter =
        Box::leak(Box::new(Counter { count: AtomicUsize::new(0), step: AtomicUsize::new(1) }));
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| add(counter))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.count.load(Relaxed), 3);
}
