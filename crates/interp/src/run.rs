//! The interpreter's loop.
//!
//! An instruction with events stays current until its last event is delivered; `phase` says which of
//! them is next. `run` asks for the event of the present phase, `deliver` takes the answer and moves
//! to the next phase or the next instruction.

use crate::alone::{Flat, lock};
use crate::request::Request;
use crate::{Fault, FaultKind, Step, ThreadState};
use porf_event::{
    Access, BlockReason, DepSet, Dialect, Label, Location, LockKind, ReadMode, RmwKind, ThreadId, Value,
    WriteMode,
};
use porf_ir::{AllocKind, FunctionId, Instr, Operand, Program, Reg, Region, Width, layout};
use std::sync::Mutex;

/// Phases of Arm's `CAS` after its choice: see `deliver_arm_cas`.
const FROM_REGISTER: u8 = 2;
const WRITE_BACK: u8 = 3;

const ENDED_IF: &str = "a store after an `if` or a loop whose condition was read without acquire: under lkmm \
                        nothing orders the two, and that is not supported";

/// How deep calls may nest.
pub const MAX_FRAMES: usize = 10_000;
/// How many instructions a thread may run without a visible event.
pub const MAX_SILENT: u32 = 100_000_000;

/// Runs the threads of one program.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'p> {
    program: &'p Program,
    track: bool,
    unroll: Option<u32>,
    /// Whether the program has C's memory: addresses mean something.
    c: bool,
    /// The memory of a run whose output is wanted.
    flat: Option<&'p Mutex<Flat>>,
}

impl<'p> Interpreter<'p> {
    /// An interpreter without dependency tracking and without a bound on loops.
    pub fn new(program: &'p Program) -> Interpreter<'p> {
        Interpreter { program, track: false, unroll: None, c: program.image.is_some(), flat: None }
    }

    /// Tracks address, data and control dependencies.
    pub fn track_dependencies(self, track: bool) -> Interpreter<'p> {
        Interpreter { track, ..self }
    }

