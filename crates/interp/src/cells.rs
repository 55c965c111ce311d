//! Accesses that are several events, one for each cell that they cover: see [`porf_ir::Split::Bounds`].
//!
//! The events of an access follow each other. A read-modify-write reads all its cells before it writes them. Whether a
//! compare-and-swap succeeds decides how its reads are ordered, and the first of them comes before that is known. So it
//! begins with a choice; a thread that chose wrongly stops.

use crate::deliver::finish_old;
use crate::request::Request;
use crate::run::{Interpreter, advance, finish, value};
use crate::taint::Sources;
use crate::{Step, ThreadState};
use porf_event::{Access, BlockReason, DepSet, Label, Location, ReadMode, RmwKind, Value, wide};
use porf_ir::{Instr, Width};

/// The cells of an access that has several.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    address: u64,
    size: u8,
    list: Vec<(u64, u8)>,
}

/// What comes next in an access of several events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A compare-and-swap: does it succeed?
    Guess,
    /// The read of a cell.
    Read(usize),
    /// A weak compare-and-swap: does it fail by chance?
    Chance,
    /// The write of a cell.
    Write(usize),
}

/// Phases of an instruction beyond this one are those of a compare-and-swap that fails.
const FAILS: u8 = 64;

impl Cells {
    fn count(&self) -> usize {
        self.list.len()
    }

    fn access(&self, at: usize) -> Access {
        let (first, size) = self.list[at];
        Access { location: Location(first), size }
    }

    /// The bits of a value below a cell.
    fn shift(&self, at: usize) -> u32 {
        (self.list[at].0 - self.address) as u32 * 8
    }

    fn bytes(&self, held: Value) -> u128 {
        u128::from_le_bytes(wide::bytes(held, self.size))
    }

    /// What a cell holds of the value of the whole access.
    fn get(&self, at: usize, whole: Value) -> Value {
        let cell = (self.bytes(whole) >> self.shift(at)) as Value;
        Width::of_bytes(self.list[at].1).truncate(cell)
    }

    /// The value of the whole access with what one cell holds.
    fn with(&self, at: usize, whole: Value, cell: Value) -> Value {
        let mask = u128::from(Width::of_bytes(self.list[at].1).truncate(Value::MAX)) << self.shift(at);
        wide::held(self.bytes(whole) & !mask | u128::from(cell) << self.shift(at) & mask, self.size)
    }

    fn are_equal(&self, a: Value, b: Value) -> bool {
        let mask = u128::MAX >> (128 - 8 * u32::from(self.size));
        self.bytes(a) & mask == self.bytes(b) & mask
    }

    /// What is next where an instruction has come to a phase.
    fn next(&self, instr: &Instr, phase: u8) -> Next {
        let n = self.count();
        let at = usize::from(phase % FAILS);
        match instr {
            Instr::Load { .. } => Next::Read(at),
            Instr::Store { .. } => Next::Write(at),
            Instr::Rmw { .. } if at < n => Next::Read(at),
            Instr::Rmw { .. } => Next::Write(at - n),
            Instr::Cas { .. } if at == 0 => Next::Guess,
            Instr::Cas { .. } if at <= n => Next::Read(at - 1),
            Instr::Cas { weak: true, .. } if at == n + 1 => Next::Chance,
            Instr::Cas { weak, .. } => Next::Write(at - n - 1 - usize::from(*weak)),
            other => unreachable!("{other:?} is one event"),
        }
    }
}

