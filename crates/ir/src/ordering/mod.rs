//! The orderings of a C program's atomic accesses and fences, to be read and changed.
//!
//! Claim: [`Program::with`] gives the same program with other orderings, and nothing else differs.
//! Instructions in the language of a machine have no C orderings; they are no sites.
//! Cost: one pass over the code for the list, a copy of the program for each change.

mod library;

use crate::{Function, FunctionId, Instr, Program, Target};
use porf_event::{Dialect, FenceMode, ReadMode, RmwKind, WriteMode};
use std::fmt;

/// C's `memory_order`, without consume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryOrder {
    /// No ordering. A fence with it is no fence.
    Relaxed,
    /// Orders what comes after.
    Acquire,
    /// Orders what comes before.
    Release,
    /// Both.
    AcqRel,
    /// Both, and one order of all such operations.
    SeqCst,
}

/// What has an ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// A read-modify-write, or a compare-and-swap that succeeds.
    Update,
    /// A compare-and-swap that fails.
    Failure,
    /// A fence.
    Fence,
}

/// An instruction with an ordering. A compare-and-swap is two sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The function.
    pub function: FunctionId,
    /// The instruction.
    pub at: Target,
    /// What it does.
    pub operation: Operation,
}

/// A change of a program's orderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A site gets another ordering.
    Order(Site, MemoryOrder),
    /// A new fence before an instruction.
    Fence {
        /// The function.
        function: FunctionId,
        /// The instruction that it stands before.
        before: Target,
        /// The fence's ordering.
        order: MemoryOrder,
    },
}

impl MemoryOrder {
    /// As C names it: `memory_order_release`.
    pub fn name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "memory_order_relaxed",
            MemoryOrder::Acquire => "memory_order_acquire",
            MemoryOrder::Release => "memory_order_release",
            MemoryOrder::AcqRel => "memory_order_acq_rel",
            MemoryOrder::SeqCst => "memory_order_seq_cst",
        }
    }

    /// As Rust names it: `Ordering::Release`.
    pub fn rust_name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "Ordering::Relaxed",
            MemoryOrder::Acquire => "Ordering::Acquire",
            MemoryOrder::Release => "Ordering::Release",
            MemoryOrder::AcqRel => "Ordering::AcqRel",
            MemoryOrder::SeqCst => "Ordering::SeqCst",
        }
    }

    /// Whether it orders no more than another one, and is not that one.
    pub fn is_weaker_than(self, other: MemoryOrder) -> bool {
        use MemoryOrder::*;
        match (self, other) {
            (Acquire, Release) => false,
            _ => self < other,
        }
    }

    fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel)
    }

    fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel)
    }

    fn of(acquires: bool, releases: bool, seq_cst: bool) -> MemoryOrder {
        match (acquires, releases) {
            _ if seq_cst => MemoryOrder::SeqCst,
            (false, false) => MemoryOrder::Relaxed,
            (true, false) => MemoryOrder::Acquire,
            (false, true) => MemoryOrder::Release,
            (true, true) => MemoryOrder::AcqRel,
        }
    }

    fn read(self) -> ReadMode {
        match self {
            MemoryOrder::SeqCst => ReadMode::SeqCst,
            order if order.acquires() => ReadMode::Acquire,
            _ => ReadMode::Relaxed,
        }
    }

    fn write(self) -> WriteMode {
        match self {
            MemoryOrder::SeqCst => WriteMode::SeqCst,
            order if order.releases() => WriteMode::Release,
            _ => WriteMode::Relaxed,
        }
    }

    fn fence(self) -> Option<FenceMode> {
        match self {
            MemoryOrder::Relaxed => None,
            MemoryOrder::Acquire => Some(FenceMode::Acquire),
            MemoryOrder::Release => Some(FenceMode::Release),
            MemoryOrder::AcqRel => Some(FenceMode::AcqRel),
            MemoryOrder::SeqCst => Some(FenceMode::SeqCst),
        }
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Operation {
    /// The orderings that C allows it, weakest first.
    pub fn orders(self) -> &'static [MemoryOrder] {
        use MemoryOrder::*;
        match self {
            Operation::Load | Operation::Failure => &[Relaxed, Acquire, SeqCst],
            Operation::Store => &[Relaxed, Release, SeqCst],
            Operation::Update | Operation::Fence => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
        }
    }

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Operation::Load => "load",
            Operation::Store => "store",
            Operation::Update => "read-modify-write",
            Operation::Failure => "failed compare-and-swap",
            Operation::Fence => "fence",
        }
    }
}

impl Program {
    /// The sites of a C program with their orderings, in the order of the code.
    pub fn sites(&self) -> Vec<(Site, MemoryOrder)> {
        let mut sites = Vec::new();
        if self.dialect != Dialect::C {
            return sites;
        }
        for (number, function) in self.functions.iter().enumerate() {
            for (at, instr) in function.code.iter().enumerate() {
                let (function, at) = (FunctionId(number as u32), at as Target);
                let found = match instr {
                    Instr::Call { function, args, .. } => library::orders(self.function(*function), args),
                    instr => orders(instr),
                };
                for (operation, order) in found.into_iter().flatten() {
                    sites.push((Site { function, at, operation }, order));
                }
            }
        }
        sites
    }

