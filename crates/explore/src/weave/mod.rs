//! The search for models that do not keep program order: every consistent execution graph exactly once.
//!
//! Source: Kokologiannakis, Vafeiadis, "HMC: model checking for hardware memory models", ASPLOS 2020, for
//! the idea (a write revisits reads outside of what it depends on, and may leave holes in threads), and
//! TruSt (see [`engine`](crate::engine)) for the search, which this is with three changes:
//! 1. the prefix of an event is its dependency prefix, (rf ∪ addr ∪ data ∪ ctrl ∪ rmw)+ and what decides
//!    that the event happens at all ([`prefix`](crate::prefix)); threads have holes, and the next event of a thread goes
//!    into its first one;
//! 2. sources and places have an order, co-latest first;
//! 3. what is thrown away was chosen canonically if it is the first *consistent* choice in that order, in
//!    the graph without what is thrown away ([`canonical`]): later events of the same thread may forbid
//!    the co-latest one.
//!
//! This is our own formulation. It is not proved; `tests/weave.rs` holds it to brute force.
//!
//! An event behind a hole is known by what it needs. When the thread comes to it, the event must be what
//! the thread does next; it is recognised by its site. A thread may end before it comes to such an event
//! (a blocked assumption): then the graph is no execution, and is not shown.
//!
//! Limits: executions in which (rf ∪ addr ∪ data ∪ ctrl ∪ rmw)+ has a cycle, values out of thin air, are
//! not found.
//! Cost: as the main search while there are no holes, and one question to the model for every choice.

mod canonical;
mod forward;
mod implicit;
mod search;

pub(crate) use implicit::{has_implicit_flow, has_optional_events};
pub(crate) use search::Weaver;
