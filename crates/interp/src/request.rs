//! What an instruction asks for: an event and where its address and data come from.

use crate::deliver::{WRITE_BACK, finish_from_old, finish_old};
use crate::run::{Interpreter, finish, value};
use crate::taint::Sources;
use crate::{FaultKind, Step, ThreadState};
use porf_event::{
    Access, BlockReason, DepSet, Dialect, Label, Location, LockKind, ReadMode, RmwKind, ThreadId, Value,
    WriteMode,
};
use porf_ir::{AllocKind, Instr, Operand, Region, Width, layout};

/// What an instruction wants of the world in its present phase.
pub(crate) enum Request {
    Emit(Label, Sources),
    /// Nothing: it finished by itself.
    Skip,
    Stop(Step),
}

impl Request {
    pub fn plain(label: Label) -> Request {
        Request::Emit(label, Sources::default())
    }

    pub fn read(access: Access, mode: ReadMode, rmw: RmwKind, address: Operand) -> Request {
        let sources = Sources { address: Some(address), ..Sources::default() };
        Request::Emit(Label::Read { access, mode, rmw, value: 0 }, sources)
    }

    pub fn write(
        access: Access,
        mode: WriteMode,
        rmw: RmwKind,
        value: Value,
        address: Operand,
        data: Option<Operand>,
    ) -> Request {
        let sources = Sources { address: Some(address), data, ..Sources::default() };
        Request::Emit(Label::Write { access, mode, rmw, value }, sources)
    }

    /// The write happens only because the value just read equals `expected`.
    pub fn on_condition(self, state: &ThreadState, expected: Operand, tracked: bool) -> Request {
        match self {
            Request::Emit(label, sources) if tracked => {
                Request::Emit(label, Sources { condition: Some((expected, state.old_event)), ..sources })
            }
            other => other,
        }
    }

    /// The write comes after a branch that compares the value just read with `expected`.
    pub fn after_branch(self, state: &ThreadState, expected: Operand, is: bool) -> Request {
        match self {
            Request::Emit(label, sources) if is => {
                Request::Emit(label, Sources { branch: Some((expected, state.old_event)), ..sources })
            }
            other => other,
        }
    }

    /// Were `operand` another value, this would be another kind of event.
    pub fn identified_by(self, operand: Operand) -> Request {
        match self {
            Request::Emit(label, sources) => {
                Request::Emit(label, Sources { identity: Some(operand), ..sources })
            }
            other => other,
        }
    }

    /// The value written was computed from the value just read, where `uses` says so.
    pub fn using_old(self, state: &ThreadState, uses: bool) -> Request {
        match self {
            Request::Emit(label, sources) if uses => {
                Request::Emit(label, Sources { old: Some(state.old_event), ..sources })
            }
            other => other,
        }
    }
}

impl Interpreter<'_> {
    /// Whether a store-conditional may succeed: its cell is that of the last exclusive load. On RISC-V a part of it
    /// will do, for the reservation set has all bytes that were loaded (ISA manual, "Zalrsc").
    fn is_reserved(&self, state: &ThreadState, access: Access) -> bool {
        let Some((location, size)) = state.exclusive else { return false };
        let offset = access.location.0.wrapping_sub(location.0);
        (location, size) == (access.location, access.size)
            || self.program.dialect == Dialect::RiscV
                && offset < u64::from(size)
                && offset + u64::from(access.size) <= u64::from(size)
    }

    /// What the instruction, in its present phase, wants of the world.
    pub(crate) fn request(&self, state: &mut ThreadState, instr: &Instr) -> Request {
        let at = |state: &ThreadState, address: Operand, size: u8| Access {
            location: Location(value(state, address)),
            size,
        };
        if let Some(part) = self.part(state, instr) {
            return self.request_part(state, instr, part);
        }
        if let Some(cells) = self.cells(state, instr) {
            return self.request_cell(state, instr, &cells);
        }
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
                if !self.is_reserved(state, access) {
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
            // An identifier in C is any number; where there are no addresses, more threads have one.
            Instr::Join { thread } => match u16::try_from(value(state, thread)) {
                Ok(child) if self.program().image.is_none() || u64::from(child) < layout::MAX_THREADS => {
                    Request::plain(Label::Join { child: ThreadId(child) })
                }
                _ => Request::Stop(self.fault(state, FaultKind::Lock, "join of what is no thread")),
            },
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
}

/// The address of the object that event `index` allocates.
pub(crate) fn new_object(state: &ThreadState, index: u32, align: u64, kind: AllocKind) -> u64 {
    let region = match kind {
        AllocKind::Heap => Region::Heap,
        AllocKind::Zeroed => Region::Zeroed,
        AllocKind::Stack => Region::Stack,
    };
    region.address(state.thread, index.into(), layout::FIRST_OFFSET.max(align))
}
