//! Certificates: the invariant of a safe system in a file, and the obligations that make it one.
//!
//! A certificate is a list of cubes. It is right if no initial state is in one (*initiation*), every step that
//! ends in one starts in one (*consecution*, on the contrapositive), and every unsafe state is in one
//! (*safety*). [`smt`] writes these as SMT-LIB problems that must all be unsatisfiable. They are made from the
//! system itself, not by the prover's pre-image: the two share the cube as a format, and nothing else.

mod choices;
mod format;
mod format_smt;
mod known;
mod obligations;

pub use format::{Certificate, read, write};
pub use obligations::{Script, smt};
