//! The control of threads: where they may stand, and the steps between.
//!
//! A *point* is a thread before an access, with its registers as far as they are constant; other numbers are in slots,
//! arrays of the process's own. The points are found from the functions' begins; what locations may hold, who writes
//! them and which of them are numbers grows on the way, and everything is found anew until nothing grows.

use super::machine::{Atom, AtomOp, Path, Stop, Sym, Thread, Val, advance, decided, negated, number};
use super::setup::{Role, Setup};
use super::{MAX_VALUES, outside};
use crate::syntax::Diagnostic;
use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_ir::layout::Region;
use porf_ir::{FunctionId, Instr, Liveness, Operand, Program, RmwOp, Width};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A piece of memory: its address and its size in bytes.
pub type Location = (u64, u8);

/// What is known of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// What it may hold; of a number, what it holds at first.
    pub values: BTreeSet<u64>,
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
    Running(Option<(Location, bool, bool)>),
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
    pub location: Option<Location>,
    /// What it reads, where the location is an enumeration.
    pub reads: Option<u64>,
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
    /// How many slots there are.
    pub slots: usize,
}

/// An enumeration has at most 64 constructors, and one is for processes that have not begun.
const MOST_POINTS: usize = 63;
const MOST_ROUNDS: usize = 200;
/// Accesses in a row that show nothing to others.
const MOST_SILENT: usize = 2_000;

/// Finds the control of the threads of a program.
pub fn explore(program: &Program, setup: &Setup) -> Result<Control, Diagnostic> {
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
                slots: 0,
            },
            numbers: HashMap::new(),
            threads: Vec::new(),
            silent: None,
        };
        round.run()?;
        if round.shared == round.known {
            if let Some(wrong) = round.silent {
                return Err(wrong);
            }
            let mut control = round.control;
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
}

