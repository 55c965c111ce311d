//! From a C program to an array system: any number of threads, over shared memory.
//!
//! `main` is run up to the first thread that it joins ([`setup`]). What memory holds when it creates the first thread
//! are the initial states; the functions that it gives to threads are what processes run. A thread is cut at its
//! accesses to shared memory ([`control`]): one step of a process is one access and the local computation behind it.
//! Where a thread stands, and what its registers hold as far as that is constant, becomes the process's location. The
//! result is printed as a system ([`emit`]), so that people can read it, and its certificate is checked against that
//! text.
//!
//! Memory. Each access is one instruction of x86, as the usual mapping of C has it: a read-modify-write and a
//! sequentially consistent store are locked, a sequentially consistent fence is `fence()`, all else is a plain load or
//! store. So an answer is about the program with its accesses in the order of the text, on SC or on x86-TSO; it is no
//! answer about what C's orderings allow a compiler to do.
//!
//! Addresses. The functions that `main` gives to several threads get evenly spaced arguments: numbers of threads, or
//! pointers to parts of an array. Part k belongs to thread k, so the array is one over processes, and a pointer to a part
//! is a process. A location holds such pointers and constants, or numbers, never both.
//!
//! Values. A location whose values are few is an enumeration; a read of it splits on what it reads, and what
//! follows is computed with constants. A location with more values than [`MAX_VALUES`] is a whole number: its values
//! may be copied, compared, and moved by a constant; those that are never compared are left out ([`relevance`]). Such numbers do not wrap around, which is an assumption that every
//! answer names. A location that a single thread writes holds, for that thread, what it wrote last.
//!
//! Property. An assertion in a thread holds, and no two threads stand before accesses to one location of which one
//! writes and one is not atomic (a race), and no thread stands before an access to an object that is freed. What `main` does after joining is not looked at, and the answer says so.
//!
//! Outside of the fragment, refused with its line: other addresses that are not constant, memory of the thread's own,
//! allocation in threads, arithmetic on numbers beyond the above, more than 63 places where threads may stand.

mod control;
mod emit;
mod machine;
mod relevance;
mod setup;

use crate::syntax::Diagnostic;
use crate::system::System;
use porf_ir::{FunctionId, Program};
use porf_verdict::SourceLocation;

/// How many threads run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Any number of each function that `main` gives to more than one thread, and of those that are named.
    Any(Vec<String>),
    /// Those that `main` creates.
    Main,
}

/// The values that a location may have to be an enumeration.
pub const MAX_VALUES: usize = 4;

/// The system that a program stands for.
pub struct Translated {
    /// Its text.
    pub text: String,
    /// The system. The places of its transitions and unsafe states are lines of the program.
    pub system: System,
    /// What the answer rests on, in words.
    pub assumptions: Vec<String>,
}

/// Translates a program.
pub fn translate(program: &Program, threads: &Threads) -> Result<Translated, Diagnostic> {
    let setup = setup::run(program, threads)?;
    if program.image.as_ref().is_some_and(|image| image.thread_exit.is_some()) {
        let function = setup.roles[0].function;
        return Err(outside(program, function, 0, "the program has functions that run when a thread exits"));
    }
    let mut control = control::explore(program, &setup)?;
    relevance::prune(&mut control);
    emit::system(program, &setup, &control)
}

/// Something outside of the fragment.
fn outside(program: &Program, function: FunctionId, at: usize, message: impl Into<String>) -> Diagnostic {
    let span = program.function(function).spans.get(at).copied().unwrap_or_default();
    let location =
        SourceLocation { file: program.file(function).to_owned(), line: span.line, column: span.column };
    Diagnostic::new(location, message)
        .help("`porf prove --from` takes a part of C: docs/prover.md; `porf verify` takes the whole program")
}
