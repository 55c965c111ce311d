//! loom's API over std, for models that Porf explores.
//!
//! loom runs a model many times, once per interleaving, on types of its own. Porf explores every execution of
//! a program by itself, so the types here are those of std, or thin wrappers of them where loom's have other
//! methods. Names, signatures and traits are those of loom 0.5 and 0.7; where std's types can do more, they
//! may.
//!
//! What differs, because an execution is a world of its own:
//! - What stands behind [`model`] in a test is not run; that it holds of all executions together cannot be
//!   seen from one. Of several models in a test each is explored.
//! - Bounds of a [`model::Builder`] are accepted and not needed.
//! - [`sync::Notify`], `park` and `block_on` do not wake for no reason.
//! - A leaked `Arc` is found with `--leaks`, as all other memory is.

mod porf_intrinsics;

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
mod macros;
pub mod model;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use model::model;

/// How many threads loom allows. Here there is no such bound.
pub const MAX_THREADS: usize = 5;

/// Everything is explored anyway.
pub fn explore() {}

/// Everything is explored anyway.
pub fn stop_exploring() {}

/// Everything is explored anyway.
pub fn skip_branch() {}
