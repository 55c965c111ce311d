//! One execution after another: the memory model of the native sampler, as a library.
//!
//! An [`Engine`] holds one execution of a C11 program: per atomic location the stores so far and what is
//! known of their modification order ([`history`]), per thread its happens-before clock ([`engine`]).
//! Asked for a load, it computes the stores that the model lets the load return and lets a
//! [`Scheduler`] choose. [`race`] is the data race detector on plain memory. Nothing here touches native
//! code: `porf-runtime` binds it to a running program, the tests drive it directly.
//!
//! Source: Luo and Demsky, "C11Tester: A Race Detector for C/C++ Atomics", ASPLOS 2021 (the paper, below).
//!
//! Deviations: sequential consistency follows RC11 (Lahav et al., PLDI 2017) instead of C++11 §29.3: SC
//! fences order what happens before them, not only what is sequenced before them, so that whatever is
//! sampled is an RC11 execution. The order S of SC events is the order of execution, as in the paper; an
//! RC11 execution whose psc contradicts every interleaving (hb ∪ sc ∪ rf cyclic) is never sampled.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod clock;
pub mod engine;
mod frozen;
pub mod history;
pub mod minimise;
pub mod place;
pub mod protocol;
pub mod race;
mod reuse;
pub mod scheduler;
pub mod suppress;

pub use clock::Clock;
pub use engine::{Engine, LocationId, Order, View};
pub use porf_event::ThreadId;
pub use scheduler::{Random, Scheduler};
