//! `setuid` and its like: libc has every thread of the process make the system call, and waits for all of them. Only
//! one thread runs here, so it makes the call alone; those that lend their storage never do anything.
//!
//! The kernel numbers threads. The first one has the number of the process, and the others have those that follow.

use crate::interpose;
use crate::real;
use crate::sys;
use crate::world::{is_running, world};
use porf_event::ThreadId;

const SAME: usize = usize::MAX;

macro_rules! identity {
    ($($name:ident $inner:ident($($arg:ident),*) $call:ident [$($value:expr),*];)*) => {
        $(unsafe extern "C" fn $inner($($arg: usize),*) -> i32 {
            // SAFETY: the program's own call, passed on with its arguments.
            unsafe {
                if !is_running() {
                    return real!($name($($arg: usize = $arg),*) -> i32);
                }
                let mut values = [0; 6];
                for (to, value) in values.iter_mut().zip([$($value),*]) {
                    *to = value;
                }
                let result = sys::syscall(libc::$call, values);
                if result < 0 {
                    sys::set_errno(-result as i32);
                    return -1;
                }
            }
            0
        })*
        interpose! { $($name => $inner;)* }
    };
}

identity! {
    setuid set_user(user) SYS_setuid [user];
    setgid set_group(group) SYS_setgid [group];
    seteuid set_effective_user(user) SYS_setresuid [SAME, user, SAME];
    setegid set_effective_group(group) SYS_setresgid [SAME, group, SAME];
    setreuid set_two_users(real, effective) SYS_setreuid [real, effective];
    setregid set_two_groups(real, effective) SYS_setregid [real, effective];
    setresuid set_users(real, effective, saved) SYS_setresuid [real, effective, saved];
    setresgid set_groups(real, effective, saved) SYS_setresgid [real, effective, saved];
    setgroups set_list(count, list) SYS_setgroups [count, list];
}

/// The number of the thread that runs.
pub fn number() -> i32 {
    // SAFETY: running.
    number_of(unsafe { world() }.current)
}

/// The number of a thread.
pub fn number_of(thread: ThreadId) -> i32 {
    first() + thread.as_usize() as i32
}

/// Which thread of the program has a number.
pub fn numbered(number: i32) -> Option<usize> {
    let index = usize::try_from(number.checked_sub(first())?).ok()?;
    // SAFETY: running.
    (index < unsafe { world() }.fibers.len()).then_some(index)
}

fn first() -> i32 {
    // SAFETY: has no arguments.
    unsafe { sys::syscall(libc::SYS_getpid, [0; 6]) as i32 }
}

unsafe extern "C" fn thread_number() -> i32 {
    if is_running() {
        return number();
    }
    // SAFETY: has no arguments.
    unsafe { sys::syscall(libc::SYS_gettid, [0; 6]) as i32 }
}

interpose! { gettid => thread_number; }
