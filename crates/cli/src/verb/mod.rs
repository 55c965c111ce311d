//! One module per verb.

pub mod advise;
pub mod cc;
pub mod completions;
pub mod litmus;
pub mod man;
pub mod models;
pub mod prove;
pub mod replay;
pub mod sample;
pub mod verify;
pub mod work;
