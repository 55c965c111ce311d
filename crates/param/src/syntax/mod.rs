//! The input language: Cubicle's array systems with the weak-memory extension of Cubicle-W.
//!
//! Source: Conchon, Declerck, Zaïdi, "Parameterized Memory Checking Modulo Explicit Weak Memory Models",
//! 2016, and the language of Cubicle that it extends. The tree keeps what was written (predicates are not
//! expanded, implications not rewritten), so that [`print()`] followed by [`parse`] gives it back.
//!
//! Deviations: a `-` after an operand is subtraction without blanks too; sums of any terms are read, and
//! judged by the types.

mod ast;
mod lexer;
mod parser;
mod print;
pub(crate) mod span;

pub use ast::*;
pub use parser::parse;
pub use porf_verdict::Diagnostic;
pub use print::print;
pub use span::Span;
