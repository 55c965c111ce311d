//! What C programs do between events: private and constant memory, calls through pointers, loops
//! that wait, formatted output.

use crate::private::{Private, Wrong, out_of_bounds};
use crate::run::{Interpreter, MAX_FRAMES, advance, finish, value};
use crate::{FaultKind, Step, ThreadState, format};
use porf_event::{BlockReason, DepSet, Value};
use porf_ir::layout::{self, Region};
use porf_ir::{AllocKind, HeldOp, Instr, Operand, Reg, Target, WideOp, Width};
use std::sync::Arc;

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Private,
    Constant,
    /// Memory of the execution graph: an event.
    Shared,
}

impl<'p> Interpreter<'p> {
    /// Runs an instruction that needs no event; `None` if it needs one.
    pub(crate) fn silent(&self, state: &mut ThreadState, instr: &Instr) -> Option<Result<(), Step>> {
        if state.phase != 0 {
            return None;
        }
        let outcome = match instr {
            Instr::Load { dst, address, size, .. } => self.load(state, *dst, *address, *size),
            Instr::Store { address, value: stored, size, .. } => self.store(state, *address, *stored, *size),
            Instr::Rmw { dst, op, address, operand, size, .. } => {
                let width = Width::of_bytes(*size);
                let operand = value(state, *operand);
                self.update(state, *dst, *address, *size, |old| Some(op.apply(width, old, operand)))
            }
            Instr::Cas { dst, address, expected, new, size, .. } => {
                let width = Width::of_bytes(*size);
                let (expected, new) = (width.truncate(value(state, *expected)), value(state, *new));
                self.update(state, *dst, *address, *size, |old| {
                    (old == expected).then_some(width.truncate(new))
                })
            }
            Instr::Lock { address } | Instr::TryLock { address, .. } | Instr::Unlock { address } => {
                match self.place(state, value(state, *address), 4) {
                    Ok(Place::Shared) => Ok(false),
                    Ok(_) => Err((FaultKind::Unsupported, "a lock in memory of one thread only".into())),
                    Err(wrong) => Err(wrong),
                }
            }
            Instr::Switch { value: on, cases, default } => match self.switch(state, *on, cases, *default) {
                Some(step) => return Some(Err(step)),
                None => Ok(true),
            },
            Instr::Wide { dst, op, operands } => self.wide(state, *dst, *op, operands),
            Instr::CallPointer { pointer, args, dst } => self.call_pointer(state, *pointer, args, *dst),
            Instr::ReturnAll { values } => {
                self.give_back_all(state, values);
                Ok(true)
            }
            Instr::ThreadSelf { dst } => {
                let thread = state.thread.0;
                self.assign(state, *dst, thread.into(), &[]);
                Ok(true)
            }
            Instr::Block { reason } => return Some(Err(Step::Blocked(*reason))),
            Instr::Fail { kind, message } => Err((*kind, message.to_string())),
            Instr::FailWith { kind, text } => {
                return Some(Err(self.give_up(state, *kind, value(state, *text))));
            }
            Instr::LoopHead { effects, memory, variables } => {
                if let Some(reason) = self.repeats_iteration(state, *effects, *memory, variables) {
                    return Some(Err(Step::Blocked(reason)));
                }
                Ok(true)
            }
            Instr::Look => {
                state.looks = state.looks.wrapping_add(1);
                advance(state);
                Ok(true)
            }
            Instr::Local { dst, size } => {
                let (thread, size) = (state.thread, value(state, *size));
                private(state).add(thread, size).map(|address| {
                    self.assign(state, *dst, address, &[]);
                    true
                })
            }
            Instr::ThreadLocalAddress { dst, index } => {
                let address = self.thread_local(state, *index);
                self.assign(state, *dst, address, &[]);
                Ok(true)
            }
            Instr::TryCopy { to, from, length, done } => {
                let (to, from, length) = (value(state, *to), value(state, *from), value(state, *length));
                self.copy(state, to, from, length).map(|copied| self.go(state, copied, *done))
            }
            Instr::TryFill { to, byte, length, done } => {
                let (to, byte, length) =
                    (value(state, *to), value(state, *byte) as u8, value(state, *length));
                self.fill(state, to, Some(byte), length).map(|filled| self.go(state, filled, *done))
            }
            Instr::Forget { address, length } => {
                let (address, length) = (value(state, *address), value(state, *length));
                if Region::of(address) == Some(Region::Private) && layout::owner(address) == state.thread {
                    // The scope of a variable begins: what was there before is no effect either.
                    let memory = private(state);
                    memory.set_scope(address, true);
                    let _ = memory.set_range(address, &vec![None; length as usize]);
                }
                advance(state);
                Ok(true)
            }
            Instr::Expire { address } => {
                let address = value(state, *address);
                if Region::of(address) == Some(Region::Private) && layout::owner(address) == state.thread {
                    private(state).set_scope(address, false);
                }
                advance(state);
                Ok(true)
            }
            Instr::Held { op, dst, address } => {
                let before = held(state, *op, value(state, *address));
                self.assign(state, *dst, before.into(), &[]);
                Ok(true)
            }
            Instr::Print { dst, format, args } => match self.shows_output() {
                false => {
                    self.assign(state, *dst, 0, &[]);
                    Ok(true)
                }
                true => {
                    let (format, args) = (value(state, *format), value(state, *args));
                    self.formatted(state, format, args).map(|text| {
                        private(state).output.extend_from_slice(&text);
                        self.assign(state, *dst, text.len() as u64, &[]);
                        true
                    })
                }
            },
            Instr::Format { dst, format, args } => {
                let (format, args) = (value(state, *format), value(state, *args));
                self.format_local(state, *dst, format, args)
            }
            Instr::Free { address, kind } => match value(state, *address) {
                0 => {
                    advance(state);
                    Ok(true)
                }
                address => match Region::of(address) {
                    Some(Region::Heap | Region::Zeroed) if *kind != AllocKind::Stack => Ok(false),
                    Some(Region::Stack) if *kind == AllocKind::Stack => Ok(false),
                    _ => Err((FaultKind::BadFree, "free of an address that was not allocated".to_string())),
                },
            },
            Instr::Alloc { dst, size, .. } => {
                let size = value(state, *size);
                self.fails_to_allocate(state, *dst, size)
            }
            _ => return None,
        };
        match outcome {
            Ok(true) => Some(Ok(())),
            Ok(false) => None,
            Err((kind, message)) => Some(Err(self.fault(state, kind, &message))),
        }
    }

