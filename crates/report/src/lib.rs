//! What people and programs see: one renderer each. No engine, no IO.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod advise;
pub mod diagnostic;
mod explain;
mod fold;
pub mod junit;
pub mod litmus;
pub mod models;
mod page;
mod paint;
pub mod prove;
pub mod replay;
pub mod sample;
mod sarif;
pub mod verify;

pub use paint::Paint;
