//! Runs one thread of a program to its next visible event.
//!
//! The interpreter asks, the engine answers: [`Interpreter::run`] executes silent instructions until
//! one needs the world and returns it as a [`Step`]; the engine decides what a read returns and calls
//! [`Interpreter::deliver`]. A [`ThreadState`] is plain data, a function of the values delivered so
//! far: cloning it is a snapshot, and the same answers always give the same events.
//!
//! With dependency tracking on, every register carries the set of reads that its value was computed
//! from (`taint`), and [`ThreadState::dependencies`] tells those of the event just asked for.
//!
//! Deviations: none from the instruction docs in `porf-ir`. Limits: calls nest at most
//! [`MAX_FRAMES`] deep; a silent loop runs at most [`MAX_SILENT`] instructions.
//! Cost: a few nanoseconds per silent instruction; no allocation while a thread has at most
//! 16 registers and tracking is off.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod alone;
mod cells;
mod deliver;
mod fault;
mod format;
mod frames;
mod like;
mod part;
mod private;
mod request;
mod run;
mod silent;
mod state;
mod taint;
mod tainted;
mod unwind;
mod words;

pub use alone::{Alone, End, run_alone};
pub use fault::{Fault, FaultKind};
pub use run::{Interpreter, MAX_FRAMES, MAX_SILENT};
pub use state::ThreadState;
pub use unwind::Panic;

use porf_event::{BlockReason, Label};

/// What a thread does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A visible event. `deliver` must follow with its value: the value read, the choice made, the
    /// number of the thread created; ignored for the others.
    Emit(Label),
    /// The thread has ended.
    Finished,
    /// The thread cannot go on in this execution.
    Blocked(BlockReason),
    /// The program did something wrong.
    Fault(Fault),
}
