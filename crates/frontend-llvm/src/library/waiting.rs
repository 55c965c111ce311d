//! Barriers, semaphores, and what runs once.

use super::asm::Asm;
use super::mutex::{ETIMEDOUT, count, unless_destroyed};
use super::system::set_errno;
use super::table::{KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, Instr, Liveness, Operand, RmwOp, layout};

const EAGAIN: u64 = 11;
const EINVAL: u64 = 22;
/// What a semaphore function returns where it fails.
const FAILED: u64 = 0xffff_ffff;
/// `PTHREAD_BARRIER_SERIAL_THREAD`
const ONE_THREAD: u64 = 0xffff_ffff;
/// The name of the routine that tells it.
const SERIAL: &str = "barrier_wait serial";

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_barrier_init"], KEEPS, |c| c.routine(barrier_init, &[c.arg(0), c.arg(2)])),
    row(&["pthread_barrier_wait"], KEEPS, |c| {
        c.same(if c.used { barrier_wait_serial } else { barrier_wait })
    }),
    row(&["pthread_barrier_destroy"], KEEPS, |c| c.same(barrier_destroy)),
    row(&["pthread_barrierattr_init", "pthread_barrierattr_destroy"], USES, zero),
    row(&["pthread_once", "call_once"], KEEPS, |c| c.same(once)),
    row(&["sem_init"], KEEPS, |c| {
        c.push(Instr::Store { address: c.arg(0), value: c.arg(2), size: 4, mode: WriteMode::Plain });
        zero(c)
    }),
    row(&["sem_wait"], KEEPS, |c| c.same(|tr| semaphore_wait(tr, None))),
    row(&["sem_trywait"], KEEPS, |c| c.same(|tr| semaphore_wait(tr, Some(EAGAIN)))),
    // One that waits in vain times out; one that gets the semaphore later might have got it at once.
    row(&["sem_timedwait", "sem_clockwait"], KEEPS, |c| c.same(|tr| semaphore_wait(tr, Some(ETIMEDOUT)))),
    row(&["sem_post"], KEEPS, |c| c.same(semaphore_post)),
    row(&["sem_destroy"], KEEPS, |c| c.same(semaphore_destroy)),
    row(&["sem_getvalue"], KEEPS, |c| {
        let dst = c.body.b.register("");
        c.push(Instr::Load { dst, address: c.arg(0), size: 4, mode: ReadMode::Relaxed });
        c.push(Instr::Store { address: c.arg(1), value: dst.into(), size: 4, mode: WriteMode::Plain });
        zero(c)
    }),
];

