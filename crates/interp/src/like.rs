//! When two states of a thread have the same future.
//!
//! Cost: linear in the live registers and in the private memory that the two do not share.

use crate::ThreadState;
use porf_ir::Liveness;

impl ThreadState {
    /// Whether the thread will do the same in two states, as long as it is told the same: it is at the same
    /// place in the same calls, and its live registers and its private memory hold the same. How it came there,
    /// what its loops remember and how often they ran does not count.
    ///
    /// The numbers of events differ, so objects that it makes later have other addresses. Dependencies are not
    /// compared.
    pub fn is_like(&self, other: &ThreadState, live: &Liveness<'_>) -> bool {
        if self.frames != other.frames
            || (self.phase, self.exclusive, self.ends_process)
                != (other.phase, other.exclusive, other.ends_process)
            || (self.phase != 0 && self.old != other.old)
        {
            return false;
        }
        let Some((inner, outer)) = self.frames.split_last() else { return false };
        let same = |base: u32, reg: porf_ir::Reg| {
            let at = (base + reg.0) as usize;
            self.registers[at] == other.registers[at]
        };
        live.before(inner.function, inner.pc).all(|reg| same(inner.base, reg))
            && outer
                .iter()
                .all(|frame| live.during_call(frame.function, frame.pc).all(|reg| same(frame.base, reg)))
            && match (&self.memory, &other.memory) {
                (Some(own), Some(others)) => own.is_like(others),
                (None, None) => true,
                (Some(memory), None) | (None, Some(memory)) => memory.is_empty(),
            }
    }

    /// A number for where the thread is: the same for states that are [alike](Self::is_like), and seldom for others.
    pub fn whereabouts(&self) -> u32 {
        let mix = |hash: u32, word: u32| (hash ^ word).wrapping_mul(0x0100_0193).rotate_left(5);
        self.frames.iter().fold(u32::from(self.phase), |hash, frame| {
            mix(mix(mix(hash, frame.function.0), frame.pc), frame.base)
        })
    }

    /// How many things the thread did that it or others can notice.
    pub fn effects(&self) -> u32 {
        self.effects
    }
}
