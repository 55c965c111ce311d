//! Non-atomic accesses in smaller pieces.
//!
//! Engines keep memory in cells, and no execution may use two cells that share some bytes but not all.
//! A program that writes four bytes and reads eight of them, as a copy of a structure does, becomes one
//! that reads four bytes twice. For accesses that are not atomic this changes nothing that a program
//! without data races can see: C and C++ say nothing of the order of the bytes of such an access.

use crate::{BinOp, Function, FunctionId, Instr, Operand, Program, Reg, Target, Width};
use porf_event::{ReadMode, WriteMode};
use serde::{Deserialize, Serialize};

/// An access to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Split {
    /// The function that contains the access.
    pub function: FunctionId,
    /// The access, by its index in the code.
    pub at: Target,
    /// Bytes of a piece; divides the size of the access.
    pub piece: u8,
}

impl Program {
    /// Whether the instruction at a place is an access that may be cut.
    pub fn can_split(&self, function: FunctionId, at: Target) -> bool {
        let function = self.functions.get(function.0 as usize);
        matches!(
            function.and_then(|function| function.code.get(at as usize)),
            Some(Instr::Load { mode: ReadMode::Plain, .. } | Instr::Store { mode: WriteMode::Plain, .. })
        )
    }

    /// Cuts accesses; places are those before any is cut. The program remembers it.
    pub fn split(&mut self, splits: &[Split]) {
        let mut splits = splits.to_vec();
        self.cuts.push(splits.clone());
        splits.sort_unstable();
        splits.dedup_by_key(|split| (split.function, split.at));
        for of_function in splits.chunk_by(|a, b| a.function == b.function) {
            split_function(&mut self.functions[of_function[0].function.0 as usize], of_function);
        }
    }
}

fn split_function(function: &mut Function, splits: &[Split]) {
    let code = std::mem::take(&mut function.code);
    let spans = std::mem::take(&mut function.spans);
    let mut moved = Vec::with_capacity(code.len());
    let moves = std::mem::take(&mut function.moves);
    for (at, (instr, span)) in code.into_iter().zip(spans).enumerate() {
        moved.push(function.code.len() as Target);
        match splits.iter().find(|split| split.at as usize == at) {
            Some(split) => pieces(function, &instr, split.piece),
            None => function.code.push(instr),
        }
        function.spans.resize(function.code.len(), span);
        if moves.binary_search(&(at as Target)).is_ok() {
            function.moves.extend(moved[at]..function.code.len() as Target);
        }
    }
    for head in &mut function.counted {
        *head = moved[*head as usize];
    }
    for instr in &mut function.code {
        instr.map_targets(|target| moved[target as usize]);
    }
}

/// The instructions that stand for an access. The lowest addresses hold the lowest bits.
fn pieces(function: &mut Function, instr: &Instr, piece: u8) {
    let bits = u64::from(piece) * 8;
    match *instr {
        Instr::Load { dst, address, size, mode } => {
            let mut sum: Option<Operand> = None;
            // The address may be in `dst`, which is set last.
            for part in 0..u64::from(size / piece) {
                let at = offset(function, address, part * u64::from(piece));
                let read = register(function);
                function.code.push(Instr::Load { dst: read, address: at, size: piece, mode });
                let value = binary(function, BinOp::Shl, read.into(), Operand::Const(part * bits));
                sum = Some(match sum {
                    Some(sum) => binary(function, BinOp::Or, sum, value),
                    None => value,
                });
            }
            let src = sum.unwrap_or(Operand::Const(0));
            function.code.push(Instr::Bin {
                dst,
                op: BinOp::Or,
                width: Width::W64,
                a: src,
                b: Operand::Const(0),
            });
        }
        Instr::Store { address, value, size, mode } => {
            for part in 0..u64::from(size / piece) {
                let at = offset(function, address, part * u64::from(piece));
                let value = binary(function, BinOp::LShr, value, Operand::Const(part * bits));
                function.code.push(Instr::Store { address: at, value, size: piece, mode });
            }
        }
        _ => function.code.push(instr.clone()),
    }
}

fn offset(function: &mut Function, address: Operand, offset: u64) -> Operand {
    if offset == 0 { address } else { binary(function, BinOp::Add, address, Operand::Const(offset)) }
}

fn binary(function: &mut Function, op: BinOp, a: Operand, b: Operand) -> Operand {
    let dst = register(function);
    function.code.push(Instr::Bin { dst, op, width: Width::W64, a, b });
    dst.into()
}

fn register(function: &mut Function) -> Reg {
    function.registers += 1;
    Reg(function.registers - 1)
}
