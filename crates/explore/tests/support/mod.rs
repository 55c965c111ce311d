//! An independent way to all executions of small programs, and random programs to try it on.
//!
//! Nothing here is shared with the search: graphs are plain lists, built in every order, and the
//! axioms are written down over bit matrices.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod axioms;
pub mod brute;
pub mod chain;
pub mod dependent;
pub mod generate;
