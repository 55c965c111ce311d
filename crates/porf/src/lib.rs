//! Porf as a library: is this concurrent program right on weak memory?
//!
//! Six questions, one function or two each:
//!
//! | question | function | answer |
//! | --- | --- | --- |
//! | does some execution of a program go wrong? | [`verify`] | [`Answer`] |
//! | what does a model say of a litmus test? | [`litmus()`] | [`TestAnswer`] |
//! | why does a model allow an execution, or forbid it? | [`explain()`], [`executions`] | [`Why`] |
//! | what does one model allow that another one forbids? | [`against`], [`difference`] | [`Difference`], [`TestDifference`] |
//! | which orderings repair a program, which can it do without? | [`repair()`], [`advise()`] | [`Repair`], [`Advice`] |
//! | is a protocol safe for any number of processes? | [`prove()`] | [`param::ProofAnswer`] |
//!
//! Front ends make the programs ([`Input::load`]), the registry knows the models ([`Model`]), the engines search,
//! and this crate turns what they find into an answer. Nothing here prints: `porf-report` renders answers.
//!
//! # A C program
//!
//! The store to the flag should be a release store. Some execution sees the flag and not the message.
//!
//! ```
//! use porf::{Input, LoadOptions, Model, Request, verify};
//!
//! let input = Input::load(&["../../examples/message.c".into()], &LoadOptions::default())?;
//! let answer = verify(&input, &Request::new(Model::Rc11))?;
//! assert_eq!(answer.verdict.word(), "violated");
//! // Under sequential consistency the program is right.
//! let answer = verify(&input, &Request::new(Model::Sc))?;
//! assert_eq!(answer.verdict.word(), "safe");
//! # Ok::<(), porf::Error>(())
//! ```
//!
//! # A litmus test
//!
//! ```
//! use porf::{Axioms, Engine, litmus, parse_litmus};
//!
//! let test = parse_litmus("SB", "C SB
//! {}
//! P0(atomic_int *x, atomic_int *y) {
//!   atomic_store_explicit(x, 1, memory_order_relaxed);
//!   int r0 = atomic_load_explicit(y, memory_order_relaxed);
//! }
//! P1(atomic_int *x, atomic_int *y) {
//!   atomic_store_explicit(y, 1, memory_order_relaxed);
//!   int r0 = atomic_load_explicit(x, memory_order_relaxed);
//! }
//! exists (0:r0=0 /\\ 1:r0=0)")?;
//! let under = |model| litmus(&test, &Axioms::load(model)?, Engine::Explore { unroll: 2 });
//! assert_eq!(under("sc")?.outcome.observation.word(), "Never");
//! assert_eq!(under("armv8")?.outcome.observation.word(), "Sometimes");
//! # Ok::<(), porf::Error>(())
//! ```
//!
//! # A protocol for any number of processes
//!
//! ```
//! use porf::param::{self, Memory, Request};
//!
//! let system = param::load("
//! type location = Idle | Crit
//! array PC[proc] : location
//! var Lock : bool
//! init (p) { PC[p] = Idle && Lock = False }
//! unsafe (p q) { PC[p] = Crit && PC[q] = Crit }
//! transition enter (p) requires { PC[p] = Idle && Lock = False } { PC[p] := Crit; Lock := True; }
//! transition leave (p) requires { PC[p] = Crit } { PC[p] := Idle; Lock := False; }
//! ")?;
//! let answer = porf::prove(&system, Request { memory: Memory::Sc, ..Request::default() }).expect("a system");
//! assert_eq!(answer.verdict.word(), "safe");
//! # Ok::<(), porf::Error>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod advise;
mod answer;
mod error;
mod explain;
mod input;
mod litmus;
pub mod mapping;
pub mod names;
mod question;
mod replay;
pub mod trace;
mod usage;
mod verify;
mod written;

pub use advise::{Advice, Advised, Place, Repair, Side, Suggestion, advise, repair};
pub use answer::{Answer, Found, Related, Seconds, Shown, source};
pub use error::Error;
pub use explain::{Axiom, Unseen, Why, WhyEdge, explain};
pub use input::{Code, Domain, Input, LoadOptions, Origin, ShouldPanic, Test, Volatile};
pub use litmus::{
    Axioms, Engine, TestAnswer, TestDifference, TestExecution, TestExecutions, difference, executions,
    litmus, parse_litmus,
};
pub use porf_explore::{Reduced, Reduction, Reductions, Schedule};
pub use porf_model::{Equivalence, Model};
pub use porf_param as param;
pub use porf_param::prove;
pub use question::Question;
pub use replay::{Expected, Replayed, replay};
pub use verify::{
    Assignment, Budget, Checkpoint, Difference, Estimate, Inbox, Job, Left, MemoryLimit, PROTOCOL,
    PartOutcome, Progress, Remote, RemoteEvent, Report, Request, against, estimate, verify, work,
};
