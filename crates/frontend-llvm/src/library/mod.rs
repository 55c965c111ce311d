//! What the program calls and does not define: C's library, threads, the verifier's own functions.
//!
//! Each family has a table of its functions in its own file ([`table`] says what a row is). Small
//! functions are written where they are called; larger ones are routines in our IR, made once per
//! program. `docs/adding-a-library-function.md` tells how to add one.

pub mod asm;
mod condition;
mod cpp;
pub mod ending;
mod heap;
mod input;
pub mod intrinsics;
mod jump;
mod kernel;
mod math;
pub mod memory;
mod mutex;
mod output;
mod own;
mod rust;
mod rwlock;
pub mod scope;
pub mod slow;
mod specific;
mod stream;
pub mod stub;
mod system;
mod table;
mod thread;
pub mod verifier;
mod waiting;

use crate::llvm::Value;
use crate::translate::Body;
use porf_ir::Operand;
pub use table::Row;
use table::find;
pub use table::{Lowered, Treatment};
pub use waiting::settle_barriers;

/// What gets the address of a variable that must stay in memory, and does nothing with it: see
/// [`crate::promote`].
pub const KEEPER: &std::ffi::CStr = c"__porf_keep";

/// Asks whether a handler for a type catches an exception: see `runtime/exceptions.cpp`.
pub const CATCHES: &str = "__porf_catches";
/// Runs the handlers of `pthread_cleanup_push`: see `runtime/cancel.c`.
const CLEANUP: &str = "__porf_run_cleanup";
/// What our own parts define for us: it is kept although the program does not name it.
pub const HOOKS: &[&str] = &[CATCHES, CLEANUP];

/// Functions that wait and are cancellation points (POSIX 2.9.5.2) where we do not end the wait.
const WAITING_POINTS: &[&str] = &[
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "sem_wait",
    "sem_timedwait",
    "cnd_wait",
    "cnd_timedwait",
];

/// The tables of all families; among patterns the first that fits is taken.
const FAMILIES: &[&[Row]] = &[
    heap::FUNCTIONS,
    memory::FUNCTIONS,
    output::FUNCTIONS,
    own::FUNCTIONS,
    ending::FUNCTIONS,
    system::FUNCTIONS,
    rust::FUNCTIONS,
    thread::FUNCTIONS,
    specific::FUNCTIONS,
    mutex::FUNCTIONS,
    rwlock::FUNCTIONS,
    condition::FUNCTIONS,
    waiting::FUNCTIONS,
    cpp::FUNCTIONS,
    stream::FUNCTIONS,
    verifier::FUNCTIONS,
    input::FUNCTIONS,
    kernel::FUNCTIONS,
    jump::FUNCTIONS,
    math::FUNCTIONS,
];

/// What becomes of argument `index` of function `name`.
pub fn treatment(name: &str, index: usize) -> Treatment {
    find(name).map_or(Treatment::Keeps, |row| row.treatment(index))
}

/// Whether a function is taken from here: it has no body, or one that we do not want.
pub fn provides(function: Value<'_>) -> bool {
    function.is_declaration() || find(function.name()).is_some_and(Row::replaces)
}

/// Writes a call of a library function, whose result is used or not; its result, word by word.
pub fn call(body: &mut Body<'_, '_>, name: &str, args: &[Operand], used: bool) -> Lowered {
    if WAITING_POINTS.contains(&name) && body.tr.module.function("pthread_cancel").is_some() {
        return Err(format!("{name} in a program that cancels threads"));
    }
    match find(name) {
        Some(row) => row.lower(body, name, args, used),
        None => {
            let name = stub::source_name(name);
            Err(format!("a call of {name}, which the program does not define and --stub does not name,"))
        }
    }
}

fn constant(operand: Operand) -> Option<u64> {
    match operand {
        Operand::Const(value) => Some(value),
        Operand::Reg(_) => None,
    }
}
