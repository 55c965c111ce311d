//! Parts of Rust's std that say the same in fewer events.
//!
//! std spins before it waits, keeps lists of what a thread must clean up under locks, and so on: all of that
//! multiplies executions and shows nothing of the user's program. The functions here are taken in place of
//! std's own, by their names:
//!
//! - A contended `Mutex` or `RwLock` waits for the lock. The values in its cell are those of std's inlined
//!   fast paths, apart from the marks for waiting threads, which nobody looks at.
//! - The end of a scope waits for its counter, not to be unparked.
//! - Destructors of thread-locals are registered in the thread itself, not through a key that all threads
//!   share.
//! - The handle of a thread, and what all threads of a scope share, are not freed, unless leaks are looked for.
//!   Their counters of owners would be touched by every thread that ends, in any order, and nothing but memory
//!   depends on who comes last.
//! - A thread that waits for a message, or for room in a channel, looks again until there is one. Nobody wakes
//!   it. With a deadline it waits as std does until the time is over, and looks again: to be woken before is to
//!   have looked later.
//! - `print!` and `eprint!` write nothing; `Backoff` waits not at all, and has waited enough.
//!
//! The names are private to std and change with its versions: one that is not found is not replaced, and the
//! program runs as std has it, only longer. `Options::real_std` does without all of this.
//! Tested with 1.95.

use super::asm::Asm;
use super::ending::at_thread_exit;
use super::mutex::count;
use super::table::{Call, KEEPS, Lowered, Row, nothing, row};
use crate::llvm::{Module, Opcode, Value, ValueKind};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode};
use porf_ir::{BinOp, CmpOp, FunctionId, Instr, Operand};
use std::collections::HashMap;

/// By names as both manglings have them: the parts of the path, in order.
const FUNCTIONS: &[Row] = &[
    row(&["*4sync5mutex5futex*5Mutex14lock_contended*", "*4sync5mutex5futex*5Mutex4lock17h*"], KEEPS, |c| {
        c.push(Instr::Lock { address: c.arg(0) });
        nothing(c)
    }),
    row(&["*6rwlock5futex*6RwLock14read_contended*", "*6rwlock5futex*6RwLock4read17h*"], KEEPS, |c| {
        c.same(read_lock)
    }),
    row(&["*6rwlock5futex*6RwLock15write_contended*", "*6rwlock5futex*6RwLock5write17h*"], KEEPS, |c| {
        c.same(write_lock)
    }),
    row(&["*12thread_local5guard3key6enable"], KEEPS, register),
    row(
        &[
            "*14stack_overflow*19delete_current_info*",
            "*14stack_overflow*12drop_handler*",
            "*2io5stdio6__print*",
            "*2io5stdio7__eprint*",
            "*2io5stdio6_print*",
            "*2io5stdio7_eprint*",
            "*4mpmc5waker9SyncWaker6notify17h*",
            "*4mpmc5waker9SyncWaker10disconnect17h*",
            "*7Backoff10spin_heavy*",
            "*7Backoff10spin_light*",
            "*7Backoff4spin17h*",
            "*7Backoff6snooze17h*",
        ],
        KEEPS,
        nothing,
    ),
    // Whoever has waited enough does something else: park, or give up.
    row(&["*7Backoff12is_completed17h*"], KEEPS, |_| Ok(vec![Operand::Const(1)])),
];

/// What is left unfreed.
const UNFREED: &[Row] = &[row(
    &[
        "*drop_in_place$LT$std..thread..thread..Thread$GT$17h*",
        "*drop_in_place$LT$alloc..sync..Arc$LT$std..thread..scoped..ScopeData$GT$$GT$17h*",
    ],
    KEEPS,
    nothing,
)];

/// All bits of the counter of a `RwLock`: it is locked for writing.
const WRITE_LOCKED: u64 = 0x3fff_ffff;

/// The functions of a module that are replaced.
pub fn replaced(module: &Module, leaks: bool) -> HashMap<Value<'_>, &'static Row> {
    let unfreed: &[Row] = if leaks { &[] } else { UNFREED };
    let find = |name: &str| FUNCTIONS.iter().chain(unfreed).find(|row| row.is_for(name));
    module
        .functions()
        .filter(|function| !function.is_declaration())
        .filter_map(|function| find(function.name()).map(|row| (function, row)))
        .collect()
}

/// A lock that a compare-and-swap takes, or else a function that waits for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fast {
    Mutex,
    Write,
}

