//! Which reads a value was computed from.
//!
//! `addr` and `data` dependencies of an event are the taints of its operands, `ctrl` the taints of
//! the conditions of all branches passed so far (less what `CtrlRestore` ends).

use porf_event::{DepSet, Dependencies};
use porf_ir::Operand;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    /// Per register, as `ThreadState::registers`.
    pub registers: Vec<DepSet>,
    /// Of the branches passed so far.
    pub ctrl: DepSet,
    /// Control dependencies remembered by `CtrlMark`.
    pub marks: Vec<DepSet>,
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
}

impl Taint {
    pub fn new(registers: usize) -> Taint {
        Taint { registers: vec![DepSet::new(); registers], ..Taint::default() }
    }

    /// The union of the taints of `operands`, in a frame that begins at `base`.
    pub fn of(&self, base: u32, operands: &[Operand]) -> DepSet {
        let mut set = DepSet::new();
        for operand in operands {
            if let Operand::Reg(reg) = operand {
                set.union_with(&self.registers[(base + reg.0) as usize]);
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
        let addr = self.of(base, sources.address.as_slice());
        self.emitted = Dependencies { addr, data, ctrl: self.ctrl.clone() };
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
