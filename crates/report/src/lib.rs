//! What people and programs see: one renderer each. No engine, no IO.

pub mod litmus;
pub mod names;
pub mod sample;
pub mod trace;
pub mod verify;
