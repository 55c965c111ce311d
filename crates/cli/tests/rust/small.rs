//! A crate with tests of all outcomes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

pub fn add() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn right() {
    let other = std::thread::spawn(add);
    add();
    other.join().unwrap();
    assert_eq!(COUNT.load(Ordering::Relaxed), 2);
}

#[test]
fn wrong() {
    let other = std::thread::spawn(add);
    assert_eq!(COUNT.load(Ordering::Relaxed), 0);
    other.join().unwrap();
}

#[test]
#[should_panic(expected = "said")]
fn panics() {
    panic!("as it is said");
}

// In both executions, of which only one is asked for.
#[test]
#[should_panic]
fn panics_at_the_end() {
    let other = std::thread::spawn(add);
    add();
    other.join().unwrap();
    panic!();
}

#[test]
#[ignore]
fn ignored() {}

#[test]
fn bounded() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let other = std::thread::spawn(|| {
        while !STOP.load(Ordering::Relaxed) {
            add();
        }
    });
    STOP.store(true, Ordering::Relaxed);
    other.join().unwrap();
}
