//! The parts of the C++ library that are not in its headers, by their mangled names (libstdc++).

use super::{asm::Asm, condition, ending, invoke};
use crate::translate::types::Unsupported;
use crate::translate::{Body, Translator};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{FaultKind, FunctionId, Instr, Operand};

pub fn call(
    body: &mut Body<'_, '_>,
    name: &str,
    args: &[Operand],
) -> Option<Result<Vec<Operand>, Unsupported>> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Operand::Const(0));
    let tr = &mut *body.tr;
    let (function, args): (FunctionId, Vec<Operand>) = match name {
        // std::thread::_M_start_thread(unique_ptr<_State>, void (*)())
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE" => {
            (start_thread(tr), vec![arg(0), arg(1)])
        }
        "_ZNSt6thread4joinEv" => (join(tr), vec![arg(0)]),
        "_ZNSt6thread6detachEv" => {
            body.b.push(Instr::Store {
                address: arg(0),
                value: Operand::Const(0),
                size: 8,
                mode: WriteMode::Plain,
            });
            return Some(Ok(Vec::new()));
        }
        "_ZNSt6thread20hardware_concurrencyEv" => return Some(Ok(vec![Operand::Const(2)])),
        "_ZNSt18condition_variableC1Ev" | "_ZNSt18condition_variableC2Ev" => {
            (condition::init(tr), vec![arg(0)])
        }
        "_ZNSt18condition_variable10notify_oneEv" => (condition::signal(tr), vec![arg(0)]),
        "_ZNSt18condition_variable10notify_allEv" => (condition::broadcast(tr), vec![arg(0)]),
        // wait(unique_lock<mutex>&): the lock's first word is the mutex.
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE" => {
            let mutex = body.b.register("");
            body.b.push(Instr::Load { dst: mutex, address: arg(1), size: 8, mode: ReadMode::Plain });
            (condition::wait(body.tr, 0), vec![arg(0), mutex.into()])
        }
        "__cxa_guard_acquire" => (guard_acquire(tr), vec![arg(0)]),
        "__cxa_guard_release" => {
            body.b.push(Instr::Store {
                address: arg(0),
                value: Operand::Const(1),
                size: 1,
                mode: WriteMode::Release,
            });
            return Some(Ok(Vec::new()));
        }
        "_ZNSt6thread6_StateD2Ev" | "_ZNSt18condition_variableD1Ev" | "_ZNSt18condition_variableD2Ev" => {
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "__cxa_thread_atexit" => (ending::at_thread_exit(tr), vec![arg(0), arg(1), Operand::Const(1)]),
        "__cxa_atexit" => (ending::at_exit(tr), vec![arg(0), arg(1), Operand::Const(1)]),
        // Time stands still.
        _ if name.starts_with("_ZNSt6chrono3_V2") && name.ends_with("_clock3nowEv")
            || name.starts_with("_ZNSt11this_thread11__sleep_for") =>
        {
            return Some(Ok(vec![Operand::Const(0)]));
        }
        "__cxa_pure_virtual" => {
            body.fail(FaultKind::Abort, "a pure virtual function is called");
            return Some(Ok(Vec::new()));
        }
        "_ZSt9terminatev" => {
            body.fail(FaultKind::Abort, "std::terminate is called");
            return Some(Ok(Vec::new()));
        }
        "__cxa_allocate_exception" | "__cxa_throw" | "__cxa_rethrow" | "_Unwind_Resume" => {
            body.fail(FaultKind::Unsupported, "throwing an exception is not supported");
            return Some(Ok(vec![Operand::Const(0)]));
        }
        _ if name.starts_with("_ZSt") && name.contains("__throw_") => {
            body.fail(FaultKind::Unsupported, &format!("throwing an exception ({name}) is not supported"));
            return Some(Ok(Vec::new()));
        }
        _ => return None,
    };
    Some(invoke(body, function, &args))
}

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
