//! What the accesses of a thread do: all that each of them may read and write.

use super::super::MAX_VALUES;
use super::super::machine::{
    Atom, AtomOp, Equality, Location, Sym, Thread, Val, Who, decided, equality, negated, number,
};
use super::round::Round;
use super::{Place, Reading};
use crate::syntax::Diagnostic;
use porf_event::{ReadMode, WriteMode};
use porf_ir::layout::Region;
use porf_ir::{Instr, Operand, RmwOp, Width};

/// What an access does, before the thread goes on.
pub(super) struct Access {
    pub(super) what: &'static str,
    pub(super) reads: Option<Reading>,
    pub(super) guard: Vec<Atom>,
    pub(super) writes: Option<Val>,
    pub(super) fence: bool,
    pub(super) lock: bool,
    /// The program is wrong if this happens.
    pub(super) fails: Option<String>,
    pub(super) thread: Thread,
}

impl Round<'_> {
    /// The access that a thread is about to make.
    pub(super) fn kind(&self, thread: &Thread) -> Result<Option<(Place, bool, bool)>, Diagnostic> {
        Ok(match thread.next(self.program) {
            Instr::Load { address, size, mode, .. } => {
                Some((self.place(thread, *address, *size)?, false, *mode != ReadMode::Plain))
            }
            Instr::Store { address, size, mode, .. } => {
                Some((self.place(thread, *address, *size)?, true, *mode != WriteMode::Plain))
            }
            Instr::Rmw { address, size, .. } | Instr::Cas { address, size, .. } => {
                Some((self.place(thread, *address, *size)?, true, true))
            }
            Instr::Lock { address } | Instr::Unlock { address } | Instr::TryLock { address, .. } => {
                Some((self.place(thread, *address, 4)?, true, true))
            }
            Instr::Fence { .. } => None,
            Instr::Free { address, .. } => {
                let address = thread.constant(self.program, *address, "what is freed")?;
                if !matches!(Region::of(address), Some(Region::Heap | Region::Zeroed)) {
                    return Err(thread.wrong(self.program, "a thread frees what main has not allocated"));
                }
                Some((Place { location: Location::single(address, 0), of: None }, true, true))
            }
            other => {
                let name = format!("{other:?}");
                let name = name.split([' ', '{', '(']).next().unwrap_or("").to_owned();
                return Err(
                    thread.wrong(self.program, format!("a thread does what is not followed here ({name})"))
                );
            }
        })
    }

    /// All that the access of a thread may do.
    pub(super) fn accesses(
        &mut self,
        role: usize,
        thread: &Thread,
        location: Option<Location>,
    ) -> Result<Vec<Access>, Diagnostic> {
        let next = |what| {
            let mut thread = thread.clone();
            thread.go_on();
            Access {
                what,
                reads: None,
                guard: Vec::new(),
                writes: None,
                fence: false,
                lock: false,
                fails: None,
                thread,
            }
        };
        let Some(location) = location else {
            return Ok(vec![Access { fence: true, ..next("fence") }]);
        };
        let initial = self.initial(thread, location)?;
        self.shared.entry(location).or_default().values.insert(initial);
        let known = self.known.get(&location).cloned().unwrap_or_default();
        let width = Width::of_bytes(location.size.max(1));
        let member = known.family.map(|family| (Some(Reading::Member), Val::Of(family, Who::Read)));
        // What the location may hold, with what a step that reads it knows then.
        let readings: Vec<(Option<Reading>, Val)> = if known.wide {
            vec![(None, Val::Sym(Sym::Read, 0))]
        } else {
            let constants =
                known.values.iter().map(|value| (Some(Reading::Const(*value)), Val::Const(*value)));
            constants.chain(member).collect()
        };
        let mut found = Vec::new();
        match thread.next(self.program) {
            Instr::Load { dst, .. } => {
                for (reads, value) in readings {
                    let mut access = Access { reads, ..next("load") };
                    access.thread.set(*dst, value);
                    found.push(access);
                }
            }
            Instr::Store { value, mode, .. } => {
                let value = self.value(thread, *value, location, known.wide)?;
                self.write(role, location, &value);
                let mut access = Access { lock: *mode == WriteMode::SeqCst, ..next("store") };
                if self.writes_alone(role, location) {
                    access.thread.mirror.insert(location, value.clone());
                }
                access.writes = Some(value);
                found.push(access);
            }
            Instr::Free { .. } => {
                self.write(role, location, &Val::Const(1));
                found.push(Access { writes: Some(Val::Const(1)), ..next("free") });
            }
            Instr::Rmw { dst, op, operand, .. } => {
                let operand = self.value(thread, *operand, location, known.wide)?;
                for (reads, old) in readings {
                    let new = match (&old, op, &operand) {
                        (_, RmwOp::Exchange, value) => value.clone(),
                        (Val::Const(old), op, Val::Const(operand)) => {
                            Val::Const(op.apply(width, *old, *operand))
                        }
                        (Val::Sym(sym, c), RmwOp::Add, Val::Const(by)) => {
                            Val::Sym(*sym, c + width.signed(*by))
                        }
                        (Val::Sym(sym, c), RmwOp::Sub, Val::Const(by)) => {
                            Val::Sym(*sym, c - width.signed(*by))
                        }
                        _ => {
                            return Err(thread
                                .wrong(self.program, format!("{op:?} of numbers that are not constant")));
                        }
                    };
                    found.push(self.swap(role, location, Access { reads, ..next("rmw") }, old, new, *dst));
                }
            }
            Instr::Cas { dst, expected, new, .. } => {
                let expected = self.value(thread, *expected, location, known.wide)?;
                let new = self.value(thread, *new, location, known.wide)?;
                for (reads, old) in readings {
                    let atom = Atom { a: old.clone(), op: AtomOp::Eq, b: number(&expected, width) };
                    let equal = match (&old, &expected) {
                        (Val::Const(old), Val::Const(expected)) => {
                            Some(width.truncate(*old) == width.truncate(*expected))
                        }
                        (old, expected) => match equality(old, expected) {
                            Equality::Known(equal) => Some(equal),
                            Equality::Open => decided(&[], &atom),
                            Equality::Refused => {
                                return Err(thread.wrong(self.program, "a comparison of different things"));
                            }
                        },
                    };
                    if equal != Some(false) {
                        let guard = if equal.is_none() { vec![atom.clone()] } else { Vec::new() };
                        let access = Access { reads, guard, ..next("cas") };
                        found.push(self.swap(role, location, access, old.clone(), new.clone(), *dst));
                    }
                    if equal != Some(true) {
                        let guard = if equal.is_none() { vec![negated(&atom)] } else { Vec::new() };
                        // One that fails drains the buffer all the same.
                        let mut access = Access { reads, guard, fence: true, ..next("failing_cas") };
                        access.thread.set(*dst, old);
                        found.push(access);
                    }
                }
            }
            Instr::Lock { .. } | Instr::TryLock { .. } | Instr::Unlock { .. } => {
                let (dst, from, to, what) = match thread.next(self.program) {
                    Instr::TryLock { dst, .. } => (Some(*dst), 0, 1, "trylock"),
                    Instr::Unlock { .. } => (None, 1, 0, "unlock"),
                    _ => (None, 0, 1, "lock"),
                };
                self.write(role, location, &Val::Const(to));
                let mut access = Access {
                    reads: Some(Reading::Const(from)),
                    writes: Some(Val::Const(to)),
                    lock: true,
                    ..next(what)
                };
                if what == "unlock" {
                    let fails = Some("unlocks what is not locked".to_owned());
                    found.push(Access {
                        reads: Some(Reading::Const(0)),
                        fence: true,
                        fails,
                        ..next("bad_unlock")
                    });
                }
                if let Some(dst) = dst {
                    access.thread.set(dst, Val::Const(1));
                    let mut taken =
                        Access { reads: Some(Reading::Const(1)), fence: true, ..next("failing_trylock") };
                    taken.thread.set(dst, Val::Const(0));
                    found.push(taken);
                }
                found.push(access);
            }
            _ => unreachable!("the kinds of accesses are known"),
        }
        Ok(found)
    }

    /// A read-modify-write that writes.
    pub(super) fn swap(
        &mut self,
        role: usize,
        location: Location,
        access: Access,
        old: Val,
        new: Val,
        dst: porf_ir::Reg,
    ) -> Access {
        self.write(role, location, &new);
        let mut access = Access { writes: Some(new.clone()), lock: true, ..access };
        if self.writes_alone(role, location) {
            access.thread.mirror.insert(location, new);
        }
        access.thread.set(dst, old);
        access
    }

    /// What is written or compared: a constant has no more bits than the location.
    pub(super) fn value(
        &self,
        thread: &Thread,
        operand: Operand,
        location: Location,
        wide: bool,
    ) -> Result<Val, Diagnostic> {
        let width = Width::of_bytes(location.size);
        Ok(match thread.get(operand) {
            value @ Val::Const(_) if wide => number(&value, width),
            Val::Const(value) => Val::Const(width.truncate(value)),
            value @ (Val::Sym(..) | Val::Of(..)) => value,
            Val::Argument | Val::Unknown => {
                thread.constant(self.program, operand, "what is stored")?;
                Val::Unknown
            }
        })
    }

    pub(super) fn write(&mut self, role: usize, location: Location, value: &Val) {
        let shared = self.shared.entry(location).or_default();
        shared.writers.insert(role);
        match value {
            Val::Const(value) if !shared.wide => {
                shared.values.insert(*value);
                shared.wide |= shared.values.len() > MAX_VALUES;
            }
            Val::Const(_) => {}
            Val::Of(family, _) if shared.family.is_none_or(|known| known == *family) => {
                shared.family = Some(*family);
            }
            _ => shared.wide = true,
        }
    }
}
