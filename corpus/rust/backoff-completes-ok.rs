// expect: safe
// As in crossbeam: who has backed off often enough gives up. Nobody sets the flag.
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};

static FLAG: AtomicBool = AtomicBool::new(false);

struct Backoff {
    step: Cell<u32>,
}

impl Backoff {
    fn snooze(&self) {
        self.step.set(self.step.get() + 1);
        std::hint::spin_loop();
    }

    fn is_completed(&self) -> bool {
        self.step.get() > 10
    }
}

fn waits() -> bool {
    let backoff = Backoff { step: Cell::new(0) };
    loop {
        if FLAG.load(Acquire) {
            return true;
        }
        if backoff.is_completed() {
            return false;
        }
        backoff.snooze();
    }
}

pub fn main() {
    assert!(!waits());
}
