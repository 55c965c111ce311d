//! What an event of a growing execution graph may do.

use porf_event::ThreadId;
use porf_graph::Ev;

/// One of the choices that an event has when it is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A read takes its value from a write.
    Source(Ev),
    /// A write stands at a place in co, counted from 1.
    Place(u32),
    /// An open choice of the program has a value.
    Value(u32),
    /// A write makes an older read take its value from it.
    Revisit(Ev),
    /// Another thread goes first: the event is its next one.
    Thread(ThreadId),
}
