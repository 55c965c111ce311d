//! Backward reachability modulo theories: safety for every number of processes.
//!
//! Source: Ghilardi, Ranise, "MCMT" (IJCAR 2010); Conchon et al., "Cubicle" (CAV 2012); Conchon, Declerck,
//! Zaïdi 2016 for weak memory. Unsafe states are [`cube`]s; [`compile`] turns guards and updates into
//! literals, [`pre`] computes pre-images, [`subsume`] and [`visited`] recognise what is known, [`weak`] holds
//! the order of memory events, [`oracle`] proposes invariants
//! that no state of a [`pool`] contradicts, [`seeds`] are known before a search, [`laws`] say what no cube can, [`turns`] and [`shared`] let several searches work side by side, [`mod@slice`] leaves
//! symbols out, [`robust`] asks whether weak memory shows at all, [`search`] runs it all.

pub(crate) mod compile;
pub(crate) mod cube;
mod difference;
mod facts;
mod laws;
mod linear;
pub mod literal;
mod messages;
mod oracle;
mod pool;
pub(crate) mod pre;
mod release_acquire;
mod robust;
mod search;
mod seeds;
mod shared;
mod slice;
mod subsume;
#[cfg(test)]
mod tests;
mod turns;
mod visited;
pub mod weak;
pub(crate) mod work;

pub use cube::Cube;
pub use oracle::Candidates;
pub(crate) use search::search_among;
pub use search::{AbstractTrace, MAX_WORK, Options, Outcome, SMALL, Search, Statistics, laws, search};
pub(crate) use turns::{Kind, Share, Turns, WHOLE};
pub use weak::Order;
