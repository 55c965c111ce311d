//! Ends of threads in Rust's std, and ends of scopes, where nobody sees who comes last.
//!
//! A thread and its handle share a *packet* for the result. Whoever drops it last frees it, and tells the scope,
//! which counts its threads. So the order in which threads end multiplies executions. Where the result is `()`
//! and the thread did not panic, nothing but memory depends on that order. The calls here are told by the names
//! of the function that is called and of its caller, and mean:
//!
//! - a thread that ends leaves its packet alone, and says that it is done in a cell of its own ([`Step::Ends`]);
//! - who joins a thread has the packet for itself ([`Step::Joins`]): the thread is at its end;
//! - a scope does not count the threads that its own thread starts ([`Step::Starts`]). Their numbers are kept in
//!   a table of that thread, and the end of the scope waits for each of them ([`Step::Waits`]). Then it waits for
//!   the count, which has the others: threads that a thread of the scope starts, those with a result, and those
//!   that panicked, until their packet is dropped;
//! - what crossbeam's scopes share is not freed ([`Step::Frees`]).
//!
//! The scope's data and the packet lie in memory of the thread that allocated them. So both sides know which
//! threads are counted: a packet is allocated by the thread that starts the new one.
//!
//! Deviation: a scope ends although a handle of one of its threads was forgotten (`mem::forget`). std waits for ever
//! then. Where leaks are looked for, or a program asks whether a thread is finished, std is taken as it is.
//! Tested with 1.95.

use super::asm::Asm;
use crate::llvm::{Module, TypeKind, Value, ValueKind};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, RmwKind, WriteMode};
use porf_ir::layout::{self, Region};
use porf_ir::{BinOp, CmpOp, FunctionId, Instr, Operand, RmwOp};

/// What a call is, where threads or scopes begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Ends,
    Joins,
    Starts,
    Waits,
    Frees,
}

const DROP_PACKET: &str =
    "drop_in_place$LT$alloc..sync..Arc$LT$std..thread..lifecycle..Packet$LT$$LP$$RP$$GT$$GT$$GT$17h";
const SPAWN: &str = "6thread9lifecycle15spawn_unchecked17h";
const THREAD: &str = "6thread9lifecycle15spawn_unchecked28_$u7b$$u7b$closure$u7d$$u7d$17h";
const INCREMENT: &str = "9ScopeData29increment_num_running_threads";
const DECREMENT: &str = "9ScopeData29decrement_num_running_threads";
/// Of what lies in an `Arc`: the fields of `ScopeData` and `Packet<()>`.
const BEHIND_COUNTS: u64 = 16;
const COUNT: u64 = 8;
const PACKET_SCOPE: u64 = BEHIND_COUNTS;
const PACKET_RESULT: u64 = BEHIND_COUNTS + 8;
const PACKET_PANIC: u64 = BEHIND_COUNTS + 16;

/// Whether the order of ends is left out.
pub fn applies(module: &Module, leaks: bool) -> bool {
    !leaks && !module.functions().any(|function| function.name().contains("11is_finished17h"))
}

/// What a call is, by the names of the two functions.
pub fn step(module: &Module, call: Value<'_>) -> Option<Step> {
    let (callee, function) = (call.callee(), call.function());
    let (callee, caller) = (callee.name(), function.name());
    if callee.contains(DROP_PACKET) && caller.contains(THREAD) {
        Some(Step::Ends)
    } else if callee.contains("Arc$LT$T$C$A$GT$9is_unique17h")
        && caller.contains("JoinInner$LT$T$GT$4join17h")
    {
        Some(Step::Joins)
    } else if callee.ends_with(INCREMENT) && caller.contains(SPAWN) && has_no_result(module, function) {
        Some(Step::Starts)
    } else if callee.contains("4sync6atomic11atomic_load17h")
        && caller.contains("6thread6scoped5scope17h")
        && call.ty().kind() == TypeKind::Int(64)
    {
        Some(Step::Waits)
    } else if is_of_crossbeam(callee, caller) {
        Some(Step::Frees)
    } else {
        None
    }
}

