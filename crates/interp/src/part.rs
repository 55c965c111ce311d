//! Accesses to a part of a word that others access in whole: see [`porf_ir::Split::Word`].
//!
//! Their events are those of the word. A read takes its bytes out of it. A write is a read-modify-write, whose
//! read orders nothing by itself.

use crate::ThreadState;
use crate::deliver::remember;
use crate::request::Request;
use crate::run::{Interpreter, advance, finish, value};
use porf_event::{Access, DepSet, Label, Location, ReadMode, RmwKind, Value, WriteMode};
use porf_ir::{Instr, Operand, Part, Width};

/// An access as the program makes it.
fn accessed(state: &ThreadState, instr: &Instr) -> Option<Access> {
    let (Instr::Load { address, size, .. }
    | Instr::Store { address, size, .. }
    | Instr::Rmw { address, size, .. }
    | Instr::Cas { address, size, .. }) = *instr
    else {
        return None;
    };
    Some(Access { location: Location(value(state, address)), size })
}

impl Interpreter<'_> {
    /// The part of a word that an instruction accesses, if it is one.
    #[inline]
    pub(crate) fn part(&self, state: &ThreadState, instr: &Instr) -> Option<Part> {
        if self.program.words.is_empty() {
            return None;
        }
        let Access { location, size } = accessed(state, instr)?;
        self.program.part(location.0, size)
    }

    /// Whether the thread is at an access to a part of a word.
    pub fn is_part(&self, state: &ThreadState) -> bool {
        self.part(state, self.current(state)).is_some()
    }

    /// Whether threads that are at accesses of one word touch a byte in common.
    pub fn touch(&self, a: &ThreadState, b: &ThreadState) -> bool {
        if self.only_fetches(a) || self.only_fetches(b) {
            return false;
        }
        match [a, b].map(|state| accessed(state, self.current(state))) {
            [Some(a), Some(b)] => {
                let end = |access: Access| access.location.0 + u64::from(access.size);
                a.location.0 < end(b) && b.location.0 < end(a)
            }
            _ => true,
        }
    }

    /// Whether the next event of the thread only fetches the rest of the word that it writes a part of.
    pub fn only_fetches(&self, state: &ThreadState) -> bool {
        let instr = self.current(state);
        state.phase == 0 && matches!(instr, Instr::Store { .. }) && self.part(state, instr).is_some()
    }

    pub(crate) fn request_part(&self, state: &mut ThreadState, instr: &Instr, part: Part) -> Request {
        let access = Access { location: Location(part.address), size: part.word };
        match *instr {
            Instr::Load { address, mode, .. } => Request::read(access, mode, RmwKind::None, address),
            Instr::Store { address, value: stored, mode, .. } => match state.phase {
                0 if mode == WriteMode::Plain => {
                    Request::read(access, ReadMode::Plain, RmwKind::Amo, address)
                }
                0 => Request::read(access, ReadMode::Relaxed, RmwKind::Amo, address),
                _ => {
                    let new = part.put(state.old, value(state, stored));
                    Request::write(access, mode, RmwKind::Amo, new, address, Some(stored))
                }
            },
            Instr::Rmw { op, address, operand, size, read, write, kind, .. } => match state.phase {
                0 => Request::read(access, read, kind, address),
                _ => {
                    let old = part.get(state.old);
                    let new = op.apply(Width::of_bytes(size), old, value(state, operand));
                    Request::write(access, write, kind, part.put(state.old, new), address, Some(operand))
                }
            },
            Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind } => {
                match state.phase {
                    0 => Request::read(access, read.max(failure), kind, address),
                    _ if part.get(state.old) != truncated(state, expected, size) => {
                        self.finish_part(state, dst, part);
                        Request::Skip
                    }
                    1 if weak => Request::plain(Label::Choice { options: 2, chosen: 0 }),
                    _ => {
                        let word = part.put(state.old, value(state, new));
                        Request::write(access, write, kind, word, address, Some(new))
                    }
                }
            }
            ref other => unreachable!("{other:?} is in no word"),
        }
    }

    pub(crate) fn deliver_part(&self, state: &mut ThreadState, instr: &Instr, part: Part, answer: Value) {
        let old = part.get(state.old);
        match (instr, state.phase) {
            (Instr::Load { dst, .. }, _) => finish(state, *dst, part.get(answer), DepSet::new()),
            (_, 0) => remember(state, answer),
            (Instr::Store { .. }, _) => {
                state.effects += 1;
                advance(state);
            }
            (Instr::Rmw { dst, op, operand, size, .. }, _) => {
                let new = op.apply(Width::of_bytes(*size), old, value(state, *operand));
                state.effects += u32::from(new != old);
                self.finish_part(state, *dst, part);
            }
            // The choice: 0 goes on to the write, 1 fails without one.
            (Instr::Cas { weak: true, .. }, 1) if answer == 0 => state.phase = 2,
            (Instr::Cas { dst, weak: true, .. }, 1) => self.finish_part(state, *dst, part),
            (Instr::Cas { dst, new, size, .. }, _) => {
                state.effects += u32::from(truncated(state, *new, *size) != old);
                self.finish_part(state, *dst, part);
            }
            (other, _) => unreachable!("{other:?} is in no word"),
        }
    }

    /// Ends an instruction whose result is the part that it read.
    fn finish_part(&self, state: &mut ThreadState, dst: porf_ir::Reg, part: Part) {
        let old = part.get(state.old);
        finish(state, dst, old, DepSet::new());
    }
}

fn truncated(state: &ThreadState, operand: Operand, size: u8) -> Value {
    Width::of_bytes(size).truncate(value(state, operand))
}
