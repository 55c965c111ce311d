//! What the verbs of the `porf` binary do, without arguments, files and exit codes.

pub mod against;
pub mod litmus;
