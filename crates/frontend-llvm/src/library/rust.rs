//! What Rust's standard library asks of the system, beyond what C programs use.
//!
//! The system is a small one: no files, no handlers of signals, nothing random. What is written to
//! standard error is kept until the thread panics: std writes the message of a panic there, so that we need
//! not know how it formats one. A panic begins where std calls `_Unwind_RaiseException`.
//!
//! A futex is waited for by reading it: the thread goes on where it reads another value. Waking is not
//! needed for that. Time passes only where a thread sleeps or a wait times out, as in [`super::system`].

use super::asm::Asm;
use super::system::{passing, set_errno};
use super::table::{Call, KEEPS, Lowered, Row, USES, nothing, row, zero};
use super::{memory, mutex};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, WriteMode};
use porf_ir::layout;
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, Instr, IntOp, MathOp, Operand, Width};

pub const FUNCTIONS: &[Row] = &[
    row(
        &[
            "poll",
            "sigaltstack",
            "mprotect",
            "getauxval",
            "getcwd",
            "_Unwind_DeleteException",
            "__gcc_personality_v0",
            "close",
            // Nothing forks here, so that nothing is called.
            "pthread_atfork",
        ],
        USES,
        zero,
    ),
    // A handler is set already: std then sets none of its own.
    row(&["sigaction"], USES, |c| c.same(signal_action)),
    row(&["sysconf"], USES, |c| c.same(system_limit)),
    row(&["pthread_getattr_np"], USES, |_| Ok(vec![Operand::Const(EINVAL)])),
    row(&["open64", "open", "stat64", "lstat64", "statx", "access"], USES, |c| c.routine(no_file, &[])),
    row(&["readlink"], USES, |c| {
        c.routine(no_file, &[])?;
        Ok(vec![Operand::Const(u64::MAX)])
    }),
    // Standard input is empty, and nothing else can be open. C programs are told that they cannot read.
    row(&["read"], USES, |c| match c.body.tr.is_rust {
        true => Ok(vec![Operand::Const(0)]),
        false => Err("a call of read".to_string()),
    }),
    row(&["getpid"], USES, |_| Ok(vec![Operand::Const(1000)])),
    row(&["gettid"], USES, |c| {
        let dst = c.body.b.register("");
        c.push(Instr::ThreadSelf { dst });
        Ok(vec![c.body.add(dst.into(), 1000)])
    }),
    row(&["sched_getaffinity"], USES, |c| c.same(processors)),
    row(&["getrandom"], USES, |c| c.same(random)),
    row(&["dlsym"], USES, |c| c.same(symbol)),
    row(&["write"], USES, |c| c.same(write)),
    row(&["writev"], USES, |c| c.same(write_vector)),
    row(&["clock_nanosleep"], USES, |c| c.same(sleep)),
    row(&["syscall"], KEEPS, |c| c.same(system_call)),
    // There is nothing to show: the report has the calls.
    row(&["_Unwind_Backtrace"], USES, |_| Ok(vec![Operand::Const(END_OF_STACK)])),
    row(&["_Unwind_RaiseException"], KEEPS, |c| {
        let text = standard_error(c);
        c.push(Instr::Unwind { exception: c.arg(0), text, uncaught: None });
        zero(c)
    }),
];

const EINVAL: u64 = 22;
const ENOENT: u64 = 2;
const ENOSYS: u64 = 38;
const SYS_GETTID: u64 = 186;
const SYS_FUTEX: u64 = 202;
const SYS_GETRANDOM: u64 = 318;
const FUTEX_WAIT: u64 = 0;
const FUTEX_WAIT_BITSET: u64 = 9;
/// All but the flags of a futex operation.
const FUTEX_COMMAND: u64 = 127;
/// `_URC_END_OF_STACK`.
const END_OF_STACK: u64 = 5;
/// How many bytes of standard error a thread keeps.
const KEPT: u64 = 1024;
const STANDARD_ERROR: &str = "standard error";
const PAGE: u64 = 4096;

/// `abort` of a Rust program: what it said before is why.
pub fn abort(c: &mut Call<'_, '_, '_>) -> Lowered {
    let text = standard_error(c);
    c.push(Instr::FailWith { kind: FaultKind::Panic, text });
    nothing(c)
}

/// The address of what the thread wrote to standard error: how many bytes, and the bytes.
fn standard_error(c: &mut Call<'_, '_, '_>) -> Operand {
    let index = c.body.tr.library_local(STANDARD_ERROR, (8 + KEPT) as usize);
    let dst = c.body.b.register("");
    c.push(Instr::ThreadLocalAddress { dst, index });
    dst.into()
}

