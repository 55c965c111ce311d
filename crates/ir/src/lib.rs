//! One small language for every front end: threads over registers and shared memory.
//!
//! A [`Program`] has named memory ([`Global`]), functions of flat code ([`Function`], a list of
//! [`Instr`] with jumps by index) and the threads that run from the start. Registers hold 64-bit
//! values; narrower arithmetic names its width. Pointers are plain numbers: globals have fixed
//! addresses, so address arithmetic and dependencies through it need no special case.
//!
//! What an instruction does is defined by `porf-interp`; what its events mean, by a memory model.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod builder;
mod cells;
mod extended;
mod fault;
mod indifferent;
mod input;
mod instr;
mod join;
pub mod layout;
mod live;
mod mapping;
mod math;
mod ordering;
mod program;
mod shape;
mod split;
mod text;
mod validate;

pub use builder::{FunctionBuilder, JumpLabel};
pub use extended::ExtendedOp;
pub use fault::FaultKind;
pub use input::{Domain, InputType, InputValues};
pub use instr::{BinOp, CmpOp, HeldOp, Instr, Operand, Reg, RmwOp, Target, Width};
pub use layout::{AllocKind, Image, LeftOut, Region, Single, ThreadLocal, Written};
pub use live::Liveness;
pub use mapping::Unmapped;
pub use math::{FloatOp, FloatOutcomes, IntOp, MathOp, Precision, WideOp};
pub use ordering::{Change, MemoryOrder, Operation, Site};
pub use porf_model::Machine;
pub use program::{Function, FunctionId, Global, InitCell, Program, Span, ThreadEntry};
pub use shape::{Field, Shape};
pub use split::{Part, Split};
pub use text::{parse, print};
pub use validate::{Malformed, validate};
