//! Brute force: every candidate execution of a small program, filtered by a memory model.
//!
//! Claim: [`enumerate`] visits each execution (event structure, rf, co) that the model allows exactly
//! once, as herd counts them: co total per location, unread and unobserved writes included.
//! The method is herd's ("Herding cats", Alglave, Maranget, Tautschnig, TOPLAS 2014): run each thread
//! against all values, combine, choose rf by value, choose co, ask the model.
//! It shares no search code with `porf-explore`, which is tested against it.
//!
//! Deviations from herd: values come from a fixpoint over the writes rather than from equations, so
//! values out of thin air do not arise. Limits: threads created at run time are refused; loops are
//! bounded by `unroll`, and executions that exceed the bound are dropped.
//! Cost: exponential in everything. If the model implies coherence ([`Judge::implies_coherence`]), choices
//! that cannot become consistent are cut per location.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod candidate;
mod cat;
mod combine;
mod location;
mod pieces;
mod trace;

pub use candidate::{Candidate, CandidateEvent};
pub use cat::CatJudge;
pub use combine::{Judge, enumerate};
pub use trace::Trace;

use porf_event::{Access, Value};
use porf_interp::Fault;
use porf_ir::{Program, Reg};

/// Why a program cannot be enumerated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The program uses something that litmus tests do not have.
    #[error("{0} are not supported by the enumeration of candidates")]
    Unsupported(&'static str),
    /// A thread has too many traces.
    #[error("a single thread can run in more than {limit} ways")]
    TooManyTraces {
        /// How many it may have.
        limit: usize,
    },
    /// A location has too many writes.
    #[error("a location has more than {limit} writes")]
    TooManyWrites {
        /// How many it may have.
        limit: usize,
    },
    /// Accesses of different sizes overlap, and the model says nothing of that.
    #[error("accesses of different sizes to the same bytes are not supported by this model")]
    MixedSizes,
    /// Accesses of different sizes overlap, and one of them is not at a multiple of its size.
    #[error("the misaligned access to {0} is not supported beside accesses of other sizes")]
    Misaligned(String),
    /// A thread fails in an execution that the model allows.
    #[error("{}", .0.message)]
    Fault(Fault),
}

/// A complete execution: an event structure with rf and co.
pub struct CandidateExecution<'a, 't> {
    /// Its events.
    pub candidate: &'a Candidate<'t>,
    /// For each event, the write that it reads from; the event itself if it does not read.
    pub rf: &'a [usize],
    /// For each location, its writes in coherence order, the initial one first.
    pub co: Vec<&'a [usize]>,
}

impl CandidateExecution<'_, '_> {
    /// The final value of a register of a thread's outermost function.
    pub fn register(&self, thread: usize, reg: Reg) -> Value {
        self.candidate.traces[thread].end.register(reg)
    }

    /// The final value of some bytes of memory.
    pub fn memory(&self, program: &Program, cell: Access) -> Value {
        let mut value = program.initial_value(cell.location.0, cell.size);
        let (first, end) = (cell.location.0, cell.location.0 + u64::from(cell.size));
        for order in &self.co {
            let Some(&last) = order.last() else { continue };
            let Some(Access { location, size }) = self.candidate.events[last].label.access() else {
                continue;
            };
            for byte in location.0.max(first)..end.min(location.0 + u64::from(size)) {
                let written = self.candidate.value(last) >> (8 * (byte - location.0)) & 0xff;
                let shift = 8 * (byte - first);
                value = value & !(0xff << shift) | written << shift;
            }
        }
        value
    }
}