/// Whether a function that spawns drops packets without a result.
fn has_no_result(module: &Module, spawn: Value<'_>) -> bool {
    let drops = |function: &Value<'_>| function.name().contains(DROP_PACKET);
    let is_here = |user: Value<'_>| user.kind() == ValueKind::Instruction && user.function() == spawn;
    module.functions().filter(drops).any(|drop| drop.users().any(is_here))
}

/// What crossbeam's `thread::scope` shares with its threads, apart from results.
fn is_of_crossbeam(callee: &str, caller: &str) -> bool {
    callee.contains("drop_in_place$LT$alloc..sync..Arc$LT$")
        && [
            "JoinHandle$LT$$LP$$RP$$GT$",
            "Mutex$LT$core..option..Option$LT$$LP$$RP$$GT$",
            "wait_group..Inner$GT$",
        ]
        .iter()
        .any(|part| callee.contains(part))
        && [
            "crossbeam_utils..thread..",
            "15crossbeam_utils6thread",
            "crossbeam_utils..sync..wait_group..WaitGroup$GT$",
        ]
        .iter()
        .any(|part| caller.contains(part))
}

/// How far an address is shifted to tell its region and the thread that allocated it.
fn shift() -> u64 {
    (0..64).find(|shift| layout::owner(1 << shift).0 == 1).unwrap_or_default()
}

/// The upper bits of what the first thread allocated.
fn heap() -> u64 {
    Region::Heap as u64 * layout::MAX_THREADS
}

/// The cells in which threads say that they are done.
fn done(tr: &mut Translator<'_>) -> u64 {
    tr.library_global("ended threads of scopes", 8 * layout::MAX_THREADS as usize)
}

/// The scope of the thread that is started next, and those of the threads that this one started.
fn table(tr: &mut Translator<'_>, a: &mut Asm) -> Operand {
    let index = tr.library_local("scopes of threads", 8 + 8 * layout::MAX_THREADS as usize);
    let dst = a.reg();
    a.b.push(Instr::ThreadLocalAddress { dst, index });
    dst.into()
}

fn cell(a: &mut Asm, base: impl Into<Operand>, thread: Operand) -> Operand {
    let offset = a.bin(BinOp::Mul, thread, 8);
    a.bin(BinOp::Add, offset, base)
}

/// `increment_num_running_threads(scope)`: the thread that starts next belongs to the scope.
pub fn starts(tr: &mut Translator<'_>, increment: FunctionId) -> FunctionId {
    tr.routine("start in scope", |tr| {
        let mut a = Asm::new("start in scope", &["scope"]);
        let scope = a.param(0);
        let me = a.reg();
        a.b.push(Instr::ThreadSelf { dst: me });
        let mine = a.add(me.into(), heap());
        let owner = a.bin(BinOp::LShr, scope, shift());
        let own = a.cmp(CmpOp::Eq, owner, mine);
        a.when(own, |a| {
            let next = table(tr, a);
            a.store(next, scope, 8, WriteMode::Plain);
            a.give(0);
        });
        a.call(increment, &[scope]);
        a.give(0);
        a.finish()
    })
}

/// After a thread was created: to which scope it belongs.
pub fn created(tr: &mut Translator<'_>, a: &mut Asm, thread: Operand) {
    if !tr.ends_threads || !tr.module.functions().any(|function| function.name().ends_with(INCREMENT)) {
        return;
    }
    let next = table(tr, a);
    let scope = a.load(next, 8, ReadMode::Plain);
    a.when(scope, |a| {
        let known = a.add(next, 8);
        let known = cell(a, known, thread);
        a.store(known, scope, 8, WriteMode::Plain);
        a.store(next, 0, 8, WriteMode::Plain);
    });
}