/// Whether a call or instruction is the fast path to a lock: the same function hands the address to the slow
/// path.
pub fn fast_path(at: Value<'_>) -> Option<Fast> {
    let address = match at.opcode() {
        Opcode::CmpXchg => at.operand(0),
        _ if at.callee().name().contains("atomic_compare_exchange") => at.operand(0),
        _ => return None,
    };
    let function = at.function();
    address.users().find_map(|user| {
        if !matches!(user.opcode(), Opcode::Call | Opcode::Invoke)
            || user.kind() != ValueKind::Instruction
            || user.function() != function
        {
            return None;
        }
        let name = user.callee().name();
        if name.contains("5Mutex14lock_contended") {
            Some(Fast::Mutex)
        } else if name.contains("6RwLock15write_contended") {
            Some(Fast::Write)
        } else {
            None
        }
    })
}

/// The nanoseconds of an `Option<Instant>` that is `None`.
pub const NO_DEADLINE: u64 = 1_000_000_000;

/// Whether a call waits, in a channel, for a message or for room.
pub fn is_wait_of_channel(call: Value<'_>) -> bool {
    let (callee, caller) = (call.callee(), call.function());
    callee.name().contains("4mpmc7context7Context4with17h")
        && [
            "4mpmc4list16Channel$LT$T$GT$4recv17h",
            "4mpmc5array16Channel$LT$T$GT$4recv17h",
            "4mpmc5array16Channel$LT$T$GT$4send17h",
        ]
        .iter()
        .any(|part| caller.name().contains(part))
}

/// Whether a call parks the thread at the end of a scope, where it waits for a counter anyway.
pub fn is_park_of_scope(call: Value<'_>) -> bool {
    let name = call.callee().name();
    (name.ends_with("6Thread4park") || name.contains("6Thread4park17h"))
        && call.function().name().contains("6thread6scoped5scope")
}

/// Takes the lock where its fast path would try to.
pub fn take(tr: &mut Translator<'_>, fast: Fast, address: Operand) -> Instr {
    match fast {
        Fast::Mutex => Instr::Lock { address },
        Fast::Write => {
            let function = write_lock(tr);
            Instr::Call { function, args: [address].into(), dst: None }
        }
    }
}

/// One more reader, once nobody writes.
fn read_lock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("RwLock::read", |_| {
        let mut a = Asm::new("RwLock::read", &["lock"]);
        let lock = a.param(0);
        let before = a.load(lock, 4, ReadMode::Relaxed);
        let free = a.cmp(CmpOp::Ult, before, WRITE_LOCKED - 1);
        a.unless(free, |a| a.block(BlockReason::Lock));
        let after = a.bin(BinOp::Add, before, 1);
        count(&mut a, lock, before, after);
        a.give(0);
        a.finish()
    })
}

/// The only writer, once nobody reads or writes.
fn write_lock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("RwLock::write", |_| {
        let mut a = Asm::new("RwLock::write", &["lock"]);
        let old = a.cas(a.param(0), Operand::Const(0), WRITE_LOCKED);
        a.when(old, |a| a.block(BlockReason::Lock));
        a.give(0);
        a.finish()
    })
}

/// Destructors run at the end of the thread, by the function that the key would have called.
fn register(c: &mut Call<'_, '_, '_>) -> Lowered {
    let tr = &mut *c.body.tr;
    let run = tr.module.functions().find(|function| is_run(function.name()));
    let run = run.ok_or("thread-local destructors of another std than the one that is known")?;
    let run = Operand::Const(tr.constant_word(run)?);
    let enable = enable(tr);
    c.push(Instr::Call { function: enable, args: [run].into(), dst: None });
    nothing(c)
}

fn is_run(name: &str) -> bool {
    name.contains("12thread_local5guard3key6enable3run")
}

/// Once in each thread.
fn enable(tr: &mut Translator<'_>) -> FunctionId {
    let add = at_thread_exit(tr);
    let index = tr.library_local("destructors are registered", 8);
    tr.routine("guard::enable", |_| {
        let mut a = Asm::new("guard::enable", &["run"]);
        let flag = a.reg();
        a.b.push(Instr::ThreadLocalAddress { dst: flag, index });
        let done = a.load(flag.into(), 8, ReadMode::Plain);
        a.unless(done, |a| {
            a.store(flag.into(), 1, 8, porf_event::WriteMode::Plain);
            a.call(add, &[a.param(0), Operand::Const(1), Operand::Const(1)]);
        });
        a.give(0);
        a.finish()
    })
}

/// Whether threads of the program have destructors to run at their end.
pub fn registers(tr: &Translator<'_>) -> bool {
    tr.replaced.keys().any(|function| function.name().contains("12thread_local5guard3key6enable"))
}
