//! One module per verb.

pub mod completions;