    /// Blocks a thread that takes the same backward jump more than `unroll` times.
    pub fn unroll(self, unroll: Option<u32>) -> Interpreter<'p> {
        Interpreter { unroll, ..self }
    }

    /// Keeps what the program prints; `flat` is its memory.
    pub(crate) fn show_output(self, flat: &'p Mutex<Flat>) -> Interpreter<'p> {
        Interpreter { flat: Some(flat), ..self }
    }

    pub(crate) fn shows_output(&self) -> bool {
        self.flat.is_some()
    }

    /// A byte of shared memory, where there is only one thread.
    pub(crate) fn peek(&self, address: u64) -> Option<u8> {
        self.flat.map(|flat| lock(flat).byte(self.program, address))
    }

    /// The program that it runs.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The state in which thread `thread` of the program begins.
    pub fn start(&self, thread: ThreadId) -> ThreadState {
        let entry = &self.program.threads[thread.as_usize()];
        ThreadState::new(self.program, thread, entry.function, &entry.registers, self.track)
    }

    /// The state in which a thread created by [`Instr::Create`] begins; `thread` is its number.
    pub fn start_function(&self, thread: ThreadId, function: FunctionId, argument: Value) -> ThreadState {
        let arguments = [argument];
        let params = self.program.function(function).params as usize;
        ThreadState::new(self.program, thread, function, &arguments[..params], self.track)
    }

    /// The function and argument of the `Create` that a state is at.
    pub fn created(&self, state: &ThreadState) -> Option<(FunctionId, Value)> {
        match self.current(state) {
            Instr::Create { function, arg, .. } => Some((*function, value(state, *arg))),
            Instr::CreatePointer { function, arg, .. } => {
                layout::function_at(value(state, *function)).map(|id| (id, value(state, *arg)))
            }
            _ => None,
        }
    }

    /// Runs silent instructions up to the next event; asking again gives the same answer.
    pub fn run(&self, state: &mut ThreadState) -> Step {
        for _ in 0..MAX_SILENT {
            if state.frames.is_empty() {
                return Step::Finished;
            }
            let frame = *state.frame();
            match &self.program.function(frame.function).code[frame.pc as usize] {
                Instr::Move { dst, src } => self.assign(state, *dst, value(state, *src), &[*src]),
                Instr::Bin { dst, op, width, a, b } => {
                    let (x, y) = (value(state, *a), value(state, *b));
                    if self.c
                        && let Some(what) = op.undefined(*width, x, y)
                    {
                        return self.fault(state, FaultKind::Arithmetic, what);
                    }
                    match op.apply(*width, x, y) {
                        Some(result) => self.assign(state, *dst, result, &[*a, *b]),
                        None => return self.fault(state, FaultKind::DivisionByZero, "division by zero"),
                    }
                }
                Instr::Cmp { dst, op, width, a, b } => {
                    let result = op.apply(*width, value(state, *a), value(state, *b));
                    self.assign(state, *dst, u64::from(result), &[*a, *b]);
                }
                Instr::SignExtend { dst, from, src } => {
                    let result = from.signed(value(state, *src)) as u64;
                    self.assign(state, *dst, result, &[*src]);
                }
                Instr::Select { dst, cond, a, b } => {
                    let chosen = if value(state, *cond) != 0 { *a } else { *b };
                    match &state.taint {
                        Some(taint) if self.picks() => {
                            let mut on = taint.of(frame.base, &[chosen]);
                            on.pick(&taint.of(frame.base, &[*cond]));
                            finish(state, *dst, value(state, chosen), on);
                        }
                        _ => self.assign(state, *dst, value(state, chosen), &[*cond, *a, *b]),
                    }
                }
                Instr::Jump { target } => {
                    if let Some(step) = self.jump(state, *target) {
                        return step;
                    }
                }
                Instr::Branch { cond, then, otherwise } => {
                    if let Some(taint) = &mut state.taint {
                        taint.branch(frame.base, *cond);
                    }
                    let target = if value(state, *cond) != 0 { *then } else { *otherwise };
                    if let Some(step) = self.jump(state, target) {
                        return step;
                    }
                }
                Instr::CtrlMark { slot } => {
                    if let Some(taint) = &mut state.taint {
                        taint.mark(*slot);
                    }
                    state.frame_mut().pc += 1;
                }
                Instr::CtrlRestore { slot } => {
                    if let Some(taint) = &mut state.taint {
                        taint.restore(*slot);
                    }
                    state.frame_mut().pc += 1;
                }
                Instr::IfBegin { slot, cond } => {
                    let depth = state.frames.len();
                    if let Some(taint) = &mut state.taint {
                        let on = taint.of(frame.base, &[*cond]);
                        taint.begin_if(depth, *slot, on);
                    }
                    state.frame_mut().pc += 1;
                }
                Instr::IfEnd { slot } => {
                    let depth = state.frames.len();
                    if let Some(taint) = &mut state.taint {
                        taint.end_if(depth, *slot);
                    }
                    state.frame_mut().pc += 1;
                }
                Instr::Call { function, args, dst } => {
                    if state.frames.len() >= MAX_FRAMES {
                        return self.fault(
                            state,
                            FaultKind::StackOverflow,
                            "calls nest deeper than the limit of 10,000",
                        );
                    }
                    self.call(state, *function, args, *dst);
                }
                Instr::Return { value: result } => {
                    if self.leave(state, *result) {
                        continue;
                    }
                    if let Some(label) = self.thread_result(state, *result) {
                        return Step::Emit(label);
                    }
                    self.give_back(state, *result);
                }
                Instr::ExitThread { value: result } => {
                    if self.leave(state, Some(*result)) {
                        continue;
                    }
                    if let Some((_, address)) = self.last_local(state, 0) {
                        return Step::Emit(Label::Free { location: Location(address) });
                    }
                    if let Some(label) = self.thread_result(state, Some(*result)) {
                        return Step::Emit(label);
                    }
                    state.frames.clear();
                }
                Instr::Pad { .. } => state.frame_mut().pc += 1,
                Instr::Unwind { exception, text, uncaught } => {
                    if let Some(step) = self.unwind(state, *exception, *text, uncaught.as_deref()) {
                        return step;
                    }
                }
                Instr::ExitProcess => {
                    state.ends_process = true;
                    state.frames.clear();
                }
                Instr::Math { dst, op, a, b } => {
                    let result = op.apply(value(state, *a), value(state, *b));
                    self.assign(state, *dst, result, &[*a, *b]);
                }
                Instr::Assume { cond } => {
                    if let Some(taint) = &mut state.taint {
                        taint.branch(frame.base, *cond);
                    }
                    if value(state, *cond) == 0 {
                        return Step::Blocked(BlockReason::Assume);
                    }
                    state.frame_mut().pc += 1;
                }
                Instr::Assert { cond, message } => {
                    if let Some(taint) = &mut state.taint {
                        taint.branch(frame.base, *cond);
                    }
                    if value(state, *cond) == 0 {
                        return self.fault(state, FaultKind::Assertion, message);
                    }
                    state.frame_mut().pc += 1;
                }
                instr => {
                    let c = self.c || matches!(instr, Instr::LoopHead { .. });
                    match if c { self.silent(state, instr) } else { None } {
                        Some(Ok(())) => continue,
                        Some(Err(step)) => return step,
                        None => {}
                    }
                    match self.request(state, instr) {
                        Request::Emit(label, sources) => {
                            if let Some(taint) = &mut state.taint {
                                taint.emit(frame.base, sources);
                                if taint.hangs_on_ended_if(&label, state.events) {
                                    return self.fault(state, FaultKind::Unsupported, ENDED_IF);
                                }
                            }
                            return Step::Emit(label);
                        }
                        Request::Skip => {}
                        Request::Stop(step) => return step,
                    }
                }
            }
        }
        self.fault(state, FaultKind::SilentLoop, "a loop that does nothing visible does not end")
    }

    /// The label that `run` asked for, with the value that it reads or the choice that is made.
    ///
    /// A compare-and-swap that fails is an ordinary read with its failure ordering.
    pub fn settle(&self, state: &ThreadState, label: Label, answer: Value) -> Label {
        match label {
            Label::Read { access, mode, rmw, .. } => {
                let width = Width::of_bytes(access.size);
                let answer = width.truncate(answer);
                let (mode, rmw) = match self.current(state) {
                    Instr::Cas { expected, read, failure, kind, .. } => {
                        let equal = width.truncate(value(state, *expected)) == answer;
                        match equal {
                            true => (*read, rmw),
                            // A load-linked without its store.
                            false if *kind == RmwKind::Loop => (*failure, RmwKind::Exclusive),
                            // It may still write the old value back.
                            false if self.picks() => (*failure, rmw),
                            false => (*failure, RmwKind::Failed),
                        }
                    }
                    Instr::AddUnless { unless, .. } if width.truncate(value(state, *unless)) == answer => {
                        (mode, RmwKind::Failed)
                    }
                    Instr::TryLock { .. } if answer != 0 => {
                        (ReadMode::Relaxed, RmwKind::Lock(LockKind::Test))
                    }
                    _ => (mode, rmw),
                };
                Label::Read { access, mode, rmw, value: answer }
            }
            Label::Choice { options, .. } => Label::Choice { options, chosen: answer as u32 },
            Label::Create { .. } => Label::Create { child: ThreadId(answer as u16) },
            other => other,
        }
    }

    /// Answers the event that `run` asked for.
    pub fn deliver(&self, state: &mut ThreadState, answer: Value) {
        let read = if state.taint.is_some() { DepSet::single(state.events) } else { DepSet::new() };
        if state.taint.is_some() && self.decides_path(state) {
            let index = state.events;
            if let Some(taint) = &mut state.taint {
                taint.commit();
                taint.path.insert(index);
            }
        }
        state.events += 1;
        if self.unroll.is_some() && tells(self.current(state)) {
            state.told += 1;
        }
        match self.current(state) {
            Instr::Load { dst, size, .. } => {
                finish(state, *dst, Width::of_bytes(*size).truncate(answer), read);
            }
            Instr::LoadExclusive { dst, address, size, .. } => {
                state.exclusive = Some((Location(value(state, *address)), *size));
                finish(state, *dst, Width::of_bytes(*size).truncate(answer), read);
            }
            Instr::Cas { dst, expected, weak: false, kind, .. }
                if state.phase != 0 && self.is_arm_cas(*kind) =>
            {
                self.deliver_arm_cas(state, *dst, *expected, answer);
            }
            Instr::Rmw { dst, op, operand, size, .. } => match state.phase {
                0 => remember(state, answer),
                _ => {
                    // A write of the value that was there is no effect: see `LoopHead`.
                    let width = Width::of_bytes(*size);
                    let new = op.apply(width, state.old, value(state, *operand));
                    state.effects += u32::from(new != width.truncate(state.old));
                    finish_old(state, *dst);
                }
            },
            Instr::Cas { dst, new, size, weak: false, .. } => match state.phase {
                0 => remember(state, answer),
                _ => {
                    state.effects += u32::from(changes(state, *new, *size));
                    finish_old(state, *dst);
                }
            },
            Instr::AddUnless { dst, .. } => match state.phase {
                0 => remember(state, answer),
                _ => {
                    state.effects += 1;
                    finish_old(state, *dst);
                }
            },
            Instr::Cas { dst, new, size, weak: true, .. } => match (state.phase, answer) {
                (0, _) => remember(state, answer),
                // The choice: 0 goes on to the write, 1 fails without one.
                (1, 0) => state.phase = 2,
                (phase, _) => {
                    state.effects += u32::from(phase == 2 && changes(state, *new, *size));
                    finish_old(state, *dst);
                }
            },
            // The choice: 0 fails, which is always possible; 1 goes on to the write.
            Instr::StoreExclusive { status, success, failure, .. } => match (state.phase, answer) {
                (0, 1) => state.phase = 1,
                (0, _) => {
                    state.exclusive = None;
                    finish(state, *status, *failure, DepSet::new());
                }
                _ => {
                    state.exclusive = None;
                    state.effects += 1;
                    // RISC-V: what is computed from the success code depends on the store
                    // (RVWMO's syntactic dependencies); elsewhere the code is no data of it.
                    let riscv = self.program.dialect == Dialect::RiscV;
                    finish(state, *status, *success, if riscv { read } else { DepSet::new() });
                }
            },
            Instr::Nondet { dst, .. } | Instr::Create { dst, .. } | Instr::CreatePointer { dst, .. } => {
                state.effects += 1;
                finish(state, *dst, answer, DepSet::new())
            }
            Instr::Input { dst, values, .. } => {
                state.effects += 1;
                let value = values.get(answer as usize).copied().unwrap_or_default();
                finish(state, *dst, value, DepSet::new())
            }
            Instr::Alloc { dst, align, kind, .. } => {
                // A variable whose scope begins is nothing that others notice.
                state.effects += u32::from(*kind != AllocKind::Stack);
                let address = new_object(state, state.events - 1, *align, *kind);
                finish(state, *dst, address, DepSet::new())
            }
            Instr::Unwind { .. } => {
                if let Some((register, _)) = self.left_local(state) {
                    state.registers[register] = 0;
                }
            }
            Instr::ExitThread { .. } => match self.last_local(state, 0) {
                Some((register, _)) => state.registers[register] = 0,
                None => state.frames.clear(),
            },
            Instr::Return { .. } => state.frames.clear(),
            Instr::Lock { .. } => match state.phase {
                0 => remember(state, answer),
                _ => {
                    state.effects += 1;
                    advance(state);
                }
            },
            Instr::TryLock { dst, .. } => match state.phase {
                0 => remember(state, answer),
                _ => {
                    let free = u64::from(state.old == 0);
                    state.effects += 1;
                    finish_from_old(state, *dst, free);
                }
            },
            Instr::IsLocked { dst, .. } => finish(state, *dst, u64::from(answer != 0), read),
            Instr::Store { .. } | Instr::Unlock { .. } | Instr::Free { .. } => {
                let scope_ends = matches!(self.current(state), Instr::Free { kind: AllocKind::Stack, .. });
                state.effects += u32::from(!scope_ends);
                advance(state);
            }
            Instr::Fence { .. } | Instr::FenceAt { .. } | Instr::Join { .. } => advance(state),
            other => unreachable!("{other:?} asks for no event"),
        }
    }

    /// Whether the next event is the read of an instruction that writes only if the value is right.
    pub fn is_conditional(&self, state: &ThreadState) -> bool {
        let conditional = |instr: &Instr| {
            matches!(instr, Instr::Cas { .. } | Instr::AddUnless { .. } | Instr::TryLock { .. })
        };
        state.phase == 0 && !state.frames.is_empty() && conditional(self.current(state))
    }

    /// Of a thread that asks for input: the value that an answer stands for, as people write it.
    pub fn input(&self, state: &ThreadState, answer: Value) -> Option<String> {
        match self.current(state) {
            Instr::Input { kind, values, .. } => values.get(answer as usize).map(|value| kind.show(*value)),
            _ => None,
        }
    }

    /// Whether the thread is at a store-conditional.
    pub fn is_store_conditional(&self, state: &ThreadState) -> bool {
        !state.frames.is_empty() && matches!(self.current(state), Instr::StoreExclusive { .. })
    }

    /// Whether everything later depends on the answer to this event: a choice, or a lock that may be taken.
    fn decides_path(&self, state: &ThreadState) -> bool {
        match self.current(state) {
            Instr::Nondet { .. } | Instr::Input { .. } => true,
            Instr::StoreExclusive { .. } | Instr::Lock { .. } => state.phase == 0,
            Instr::Cas { weak, kind, .. } => state.phase == 1 && (*weak || self.is_arm_cas(*kind)),
            _ => false,
        }
    }

    /// Whether a choice between values is no data dependency: so in Arm's models.
    fn picks(&self) -> bool {
        self.program.dialect == Dialect::AArch64
    }

    /// Whether a compare-and-swap is Arm's instruction.
    fn is_arm_cas(&self, kind: RmwKind) -> bool {
        self.picks() && kind != RmwKind::Loop
    }

    /// Arm's `CAS` after its read leaves two things open, by a choice of 0 or 1: where it succeeds,
    /// whether the result comes from the register with the expected value or from memory; where it
    /// fails, whether it writes the old value back.
    fn deliver_arm_cas(&self, state: &mut ThreadState, dst: Reg, expected: Operand, answer: Value) {
        if state.phase == 1 {
            state.phase = if answer == 0 { FROM_REGISTER } else { WRITE_BACK };
            return;
        }
        state.effects += 1;
        let equal = value(state, expected) == state.old;
        let read = DepSet::single(state.old_event);
        let taint = state.taint.as_ref().map(|taint| {
            let register = taint.of(state.frame().base, &[expected]);
            let (mut data, condition) = match state.phase {
                FROM_REGISTER if equal => (register, read),
                _ => (read, register),
            };
            data.pick(&condition);
            data
        });
        let old = state.old;
        finish(state, dst, old, taint.unwrap_or_default());
    }

    pub(crate) fn current(&self, state: &ThreadState) -> &'p Instr {
        let frame = state.frame();
        &self.program.function(frame.function).code[frame.pc as usize]
    }

    /// What the instruction, in its present phase, wants of the world.
    fn request(&self, state: &mut ThreadState, instr: &Instr) -> Request {
        let at = |state: &ThreadState, address: Operand, size: u8| Access {
            location: Location(value(state, address)),
            size,
        };
        match *instr {
            Instr::Load { address, size, mode, .. } => {
                Request::read(at(state, address, size), mode, RmwKind::None, address)
            }
            Instr::LoadExclusive { address, size, mode, .. } => {
                Request::read(at(state, address, size), mode, RmwKind::Exclusive, address)
            }
            Instr::Store { address, value: stored, size, mode } => {
                let new = Width::of_bytes(size).truncate(value(state, stored));
                Request::write(at(state, address, size), mode, RmwKind::None, new, address, Some(stored))
            }
            Instr::Rmw { op, address, operand, size, read, write, kind, .. } => match state.phase {
                0 => Request::read(at(state, address, size), read, kind, address),
                _ => {
                    let new = op.apply(Width::of_bytes(size), state.old, value(state, operand));
                    Request::write(at(state, address, size), write, kind, new, address, Some(operand))
                        .using_old(state, op != porf_ir::RmwOp::Exchange)
                }
            },
            Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind } => {
                let width = Width::of_bytes(size);
                let equal = width.truncate(value(state, expected)) == state.old;
                match state.phase {
                    // The mode depends on the value: `settle` tells the truth once that is known.
                    0 => Request::read(at(state, address, size), read.max(failure), kind, address)
                        .identified_by(expected),
                    1 if self.is_arm_cas(kind) => Request::plain(Label::Choice { options: 2, chosen: 0 }),
                    WRITE_BACK if !equal => {
                        Request::write(at(state, address, size), write, kind, state.old, address, None)
                            .using_old(state, true)
                            .on_condition(state, expected, true)
                    }
                    _ if !equal => {
                        finish_old(state, dst);
                        Request::Skip
                    }
                    1 if weak => Request::plain(Label::Choice { options: 2, chosen: 0 })
                        .using_old(state, true)
                        .identified_by(expected),
                    _ => {
                        let new_value = width.truncate(value(state, new));
                        Request::write(at(state, address, size), write, kind, new_value, address, Some(new))
                            .on_condition(state, expected, self.is_arm_cas(kind))
                            .after_branch(state, expected, kind == RmwKind::Loop)
                    }
                }
            }
            Instr::AddUnless { dst, address, operand, unless, size, read, write, kind } => {
                let width = Width::of_bytes(size);
                match state.phase {
                    0 => Request::read(at(state, address, size), read, kind, address).identified_by(unless),
                    _ if width.truncate(value(state, unless)) == state.old => {
                        finish_old(state, dst);
                        Request::Skip
                    }
                    _ => {
                        let new = width.truncate(state.old.wrapping_add(value(state, operand)));
                        Request::write(at(state, address, size), write, kind, new, address, Some(operand))
                            .using_old(state, true)
                    }
                }
            }
            Instr::StoreExclusive { status, failure, address, value: stored, size, mode, .. } => {
                let access = at(state, address, size);
                if state.exclusive != Some((access.location, access.size)) {
                    finish(state, status, failure, DepSet::new());
                    return Request::Skip;
                }
                match state.phase {
                    0 => Request::plain(Label::Choice { options: 2, chosen: 0 }).identified_by(address),
                    _ => {
                        let new = Width::of_bytes(size).truncate(value(state, stored));
                        Request::write(access, mode, RmwKind::Exclusive, new, address, Some(stored))
                    }
                }
            }
            Instr::Fence { mode } => Request::plain(Label::Fence { mode, location: Location(0) }),
            Instr::FenceAt { mode, address } => {
                Request::plain(Label::Fence { mode, location: Location(value(state, address)) })
            }
            Instr::Nondet { options, .. } => Request::plain(Label::Choice { options, chosen: 0 }),
            Instr::Input { ref values, .. } => {
                Request::plain(Label::Choice { options: values.len() as u32, chosen: 0 })
            }
            Instr::Create { .. } => Request::plain(Label::Create { child: ThreadId(0) }),
            Instr::CreatePointer { function, .. } => match layout::function_at(value(state, function)) {
                Some(function) if (function.0 as usize) < self.program.functions.len() => {
                    Request::plain(Label::Create { child: ThreadId(0) })
                }
                _ => {
                    Request::Stop(self.fault(state, FaultKind::BadCall, "the started thread has no function"))
                }
            },
            Instr::Alloc { size, align, kind, .. } => Request::plain(Label::Alloc {
                location: Location(new_object(state, state.events, align, kind)),
                size: value(state, size),
            }),
            Instr::Free { address, .. } => {
                Request::plain(Label::Free { location: Location(value(state, address)) })
            }
            Instr::Join { thread } => {
                Request::plain(Label::Join { child: ThreadId(value(state, thread) as u16) })
            }
            Instr::Lock { address } => {
                let kind = RmwKind::Lock(LockKind::Acquire);
                match state.phase {
                    0 => Request::read(at(state, address, 4), ReadMode::Acquire, kind, address),
                    _ if self.is_destroyed(state) => Request::Stop(self.destroyed(state)),
                    _ if state.old != 0 => Request::Stop(Step::Blocked(BlockReason::Lock)),
                    _ => Request::write(at(state, address, 4), WriteMode::Relaxed, kind, 1, address, None),
                }
            }
            Instr::TryLock { dst, address } => match state.phase {
                0 => Request::read(
                    at(state, address, 4),
                    ReadMode::Acquire,
                    RmwKind::Lock(LockKind::Acquire),
                    address,
                ),
                _ if self.is_destroyed(state) => Request::Stop(self.destroyed(state)),
                _ if state.old != 0 => {
                    finish_from_old(state, dst, 0);
                    Request::Skip
                }
                _ => Request::write(
                    at(state, address, 4),
                    WriteMode::Relaxed,
                    RmwKind::Lock(LockKind::Acquire),
                    1,
                    address,
                    None,
                ),
            },
            Instr::IsLocked { address, .. } => Request::read(
                at(state, address, 4),
                ReadMode::Relaxed,
                RmwKind::Lock(LockKind::Test),
                address,
            ),
            Instr::Unlock { address } => {
                let kind = RmwKind::Lock(LockKind::Release);
                Request::write(at(state, address, 4), WriteMode::Release, kind, 0, address, None)
            }
            ref other => unreachable!("{other:?} is silent"),
        }
    }

    /// Whether the lock cell that was just read is one of C that no lock has.
    fn is_destroyed(&self, state: &ThreadState) -> bool {
        self.c && state.old == layout::DESTROYED
    }

    fn destroyed(&self, state: &ThreadState) -> Step {
        self.fault(state, FaultKind::Lock, "use of a lock that was destroyed")
    }

    /// Writes a register and goes on to the next instruction.
    pub(crate) fn assign(&self, state: &mut ThreadState, dst: Reg, result: Value, from: &[Operand]) {
        let taint = match &state.taint {
            Some(taint) => taint.of(state.frame().base, from),
            None => DepSet::new(),
        };
        finish(state, dst, result, taint);
    }

    pub(crate) fn jump(&self, state: &mut ThreadState, target: u32) -> Option<Step> {
        let frame = *state.frame();
        if target <= frame.pc && (self.unroll.is_some() || self.track) {
            let count = state.count_loop(frame.function, target);
            let counted = || self.program.function(frame.function).counted.binary_search(&target).is_ok();
            if self.unroll.is_some_and(|unroll| count > unroll) && !counted() {
                return Some(Step::Blocked(BlockReason::Bound));
            }
            // The loop might not have ended.
            if let Some(taint) = &mut state.taint {
                taint.commit();
            }
        }
        state.frame_mut().pc = target;
        None
    }

    /// Writes a register and stays at the instruction.
    pub(crate) fn set(&self, state: &mut ThreadState, dst: Reg, result: Value, from: &[Operand]) {
        let taint = match &state.taint {
            Some(taint) => taint.of(state.frame().base, from),
            None => DepSet::new(),
        };
        set(state, dst, result, taint);
    }

    pub(crate) fn fault(&self, state: &ThreadState, kind: FaultKind, message: &str) -> Step {
        let message = message.to_string();
        let stack = state.stack(self.program);
        Step::Fault(Fault { kind, message, span: state.span(self.program), stack })
    }
}

