//! Time, the environment, `errno`.
//!
//! Time stands still, apart from a wait that ends because of its deadline: the clocks of its thread then
//! show a moment after the deadline, as those of a real machine do. A thread's time is a private variable, which
//! only programs that look at a clock have: otherwise it would make a loop that sleeps look as if it did something.
//! A loop that looks at a clock and would go on only because it is later waits ([`Instr::Look`]); the answer says so.

use super::asm::Asm;
use super::table::{Call, KEEPS, Lowered, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, FunctionId, Instr, IntOp, MathOp, Operand, Width};

pub const FUNCTIONS: &[Row] = &[
    row(
        &[
            "sched_yield",
            "usleep",
            "sleep",
            "pthread_yield",
            "thrd_yield",
            "thrd_sleep",
            "srand",
            "signal",
            "alarm",
        ],
        KEEPS,
        zero,
    ),
    row(&["nanosleep"], USES, zero),
    row(&["clock_gettime"], USES, |c| now(c, c.arg(1), 1)),
    row(&["gettimeofday"], USES, |c| now(c, c.arg(0), 1000)),
    // std::chrono's clocks: nanoseconds.
    row(&["_ZNSt6chrono3_V2*_clock3nowEv"], KEEPS, |c| {
        let time = time(c);
        let dst = c.body.b.register("now");
        c.push(Instr::Load { dst, address: time, size: 8, mode: ReadMode::Plain });
        Ok(vec![c.body.add(dst.into(), START * SECOND)])
    }),
    row(&["__errno_location"], USES, |c| {
        let index = c.body.tr.library_local(ERRNO, 4);
        let dst = c.body.b.register("errno");
        c.push(Instr::ThreadLocalAddress { dst, index });
        Ok(vec![dst.into()])
    }),
];

const ERRNO: &str = "errno";
const TIME: &str = "time";
const SECOND: u64 = 1_000_000_000;
/// What every clock shows at first, in seconds: a moment from which a program can subtract some time.
const START: u64 = 1_000_000_000;

/// Stores an error number, in a routine.
pub fn set_errno(tr: &mut Translator<'_>, a: &mut Asm, number: u64) {
    let index = tr.library_local(ERRNO, 4);
    let dst = a.reg();
    a.b.push(Instr::ThreadLocalAddress { dst, index });
    a.store(dst.into(), number, 4, WriteMode::Plain);
}

/// Where a wait ended by itself: it is later than its deadline, a `struct timespec`.
pub fn pass_until(c: &mut Call<'_, '_, '_>, ended: Operand, deadline: Operand) {
    let Some(function) = passing(c.body.tr, false) else { return };
    let (late, done) = (c.body.b.label(), c.body.b.label());
    c.body.b.branch(ended, late, done);
    c.body.b.bind(late);
    c.push(Instr::Call { function, args: [deadline].into(), dst: None });
    c.body.b.bind(done);
}

/// Lets the thread's time pass beyond a moment, or by more than a span; `None` where the program looks at no clock.
pub fn passing(tr: &mut Translator<'_>, span: bool) -> Option<FunctionId> {
    let looks = |function: crate::llvm::Value<'_>| {
        matches!(function.name(), "clock_gettime" | "gettimeofday")
            || function.name().ends_with("_clock3nowEv")
    };
    if !tr.module.functions().any(looks) {
        return None;
    }
    let name = if span { "pass" } else { "pass until" };
    Some(tr.routine(name, |tr| {
        let index = tr.library_local(TIME, 8);
        let mut a = Asm::new(name, &["time"]);
        let clock = a.reg();
        a.b.push(Instr::ThreadLocalAddress { dst: clock, index });
        let seconds = a.load(a.param(0), 8, ReadMode::Plain);
        let rest = a.add(a.param(0), 8);
        let rest = a.load(rest, 8, ReadMode::Plain);
        let seconds = if span { seconds } else { a.bin(BinOp::Sub, seconds, START) };
        let seconds = a.bin(BinOp::Mul, seconds, SECOND);
        let then = a.bin(BinOp::Add, seconds, rest);
        let now = a.load(clock.into(), 8, ReadMode::Plain);
        let later = a.reg();
        a.b.push(match span {
            true => Instr::Bin { dst: later, op: BinOp::Add, width: Width::W64, a: now, b: then },
            false => {
                Instr::Math { dst: later, op: MathOp::Integer(IntOp::SMax, Width::W64), a: now, b: then }
            }
        });
        // Who asks how long it is until a deadline that is over must not be told to wait for nothing.
        let later = a.add(later.into(), 1);
        a.store(clock.into(), later, 8, WriteMode::Plain);
        a.give(0);
        a.finish()
    }))
}

/// The thread looks at a clock: the address of its time, in nanoseconds.
fn time(c: &mut Call<'_, '_, '_>) -> Operand {
    c.push(Instr::Look);
    let index = c.body.tr.library_local(TIME, 8);
    let dst = c.body.b.register("");
    c.push(Instr::ThreadLocalAddress { dst, index });
    dst.into()
}

/// Stores the present time: seconds, and the rest in units of that many nanoseconds.
fn now(c: &mut Call<'_, '_, '_>, place: Operand, unit: u64) -> Lowered {
    let address = time(c);
    let dst = c.body.b.register("now");
    c.push(Instr::Load { dst, address, size: 8, mode: ReadMode::Plain });
    let seconds = c.body.bin(BinOp::UDiv, Width::W64, dst.into(), Operand::Const(SECOND));
    let seconds = c.body.add(seconds, START);
    let rest = c.body.bin(BinOp::URem, Width::W64, dst.into(), Operand::Const(SECOND));
    let rest = c.body.bin(BinOp::UDiv, Width::W64, rest, Operand::Const(unit));
    c.push(Instr::Store { address: place, value: seconds, size: 8, mode: WriteMode::Plain });
    let behind = c.body.add(place, 8);
    c.push(Instr::Store { address: behind, value: rest, size: 8, mode: WriteMode::Plain });
    zero(c)
}