    /// The same program with other orderings.
    pub fn with(&self, changes: &[Change]) -> Program {
        let mut changed = self.clone();
        let mut fences = Vec::new();
        for change in changes {
            match *change {
                Change::Order(site, order) => {
                    let code = &mut changed.functions[site.function.0 as usize].code;
                    match &mut code[site.at as usize] {
                        Instr::Call { function, args, .. } => {
                            library::set(args, &self.function(*function).name, site.operation, order);
                        }
                        instr => set(instr, site, order),
                    }
                }
                Change::Fence { function, before, order } => fences.push((function, before, order)),
            }
        }
        // From behind, so that the other places stay where they are.
        fences.sort();
        for (function, before, order) in fences.into_iter().rev() {
            if let Some(mode) = order.fence() {
                insert(&mut changed.functions[function.0 as usize], before, Instr::Fence { mode });
            }
        }
        changed
    }
}

/// What an instruction does that has an ordering: at most two things.
fn orders(instr: &Instr) -> [Option<(Operation, MemoryOrder)>; 2] {
    let update = |read: ReadMode, write: WriteMode| {
        let seq_cst = read == ReadMode::SeqCst && write == WriteMode::SeqCst;
        (Operation::Update, MemoryOrder::of(read.is_acquire(), write.is_release(), seq_cst))
    };
    let read = |mode: ReadMode| MemoryOrder::of(mode.is_acquire(), false, mode == ReadMode::SeqCst);
    match *instr {
        Instr::Load { mode, .. } if mode.is_atomic() => [Some((Operation::Load, read(mode))), None],
        Instr::Store { mode, .. } if mode.is_atomic() => {
            let order = MemoryOrder::of(false, mode.is_release(), mode == WriteMode::SeqCst);
            [Some((Operation::Store, order)), None]
        }
        Instr::Rmw { read, write, kind: RmwKind::Amo, .. } => [Some(update(read, write)), None],
        Instr::Cas { read: success, write, failure, kind: RmwKind::Amo, .. } => {
            [Some(update(success, write)), Some((Operation::Failure, read(failure)))]
        }
        Instr::Fence { mode } => {
            let order = match mode {
                FenceMode::Acquire => MemoryOrder::Acquire,
                FenceMode::Release => MemoryOrder::Release,
                FenceMode::AcqRel => MemoryOrder::AcqRel,
                FenceMode::SeqCst => MemoryOrder::SeqCst,
                _ => return [None, None],
            };
            [Some((Operation::Fence, order)), None]
        }
        _ => [None, None],
    }
}

fn set(instr: &mut Instr, site: Site, order: MemoryOrder) {
    match (instr, site.operation) {
        (Instr::Load { mode, .. }, Operation::Load) => *mode = order.read(),
        (Instr::Store { mode, .. }, Operation::Store) => *mode = order.write(),
        (Instr::Rmw { read, write, .. } | Instr::Cas { read, write, .. }, Operation::Update) => {
            (*read, *write) = (order.read(), order.write());
        }
        (Instr::Cas { failure, .. }, Operation::Failure) => *failure = order.read(),
        (instr @ Instr::Fence { .. }, Operation::Fence) => {
            // Without an ordering there is no fence: the instruction goes on to the next one.
            *instr = match order.fence() {
                Some(mode) => Instr::Fence { mode },
                None => Instr::Jump { target: site.at + 1 },
            };
        }
        _ => {}
    }
}

/// Puts an instruction before another one. Whoever jumps to that one comes to the new one first.
fn insert(function: &mut Function, before: Target, instr: Instr) {
    let at = before as usize;
    let moved = |target: Target| if target > before { target + 1 } else { target };
    function.code.iter_mut().for_each(|instr| instr.map_targets(moved));
    function.code.insert(at, instr);
    function.spans.insert(at, function.spans[at]);
    for target in &mut function.moves {
        *target += Target::from(*target >= before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "program t
global x, y
thread P0 {
    x.rlx = 1
    fence sc
    r = y.acq
}
thread P1 {
    y.rel = 1
    x.fetch_add(1, acqrel)
}
";

    fn orders_of(program: &Program) -> Vec<(Operation, MemoryOrder)> {
        program.sites().into_iter().map(|(site, order)| (site.operation, order)).collect()
    }

    #[test]
    fn every_ordering_can_be_set() {
        let program = crate::parse(TEXT).expect("a program");
        for (number, (site, _)) in program.sites().into_iter().enumerate() {
            for &order in site.operation.orders() {
                let changed = program.with(&[Change::Order(site, order)]);
                let mut expected = orders_of(&program);
                if (site.operation, order) == (Operation::Fence, MemoryOrder::Relaxed) {
                    expected.remove(number);
                } else {
                    expected[number] = (site.operation, order);
                }
                assert_eq!(orders_of(&changed), expected);
            }
        }
    }

    #[test]
    fn a_new_fence_moves_what_is_behind_it() {
        let program = crate::parse(TEXT).expect("a program");
        let (site, _) = program.sites()[2];
        let fence = Change::Fence { function: site.function, before: site.at, order: MemoryOrder::Acquire };
        let changed = program.with(&[fence]);
        let mut expected = orders_of(&program);
        expected.insert(2, (Operation::Fence, MemoryOrder::Acquire));
        assert_eq!(orders_of(&changed), expected);
        assert!(crate::validate(&changed).is_ok());
    }

    #[test]
    fn acquire_and_release_are_not_comparable() {
        use MemoryOrder::*;
        assert!(!Acquire.is_weaker_than(Release) && !Release.is_weaker_than(Acquire));
        assert!(Acquire.is_weaker_than(AcqRel) && Relaxed.is_weaker_than(SeqCst));
        assert!(!SeqCst.is_weaker_than(SeqCst));
    }
}
