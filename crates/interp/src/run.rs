//! The interpreter's loop.
//!
//! An instruction with events stays current until its last event is delivered; `phase` says which of
//! them is next. `run` asks for the event of the present phase, `deliver` takes the answer and moves
//! to the next phase or the next instruction.

use crate::alone::{Flat, lock};
use crate::request::Request;
use crate::{Fault, FaultKind, Step, ThreadState};
use porf_event::{BlockReason, DepSet, Dialect, Label, Location, RmwKind, ThreadId, Value};
use porf_ir::{FunctionId, Instr, Operand, Program, Reg, layout};
use std::sync::Mutex;

const ENDED_IF: &str = "a store after an `if` or a loop whose condition was read without acquire: under lkmm \
                        nothing orders the two, and that is not supported";

/// How deep calls may nest.
pub const MAX_FRAMES: usize = 10_000;
/// How many instructions a thread may run without a visible event.
pub const MAX_SILENT: u32 = 100_000_000;

/// Runs the threads of one program.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'p> {
    pub(crate) program: &'p Program,
    track: bool,
    pub(crate) unroll: Option<u32>,
    /// Whether the program has C's memory: addresses mean something.
    pub(crate) c: bool,
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

    /// The state in which a thread created by [`Instr::Create`] begins; `thread` is its number. Parameters beyond the
    /// first are 0, as they are in a call that disagrees with the definition.
    pub fn start_function(&self, thread: ThreadId, function: FunctionId, argument: Value) -> ThreadState {
        let mut arguments = vec![argument];
        arguments.resize(self.program.function(function).params as usize, 0);
        ThreadState::new(self.program, thread, function, &arguments, self.track)
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
                                if taint.depends_on_ended_if(&label, state.events) {
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

    /// Whether the next event is the read of an instruction that writes only if the value is right.
    pub fn is_conditional(&self, state: &ThreadState) -> bool {
        let conditional = |instr: &Instr| {
            matches!(instr, Instr::Cas { .. } | Instr::AddUnless { .. } | Instr::TryLock { .. })
        };
        // The reads of several events of one access know it before.
        let is_known = |instr| self.cells(state, instr).is_some();
        state.phase == 0
            && !state.frames.is_empty()
            && conditional(self.current(state))
            && !is_known(self.current(state))
    }

    /// If the thread asks for input: the value that an answer stands for, as people write it.
    pub fn input(&self, state: &ThreadState, answer: Value) -> Option<String> {
        match self.current(state) {
            Instr::Input { kind, values, .. } => {
                values.get(answer as usize).map(|value| self.program.show_input(*kind, *value))
            }
            _ => None,
        }
    }

    /// Whether the thread is at a store-conditional.
    pub fn is_store_conditional(&self, state: &ThreadState) -> bool {
        !state.frames.is_empty() && matches!(self.current(state), Instr::StoreExclusive { .. })
    }

    /// Whether a choice between values is no data dependency, as in Arm's models.
    pub(crate) fn picks(&self) -> bool {
        self.program.dialect == Dialect::AArch64
    }

    /// Whether a compare-and-swap is Arm's instruction.
    pub(crate) fn is_arm_cas(&self, kind: RmwKind) -> bool {
        self.picks() && kind != RmwKind::Loop
    }

    pub(crate) fn current(&self, state: &ThreadState) -> &'p Instr {
        let frame = state.frame();
        &self.program.function(frame.function).code[frame.pc as usize]
    }

    /// Whether the lock cell that was just read is one of C that no lock has.
    pub(crate) fn is_destroyed(&self, state: &ThreadState) -> bool {
        self.c && state.old == layout::DESTROYED
    }

    pub(crate) fn destroyed(&self, state: &ThreadState) -> Step {
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
