//! A safe view of LLVM: a module that is read, and handles for its values, types and blocks.
//!
//! A handle borrows from its [`Module`], which only changes through `&mut`. A getter that LLVM offers
//! for some values only panics when asked about another one, by an assertion of [`api`], instead of
//! crashing inside LLVM.

mod api;
mod find;
mod kinds;
mod module;
mod native;
mod ty;
mod value;

pub use find::{prefer, version};
pub use kinds::{Opcode, Ordering, TypeKind, ValueKind};
pub use module::Module;
pub use ty::{Block, Type};
pub use value::Value;
