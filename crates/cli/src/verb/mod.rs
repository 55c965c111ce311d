//! One module per verb.

pub mod completions;
pub mod litmus;
