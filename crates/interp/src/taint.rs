//! Which reads a value was computed from.
//!
//! `addr` and `data` dependencies of an event are the taints of its operands, `ctrl` the taints of
//! the conditions of all branches passed so far (less what `CtrlRestore` ends).

use crate::tainted::Tainted;
use porf_event::{DepSet, Dependencies, FenceMode, Label, LockKind, ReadMode, RmwKind, WriteMode, no_access};
use porf_ir::Operand;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    pub registers: Tainted,
    /// Of the branches passed so far.
    pub ctrl: DepSet,
    /// Control dependencies remembered by `CtrlMark`.
    pub marks: Vec<DepSet>,
    /// Of private memory, by word of 8 bytes; words without a taint are left out.
    pub memory: BTreeMap<u64, DepSet>,
    /// The choices, and the reads of locks and in loops, because of which the thread is here and not elsewhere.
    /// Unlike `ctrl`, nothing takes it back.
    pub path: DepSet,
    /// Conditions that were marked, by the depth of calls and their slot; what they were computed from.
    pub ifs: BTreeMap<(usize, u32), DepSet>,
    /// The same, of those that are over.
    pub ended: DepSet,
    /// Reads that are ordered before all that follows: acquire, or before a full barrier at `fenced`.
    pub acquired: DepSet,
    pub fenced: u32,
    /// Of the event asked for last.
    pub emitted: Dependencies,
}

/// Where the address and the data of an event come from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sources {
    pub address: Option<Operand>,
    pub data: Option<Operand>,
    /// The read of the same instruction, where the data was computed from it.
    pub old: Option<u32>,
    /// What decided whether the event happens, beside the branches: the comparison of a
    /// compare-and-swap, and the read that it compares.
    pub condition: Option<(Operand, u32)>,
    /// The same where the comparison is a branch.
    pub branch: Option<(Operand, u32)>,
    /// What the kind of the event depends on, beside the value that it reads.
    pub identity: Option<Operand>,
}

impl Taint {
    pub fn new(registers: usize) -> Taint {
        Taint { registers: Tainted::new(registers), ..Taint::default() }
    }

    /// The union of the taints of `operands`, in a frame that begins at `base`.
    pub fn of(&self, base: u32, operands: &[Operand]) -> DepSet {
        let mut set = DepSet::new();
        for operand in operands {
            if let Operand::Reg(reg) = operand {
                self.registers.add_to((base + reg.0) as usize, &mut set);
            }
        }
        set
    }

    /// Notes the dependencies of the event that is asked for.
    pub fn emit(&mut self, base: u32, sources: Sources) {
        let mut data = self.of(base, sources.data.as_slice());
        if let Some(old) = sources.old {
            data.insert(old);
        }
        if let Some((operand, read)) = sources.condition {
            data.pick(&self.of(base, &[operand]));
            data.pick(&DepSet::single(read));
        }
        let addr = self.of(base, sources.address.as_slice());
        let mut ctrl = self.ctrl.clone();
        if let Some((operand, read)) = sources.branch {
            ctrl.union_with(&self.of(base, &[operand]));
            ctrl.insert(read);
        }
        let cas = self.of(base, sources.identity.as_slice());
        self.emitted = Dependencies { addr, data, ctrl, cas };
    }

    /// Makes the present control dependencies part of the path, which nothing takes back.
    pub fn commit(&mut self) {
        let Taint { path, ctrl, .. } = self;
        path.union_with(ctrl);
    }

    /// A branch on `operand`: what comes later depends on it by control.
    pub fn branch(&mut self, base: u32, operand: Operand) {
        let on = self.of(base, &[operand]);
        self.ctrl.union_with(&on);
    }

    /// The taint of a range of private memory.
    pub fn of_memory(&self, address: u64, size: u8) -> DepSet {
        let mut set = DepSet::new();
        for (_, word) in self.memory.range(address / 8..=(address + u64::from(size) - 1) / 8) {
            set.union_with(word);
        }
        set
    }

    /// A whole word's taint is replaced, that of a part of a word grows.
    pub fn set_memory(&mut self, address: u64, size: u8, taint: DepSet) {
        for word in address / 8..=(address + u64::from(size) - 1) / 8 {
            if size >= 8 && address.is_multiple_of(8) {
                match taint.is_empty() {
                    true => self.memory.remove(&word),
                    false => self.memory.insert(word, taint.clone()),
                };
            } else if !taint.is_empty() {
                self.memory.entry(word).or_default().union_with(&taint);
            }
        }
    }

    pub fn copy_memory(&mut self, to: u64, from: u64, length: u64) {
        let words: Vec<DepSet> =
            (0..length.div_ceil(8)).map(|word| self.of_memory(from + 8 * word, 8)).collect();
        for (word, taint) in words.into_iter().enumerate() {
            self.set_memory(to + 8 * word as u64, 8, taint);
        }
    }

    pub fn begin_if(&mut self, depth: usize, slot: u32, on: DepSet) {
        self.ifs.entry((depth, slot)).or_default().union_with(&on);
    }

    pub fn end_if(&mut self, depth: usize, slot: u32) {
        if let Some(on) = self.ifs.remove(&(depth, slot)) {
            self.ended.union_with(&on);
        }
    }

    /// A call at `depth` is over, and with it all its conditions.
    pub fn end_call(&mut self, depth: usize) {
        while let Some((&key, _)) = self.ifs.range((depth, 0)..).next() {
            self.end_if(key.0, key.1);
        }
    }

    /// Whether the event that is asked for is a write that depends by control only on an `if` that has ended.
    /// For an acquire read or a full fence: notes that it orders what follows it.
    pub fn depends_on_ended_if(&mut self, label: &Label, index: u32) -> bool {
        match label {
            Label::Read { mode: ReadMode::Acquire, rmw: RmwKind::None | RmwKind::Lock(_), .. } => {
                self.acquired.insert(index);
                false
            }
            Label::Fence { mode: FenceMode::Mb | FenceMode::SyncRcu, .. } => {
                self.fenced = index;
                false
            }
            Label::Write { mode, rmw, .. } => {
                let Dependencies { addr, data, ctrl, .. } = &self.emitted;
                let release = *mode == WriteMode::Release || matches!(rmw, RmwKind::Lock(LockKind::Release));
                !release
                    && !self.ended.is_empty()
                    && ctrl.iter().any(|read| {
                        self.ended.contains(read)
                            && read >= self.fenced
                            && !self.acquired.contains(read)
                            && !data.contains(read)
                            && !addr.contains(read)
                            && !self.ifs.values().any(|on| on.contains(read))
                    })
            }
            Label::Read { .. } | no_access!() => false,
        }
    }

    /// About how many bytes it has.
    pub fn bytes(&self) -> usize {
        let all = self.marks.iter().chain(self.memory.values());
        size_of::<Taint>()
            + self.registers.heap_bytes()
            + all.map(|set| size_of::<DepSet>() + set.heap_bytes()).sum::<usize>()
    }

    pub fn mark(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.marks.len() <= slot {
            self.marks.resize(slot + 1, DepSet::new());
        }
        self.marks[slot] = self.ctrl.clone();
    }

    pub fn restore(&mut self, slot: u32) {
        self.ctrl = self.marks[slot as usize].clone();
    }
}