/// What an access does, before the thread goes on.
struct Access {
    what: &'static str,
    reads: Option<u64>,
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
                    let location = self.location(&thread, *address, *size)?;
                    match self.own(role, &thread, location) {
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
    fn own(&mut self, role: usize, thread: &Thread, location: Location) -> Option<Val> {
        let initial = self.setup.initial(self.program, location.0, location.1);
        self.shared.entry(location).or_default().values.insert(initial);
        let unwritten = self.known.get(&location).is_none_or(|known| known.writers.is_empty());
        (unwritten || self.writes_alone(role, location))
            .then(|| thread.mirror.get(&location).cloned().unwrap_or(Val::Const(initial)))
    }

    /// Nobody but the one thread of the role writes a location.
    fn writes_alone(&self, role: usize, location: Location) -> bool {
        let others = |known: &Shared| known.writers.iter().any(|writer| *writer != role);
        self.setup.roles[role].once && !self.known.get(&location).is_some_and(others)
    }

    fn location(&self, thread: &Thread, address: Operand, size: u8) -> Result<Location, Diagnostic> {
        let address = thread.constant(self.program, address, "the address")?;
        match Region::of(address) {
            Some(Region::Global | Region::Heap | Region::Zeroed | Region::Stack) => {}
            Some(Region::Private) => return Err(thread.wrong(self.program, "memory of the thread's own")),
            _ => {
                return Err(thread
                    .wrong(self.program, "an access through something that is no pointer to a variable"));
            }
        }
        if let Some(line) = (0..u64::from(size)).find_map(|at| self.setup.written_late.get(&(address + at))) {
            let message = format!("main writes this while threads run (line {line})");
            return Err(thread.wrong(self.program, message));
        }
        let overlaps = |other: &Location| {
            *other != (address, size)
                && other.0 < address + u64::from(size)
                && address < other.0 + u64::from(other.1)
        };
        if self.shared.keys().any(overlaps) {
            return Err(thread.wrong(self.program, "accesses of different sizes to the same memory"));
        }
        Ok((address, size))
    }

    /// The point at which a path ends, and the slots that it needs.
    fn arrive(
        &mut self,
        role: usize,
        mut thread: Thread,
        stop: Stop,
    ) -> Result<(usize, Vec<(usize, Val)>), Diagnostic> {
        let (function, line) = thread.place(self.program);
        let kind = match stop {
            Stop::Visible => PointKind::Running(self.kind(&thread)?),
            Stop::End => PointKind::End,
            Stop::Stuck => PointKind::Stuck,
            Stop::Fail(message) => PointKind::Fail(message),
        };
        let mut slots: Vec<(usize, Val)> = Vec::new();
        let running = matches!(kind, PointKind::Running(_));
        if running {
            self.forget(&mut thread);
            slots = settle(&mut thread);
            self.control.slots = self.control.slots.max(slots.len());
            slots.retain(|(slot, value)| *value != Val::Sym(Sym::Slot(*slot), 0));
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
    fn kind(&self, thread: &Thread) -> Result<Option<(Location, bool, bool)>, Diagnostic> {
        Ok(match thread.next(self.program) {
            Instr::Load { address, size, mode, .. } => {
                Some((self.location(thread, *address, *size)?, false, *mode != ReadMode::Plain))
            }
            Instr::Store { address, size, mode, .. } => {
                Some((self.location(thread, *address, *size)?, true, *mode != WriteMode::Plain))
            }
            Instr::Rmw { address, size, .. } | Instr::Cas { address, size, .. } => {
                Some((self.location(thread, *address, *size)?, true, true))
            }
            Instr::Lock { address } | Instr::Unlock { address } | Instr::TryLock { address, .. } => {
                Some((self.location(thread, *address, 4)?, true, true))
            }
            Instr::Fence { .. } => None,
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
        let location = match &self.control.points[from].kind {
            PointKind::Running(access) => access.map(|(location, ..)| location),
            _ => None,
        };
        for access in self.accesses(role, &thread, location)? {
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
                    location,
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
        let initial = self.setup.initial(self.program, location.0, location.1);
        self.shared.entry(location).or_default().values.insert(initial);
        let known = self.known.get(&location).cloned().unwrap_or_default();
        let width = Width::of_bytes(location.1);
        let values: Vec<u64> = known.values.iter().copied().collect();
        // What the location may hold, with what a step that reads it knows then.
        let readings: Vec<(Option<u64>, Val)> = if known.wide {
            vec![(None, Val::Sym(Sym::Read, 0))]
        } else {
            values.iter().map(|value| (Some(*value), Val::Const(*value))).collect()
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
                    let equal = match (&old, &expected) {
                        (Val::Const(old), Val::Const(expected)) => {
                            Some(width.truncate(*old) == width.truncate(*expected))
                        }
                        _ => None,
                    };
                    let atom = Atom { a: old.clone(), op: AtomOp::Eq, b: number(&expected, width) };
                    let equal = equal.or_else(|| decided(&[], &atom));
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
                let mut access =
                    Access { reads: Some(from), writes: Some(Val::Const(to)), lock: true, ..next(what) };
                if what == "unlock" {
                    let fails = Some("unlocks what is not locked".to_owned());
                    found.push(Access { reads: Some(0), fence: true, fails, ..next("bad_unlock") });
                }
                if let Some(dst) = dst {
                    access.thread.set(dst, Val::Const(1));
                    let mut taken = Access { reads: Some(1), fence: true, ..next("failing_trylock") };
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
        let width = Width::of_bytes(location.1);
        Ok(match thread.get(operand) {
            value @ Val::Const(_) if wide => number(&value, width),
            Val::Const(value) => Val::Const(width.truncate(value)),
            Val::Sym(sym, offset) => Val::Sym(sym, offset),
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
            _ => shared.wide = true,
        }
    }
}

/// Puts numbers in slots, in the order of registers, and says what the slots hold then.
fn settle(thread: &mut Thread) -> Vec<(usize, Val)> {
    let mut slots: Vec<(usize, Val)> = Vec::new();
    let mut place = |value: &mut Val| {
        let Val::Sym(sym, offset) = *value else { return };
        let known = slots.iter().find_map(|(slot, held)| match held {
            Val::Sym(other, base) if *other == sym => Some((*slot, *base)),
            _ => None,
        });
        let (slot, base) = known.unwrap_or_else(|| {
            slots.push((slots.len(), Val::Sym(sym, offset)));
            (slots.len() - 1, offset)
        });
        *value = Val::Sym(Sym::Slot(slot), offset - base);
    };
    for frame in &mut thread.frames {
        frame.regs.iter_mut().for_each(&mut place);
    }
    thread.mirror.values_mut().for_each(&mut place);
    slots
}