    /// Goes to the target of the case that equals `on`; a step if the thread may not jump there any more.
    fn switch(
        &self,
        state: &mut ThreadState,
        on: Operand,
        cases: &[(Value, Target)],
        default: Target,
    ) -> Option<Step> {
        let found = value(state, on);
        let target = cases.iter().find(|(case, _)| *case == found).map_or(default, |case| case.1);
        if let Some(taint) = &mut state.taint {
            let base = state.frames.last().map_or(0, |frame| frame.base);
            taint.branch(base, on);
        }
        self.jump(state, target)
    }

    /// Arithmetic on 128 bits.
    fn wide(
        &self,
        state: &mut ThreadState,
        dst: Reg,
        op: WideOp,
        operands: &[Operand; 4],
    ) -> Result<bool, Wrong> {
        let half = |i: usize| u128::from(value(state, operands[i]));
        match op.apply(half(0) | half(1) << 64, half(2) | half(3) << 64) {
            None if op == WideOp::Value => {
                Err((FaultKind::Unsupported, "a value of 16 bytes that is not known here".to_string()))
            }
            None => Err((FaultKind::DivisionByZero, "division by zero".to_string())),
            Some(result) => {
                if !op.is_narrow() {
                    self.set(state, Reg(dst.0 + 1), (result >> 64) as u64, &operands[..]);
                }
                self.assign(state, dst, result as u64, &operands[..]);
                Ok(true)
            }
        }
    }

    /// At the head of a loop: whether the next iteration would repeat the last one, because it had no effect and
    /// left everything as it was; then it says what the thread waits for. If not, notes how things are now.
    fn repeats_iteration(
        &self,
        state: &mut ThreadState,
        effects: Reg,
        last_memory: Reg,
        variables: &[(Reg, Reg)],
    ) -> Option<BlockReason> {
        // The upper half remembers where the iteration began: see `ThreadState::waits_since`. An execution has
        // fewer events than a quarter can count.
        let (events, looks) = (u64::from(state.events as u16), u64::from(state.looks));
        let now = u64::from(state.effects) | events << 32 | looks << 48;
        let sum = state.memory.as_ref().map_or(0, |memory| memory.sum());
        let last = value(state, effects.into());
        let same = last as u32 == state.effects
            && value(state, last_memory.into()) == sum
            && variables.iter().all(|(a, b)| value(state, (*a).into()) == value(state, (*b).into()));
        if same {
            let has_looked = (last >> 48) as u16 != state.looks;
            return Some(if has_looked { BlockReason::Clock } else { BlockReason::Spin });
        }
        state.head = state.events;
        for (variable, last) in variables {
            let current = value(state, (*variable).into());
            self.set(state, *last, current, &[]);
        }
        self.set(state, last_memory, sum, &[]);
        self.assign(state, effects, now, &[]);
        None
    }

