// expect: safe
use std::sync::Once;
use std::thread;
static START: Once = Once::new();
pub fn main() {
    let t = thread::spawn(|| START.call_once(|| panic!("not this time")));
    assert!(t.join().is_err());
    START.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(START.is_completed());
    START.call_once(|| unreachable!());
}
