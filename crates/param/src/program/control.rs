//! The control of threads: where they may stand, and the steps between.
//!
//! A *point* is a thread before an access, with its registers as far as they are constant; other numbers are in slots,
//! arrays of the process's own. The points are found from the functions' begins; what locations may hold, who writes
//! them and which of them are numbers grows on the way, and everything is found anew until nothing grows.

use super::machine::{
    Atom, AtomOp, Equality, Family, Location, Path, Stop, Sym, Thread, Val, Who, advance, decided, equality,
    negated, number,
};
use super::setup::{Role, Setup};
use super::{MAX_VALUES, outside};
use crate::syntax::Diagnostic;
use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_ir::layout::Region;
use porf_ir::{FunctionId, Instr, Liveness, Operand, Program, RmwOp, Width};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What an access is to: a location, and whose piece of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub location: Location,
    /// The thread, if the location has a piece for each.
    pub of: Option<Who>,
}

/// What a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Const(u64),
    /// Something of the family of the location.
    Member,
}

/// What is known of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// What it may hold; of a number, what it holds at first.
    pub values: BTreeSet<u64>,
    /// It may hold what this family has for some thread, too.
    pub family: Option<Family>,
    /// It is a number.
    pub wide: bool,
    /// The roles that write it.
    pub writers: BTreeSet<usize>,
}

/// Where a thread may stand.
#[derive(Clone, Debug)]
pub struct Point {
    pub role: usize,
    pub kind: PointKind,
    /// The source.
    pub function: FunctionId,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// Before an access, if it is one of a location: whether it writes, and whether it is atomic.
    Running(Option<(Place, bool, bool)>),
    End,
    Stuck,
    Fail(String),
}

/// A step.
#[derive(Clone, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// What it does, for people.
    pub what: &'static str,
    pub place: Option<Place>,
    /// What it reads, where the location is no number.
    pub reads: Option<Reading>,
    pub guard: Vec<Atom>,
    /// What the location holds then.
    pub writes: Option<Val>,
    pub fence: bool,
    pub lock: bool,
    /// The slots that change.
    pub slots: Vec<(usize, Val)>,
}

/// The control of all threads.
pub struct Control {
    pub points: Vec<Point>,
    /// Where each role begins.
    pub begins: Vec<usize>,
    pub edges: Vec<Edge>,
    pub shared: BTreeMap<Location, Shared>,
    /// The slots for numbers.
    pub slots: BTreeSet<usize>,
    /// How many slots for threads there are.
    pub pointers: usize,
}

/// An enumeration has at most 64 constructors, and one is for processes that have not begun.
const MOST_POINTS: usize = 63;
const MOST_ROUNDS: usize = 200;
/// Accesses in a row that show nothing to others.
const MOST_SILENT: usize = 2_000;

/// Finds the control of the threads of a program. A number stays in its slot as long as it is needed, and then until
/// another one needs the slot: a proof may need what the thread does not. If that makes too many places, slots are
/// given out in the order of registers.
pub fn explore(program: &Program, setup: &Setup) -> Result<Control, Diagnostic> {
    explored(program, setup, true).or_else(|wrong| explored(program, setup, false).map_err(|_| wrong))
}

fn explored(program: &Program, setup: &Setup, stay: bool) -> Result<Control, Diagnostic> {
    let mut shared = BTreeMap::new();
    for _ in 0..MOST_ROUNDS {
        let mut round = Round {
            program,
            setup,
            liveness: Liveness::new(program),
            known: shared.clone(),
            shared,
            control: Control {
                points: Vec::new(),
                begins: Vec::new(),
                edges: Vec::new(),
                shared: BTreeMap::new(),
                slots: BTreeSet::new(),
                pointers: 0,
            },
            numbers: HashMap::new(),
            threads: Vec::new(),
            silent: None,
            stay,
            homes: HashMap::new(),
        };
        round.run()?;
        if round.shared == round.known {
            if let Some(wrong) = round.silent {
                return Err(wrong);
            }
            let mut control = round.control;
            for (location, shared) in &round.shared {
                let Some(family) = shared.family else { continue };
                if shared.wide || shared.values.iter().any(|value| family.may_be(*value)) {
                    let name = program.name_of(location.address, location.size);
                    let message = format!("{name} holds what threads have of their own, and other values");
                    return Err(outside(program, setup.roles[0].function, 0, message));
                }
            }
            control.shared = round.shared;
            return Ok(control);
        }
        shared = round.shared;
    }
    Err(outside(program, setup.roles[0].function, 0, "the values of shared memory do not settle"))
}

struct Round<'p> {
    program: &'p Program,
    setup: &'p Setup,
    liveness: Liveness<'p>,
    /// From the rounds before.
    known: BTreeMap<Location, Shared>,
    /// What this round adds.
    shared: BTreeMap<Location, Shared>,
    control: Control,
    numbers: HashMap<(usize, Thread), usize>,
    threads: Vec<Option<Thread>>,
    /// A loop without an access that others can see.
    silent: Option<Diagnostic>,
    /// Numbers stay in their slots.
    stay: bool,
    /// The slot of what a register holds, by the register.
    homes: HashMap<Home, usize>,
}

/// A register, in which call, how many slots were taken when it needed one, and whether it is a slot for threads.
type Home = (usize, u64, usize, usize, bool);