    /// The address of this thread's instance of a thread-local variable.
    fn thread_local(&self, state: &ThreadState, index: u32) -> u64 {
        let image = self.program().image.as_ref().expect("only C programs have thread-locals");
        if image.thread_locals[index as usize].shared {
            return layout::shared_thread_local(state.thread, index);
        }
        // The private ones are the first objects of every thread, in order; the first thread has globals of its
        // own before them.
        let before = image.thread_locals[..index as usize].iter().filter(|t| !t.shared);
        let singles = if state.thread.0 == 0 { image.singles.len() } else { 0 };
        let slot = (singles + before.count()) as u64;
        Region::Private.address(state.thread, slot, layout::FIRST_OFFSET)
    }

    /// Whether an allocation gives null, as every allocator does for such a size; otherwise it needs an event.
    fn fails_to_allocate(&self, state: &mut ThreadState, dst: Reg, size: u64) -> Result<bool, Wrong> {
        let limit = layout::MAX_OBJECT;
        if size > i64::MAX as u64 {
            self.assign(state, dst, 0, &[]);
            Ok(true)
        } else if size > limit {
            let message = format!("allocation of {size} bytes; the limit is {limit} bytes per object");
            Err((FaultKind::OutOfMemory, message))
        } else if u64::from(state.events) >= layout::MAX_SLOTS - 4096 {
            Err((FaultKind::OutOfMemory, "allocation by a thread with too many events".to_string()))
        } else {
            Ok(false)
        }
    }

    /// A byte of private or constant memory, or of shared memory where a single run looks at it.
    fn byte(&self, state: &ThreadState, address: u64) -> Result<u8, Wrong> {
        match self.place(state, address, 1)? {
            Place::Private => memory(state)?.read(address, 1).map(|byte| byte as u8),
            Place::Constant => Ok(self.program().static_value(address, 1) as u8),
            Place::Shared => match self.peek(address) {
                Some(byte) => Ok(byte),
                None => Err((FaultKind::Unsupported, "formatting a string in shared memory".to_string())),
            },
        }
    }

    /// Adds the name of the variable to what is wrong with an access to private memory.
    fn named(&self, state: &ThreadState, address: u64, (kind, message): Wrong) -> Wrong {
        let single = self.program().image.as_ref().and_then(|image| {
            let first = state.thread.0 == 0 && Region::of(address) == Some(Region::Private);
            if first { image.singles.get(layout::slot(address) as usize) } else { None }
        });
        match single {
            Some(single) => (kind, format!("{message} ({})", single.name)),
            None => (kind, message),
        }
    }

    /// Whether the thread is at a load that only moves bytes.
    fn is_at_move(&self, state: &ThreadState) -> bool {
        state.place().is_some_and(|(function, at)| self.program().function(function).is_move(at))
    }

