//! The search for models that do not keep program order: every consistent execution graph exactly once.
//!
//! Source: Kokologiannakis, Vafeiadis, "HMC: model checking for hardware memory models", ASPLOS 2020, for
//! the idea: a write revisits reads outside of what it depends on, and may leave holes in threads. The
//! search is that of TruSt (see [`engine`](crate::engine)) with two changes:
//! 1. the prefix of an event is its dependency prefix, (rf ∪ addr ∪ data ∪ ctrl ∪ rmw)+ and what decides
//!    that the event happens at all ([`prefix`](crate::prefix)); threads have holes, and the next event of a
//!    thread goes into its first one;
//! 2. a write revisits every read outside of its prefix, whatever was chosen for what is thrown away. Graphs
//!    that revisits lead to, and executions, are remembered instead: each is followed once. (Which choices
//!    would be canonical, so that one of the ways remains, is not clear with holes: the first consistent
//!    one, or the first after which holes can be filled, lose executions.)
//!
//! This is our own formulation. It is not proved; `tests/weave.rs` holds it to brute force.
//!
//! An event behind a hole is known by what it needs. When the thread comes to it, the event must be what
//! the thread does next; it is recognised by its site. A thread may end before it comes to such an event
//! (a blocked assumption): then the graph is no execution, and is not shown.
//!
//! After the main search it starts from each [`seed`](crate::seed) instead of the empty graph, and revisits
//! nothing in the seed. It then visits only executions with cycles in po ∪ rf.
//!
//! Limits: executions in which (rf ∪ addr ∪ data ∪ ctrl ∪ rmw)+ has a cycle, values out of thin air, are
//! not found.
//! Cost: one question to the model for every choice; memory for every graph that a revisit leads to.

mod forward;
mod implicit;
mod search;

pub(crate) use implicit::{has_implicit_flow, has_optional_events, has_optional_writes};
pub(crate) use search::Weaver;
