// expect: safe
// executions: 1
// A loop that polls through a trait object, which writes to a variable of the caller: it waits.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

trait Source {
    fn read(&self, to: &mut usize);
}

impl Source for AtomicUsize {
    fn read(&self, to: &mut usize) {
        *to = self.load(Acquire);
    }
}

static FLAG: AtomicUsize = AtomicUsize::new(0);

fn poll(source: &dyn Source) -> bool {
    let mut seen = 0;
    source.read(&mut seen);
    seen != 0
}

pub fn main() {
    let setter = thread::spawn(|| FLAG.store(1, Release));
    while !poll(&FLAG) {
        thread::yield_now();
    }
    setter.join().unwrap();
}