/// What an access does, before the thread goes on.
struct Access {
    what: &'static str,
    reads: Option<Reading>,
    guard: Vec<Atom>,
    writes: Option<Val>,
    fence: bool,
    lock: bool,
    /// The program is wrong if this happens.
    fails: Option<String>,
    thread: Thread,
}

impl Round<'_> {
    fn run(&mut self) -> Result<(), Diagnostic> {
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
    fn quiet(&mut self, role: usize, paths: Vec<Path>) -> Result<Vec<Path>, Diagnostic> {
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
    fn own(&mut self, role: usize, thread: &Thread, location: Location) -> Result<Option<Val>, Diagnostic> {
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
    fn initial(&self, thread: &Thread, location: Location) -> Result<u64, Diagnostic> {
        let mut values =
            location.pieces().map(|piece| self.setup.initial(self.program, piece, location.size));
        let first = values.next().unwrap_or(0);
        if values.any(|value| value != first) {
            return Err(thread.wrong(self.program, "an array that is not the same for all threads at first"));
        }
        Ok(first)
    }

    /// Nobody but the one thread of the role writes a location.
    fn writes_alone(&self, role: usize, location: Location) -> bool {
        let others = |known: &Shared| known.writers.iter().any(|writer| *writer != role);
        self.setup.roles[role].once && !self.known.get(&location).is_some_and(others)
    }

    fn place(&self, thread: &Thread, address: Operand, size: u8) -> Result<Place, Diagnostic> {
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
    fn arrive(
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

    /// Registers that are never looked at again hold nothing.
    fn forget(&self, thread: &mut Thread) {
        let last = thread.frames.len() - 1;
        for (depth, frame) in thread.frames.iter_mut().enumerate() {
            let at = frame.at as u32;
            let live: BTreeSet<u32> = if depth == last {
                self.liveness.before(frame.function, at).map(|reg| reg.0).collect()
            } else {
                self.liveness.during_call(frame.function, at).map(|reg| reg.0).collect()
            };
            for (reg, value) in frame.regs.iter_mut().enumerate() {
                if !live.contains(&(reg as u32)) {
                    *value = Val::Const(0);
                }
            }
        }
    }

    /// The access that a thread is about to make.
    fn kind(&self, thread: &Thread) -> Result<Option<(Place, bool, bool)>, Diagnostic> {
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

    fn expand(&mut self, from: usize, thread: Thread) -> Result<(), Diagnostic> {
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

    /// All that the access of a thread may do.
    fn accesses(
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
    fn swap(
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
    fn value(
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

    fn write(&mut self, role: usize, location: Location, value: &Val) {
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

    /// Puts numbers and threads in slots, and says what the slots hold then.
    fn settle(&mut self, thread: &mut Thread) -> Vec<(usize, Val)> {
        let Round { stay, homes, .. } = self;
        let mut slots: Vec<(usize, Val)> = Vec::new();
        // What is in a slot already.
        let mut taken: BTreeSet<(bool, usize)> = BTreeSet::new();
        if *stay {
            let registers = thread.frames.iter().flat_map(|frame| &frame.regs);
            taken = (registers.chain(thread.mirror.values()))
                .filter_map(|value| match value {
                    Val::Sym(Sym::Slot(slot), _) => Some((false, *slot)),
                    Val::Of(_, Who::Slot(slot)) => Some((true, *slot)),
                    _ => None,
                })
                .collect();
        }
        let mut place = |value: &mut Val, (depth, function, at): (usize, u64, usize)| {
            let (points, held) = match value {
                Val::Sym(sym, _) => (false, if let Sym::Slot(slot) = sym { Some(*slot) } else { None }),
                Val::Of(_, Who::Me) => return,
                Val::Of(_, who) => (true, if let Who::Slot(slot) = who { Some(*slot) } else { None }),
                _ => return,
            };
            let mut free = || {
                let mut tries = 0;
                loop {
                    let next = homes.keys().filter(|home| home.4 == points).count();
                    let slot = *homes.entry((depth, function, at, tries, points)).or_insert(next);
                    if taken.insert((points, slot)) {
                        return slot;
                    }
                    tries += 1;
                }
            };
            let of_kind = slots.iter().filter(|(_, held)| matches!(held, Val::Of(..)) == points);
            let known = of_kind.clone().find_map(|(slot, held)| match (held, &*value) {
                (Val::Sym(other, base), Val::Sym(sym, _)) if other == sym => Some((*slot, *base)),
                (Val::Of(_, other), Val::Of(_, who)) if other == who => Some((*slot, 0)),
                _ => None,
            });
            let next = of_kind.count();
            let (slot, base) = known.unwrap_or_else(|| {
                let slot = match held {
                    Some(slot) if *stay => slot,
                    _ if *stay => free(),
                    _ => next,
                };
                slots.push((slot, value.clone()));
                (slot, if let Val::Sym(_, offset) = value { *offset } else { 0 })
            });
            match value {
                Val::Sym(sym, offset) => (*sym, *offset) = (Sym::Slot(slot), *offset - base),
                Val::Of(_, who) => *who = Who::Slot(slot),
                _ => {}
            }
        };
        for (depth, frame) in thread.frames.iter_mut().enumerate() {
            for (at, value) in frame.regs.iter_mut().enumerate() {
                place(value, (depth, u64::from(frame.function.0), at));
            }
        }
        for (at, (_, value)) in thread.mirror.iter_mut().enumerate() {
            place(value, (usize::MAX, 0, at));
        }
        slots
    }
}