impl Interpreter<'_> {
    /// The cells of the access that an instruction makes, if there are several.
    #[inline]
    pub(crate) fn cells(&self, state: &ThreadState, instr: &Instr) -> Option<Cells> {
        if self.program.bounds.is_empty() {
            return None;
        }
        let (Instr::Load { address, size, .. }
        | Instr::Store { address, size, .. }
        | Instr::Rmw { address, size, .. }
        | Instr::Cas { address, size, .. }) = *instr
        else {
            return None;
        };
        let address = value(state, address);
        let list = self.program.cells(address, size);
        (!list.is_empty()).then_some(Cells { address, size, list })
    }

    /// Whether the next event of the thread is the choice of a compare-and-swap.
    pub(crate) fn is_at_choice(&self, state: &ThreadState, instr: &Instr, cells: &Cells) -> bool {
        matches!(cells.next(instr, state.phase), Next::Guess | Next::Chance)
    }

    /// Whether the next event of the thread is a later one of the same access as the event before it.
    pub fn continues_access(&self, state: &ThreadState) -> bool {
        if state.frames.is_empty() {
            return false;
        }
        let instr = self.current(state);
        let next = self.cells(state, instr).map(|cells| cells.next(instr, state.phase));
        matches!(next, Some(Next::Read(1..) | Next::Write(1..)))
    }

    pub(crate) fn request_cell(&self, state: &mut ThreadState, instr: &Instr, cells: &Cells) -> Request {
        let next = cells.next(instr, state.phase);
        match *instr {
            Instr::Load { address, mode, .. } => {
                let Next::Read(at) = next else { unreachable!("a load reads") };
                Request::read(cells.access(at), mode, RmwKind::None, address)
            }
            Instr::Store { address, value: stored, mode, .. } => {
                let Next::Write(at) = next else { unreachable!("a store writes") };
                let new = cells.get(at, value(state, stored));
                Request::write(cells.access(at), mode, RmwKind::None, new, address, Some(stored))
            }
            Instr::Rmw { op, address, operand, size, read, write, kind, .. } => match next {
                Next::Write(at) => {
                    let new = op.apply(Width::of_bytes(size), state.old, value(state, operand));
                    let uses = op != porf_ir::RmwOp::Exchange;
                    let new = cells.get(at, new);
                    Request::write(cells.access(at), write, kind, new, address, Some(operand))
                        .using_old(state, uses)
                }
                Next::Read(at) => Request::read(cells.access(at), read, kind, address),
                Next::Guess | Next::Chance => unreachable!("there is nothing to choose"),
            },
            Instr::Cas { dst, address, expected, new, read, write, failure, kind, .. } => {
                let fails = state.phase >= FAILS;
                let read_all = usize::from(state.phase % FAILS) > cells.count();
                if read_all && fails == cells.are_equal(value(state, expected), state.old) {
                    return Request::Stop(Step::Blocked(BlockReason::Assume));
                }
                if read_all && fails {
                    finish_old(state, dst);
                    return Request::Skip;
                }
                match next {
                    // That there are several cells is said by the address.
                    Next::Guess => Request::Emit(
                        Label::Choice { options: 2, chosen: 0 },
                        Sources { address: Some(address), ..Sources::default() },
                    ),
                    Next::Chance => Request::plain(Label::Choice { options: 2, chosen: 0 })
                        .using_old(state, true)
                        .identified_by(expected),
                    Next::Read(at) => {
                        let (mode, rmw) = of_read(fails, read, failure, kind);
                        Request::read(cells.access(at), mode, rmw, address).identified_by(expected)
                    }
                    Next::Write(at) => {
                        let cell = cells.get(at, value(state, new));
                        Request::write(cells.access(at), write, kind, cell, address, Some(new)).after_branch(
                            state,
                            expected,
                            kind == RmwKind::Loop,
                        )
                    }
                }
            }
            ref other => unreachable!("{other:?} is one event"),
        }
    }

    /// The label of a read that has its value.
    pub(crate) fn settle_cell(label: Label, answer: Value) -> Label {
        match label {
            Label::Read { access, mode, rmw, .. } => {
                Label::Read { access, mode, rmw, value: Width::of_bytes(access.size).truncate(answer) }
            }
            other => other,
        }
    }

    pub(crate) fn deliver_cell(&self, state: &mut ThreadState, instr: &Instr, cells: &Cells, answer: Value) {
        let next = cells.next(instr, state.phase);
        let is_last = match next {
            Next::Read(at) | Next::Write(at) => at + 1 == cells.count(),
            Next::Guess | Next::Chance => false,
        };
        if let Next::Read(at) = next {
            let before = if at == 0 { wide::held(0, cells.size) } else { state.old };
            state.old = cells.with(at, before, answer);
            state.old_event = state.events - 1;
        }
        match *instr {
            Instr::Load { dst, .. } if is_last => {
                let read =
                    if state.taint.is_some() { DepSet::single(state.old_event) } else { DepSet::new() };
                let old = state.old;
                finish(state, dst, old, read);
            }
            Instr::Store { .. } if is_last => {
                state.effects += 1;
                advance(state);
            }
            Instr::Rmw { dst, op, operand, size, .. } if is_last && matches!(next, Next::Write(_)) => {
                let new = op.apply(Width::of_bytes(size), state.old, value(state, operand));
                state.effects += u32::from(!cells.are_equal(new, state.old));
                finish_old(state, dst);
            }
            Instr::Cas { dst, new, .. } if is_last && matches!(next, Next::Write(_)) => {
                state.effects += u32::from(!cells.are_equal(value(state, new), state.old));
                finish_old(state, dst);
            }
            Instr::Cas { dst, .. } if next == Next::Chance && answer != 0 => finish_old(state, dst),
            // The choice: 0 succeeds, 1 fails.
            _ if next == Next::Guess && answer != 0 => state.phase = FAILS + 1,
            _ => state.phase += 1,
        }
    }
}

/// How the reads of a compare-and-swap are ordered, as [`Interpreter::settle`] says it of one that is one event.
fn of_read(fails: bool, read: ReadMode, failure: ReadMode, kind: RmwKind) -> (ReadMode, RmwKind) {
    match fails {
        false => (read, kind),
        // A load-linked without its store.
        true if kind == RmwKind::Loop => (failure, RmwKind::Exclusive),
        true => (failure, RmwKind::Failed),
    }
}
