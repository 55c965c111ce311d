//! What happens when threads and the program end: `atexit`, destructors of static objects, of
//! thread-local objects and of thread-specific data.
//!
//! The thread that calls `exit`, or the first when `main` returns, runs the handlers; a handler that is
//! added last runs first. Then the process is over: nobody else need go on, so that no thread that waits
//! is a deadlock. Another thread than the first that calls `exit` does not go on, and whoever waits for it
//! does not either.

use super::asm::Asm;
use super::slow;
use super::specific;
use super::table::{KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, Instr, Operand};

pub const FUNCTIONS: &[Row] = &[
    row(&["__assert_fail"], USES, |c| {
        let text = c.body.tr.text_at(c.arg(0)).unwrap_or_else(|| "assertion".to_string());
        c.body.fail(FaultKind::Assertion, &format!("assertion `{text}` fails"));
        zero(c)
    }),
    row(&["abort"], KEEPS, |c| {
        if c.body.tr.is_rust {
            return super::rust::abort(c);
        }
        c.body.fail(FaultKind::Abort, "the program aborts");
        zero(c)
    }),
    row(&["exit"], KEEPS, |c| c.routine(|tr| exit(tr, true), &[])),
    row(&["_exit", "_Exit", "quick_exit"], KEEPS, |c| c.routine(|tr| exit(tr, false), &[])),
    row(&["atexit"], KEEPS, |c| c.routine(at_exit, &[c.arg(0), Operand::Const(0), Operand::Const(0)])),
    row(&["__cxa_atexit"], KEEPS, |c| c.routine(at_exit, &[c.arg(0), c.arg(1), Operand::Const(1)])),
    row(&["__cxa_thread_atexit", "__cxa_thread_atexit_impl"], KEEPS, |c| {
        c.routine(at_thread_exit, &[c.arg(0), c.arg(1), Operand::Const(1)])
    }),
];

/// How many handlers there may be, of the program and of each thread.
const HANDLERS: u64 = 64;
/// A handler: its function, its argument, whether it takes one.
const HANDLER: u64 = 24;
/// Behind the number of handlers and the lock.
const FIRST: u64 = 8;
const BYTES: usize = (FIRST + HANDLERS * HANDLER) as usize;

/// Where handlers are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Only the first thread adds any.
    First,
    /// Any thread may: under a lock.
    Shared,
    /// Of each thread.
    Thread,
}

/// `add(function, argument, takes)`: `atexit` and `__cxa_atexit`.
fn at_exit(tr: &mut Translator<'_>) -> FunctionId {
    let place = program_place(tr);
    add(tr, place)
}

/// `add(function, argument, takes)`: `__cxa_thread_atexit`.
pub fn at_thread_exit(tr: &mut Translator<'_>) -> FunctionId {
    add(tr, Place::Thread)
}

/// What the first thread does after `main`; `None` if there is nothing.
pub fn program_end(tr: &mut Translator<'_>) -> Option<FunctionId> {
    let parts = [
        has_thread_handlers(tr).then(|| run(tr, Place::Thread)),
        uses(tr, &["atexit", "__cxa_atexit"]).then(|| {
            let place = program_place(tr);
            run(tr, place)
        }),
    ];
    if parts.iter().all(Option::is_none) {
        return None;
    }
    Some(tr.routine("program end", |_| {
        let mut a = Asm::new("program end", &[]);
        for part in parts.into_iter().flatten() {
            a.call(part, &[]);
        }
        a.give(0);
        a.finish()
    }))
}

/// What the other threads do at their end, with their result; `None` if there is nothing.
pub fn thread_end(tr: &mut Translator<'_>) -> Option<FunctionId> {
    let objects = has_thread_handlers(tr).then(|| run(tr, Place::Thread));
    let specific = uses(tr, &["pthread_key_create", "tss_create"]).then(|| specific::destroy_specific(tr));
    if objects.is_none() && specific.is_none() {
        return None;
    }
    Some(tr.routine("thread end", |_| {
        let mut a = Asm::new("thread end", &["result"]);
        for part in [objects, specific].into_iter().flatten() {
            a.call(part, &[]);
        }
        let value = a.param(0);
        a.b.push(Instr::ExitThread { value });
        a.finish()
    }))
}

