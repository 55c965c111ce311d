//! The parts of the C++ library that are not in its headers, by their mangled names (libstdc++).

use super::asm::Asm;
use super::condition;
use super::table::{KEEPS, Row, nothing, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{FaultKind, FunctionId, Instr, Operand};

pub const FUNCTIONS: &[Row] = &[
    // std::thread::_M_start_thread(unique_ptr<_State>, void (*)())
    row(
        &["_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"],
        KEEPS,
        |c| c.routine(start_thread, &[c.arg(0), c.arg(1)]),
    ),
    row(&["_ZNSt6thread4joinEv"], KEEPS, |c| c.same(join)),
    row(&["_ZNSt6thread6detachEv"], KEEPS, |c| {
        c.push(Instr::Store { address: c.arg(0), value: Operand::Const(0), size: 8, mode: WriteMode::Plain });
        nothing(c)
    }),
    row(&["_ZNSt6thread20hardware_concurrencyEv"], KEEPS, |_| Ok(vec![Operand::Const(2)])),
    row(&["_ZNSt18condition_variableC1Ev", "_ZNSt18condition_variableC2Ev"], KEEPS, |c| {
        c.same(condition::init)
    }),
    row(&["_ZNSt18condition_variable10notify_oneEv"], KEEPS, |c| c.same(condition::signal)),
    row(&["_ZNSt18condition_variable10notify_allEv"], KEEPS, |c| c.same(condition::broadcast)),
    // wait(unique_lock<mutex>&): the lock's first word is the mutex.
    row(&["_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"], KEEPS, |c| {
        let mutex = c.body.b.register("");
        c.push(Instr::Load { dst: mutex, address: c.arg(1), size: 8, mode: ReadMode::Plain });
        let spurious = condition::wakes_by_itself(c);
        c.routine(|tr| condition::wait(tr, 0, spurious), &[c.arg(0), mutex.into()])
    }),
    row(&["__cxa_guard_acquire"], KEEPS, |c| c.same(guard_acquire)),
    row(&["__cxa_guard_release"], KEEPS, |c| {
        c.push(Instr::Store {
            address: c.arg(0),
            value: Operand::Const(1),
            size: 1,
            mode: WriteMode::Release,
        });
        nothing(c)
    }),
    row(&["_ZNSt18condition_variableD1Ev", "_ZNSt18condition_variableD2Ev"], KEEPS, |c| {
        c.same(condition::destroy)
    }),
    row(&["_ZNSt6thread6_StateD2Ev", "_ZNSt11this_thread11__sleep_for*"], KEEPS, zero),
    row(&["__cxa_pure_virtual"], KEEPS, |c| {
        c.body.fail(FaultKind::Abort, "a pure virtual function is called");
        nothing(c)
    }),
    row(&["_ZSt9terminatev"], KEEPS, |c| {
        c.body.fail(FaultKind::Abort, "std::terminate is called");
        nothing(c)
    }),
    row(&["_Unwind_Resume"], KEEPS, |_| Err("throwing an exception".to_string())),
    row(&["_ZSt*__throw_*"], KEEPS, |c| Err(format!("throwing an exception ({})", c.name))),
];

/// What a `std::thread` runs: the third virtual function of its state; then it deletes the state.
fn run(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("std::thread", |_| {
        let mut a = Asm::new("std::thread", &["state"]);
        let state = a.param(0);
        let table = a.load(state, 8, ReadMode::Plain);
        let at = a.add(table, 16);
        let pointer = a.load(at, 8, ReadMode::Plain);
        a.b.push(Instr::CallPointer { pointer, args: [state].into(), dst: None });
        let at = a.add(table, 8);
        let pointer = a.load(at, 8, ReadMode::Plain);
        a.b.push(Instr::CallPointer { pointer, args: [state].into(), dst: None });
        a.finish()
    })
}

fn start_thread(tr: &mut Translator<'_>) -> FunctionId {
    let function = run(tr);
    tr.routine("std::thread::thread", |_| {
        let mut a = Asm::new("std::thread::thread", &["thread", "state"]);
        let (thread, owner) = (a.param(0), a.param(1));
        let state = a.load(owner, 8, ReadMode::Plain);
        a.store(owner, 0, 8, WriteMode::Plain);
        let dst = a.reg();
        a.b.push(Instr::Create { dst, function, arg: state });
        a.store(thread, dst, 8, WriteMode::Plain);
        a.finish()
    })
}

fn join(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("std::thread::join", |_| {
        let mut a = Asm::new("std::thread::join", &["thread"]);
        let object = a.param(0);
        let thread = a.load(object, 8, ReadMode::Plain);
        a.unless(thread, |a| a.fail(FaultKind::Abort, "join of a std::thread that is not joinable"));
        a.b.push(Instr::Join { thread });
        a.store(object, 0, 8, WriteMode::Plain);
        a.finish()
    })
}

/// The first byte of a guard is 1 once its variable is initialised.
fn guard_acquire(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("guard_acquire", |_| {
        let mut a = Asm::new("guard_acquire", &["guard"]);
        let guard = a.param(0);
        let lock = a.add(guard, 4);
        let done = a.load(guard, 1, ReadMode::Acquire);
        a.when(done, |a| a.give(0));
        let old = a.cas(lock, Operand::Const(0), 1);
        a.unless(old, |a| a.give(1));
        let done = a.load(guard, 1, ReadMode::Acquire);
        a.unless(done, |a| a.block(porf_event::BlockReason::Spin));
        a.give(0);
        a.finish()
    })
}
