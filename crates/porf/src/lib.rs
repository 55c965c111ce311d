//! Porf as a library: is this concurrent program right on weak memory?
//!
//! Four questions, one function each:
//!
//! | question | function | answer |
//! | --- | --- | --- |
//! | does some execution of a program go wrong? | [`verify`] | [`Answer`] |
//! | what does a model say of a litmus test? | [`litmus()`] | [`TestAnswer`] |
//! | what does one model allow that another one forbids? | [`against`], [`difference`] | [`Difference`], [`TestDifference`] |
//! | is a protocol safe for any number of processes? | [`prove`] | [`param::Answer`] |
//!
//! Front ends make the programs ([`Input::load`]), the registry knows the models ([`Model`]), the engines search,
//! and this crate turns what they find into an answer. Nothing here prints: `porf-report` renders answers.
//!
//! # A C program
//!
//! ```no_run
//! use porf::{Input, LoadOptions, Model, Request, verify};
//!
//! let input = Input::load(&["queue.c".into()], &LoadOptions::default())?;
//! let answer = verify(&input, &Request::new(Model::Rc11))?;
//! println!("{}: {} executions", answer.verdict.word(), answer.executions);
//! # Ok::<(), porf::Error>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answer;
mod error;
mod input;
mod litmus;
pub mod mapping;
pub mod names;
mod question;
mod replay;
pub mod trace;
mod usage;
mod verify;

pub use answer::{Answer, Related, Seconds, Shown, source};
pub use error::Error;
pub use input::{Input, LoadOptions, Origin};
pub use litmus::{Axioms, Engine, TestAnswer, TestDifference, TestWitness, difference, litmus};
pub use porf_explore::Schedule;
pub use porf_model::{Equivalence, Model};
pub use porf_param as param;
pub use porf_param::prove;
pub use question::Question;
pub use replay::{Expected, Replayed, replay};
pub use verify::{Budget, Checkpoint, Difference, Estimate, Progress, Request, against, estimate, verify};
