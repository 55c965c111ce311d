//! Panics of Rust programs: what they say, and which of them are violations.
//!
//! A panic that leaves the first thread, or that aborts the process, is one. A panic that the program
//! catches is none. One that ends another thread is the thread's result: whoever joins the thread is told,
//! and decides. If nobody joins it, nobody is told, and it is a violation. If a thread that joined it
//! panics because of that, as `join().unwrap()` does, the first panic is the one to report.

use crate::names::is_library;
use crate::trace::{StackFrame, stack};
use porf_event::{Label, ThreadId};
use porf_explore::Execution;
use porf_interp::Panic;

/// A panic that ended a thread other than the first.
pub(crate) struct Ended {
    pub thread: ThreadId,
    pub message: String,
    /// The calls that led to it.
    pub stack: Vec<StackFrame>,
    /// Whether some thread joined it.
    pub joined: bool,
}

/// The panics that ended threads in an execution, in the order of the threads.
pub(crate) fn ended(execution: &Execution<'_, '_>) -> Vec<Ended> {
    let graph = execution.graph;
    let threads = (1..graph.threads().len()).map(|at| ThreadId(at as u16));
    let mut found = Vec::new();
    for thread in threads.filter(|thread| graph.thread(*thread).creator.is_some()) {
        let Some(Panic { fault, catcher, .. }) = execution.state(thread).panic() else { continue };
        let stack = stack(execution.program(), &fault.stack);
        // What is behind the handler is std's: it is the one that every thread has.
        if !stack[*catcher..].iter().all(is_library) {
            continue;
        }
        let joins = |event| matches!(graph.event(event).label, Label::Join { child } if child == thread);
        let joined = graph.all().any(joins);
        found.push(Ended { thread, message: message(&fault.message), stack, joined });
    }
    found
}

/// Whether a panic only hands on the one that ended another thread: of `join().unwrap()`, of a scope, or of
/// `resume_unwind`, which says nothing itself.
pub(crate) fn hands_on(message: &str, first: &Ended) -> bool {
    match message {
        "panic: a scoped thread panicked" => true,
        "panic" => first.joined,
        _ => first.joined && message.contains("Any { .. }"),
    }
}

/// What a panic says, from what std writes to standard error about it.
pub(crate) fn message(written: &str) -> String {
    let said = match written.rsplit_once("panicked at ") {
        Some((_, rest)) => rest.split_once(":\n").map_or(rest, |(_, said)| said),
        None => written,
    };
    let is_said = |line: &&str| {
        !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE") && *line != "stack backtrace:"
    };
    let mut lines = said.lines().map(str::trim).filter(is_said);
    let Some(first) = lines.next() else { return "panic".to_string() };
    match lines.collect::<Vec<_>>().join(", ") {
        more if more.is_empty() => format!("panic: {first}"),
        more => format!("panic: {first} ({more})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_says() {
        let written = "\nthread 'main' (7) panicked at a.rs:10:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(message(written), "panic: assertion `left == right` failed (left: 1, right: 2)");
        assert_eq!(message("thread 'x' panicked at src/b.rs:1:1:\nno: way\n"), "panic: no: way");
        assert_eq!(message(""), "panic");
    }
}