/// `syscall(number, arguments)`: futexes, random numbers, and which thread it is. The arguments are 8 bytes each.
fn system_call(tr: &mut Translator<'_>) -> FunctionId {
    let (random, later) = (random(tr), passing(tr, false));
    tr.routine("syscall", |tr| {
        let mut a = Asm::new("syscall", &["number", "arguments"]);
        let (number, arguments) = (a.param(0), a.param(1));
        let argument = |a: &mut Asm, at: u64| {
            let address = a.add(arguments, 8 * at);
            a.load(address, 8, ReadMode::Plain)
        };
        let is_thread = a.cmp(CmpOp::Eq, number, SYS_GETTID);
        a.when(is_thread, |a| {
            let thread = a.reg();
            a.b.push(Instr::ThreadSelf { dst: thread });
            let id = a.add(thread.into(), 1000);
            a.give(id);
        });
        // A call without arguments has none to load.
        let is_random = a.cmp(CmpOp::Eq, number, SYS_GETRANDOM);
        a.when(is_random, |a| {
            let (place, size) = (argument(a, 0), argument(a, 1));
            let count = a.call(random, &[place, size, Operand::Const(0)]);
            a.give(count);
        });
        let is_futex = a.cmp(CmpOp::Eq, number, SYS_FUTEX);
        a.unless(is_futex, |a| {
            set_errno(tr, a, ENOSYS);
            a.give(u64::MAX);
        });
        let (word, operation) = (argument(&mut a, 0), argument(&mut a, 1));
        let command = a.bin(BinOp::And, operation, FUTEX_COMMAND);
        let plain = a.cmp(CmpOp::Eq, command, FUTEX_WAIT);
        let bitset = a.cmp(CmpOp::Eq, command, FUTEX_WAIT_BITSET);
        let waits = a.bin(BinOp::Or, plain, bitset);
        a.unless(waits, |a| a.give(0));
        let value = argument(&mut a, 2);
        let value = a.bin(BinOp::And, value, u64::from(u32::MAX));
        let deadline = argument(&mut a, 3);
        a.when(deadline, |a| {
            let dst = a.reg();
            a.b.push(Instr::Nondet { dst, options: 2 });
            a.when(dst.into(), |a| {
                if let Some(later) = later {
                    a.call(later, &[deadline]);
                }
                set_errno(tr, a, mutex::ETIMEDOUT);
                a.give(u64::MAX);
            });
        });
        let now = a.load(word, 4, ReadMode::SeqCst);
        let same = a.cmp(CmpOp::Eq, now, value);
        a.when(same, |a| {
            // One that waits in vain times out.
            a.when(deadline, |a| a.block(BlockReason::Assume));
            // In Rust's std that is how threads wait for each other; in C++ an atomic is awaited.
            a.block(if tr.is_rust { BlockReason::Lock } else { BlockReason::Spin });
        });
        a.give(0);
        a.finish()
    })
}

/// `clock_nanosleep(clock, flags, time)`.
fn sleep(tr: &mut Translator<'_>) -> FunctionId {
    let (by, until) = (passing(tr, true), passing(tr, false));
    tr.routine("clock_nanosleep", |_| {
        let mut a = Asm::new("clock_nanosleep", &["clock", "flags", "time"]);
        let (flags, time) = (a.param(1), a.param(2));
        let absolute = a.bin(BinOp::And, flags, 1);
        if let (Some(by), Some(until)) = (by, until) {
            a.when(absolute, |a| {
                a.call(until, &[time]);
                a.give(0);
            });
            a.call(by, &[time]);
        }
        a.give(0);
        a.finish()
    })
}

fn signal_action(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("sigaction", |_| {
        let mut a = Asm::new("sigaction", &["signal", "new", "old"]);
        let old = a.param(2);
        a.when(old, |a| a.store(old, 1, 8, WriteMode::Plain));
        a.give(0);
        a.finish()
    })
}

fn system_limit(tr: &mut Translator<'_>) -> FunctionId {
    const PAGE_SIZE: u64 = 30;
    const PROCESSORS: u64 = 84;
    tr.routine("sysconf", |_| {
        let mut a = Asm::new("sysconf", &["name"]);
        let name = a.param(0);
        for (known, value) in [(PAGE_SIZE, PAGE), (PROCESSORS, 2)] {
            let is = a.cmp(CmpOp::Eq, name, known);
            a.when(is, |a| a.give(value));
        }
        a.give(u64::MAX);
        a.finish()
    })
}