/// The address of the object that event `index` allocates.
fn new_object(state: &ThreadState, index: u32, align: u64, kind: AllocKind) -> u64 {
    let region = match kind {
        AllocKind::Heap => Region::Heap,
        AllocKind::Zeroed => Region::Zeroed,
        AllocKind::Stack => Region::Stack,
    };
    region.address(state.thread, index.into(), layout::FIRST_OFFSET.max(align))
}

/// The value of an operand in the current frame.
pub(crate) fn value(state: &ThreadState, operand: Operand) -> Value {
    match operand {
        Operand::Const(constant) => constant,
        Operand::Reg(reg) => state.registers[(state.frame().base + reg.0) as usize],
    }
}

/// Writes a register and goes on to the next instruction.
pub(crate) fn finish(state: &mut ThreadState, dst: Reg, result: Value, taint: DepSet) {
    set(state, dst, result, taint);
    advance(state);
}

pub(crate) fn set(state: &mut ThreadState, dst: Reg, result: Value, taint: DepSet) {
    let at = (state.frame().base + dst.0) as usize;
    state.registers[at] = result;
    if let Some(all) = &mut state.taint {
        all.registers.set(at, taint);
    }
}

pub(crate) fn advance(state: &mut ThreadState) {
    state.phase = 0;
    state.frame_mut().pc += 1;
}

