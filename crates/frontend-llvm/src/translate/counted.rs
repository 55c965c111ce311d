//! Loops that end after a number of iterations that is a constant, whatever they read.
//!
//! Such a loop has a variable that begins with a constant and changes by a constant, and every iteration
//! compares it with a constant to leave the loop, at its head or where it goes back. Whether that comes true is
//! found out by counting.

use super::function::phis;
use crate::llvm::{Block, Opcode, TypeKind, Value};
use std::collections::HashSet;

/// Counting ends here.
const MOST: u32 = 1 << 20;

/// Whether a loop, given by its head, the blocks that go back there and all its blocks, ends by counting.
pub fn is_counted<'m>(head: Block<'m>, back: &[Block<'m>], body: &HashSet<Block<'m>>) -> bool {
    // Every iteration comes to the head, and to the only block that goes back unless it leaves before.
    let latch = if let [latch] = back { Some(*latch) } else { None };
    let exits = || std::iter::once(head).chain(latch.filter(|latch| *latch != head));
    phis(head)
        .filter_map(|phi| Counter::of(phi, body))
        .any(|counter| exits().any(|exit| counter.ends_at(exit, body)))
}

/// A variable of a loop that counts.
struct Counter<'m> {
    phi: Value<'m>,
    next: Value<'m>,
    bits: u32,
    start: u64,
    step: u64,
}

impl<'m> Counter<'m> {
    fn of(phi: Value<'m>, body: &HashSet<Block<'m>>) -> Option<Counter<'m>> {
        let TypeKind::Int(bits @ 1..=64) = phi.ty().kind() else { return None };
        let (back, into): (Vec<_>, Vec<_>) =
            phi.incoming().into_iter().partition(|(_, block)| body.contains(block));
        let next = back.first()?.0;
        let start = constant(into.first()?.0)?;
        let the_same = back.iter().all(|(value, _)| *value == next)
            && into.iter().all(|(value, _)| constant(*value) == Some(start));
        if !the_same {
            return None;
        }
        let step = match next.opcode() {
            Opcode::Add if next.operand(0) == phi => constant(next.operand(1))?,
            Opcode::Add if next.operand(1) == phi => constant(next.operand(0))?,
            Opcode::Sub if next.operand(0) == phi => constant(next.operand(1))?.wrapping_neg(),
            _ => return None,
        };
        Some(Counter { phi, next, bits, start, step })
    }

    /// Whether a block leaves the loop in the end, by a comparison of the variable with a constant.
    fn ends_at(&self, block: Block<'m>, body: &HashSet<Block<'m>>) -> bool {
        let Some((leaves, value, predicate, limit)) = self.exit(block, body) else { return false };
        let mut now = self.start;
        for _ in 0..MOST {
            let next = self.truncate(now.wrapping_add(self.step));
            let compared = if value == self.phi { now } else { next };
            if self.compare(predicate, compared, limit) == leaves {
                return true;
            }
            now = next;
        }
        false
    }

    /// For which result of a comparison a block leaves the loop, and the comparison.
    fn exit(&self, block: Block<'m>, body: &HashSet<Block<'m>>) -> Option<(bool, Value<'m>, i32, u64)> {
        let branch = block.terminator();
        if branch.opcode() != Opcode::Br || branch.operand_count() != 3 {
            return None;
        }
        let leaves = match branch.successors().as_slice() {
            [then, otherwise] if body.contains(then) != body.contains(otherwise) => !body.contains(then),
            _ => return None,
        };
        let condition = branch.operand(0);
        if condition.opcode() != Opcode::ICmp {
            return None;
        }
        let value = condition.operand(0);
        if value != self.phi && value != self.next {
            return None;
        }
        Some((leaves, value, condition.icmp_predicate(), constant(condition.operand(1))?))
    }

    fn compare(&self, predicate: i32, a: u64, b: u64) -> bool {
        let (x, y) = (self.signed(a), self.signed(b));
        // LLVM's numbers: eq ne ugt uge ult ule sgt sge slt sle, from 32.
        match predicate {
            32 => a == b,
            33 => a != b,
            34 => a > b,
            35 => a >= b,
            36 => a < b,
            37 => a <= b,
            38 => x > y,
            39 => x >= y,
            40 => x < y,
            _ => x <= y,
        }
    }

    fn truncate(&self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits))
    }

    fn signed(&self, value: u64) -> i64 {
        let unused = 64 - self.bits;
        (value << unused) as i64 >> unused
    }
}

fn constant(value: Value<'_>) -> Option<u64> {
    value.as_integer().map(|value| value as u64)
}