    fn load(&self, state: &mut ThreadState, dst: Reg, address: Operand, size: u8) -> Result<bool, Wrong> {
        let at = value(state, address);
        let result = match self.place(state, at, size.into())? {
            Place::Shared => return Ok(false),
            Place::Private => match memory(state)?.read(at, size) {
                Err((FaultKind::Uninitialised, _)) if self.is_at_move(state) => {
                    let bytes = memory(state)?.range(at, size.into())?;
                    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | Value::from(byte.unwrap_or(0)))
                }
                result => result.map_err(|wrong| self.named(state, at, wrong))?,
            },
            Place::Constant => self.program().static_value(at, size),
        };
        let taint = match &state.taint {
            Some(taint) => {
                let mut from = taint.of(state.frame().base, &[address]);
                from.union_with(&taint.of_memory(at, size));
                from
            }
            None => DepSet::new(),
        };
        finish(state, dst, result, taint);
        Ok(true)
    }

    fn store(
        &self,
        state: &mut ThreadState,
        address: Operand,
        stored: Operand,
        size: u8,
    ) -> Result<bool, Wrong> {
        let at = value(state, address);
        if !self.writes_private(state, at, size.into())? {
            return Ok(false);
        }
        let new = value(state, stored);
        private(state).write(at, size, new).map_err(|wrong| self.named(state, at, wrong))?;
        if let Some(taint) = &mut state.taint {
            let base = state.frames.last().map_or(0, |frame| frame.base);
            let on = taint.of(base, &[stored, address]);
            taint.set_memory(at, size, on);
        }
        advance(state);
        Ok(true)
    }

    /// A read-modify-write of private memory.
    fn update(
        &self,
        state: &mut ThreadState,
        dst: Reg,
        address: Operand,
        size: u8,
        change: impl FnOnce(Value) -> Option<Value>,
    ) -> Result<bool, Wrong> {
        let at = value(state, address);
        if !self.writes_private(state, at, size.into())? {
            return Ok(false);
        }
        let old = memory(state)?.read(at, size)?;
        if let Some(new) = change(old) {
            private(state).write(at, size, new)?;
        }
        finish(state, dst, old, DepSet::new());
        Ok(true)
    }

    /// Whether a write goes to private memory; if not, it is an event.
    #[inline]
    fn writes_private(&self, state: &ThreadState, address: u64, size: u64) -> Result<bool, Wrong> {
        match self.place(state, address, size)? {
            Place::Shared => Ok(false),
            Place::Constant => Err((FaultKind::BadAddress, "write to constant memory".to_string())),
            Place::Private => Ok(true),
        }
    }

    fn place(&self, state: &ThreadState, address: u64, size: u64) -> Result<Place, Wrong> {
        match Region::of(address) {
            Some(Region::Heap | Region::Zeroed | Region::Stack) => Ok(Place::Shared),
            Some(Region::Private) if layout::owner(address) == state.thread => Ok(Place::Private),
            Some(Region::Private) => {
                let whose = layout::owner(address);
                let message =
                    format!("access to a variable of {whose} that was thought to stay in its thread");
                Err((FaultKind::Unsupported, message))
            }
            Some(region @ (Region::Global | Region::Constant)) => {
                if self.program().static_object(address, size).is_none() {
                    if let Some(why) = self.program().unknown_at(address) {
                        return Err((FaultKind::Unsupported, why.to_string()));
                    }
                    return Err(match self.program().global_at(address) {
                        Some(global) => {
                            let offset = address.wrapping_sub(global.address) as i64;
                            let (kind, message) = out_of_bounds(size, offset, global.size);
                            (kind, format!("{message} ({})", global.name))
                        }
                        None => bad_address(address),
                    });
                }
                Ok(if region == Region::Global { Place::Shared } else { Place::Constant })
            }
            Some(Region::Low) if address < 4096 => {
                Err((FaultKind::NullPointer, "access through a null pointer".to_string()))
            }
            Some(Region::Low) if self.is_library_cell(address) => Ok(Place::Shared),
            _ => Err(bad_address(address)),
        }
    }

    fn is_library_cell(&self, address: u64) -> bool {
        let first = layout::result_cell(porf_event::ThreadId(0));
        (layout::FIRST_SIZE..layout::SIZES_END).contains(&address)
            || (first..first + 8 * layout::MAX_THREADS).contains(&address)
    }

    fn call_pointer(
        &self,
        state: &mut ThreadState,
        pointer: Operand,
        args: &[Operand],
        dst: Option<Reg>,
    ) -> Result<bool, Wrong> {
        let address = value(state, pointer);
        let Some(function) = layout::function_at(address) else {
            let what = if address < 4096 { "a null pointer" } else { "an address that is no function" };
            return Err((FaultKind::BadCall, format!("call through {what}")));
        };
        let Some(callee) = self.program().functions.get(function.0 as usize) else {
            return Err((FaultKind::BadCall, "call through an address that is no function".to_string()));
        };
        if callee.params as usize != args.len() {
            let message = format!(
                "call of {} with {} argument words through a pointer; it takes {}",
                callee.name,
                args.len(),
                callee.params
            );
            return Err((FaultKind::BadCall, message));
        }
        if state.frames.len() >= MAX_FRAMES {
            return Err((FaultKind::StackOverflow, "calls nest deeper than the limit of 10,000".to_string()));
        }
        self.call(state, function, args, dst);
        Ok(true)
    }

    /// Goes to `done`, or to the next instruction.
    fn go(&self, state: &mut ThreadState, did: bool, done: u32) -> bool {
        if did {
            state.frame_mut().pc = done;
        } else {
            advance(state);
        }
        true
    }

    fn copy(&self, state: &mut ThreadState, to: u64, from: u64, length: u64) -> Result<bool, Wrong> {
        if length == 0 {
            return Ok(true);
        }
        let (source, target) = (self.place(state, from, length)?, self.place(state, to, length)?);
        if target == Place::Constant {
            return Err((FaultKind::BadAddress, "write to constant memory".to_string()));
        }
        if source == Place::Shared || target == Place::Shared {
            return Ok(false);
        }
        let bytes = match source {
            Place::Private => memory(state)?.range(from, length)?,
            _ => {
                let program = self.program();
                (from..from + length).map(|at| Some(program.static_value(at, 1) as u8)).collect()
            }
        };
        private(state).set_range(to, &bytes)?;
        if let Some(taint) = &mut state.taint {
            taint.copy_memory(to, from, length);
        }
        Ok(true)
    }

    fn fill(&self, state: &mut ThreadState, to: u64, byte: Option<u8>, length: u64) -> Result<bool, Wrong> {
        if length == 0 {
            return Ok(true);
        }
        if !self.writes_private(state, to, length)? {
            return Ok(false);
        }
        private(state).set_range(to, &vec![byte; length as usize])?;
        Ok(true)
    }

    fn format_local(&self, state: &mut ThreadState, dst: Reg, format: u64, args: u64) -> Result<bool, Wrong> {
        let text = self.formatted(state, format, args)?;
        let thread = state.thread;
        let address = private(state).add(thread, text.len() as u64 + 1)?;
        let bytes: Vec<Option<u8>> = text.iter().copied().chain([0]).map(Some).collect();
        private(state).set_range(address, &bytes)?;
        self.set(state, Reg(dst.0 + 1), text.len() as u64, &[]);
        self.assign(state, dst, address, &[]);
        Ok(true)
    }

    fn formatted(&self, state: &ThreadState, template: u64, args: u64) -> Result<Vec<u8>, Wrong> {
        let string = |address: u64, limit: Option<usize>| {
            let mut text = Vec::new();
            while text.len() < limit.unwrap_or(usize::MAX) {
                match self.byte(state, address + text.len() as u64) {
                    Ok(0) => break,
                    Ok(byte) => text.push(byte),
                    Err((_, message)) => return Err(message),
                }
            }
            Ok(text)
        };
        let unsupported = |message| (FaultKind::Unsupported, message);
        let template = string(template, None).map_err(unsupported)?;
        let mut next = args;
        let argument = || {
            let word = memory(state).and_then(|memory| memory.read(next, 8)).map_err(|(_, message)| message);
            next += 8;
            word
        };
        format::format(&template, argument, string).map_err(unsupported)
    }
}

/// The thread's private memory, to write to.
fn private(state: &mut ThreadState) -> &mut Private {
    Arc::make_mut(state.memory.get_or_insert_with(Arc::default))
}

fn memory(state: &ThreadState) -> Result<&Private, Wrong> {
    state.memory.as_deref().ok_or_else(|| {
        (FaultKind::UseAfterFree, "access to a local variable after its function returned".into())
    })
}

fn held(state: &mut ThreadState, op: HeldOp, address: u64) -> u32 {
    if state.memory.is_none() && op != HeldOp::Acquire {
        return 0;
    }
    let held = &mut private(state).held;
    let at = held.iter().position(|(lock, _)| *lock == address);
    let before = at.map_or(0, |at| held[at].1);
    match (op, at) {
        (HeldOp::Acquire, Some(at)) => held[at].1 += 1,
        (HeldOp::Acquire, None) => held.push((address, 1)),
        (HeldOp::Release, Some(at)) if before > 1 => held[at].1 -= 1,
        (HeldOp::Release, Some(at)) => {
            held.remove(at);
        }
        _ => {}
    }
    before
}

fn bad_address(address: u64) -> Wrong {
    (FaultKind::BadAddress, format!("access through {address:#x}, which is no valid pointer"))
}