/// `exit`, and `_exit`, which runs no handlers.
fn exit(tr: &mut Translator<'_>, handlers: bool) -> FunctionId {
    let end = if handlers { program_end(tr) } else { None };
    let name = if handlers { "exit" } else { "_exit" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &[]);
        let dst = a.reg();
        a.b.push(Instr::ThreadSelf { dst });
        if let Some(end) = end {
            a.call(end, &[]);
        }
        a.when(dst.into(), |a| a.block(BlockReason::Exit));
        a.b.push(Instr::ExitProcess);
        a.finish()
    })
}

fn uses(tr: &Translator<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| tr.module.function(name).is_some())
}

fn has_thread_handlers(tr: &Translator<'_>) -> bool {
    uses(tr, &["__cxa_thread_atexit", "__cxa_thread_atexit_impl"]) || slow::registers(tr)
}

fn program_place(tr: &Translator<'_>) -> Place {
    match tr.only_first_calls(&["atexit", "__cxa_atexit", "exit"]) {
        true => Place::First,
        false => Place::Shared,
    }
}

/// The address of the handlers.
fn base(tr: &mut Translator<'_>, a: &mut Asm, place: Place) -> Operand {
    match place {
        Place::First => Operand::Const(tr.library_single("exit handlers", BYTES)),
        Place::Shared => Operand::Const(tr.library_global("exit handlers", BYTES)),
        Place::Thread => {
            let index = tr.library_local("thread exit handlers", BYTES);
            let dst = a.reg();
            a.b.push(Instr::ThreadLocalAddress { dst, index });
            dst.into()
        }
    }
}

fn add(tr: &mut Translator<'_>, place: Place) -> FunctionId {
    let name = if place == Place::Thread { "__cxa_thread_atexit" } else { "atexit" };
    tr.routine(name, |tr| {
        let mut a = Asm::new(name, &["function", "argument", "takes"]);
        let base = base(tr, &mut a, place);
        let lock = a.add(base, 4);
        if place == Place::Shared {
            a.b.push(Instr::Lock { address: lock });
        }
        let count = a.load(base, 4, ReadMode::Plain);
        let fits = a.cmp(CmpOp::Ult, count, HANDLERS);
        a.unless(fits, |a| a.fail(FaultKind::Unsupported, "more than 64 exit handlers are not supported"));
        let handler = handler(&mut a, base, count);
        for at in 0..3 {
            let (address, value) = (a.add(handler, 8 * at), a.param(at as usize));
            a.store(address, value, 8, WriteMode::Plain);
        }
        let more = a.add(count, 1);
        a.store(base, more, 4, WriteMode::Plain);
        if place == Place::Shared {
            a.b.push(Instr::Unlock { address: lock });
        }
        a.give(0);
        a.finish()
    })
}

/// Runs the handlers, the newest first, also those that are added meanwhile.
fn run(tr: &mut Translator<'_>, place: Place) -> FunctionId {
    let name = if place == Place::Thread { "run thread exit handlers" } else { "run exit handlers" };
    tr.routine(name, |tr| {
        let mut a = Asm::new(name, &[]);
        let base = base(tr, &mut a, place);
        let lock = a.add(base, 4);
        let head = a.b.label();
        a.b.bind(head);
        if place == Place::Shared {
            a.b.push(Instr::Lock { address: lock });
        }
        let count = a.load(base, 4, ReadMode::Plain);
        a.unless(count, |a| {
            if place == Place::Shared {
                a.b.push(Instr::Unlock { address: lock });
            }
            a.give(0);
        });
        let last = a.bin(BinOp::Sub, count, 1);
        a.store(base, last, 4, WriteMode::Plain);
        let handler = handler(&mut a, base, last);
        let words: Vec<Operand> = (0..3)
            .map(|at| {
                let address = a.add(handler, 8 * at);
                a.load(address, 8, ReadMode::Plain)
            })
            .collect();
        if place == Place::Shared {
            a.b.push(Instr::Unlock { address: lock });
        }
        let (pointer, argument) = (words[0], words[1]);
        a.when(words[2], |a| {
            a.b.push(Instr::CallPointer { pointer, args: [argument].into(), dst: None });
            a.b.jump(head);
        });
        a.b.push(Instr::CallPointer { pointer, args: [].into(), dst: None });
        a.b.jump(head);
        a.finish()
    })
}

fn handler(a: &mut Asm, base: Operand, number: Operand) -> Operand {
    let offset = a.bin(BinOp::Mul, number, HANDLER);
    let address = a.bin(BinOp::Add, base, offset);
    a.add(address, FIRST)
}
