//! The text form of programs: a small language to write them in, and what the printer gives back.
//!
//! ```text
//! program MP
//! global data, flag = 0, table[8], m
//! fn reader(limit) {
//!     r = flag.acq                    // load: na rlx acq sc
//!     while r == 0 { r = flag.acq }   // a loop without effect waits instead of spinning
//!     d = data.rlx
//!     assert d == 1, "stale data"
//!     old = table[d].fetch_add(1, acqrel)
//!     was = data.cas(1, 2, sc, rlx)   // expected, new, order, order on failure
//!     lock m
//!     unlock m
//!     return d
//! }
//! thread P0 { data.rlx = 1; flag.rel = 1; fence sc }
//! thread P1 = reader(3)
//! ```
//!
//! Variables are 4 bytes unless declared `name: 8`. `&x` is an address, `*r` the cell that a register
//! points to. Names that are not globals are registers. An expression ends with its line. Arithmetic is
//! unsigned, on 64 bits. Every instruction that front ends other than C's use also has a flat form
//! (`%3 = add.32 %1, 7`, `if %3 goto L1 else L2`, `L1:`). [`print`] writes the flat form, and parsing that
//! gives the same program.
//!
//! Limits: instructions that only C programs use (private memory, floats, …) print as a comment and
//! cannot be read back.

mod expression;
mod flat;
mod lex;
mod parse;
mod print;
mod words;

pub use parse::parse;
pub use print::print;
