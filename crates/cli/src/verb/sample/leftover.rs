//! No process outlives the run: what the program forked and left behind is ended with it.
//!
//! Processes whose parent has ended become children of this one ([`adopt`]). When the program has ended, every child
//! that is still there, and was not there before, is one that it left ([`end`]).

use std::collections::BTreeSet;
use std::io::Error;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Children from before: of whoever became `porf` by exec.
static BEFORE: OnceLock<BTreeSet<i32>> = OnceLock::new();

/// From now on orphans among our descendants are our children.
pub fn adopt() {
    BEFORE.get_or_init(children);
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Ends all children and takes note of their end, theirs included. A process that the kernel does not let go
/// is given up after a while.
pub fn end() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let mut left = children();
        left.retain(|child| BEFORE.get().is_none_or(|before| !before.contains(child)));
        if left.is_empty() {
            return;
        }
        for child in left {
            // SAFETY: a child of ours that nobody has waited for, so the number is still its own.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG);
            }
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The processes whose parent is this one.
fn children() -> BTreeSet<i32> {
    // SAFETY: looks whether there is any child.
    let none = unsafe {
        let mut unused: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &mut unused, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) != 0
            && Error::last_os_error().raw_os_error() == Some(libc::ECHILD)
    };
    if none {
        return BTreeSet::new();
    }
    let parent = std::process::id().to_string();
    let is_ours = |process: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // After the name, which may hold anything but is in parentheses: the state and the parent.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent)
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}
