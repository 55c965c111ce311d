//! What only Porf can do. It knows these functions by this module's name and puts its own in their place;
//! their bodies are for programs that run natively.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a model was skipped.
static SKIPPED: AtomicBool = AtomicBool::new(false);

/// Whether Porf explores the program.
#[inline(never)]
pub fn is_explored() -> bool {
    false
}

/// Whether memory of ours is freed, although nobody but who looks for leaks can tell. Natively: yes.
#[inline(never)]
pub fn frees() -> bool {
    true
}

/// Both, in different executions. Natively: no.
#[inline(never)]
pub fn flip() -> bool {
    false
}

/// Executions in which this does not hold are of no interest. Natively: nothing.
#[inline(never)]
pub fn assume(_holds: bool) {}

/// The thread waits until what it read last is overwritten. Natively: lets others run.
#[inline(never)]
pub fn wait() {
    std::thread::yield_now();
}

/// The first thread ends here, and the others go on to their ends. Natively: nothing.
#[inline(never)]
pub fn end() {}

/// A test that calls this explores a model: it runs in some executions, which end with it and all its threads.
/// In the others the test goes on to its next model. What it says there of all executions of this one is no
/// panic of the program.
pub fn model(f: impl Fn()) {
    if !is_explored() {
        return f();
    }
    let skipped = SKIPPED.load(Ordering::Relaxed);
    if flip() {
        if !skipped {
            SKIPPED.store(true, Ordering::Relaxed);
            std::panic::set_hook(Box::new(|_| assume(false)));
        }
    } else {
        if skipped {
            drop(std::panic::take_hook());
        }
        f();
        drop(f);
        end();
    }
}