fn no_file(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("open", |tr| {
        let mut a = Asm::new("open", &[]);
        set_errno(tr, &mut a, ENOENT);
        a.give(u64::from(u32::MAX));
        a.finish()
    })
}

/// Two processors.
fn processors(tr: &mut Translator<'_>) -> FunctionId {
    let fill = memory::set_bytes(tr);
    tr.routine("sched_getaffinity", |_| {
        let mut a = Asm::new("sched_getaffinity", &["process", "size", "set"]);
        let (size, set) = (a.param(1), a.param(2));
        a.call(fill, &[set, Operand::Const(0), size]);
        a.store(set, 3, 1, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// `dlsym`, which crates ask for `getrandom`. It finds nothing else.
fn symbol(tr: &mut Translator<'_>) -> FunctionId {
    let found = random(tr);
    tr.routine("dlsym", |_| {
        let mut a = Asm::new("dlsym", &["handle", "name"]);
        for (at, byte) in b"getrandom\0".iter().enumerate() {
            let address = a.add(a.param(1), at as u64);
            let there = a.load(address, 1, ReadMode::Plain);
            let same = a.cmp(CmpOp::Eq, there, u64::from(*byte));
            a.unless(same, |a| a.give(0));
        }
        a.give(layout::function_address(found));
        a.finish()
    })
}

/// The same bytes each time: an execution must be a function of the choices that are made.
fn random(tr: &mut Translator<'_>) -> FunctionId {
    let fill = memory::set_bytes(tr);
    tr.routine("getrandom", |_| {
        let mut a = Asm::new("getrandom", &["to", "length", "flags"]);
        a.call(fill, &[a.param(0), Operand::Const(0x5a), a.param(1)]);
        a.give(a.param(1));
        a.finish()
    })
}

/// Keeps what goes to standard error, as far as there is room.
fn write(tr: &mut Translator<'_>) -> FunctionId {
    let copy = memory::move_bytes(tr);
    tr.routine("write", |tr| {
        let mut a = Asm::new("write", &["file", "from", "length"]);
        let (from, length) = (a.param(1), a.param(2));
        let is_error = a.cmp(CmpOp::Eq, a.param(0), 2);
        a.when(is_error, |a| {
            let index = tr.library_local(STANDARD_ERROR, (8 + KEPT) as usize);
            let kept = a.reg();
            a.b.push(Instr::ThreadLocalAddress { dst: kept, index });
            let before = a.load(kept.into(), 8, ReadMode::Plain);
            let dst = a.reg();
            a.b.push(Instr::Bin {
                dst,
                op: BinOp::Sub,
                width: Width::W64,
                a: Operand::Const(KEPT),
                b: before,
            });
            let room = dst;
            let fits = a.reg();
            let op = MathOp::Integer(IntOp::UMin, Width::W64);
            a.b.push(Instr::Math { dst: fits, op, a: length, b: room.into() });
            let to = a.bin(BinOp::Add, kept.into(), before);
            let to = a.add(to, 8);
            a.call(copy, &[to, from, fits.into()]);
            let after = a.bin(BinOp::Add, before, fits);
            a.store(kept.into(), after, 8, WriteMode::Plain);
        });
        a.give(length);
        a.finish()
    })
}

fn write_vector(tr: &mut Translator<'_>) -> FunctionId {
    let write = write(tr);
    tr.routine("writev", |_| {
        let mut a = Asm::new("writev", &["file", "vector", "count"]);
        let (file, vector) = (a.param(0), a.param(1));
        let sum = a.reg();
        a.b.push(Instr::Move { dst: sum, src: Operand::Const(0) });
        let bytes = a.bin(BinOp::Mul, a.param(2), 16);
        a.steps(
            0,
            16,
            |a, at| a.cmp(CmpOp::Ult, at, bytes),
            |a, at| {
                let part = a.bin(BinOp::Add, vector, at);
                let from = a.load(part, 8, ReadMode::Plain);
                let part = a.add(part, 8);
                let length = a.load(part, 8, ReadMode::Plain);
                a.call(write, &[file, from, length]);
                a.b.push(Instr::Bin {
                    dst: sum,
                    op: BinOp::Add,
                    width: Width::W64,
                    a: sum.into(),
                    b: length,
                });
            },
        );
        a.give(sum);
        a.finish()
    })
}