/// What the count of a scope is, once all threads are done that it does not count.
pub fn waits(tr: &mut Translator<'_>) -> FunctionId {
    let done = done(tr);
    tr.routine("end of scope", |tr| {
        let mut a = Asm::new("end of scope", &["count"]);
        let count = a.param(0);
        let scope = a.bin(BinOp::Sub, count, COUNT);
        let next = table(tr, &mut a);
        let scopes = a.add(next, 8);
        a.steps(
            0,
            1,
            |a, thread| a.cmp(CmpOp::Ult, thread, layout::MAX_THREADS),
            |a, thread| {
                let known = cell(a, scopes, thread);
                let known = a.load(known, 8, ReadMode::Plain);
                let belongs = a.cmp(CmpOp::Eq, known, scope);
                a.when(belongs, |a| {
                    let done = cell(a, done, thread);
                    let done = a.load(done, 8, ReadMode::Acquire);
                    a.unless(done, |a| a.block(BlockReason::Spin));
                });
            },
        );
        let count = a.load(count, 8, ReadMode::Acquire);
        a.give(count);
        a.finish()
    })
}

/// A thread drops its packet: `drop` is what std would do.
pub fn ends(tr: &mut Translator<'_>, drop: FunctionId) -> Result<FunctionId, String> {
    let decrement = tr.module.functions().find(|function| function.name().ends_with(DECREMENT));
    let decrement = decrement.map(|function| tr.function_id(function)).transpose()?;
    let done = done(tr);
    Ok(tr.routine(&format!("end of thread {}", drop.0), |_| {
        let mut a = Asm::new("end of thread", &["packet"]);
        let place = a.param(0);
        let packet = a.load(place, 8, ReadMode::Plain);
        let field = |a: &mut Asm, at: u64| {
            let address = a.add(packet, at);
            a.load(address, 8, ReadMode::Plain)
        };
        let (scope, there) = (field(&mut a, PACKET_SCOPE), field(&mut a, PACKET_RESULT));
        let ok = a.reg();
        a.b.push(Instr::Move { dst: ok, src: Operand::Const(0) });
        a.when(there, |a| {
            let panic = a.add(packet, PACKET_PANIC);
            let panic = a.load(panic, 8, ReadMode::Plain);
            a.unless(panic, |a| a.b.push(Instr::Move { dst: ok, src: Operand::Const(1) }));
        });
        a.unless(scope, |a| {
            a.unless(ok.into(), |a| {
                a.call(drop, &[place]);
            });
            a.give(0);
        });
        let (scope_owner, packet_owner) =
            (a.bin(BinOp::LShr, scope, shift()), a.bin(BinOp::LShr, packet, shift()));
        let region = a.bin(BinOp::UDiv, scope_owner, layout::MAX_THREADS);
        let same = a.cmp(CmpOp::Eq, scope_owner, packet_owner);
        let in_heap = a.cmp(CmpOp::Eq, region, Region::Heap as u64);
        let own = a.bin(BinOp::And, same, in_heap);
        let data = a.add(scope, BEHIND_COUNTS);
        a.when(own, |a| {
            a.unless(ok.into(), |a| {
                // From here on it is counted, until the packet is dropped.
                let (dst, address) = (a.reg(), a.add(data, COUNT));
                let (read, write) = (ReadMode::Relaxed, WriteMode::Relaxed);
                let (op, operand, kind) = (RmwOp::Add, Operand::Const(1), RmwKind::Amo);
                a.b.push(Instr::Rmw { dst, op, address, operand, size: 8, read, write, kind });
                a.call(drop, &[place]);
            });
            let me = a.reg();
            a.b.push(Instr::ThreadSelf { dst: me });
            let done = cell(a, done, me.into());
            a.store(done, 1, 8, WriteMode::Release);
            a.give(0);
        });
        a.unless(ok.into(), |a| {
            a.call(drop, &[place]);
            a.give(0);
        });
        if let Some(decrement) = decrement {
            a.call(decrement, &[data, Operand::Const(0)]);
        }
        a.give(0);
        a.finish()
    }))
}
