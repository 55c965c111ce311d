//! The cat language: memory models as texts, compiled and evaluated over bit matrices.
//!
//! Source: Alglave, Cousot, Maranget, "Syntax and semantics of the weak consistency model specification language
//! cat", 2016, and the models that come with herd7, which this crate can read. `docs/cat.md` lists what is supported
//! and where it differs from herd.
//!
//! A [`CatModel`] is read and parsed once. An [`Evaluator`] binds the fixed part of an execution (a [`Structure`]),
//! then takes rf and co and answers whether the execution is consistent, which flags it raises and, if it is
//! forbidden, by which axiom and which cycle.
//!
//! Cost: what depends on po, dependencies and sets is computed once per structure, what depends on rf once per rf,
//! the rest once per co. Each operation costs what it costs in `porf-relation`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ast;
mod builtin;
mod concrete;
mod defaults;
mod derive;
mod evaluator;
mod events;
mod interp;
mod lexer;
mod model;
mod node;
mod ops;
mod parser;
mod print;
mod program;
mod slots;
mod span;
mod statement;
mod structure;
mod symbolic;
mod value;

pub use derive::Edge;
pub use evaluator::{BrokenAxiom, Evaluator, Judgement};
pub use events::{EventStructure, EventView, full_fence};
pub use model::CatModel;
pub use node::Kind;
pub use parser::{parse, parse_expression};
pub use porf_model::Model;
pub use porf_verdict::Diagnostic;
pub use span::Span;
pub use structure::Structure;