/// The number of threads at the address, how many came so far 4 bytes behind it.
fn barrier_init(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("barrier_init", |_| {
        let mut a = Asm::new("barrier_init", &["barrier", "count"]);
        let (barrier, count) = (a.param(0), a.param(1));
        a.unless(count, |a| a.give(EINVAL));
        // Memory that was never written is no barrier yet.
        let before = a.reg();
        a.b.push_move(Instr::Load { dst: before, address: barrier, size: 4, mode: ReadMode::Plain });
        let old = a.cmp(CmpOp::Eq, before.into(), layout::DESTROYED);
        a.unless(old, |a| {
            a.when(before.into(), |a| {
                a.fail(FaultKind::Lock, "initialisation of a barrier that is initialised already")
            })
        });
        a.store(barrier, count, 4, WriteMode::Plain);
        let arrived = a.add(barrier, 4);
        a.store(arrived, 0, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// Where nobody asks for the result, nobody sees in which order the threads came: they are counted by
/// [`RmwKind::Barrier`], and all of them, the last one too, look whether they may go on.
fn barrier_wait(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("barrier_wait", |_| {
        let mut a = Asm::new("barrier_wait", &["barrier"]);
        let (count, arrived) = barrier_cells(&mut a);
        let dst = a.reg();
        a.b.push(Instr::Rmw {
            dst,
            op: RmwOp::Add,
            address: arrived,
            operand: Operand::Const(1),
            size: 4,
            read: ReadMode::Acquire,
            write: WriteMode::Release,
            kind: RmwKind::Barrier,
        });
        wait_for_round(&mut a, count, arrived, dst.into());
        a.finish()
    })
}

/// The number of threads, and where they are counted.
fn barrier_cells(a: &mut Asm) -> (Operand, Operand) {
    let barrier = a.param(0);
    let count = a.load(barrier, 4, ReadMode::Plain);
    unless_destroyed(a, count, "barrier");
    a.unless(count, |a| a.fail(FaultKind::Lock, "use of a barrier that is not initialised"));
    (count, a.add(barrier, 4))
}

/// Waits until the round is over in which `before` threads had come.
fn wait_for_round(a: &mut Asm, count: Operand, arrived: Operand, before: Operand) {
    let round = a.bin(BinOp::UDiv, before, count);
    let seen = a.reg();
    a.b.push_move(Instr::Load { dst: seen, address: arrived, size: 4, mode: ReadMode::Acquire });
    let seen = a.bin(BinOp::UDiv, seen.into(), count);
    let same = a.cmp(CmpOp::Eq, seen, round);
    a.when(same, |a| a.block(BlockReason::Spin));
    a.give(0);
}

/// Lets threads that ask for the result of a barrier, but do the same whatever it is, not ask.
pub fn settle_barriers(tr: &mut Translator<'_>) {
    let Some(serial) = tr.known_routine(SERIAL) else { return };
    let plain = barrier_wait(tr);
    let mut indifferent = Vec::new();
    let live = Liveness::new(&tr.program);
    for (number, function) in tr.program.functions.iter().enumerate() {
        for (at, instr) in function.code.iter().enumerate() {
            if let Instr::Call { function, dst: Some(dst), .. } = instr
                && *function == serial
                && tr.program.is_indifferent(&live, FunctionId(number as u32), at, *dst, &[0, ONE_THREAD])
            {
                indifferent.push((number, at));
            }
        }
    }
    for (number, at) in indifferent {
        if let Instr::Call { function, .. } = &mut tr.program.functions[number].code[at] {
            *function = plain;
        }
    }
}

/// Of the threads of a round the last one gets `PTHREAD_BARRIER_SERIAL_THREAD`: as each may be that, they come in
/// every order.
fn barrier_wait_serial(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine(SERIAL, |_| {
        let mut a = Asm::new("barrier_wait", &["barrier"]);
        let (count, arrived) = barrier_cells(&mut a);
        let before = a.fetch(RmwOp::Add, arrived, 1, (ReadMode::Acquire, WriteMode::Release));
        let now = a.add(before, 1);
        let rest = a.bin(BinOp::URem, now, count);
        a.unless(rest, |a| a.give(ONE_THREAD));
        wait_for_round(&mut a, count, arrived, before);
        a.finish()
    })
}

/// 0 not yet, 1 under way, 2 done.
fn once(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("once", |_| {
        let mut a = Asm::new("once", &["control", "routine"]);
        let (control, pointer) = (a.param(0), a.param(1));
        let old = a.cas(control, Operand::Const(0), 1);
        a.unless(old, |a| {
            a.b.push(Instr::CallPointer { pointer, args: [].into(), dst: None });
            a.store(control, 2, 4, WriteMode::Release);
            a.give(0);
        });
        let done = a.cmp(CmpOp::Eq, old, 2);
        a.when(done, |a| a.give(0));
        let now = a.load(control, 4, ReadMode::Acquire);
        let done = a.cmp(CmpOp::Eq, now, 2);
        a.unless(done, |a| a.block(BlockReason::Spin));
        a.give(0);
        a.finish()
    })
}

/// `errno`: what to say where the semaphore is 0, rather than to wait.
fn semaphore_wait(tr: &mut Translator<'_>, errno: Option<u64>) -> FunctionId {
    tr.routine(&format!("sem_wait {errno:?}"), |tr| {
        let mut a = Asm::new("sem_wait", &["semaphore"]);
        let semaphore = a.param(0);
        let before = a.load(semaphore, 4, ReadMode::Relaxed);
        unless_destroyed(&mut a, before, "semaphore");
        a.unless(before, |a| match errno {
            None => a.block(BlockReason::Lock),
            Some(errno) => {
                set_errno(tr, a, errno);
                a.give(FAILED);
            }
        });
        let less = a.bin(BinOp::Sub, before, 1);
        count(&mut a, semaphore, before, less);
        a.give(0);
        a.finish()
    })
}

fn semaphore_post(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("sem_post", |_| {
        let mut a = Asm::new("sem_post", &["semaphore"]);
        let semaphore = a.param(0);
        let before = a.fetch(RmwOp::Add, semaphore, 1, (ReadMode::Acquire, WriteMode::Release));
        unless_destroyed(&mut a, before, "semaphore");
        a.give(0);
        a.finish()
    })
}

fn semaphore_destroy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("sem_destroy", |_| {
        let mut a = Asm::new("sem_destroy", &["semaphore"]);
        let semaphore = a.param(0);
        let now = a.load(semaphore, 4, ReadMode::Plain);
        unless_destroyed(&mut a, now, "semaphore");
        a.store(semaphore, layout::DESTROYED, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// Of the two cells only the first changes: those who leave the barrier may still look at the second.
fn barrier_destroy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("barrier_destroy", |_| {
        let mut a = Asm::new("barrier_destroy", &["barrier"]);
        let barrier = a.param(0);
        let count = a.load(barrier, 4, ReadMode::Plain);
        unless_destroyed(&mut a, count, "barrier");
        a.unless(count, |a| a.fail(FaultKind::Lock, "destruction of a barrier that is not initialised"));
        let arrived = a.add(barrier, 4);
        let arrived = a.load(arrived, 4, ReadMode::Relaxed);
        let rest = a.bin(BinOp::URem, arrived, count);
        a.when(rest, |a| a.fail(FaultKind::Lock, "destruction of a barrier that threads wait at"));
        a.store(barrier, layout::DESTROYED, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}
