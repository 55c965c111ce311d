//! Answers: tells a thread the result of the event that it asked for.
//!
//! Cost: O(1) for an event, beside the dependencies where these are tracked.

use crate::ThreadState;
use crate::request::new_object;
use crate::run::{Interpreter, advance, finish, value};
use porf_event::{DepSet, Dialect, Label, Location, LockKind, ReadMode, RmwKind, ThreadId, Value};
use porf_ir::layout::Region;
use porf_ir::{AllocKind, Instr, Operand, Reg, Width, layout};

/// Phases of Arm's `CAS` after its choice: see `deliver_arm_cas`.
const FROM_REGISTER: u8 = 2;
pub(crate) const WRITE_BACK: u8 = 3;

impl Interpreter<'_> {
    /// The label that `run` asked for, with the value that it reads or the choice that is made.
    ///
    /// A compare-and-swap that fails is an ordinary read with its failure ordering.
    pub fn settle(&self, state: &ThreadState, label: Label, answer: Value) -> Label {
        match label {
            Label::Read { .. } if self.cells(state, self.current(state)).is_some() => {
                Self::settle_cell(label, answer)
            }
            Label::Read { access, mode, rmw, .. } => {
                let width = Width::of_bytes(access.size);
                let answer = width.truncate(answer);
                let (mode, rmw) = match self.current(state) {
                    instr @ Instr::Cas { expected, size, read, failure, kind, .. } => {
                        let found = self.part(state, instr).map_or(answer, |part| part.get(answer));
                        let equal = Width::of_bytes(*size).truncate(value(state, *expected)) == found;
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
        if self.unroll.is_some() && counts(self.current(state)) {
            state.told += 1;
        }
        if let Some(part) = self.part(state, self.current(state)) {
            return self.deliver_part(state, self.current(state), part, answer);
        }
        if let Some(cells) = self.cells(state, self.current(state)) {
            return self.deliver_cell(state, self.current(state), &cells, answer);
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
                    // Writing the value that was already there is no effect: see `LoopHead`.
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
            Instr::Store { address, .. } => {
                state.effects += u32::from(!is_new_variable(state, value(state, *address)));
                advance(state);
            }
            Instr::Unlock { .. } | Instr::Free { .. } => {
                let scope_ends = matches!(self.current(state), Instr::Free { kind: AllocKind::Stack, .. });
                state.effects += u32::from(!scope_ends);
                advance(state);
            }
            Instr::Fence { .. } | Instr::FenceAt { .. } | Instr::Join { .. } => advance(state),
            other => unreachable!("{other:?} asks for no event"),
        }
    }

    /// Whether everything later depends on the answer to this event: a choice, or a lock that may be taken.
    fn decides_path(&self, state: &ThreadState) -> bool {
        let instr = self.current(state);
        if let Some(cells) = self.cells(state, instr) {
            return self.is_at_choice(state, instr, &cells);
        }
        match self.current(state) {
            Instr::Nondet { .. } | Instr::Input { .. } => true,
            Instr::StoreExclusive { .. } | Instr::Lock { .. } => state.phase == 0,
            Instr::Cas { weak, kind, .. } => state.phase == 1 && (*weak || self.is_arm_cas(*kind)),
            _ => false,
        }
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
}

/// Whether an address is that of a local variable that began since the thread was last at the head of a loop. Unless
/// the iteration has another effect, no other thread knows of the variable, and it ends with the iteration. So a store
/// to it is no effect: see `LoopHead`.
fn is_new_variable(state: &ThreadState, address: Value) -> bool {
    Region::of(address) == Some(Region::Stack)
        && layout::allocation(address)
            .is_some_and(|object| object.thread == state.thread && object.index >= state.head)
}

/// Whether a compare-and-swap changes the value. If not, it is no effect: see `LoopHead`.
fn changes(state: &ThreadState, new: Operand, size: u8) -> bool {
    let width = Width::of_bytes(size);
    width.truncate(value(state, new)) != width.truncate(state.old)
}

/// Keeps the value read by an instruction that goes on.
pub(crate) fn remember(state: &mut ThreadState, answer: Value) {
    state.old = answer;
    state.old_event = state.events - 1;
    state.phase = 1;
}

/// Ends an instruction whose result is the value it read.
pub(crate) fn finish_old(state: &mut ThreadState, dst: Reg) {
    let old = state.old;
    finish_from_old(state, dst, old);
}

/// Ends an instruction whose result was computed from the value it read.
pub(crate) fn finish_from_old(state: &mut ThreadState, dst: Reg, result: Value) {
    let taint = if state.taint.is_some() { DepSet::single(state.old_event) } else { DepSet::new() };
    finish(state, dst, result, taint);
}

/// Whether an iteration with this instruction counts against the bound of loops. It does if an event tells the
/// thread something (a value of shared memory, a choice), or starts another thread: otherwise an endless loop that
/// starts threads would have no bound.
fn counts(instr: &Instr) -> bool {
    !matches!(
        instr,
        Instr::Store { .. }
            | Instr::Fence { .. }
            | Instr::FenceAt { .. }
            | Instr::Unlock { .. }
            | Instr::Alloc { .. }
            | Instr::Free { .. }
    )
}