/// Whether a compare-and-swap writes something else than was there: otherwise it is no effect, see `LoopHead`.
fn changes(state: &ThreadState, new: Operand, size: u8) -> bool {
    let width = Width::of_bytes(size);
    width.truncate(value(state, new)) != width.truncate(state.old)
}

/// Keeps the value read by an instruction that goes on.
fn remember(state: &mut ThreadState, answer: Value) {
    state.old = answer;
    state.old_event = state.events - 1;
    state.phase = 1;
}

/// Ends an instruction whose result is the value it read.
fn finish_old(state: &mut ThreadState, dst: Reg) {
    let old = state.old;
    finish_from_old(state, dst, old);
}

/// Ends an instruction whose result was computed from the value it read.
fn finish_from_old(state: &mut ThreadState, dst: Reg, result: Value) {
    let taint = if state.taint.is_some() { DepSet::single(state.old_event) } else { DepSet::new() };
    finish(state, dst, result, taint);
}

/// Whether the events of an instruction tell its thread something: a value of shared memory, or a choice.
fn tells(instr: &Instr) -> bool {
    !matches!(
        instr,
        Instr::Store { .. }
            | Instr::Fence { .. }
            | Instr::FenceAt { .. }
            | Instr::Create { .. }
            | Instr::CreatePointer { .. }
            | Instr::Unlock { .. }
            | Instr::Alloc { .. }
            | Instr::Free { .. }
    )
}
