//! One round: the points from the functions' begins, with what earlier rounds found out about locations.

use super::super::machine::{Family, Location, Path, Stop, Sym, Thread, Val, Who, advance};
use super::super::outside;
use super::super::setup::{Role, Setup};
use super::access::Access;
use super::slots::Home;
use super::{Control, Edge, Place, Point, PointKind, Shared};
use crate::syntax::Diagnostic;
use porf_event::FenceMode;
use porf_ir::layout::Region;
use porf_ir::{Instr, Liveness, Operand, Program};
use std::collections::{BTreeMap, HashMap};

/// An enumeration has at most 64 constructors, and one is for processes that have not begun.
const MOST_POINTS: usize = 63;
/// Accesses in a row that show nothing to others.
const MOST_SILENT: usize = 2_000;

pub(super) struct Round<'p> {
    pub(super) program: &'p Program,
    pub(super) setup: &'p Setup,
    pub(super) liveness: Liveness<'p>,
    /// From the rounds before.
    pub(super) known: BTreeMap<Location, Shared>,
    /// What this round adds.
    pub(super) shared: BTreeMap<Location, Shared>,
    pub(super) control: Control,
    pub(super) numbers: HashMap<(usize, Thread), usize>,
    pub(super) threads: Vec<Option<Thread>>,
    /// A loop without an access that others can see.
    pub(super) silent: Option<Diagnostic>,
    /// Numbers stay in their slots.
    pub(super) stay: bool,
    /// The slot of what a register holds, by the register.
    pub(super) homes: HashMap<Home, usize>,
}
impl Round<'_> {
    pub(super) fn run(&mut self) -> Result<(), Diagnostic> {
        for (number, role) in self.setup.roles.iter().enumerate() {
            let Role { function, argument, .. } = role;
            let thread = Thread::new(self.program, *function, std::slice::from_ref(argument));
            let paths = self.quiet(number, advance(self.program, thread, Vec::new())?)?;
            let [path] = <[Path; 1]>::try_from(paths).map_err(|_| {
                outside(self.program, *function, 0, "a thread makes a choice before its first access")
            })?;
            let (point, slots) = self.arrive(number, path.1, path.2)?;
            debug_assert!(slots.is_empty(), "nothing was read");
            self.control.begins.push(point);
        }
        let mut next = 0;
        while next < self.threads.len() {
            if let Some(thread) = self.threads[next].clone() {
                self.expand(next, thread)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Goes on where the next access shows nothing to others: a location that nobody else writes.
    pub(super) fn quiet(&mut self, role: usize, paths: Vec<Path>) -> Result<Vec<Path>, Diagnostic> {
        let mut done = Vec::new();
        let mut left = paths;
        let mut steps = 0;
        while let Some((known, mut thread, stop)) = left.pop() {
            steps += 1;
            if steps > MOST_SILENT {
                // Before all writers are known, a thread may seem to wait for what nobody writes.
                self.silent =
                    Some(thread.wrong(self.program, "a loop that does nothing that others can see"));
                done.push((known, thread, Stop::Stuck));
                continue;
            }
            let silent = match (&stop, thread.next(self.program)) {
                (Stop::Visible, Instr::Load { dst, address, size, .. }) => {
                    let place = self.place(&thread, *address, *size)?;
                    match self.own(role, &thread, place.location)? {
                        Some(value) => {
                            thread.set(*dst, value);
                            true
                        }
                        None => false,
                    }
                }
                (Stop::Visible, Instr::Fence { mode }) => {
                    !matches!(mode, FenceMode::SeqCst | FenceMode::Mfence)
                }
                _ => false,
            };
            if silent {
                thread.go_on();
                left.extend(advance(self.program, thread, known)?);
            } else {
                done.push((known, thread, stop));
            }
        }
        Ok(done)
    }

    /// What a thread knows that a location holds, because nobody else writes it.
    pub(super) fn own(
        &mut self,
        role: usize,
        thread: &Thread,
        location: Location,
    ) -> Result<Option<Val>, Diagnostic> {
        let initial = self.initial(thread, location)?;
        self.shared.entry(location).or_default().values.insert(initial);
        // What may be freed is looked at when it is accessed.
        if self.known.keys().any(|freed| freed.size == 0 && freed.same_object(location)) {
            return Ok(None);
        }
        let unwritten = self.known.get(&location).is_none_or(|known| known.writers.is_empty());
        Ok((unwritten || self.writes_alone(role, location))
            .then(|| thread.mirror.get(&location).cloned().unwrap_or(Val::Const(initial))))
    }

    /// What a location holds at first: the same for all threads.
    pub(super) fn initial(&self, thread: &Thread, location: Location) -> Result<u64, Diagnostic> {
        let mut values =
            location.pieces().map(|piece| self.setup.initial(self.program, piece, location.size));
        let first = values.next().unwrap_or(0);
        if values.any(|value| value != first) {
            return Err(thread.wrong(self.program, "an array that is not the same for all threads at first"));
        }
        Ok(first)
    }

    /// Nobody but the one thread of the role writes a location.
    pub(super) fn writes_alone(&self, role: usize, location: Location) -> bool {
        let others = |known: &Shared| known.writers.iter().any(|writer| *writer != role);
        self.setup.roles[role].once && !self.known.get(&location).is_some_and(others)
    }

    pub(super) fn place(&self, thread: &Thread, address: Operand, size: u8) -> Result<Place, Diagnostic> {
        let (location, of) = match thread.get(address) {
            Val::Of(Family { base: address, stride, count }, who) if u64::from(size) <= stride => {
                (Location { address, size, stride, count }, Some(who))
            }
            _ => (Location::single(thread.constant(self.program, address, "the address")?, size), None),
        };
        match Region::of(location.address) {
            Some(Region::Global | Region::Heap | Region::Zeroed | Region::Stack) => {}
            Some(Region::Private) => return Err(thread.wrong(self.program, "memory of the thread's own")),
            _ => {
                return Err(thread
                    .wrong(self.program, "an access through something that is no pointer to a variable"));
            }
        }
        let mut bytes = location.pieces().flat_map(|piece| piece..piece + u64::from(size));
        if let Some(line) = bytes.find_map(|byte| self.setup.written_late.get(&byte)) {
            let message = format!("main writes this while threads run (line {line})");
            return Err(thread.wrong(self.program, message));
        }
        if let Some(other) = self.shared.keys().find(|other| location.overlaps(**other)) {
            let message = match (of, other.stride) {
                (None, 0) => "accesses of different sizes to the same memory",
                _ => "a thread uses other parts of an array than those that its threads own",
            };
            return Err(thread.wrong(self.program, message));
        }
        Ok(Place { location, of })
    }

    /// The point at which a path ends, and the slots that it needs.
    pub(super) fn arrive(
        &mut self,
        role: usize,
        mut thread: Thread,
        stop: Stop,
    ) -> Result<(usize, Vec<(usize, Val)>), Diagnostic> {
        let (function, line) = thread.place(self.program);
        let mut slots: Vec<(usize, Val)> = Vec::new();
        let running = stop == Stop::Visible;
        if running {
            self.forget(&mut thread);
            slots = self.settle(&mut thread);
        }
        let kind = match stop {
            Stop::Visible => PointKind::Running(self.kind(&thread)?),
            Stop::End => PointKind::End,
            Stop::Stuck => PointKind::Stuck,
            Stop::Fail(message) => PointKind::Fail(message),
        };
        if running {
            for (slot, value) in &slots {
                match value {
                    Val::Of(..) => self.control.pointers = self.control.pointers.max(slot + 1),
                    _ => _ = self.control.slots.insert(*slot),
                }
            }
            slots.retain(|(slot, value)| match value {
                Val::Of(_, who) => *who != Who::Slot(*slot),
                value => *value != Val::Sym(Sym::Slot(*slot), 0),
            });
        } else {
            let same = |point: &Point| {
                point.role == role && point.kind == kind && (point.line == line || kind == PointKind::End)
            };
            if let Some(known) = self.control.points.iter().position(same) {
                return Ok((known, slots));
            }
        }
        if let Some(known) = self.numbers.get(&(role, thread.clone())).filter(|_| running) {
            return Ok((*known, slots));
        }
        let number = self.control.points.len();
        if number >= MOST_POINTS {
            return Err(
                thread.wrong(self.program, format!("more than {MOST_POINTS} places where threads may stand"))
            );
        }
        self.control.points.push(Point { role, kind, function, line });
        if running {
            self.numbers.insert((role, thread.clone()), number);
        }
        self.threads.push(running.then_some(thread));
        Ok((number, slots))
    }

    pub(super) fn expand(&mut self, from: usize, thread: Thread) -> Result<(), Diagnostic> {
        let role = self.control.points[from].role;
        let place = match &self.control.points[from].kind {
            PointKind::Running(access) => access.map(|(place, ..)| place),
            _ => None,
        };
        for access in self.accesses(role, &thread, place.map(|place| place.location))? {
            let Access { what, reads, guard, writes, fence, lock, fails, thread } = access;
            let paths = match fails {
                Some(message) => vec![(guard, thread, Stop::Fail(message))],
                None => advance(self.program, thread, guard)?,
            };
            for (guard, thread, stop) in self.quiet(role, paths)? {
                let (to, slots) = self.arrive(role, thread, stop)?;
                let writes = writes.clone();
                self.control.edges.push(Edge {
                    from,
                    to,
                    what,
                    place,
                    reads,
                    guard,
                    writes,
                    fence,
                    lock,
                    slots,
                });
            }
        }
        Ok(())
    }
}
