//! No process outlives the run: what the program forked and left behind is ended with it.
//!
//! Processes whose parent has ended become children of this one ([`adopt`]). When the program has ended, every child
//! that is still there is one that it left ([`end`]).

use std::io::Error;
use std::time::{Duration, Instant};

/// From now on orphans among our descendants are our children.
pub fn adopt() {
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Ends all children and takes note of their end, theirs included. A process that the kernel does not let go
/// is given up after a while.
pub fn end() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        // SAFETY: takes note of the end of a child, if one has ended.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            -1 if Error::last_os_error().raw_os_error() == Some(libc::ECHILD) => return,
            0 => {
                for child in children() {
                    // SAFETY: a child of ours that nobody has waited for, so the number is still its own.
                    unsafe { libc::kill(child, libc::SIGKILL) };
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            _ => {}
        }
    }
}

/// The processes whose parent is this one.
fn children() -> Vec<i32> {
    let parent = std::process::id().to_string();
    let is_ours = |process: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // After the name, which may hold anything but is in parentheses: the state and the parent.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent)
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}
