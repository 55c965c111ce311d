//! Execution graphs: events in insertion order, with po, rf and co.
//!
//! An [`ExecutionGraph`] is an arena. Position 0 is the initial write of every location; each further
//! event is appended and addressed by its position, [`Ev`], so that "inserted before" is `<`. Events
//! are removed newest first ([`ExecutionGraph::remove_last`]), which is how a search backtracks; a
//! search that throws away events in the middle copies the rest into a pooled graph
//! ([`ExecutionGraph::restrict_into`]). Nothing allocates once the vectors have grown.
//!
//! Every event carries clocks: the first is porf, (po ∪ rf)+ with creation and joining of threads, kept
//! here; a memory model may ask for further ones and fill them itself.
//!
//! po within a thread is by [`EventId::index`](porf_event::EventId); a thread may have holes, because
//! models that keep dependencies restrict to prefixes that are not closed under po.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod clocks;
mod graph;
mod key;
mod linked;
mod partial;
mod restrict;
mod validate;

pub use graph::{Ev, Event, ExecutionGraph, Loc, Thread};
pub use key::CanonicalKey;
pub use linked::{Linked, Memo, Need, Words};
pub use partial::{Links, Partial, validate as validate_partial};
pub use validate::{Malformed, validate};
