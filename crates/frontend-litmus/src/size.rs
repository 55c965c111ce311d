//! How wide are the cells? Found from the accesses that may touch each variable.
//!
//! Addresses flow from initial values through registers and memory. The analysis ignores the order of
//! instructions and treats memory as one cell. A variable that is accessed with several sizes, or in parts, keeps the
//! size that its type gives; without a type it has that of the widest access.

use crate::memory::{Initial, Memory};
use crate::thread::Thread;
use porf_ir::{BinOp, Instr, Operand};

/// The variables that a value may point to: one bit each. One bit stands for all further variables, and the last one
/// says that the value may be a number other than 0.
type Points = u128;

const NUMBER: Points = 1 << 127;

/// Sets the size of every variable that is accessed. Returns whether accesses of different sizes may overlap.
pub(crate) fn assign(memory: &mut Memory, threads: &[Thread]) -> bool {
    let mut sizes = threads.iter().flat_map(|thread| &thread.function.code).filter_map(access);
    let first = sizes.next().map(|(_, size)| size);
    let uniform = first.filter(|size| sizes.all(|(_, other)| other == *size));
    if let Some(size) = uniform {
        memory.default_size = size;
        if memory.variables.iter().all(|variable| variable.size.is_none_or(|declared| declared <= size)) {
            // In the ordinary case there is no need to know which access goes where.
            memory.variables.iter_mut().for_each(|variable| variable.size = Some(size));
            return false;
        }
    }
    let mut flow = Flow { memory, contents: 0, moved: 0, registers: Vec::new() };
    flow.solve(threads);
    let Flow { registers, moved, .. } = flow;
    let mut found: Vec<Sizes> = memory.variables.iter().map(|_| Sizes::default()).collect();
    for (thread, registers) in threads.iter().zip(&registers) {
        for (address, size) in thread.function.code.iter().filter_map(access) {
            let points = operand(memory, registers, address);
            found.iter_mut().enumerate().filter(|(at, _)| points & bit(*at) != 0).for_each(|(_, sizes)| {
                sizes.widest = sizes.widest.max(size);
                sizes.narrowest = Some(sizes.narrowest.map_or(size, |known| known.min(size)));
            });
        }
    }
    let mut mixed = false;
    for (at, (variable, Sizes { narrowest, widest })) in memory.variables.iter_mut().zip(found).enumerate() {
        let Some(narrowest) = narrowest else { continue };
        // All accesses may be to the same part of a variable: then it has their size.
        let in_parts = moved & bit(at) != 0 && variable.elements.is_none() && variable.size > Some(widest);
        variable.size = match narrowest == widest && !in_parts {
            true => Some(widest),
            false => Some(variable.size.unwrap_or(widest)),
        };
        mixed |= narrowest != widest || in_parts;
    }
    mixed
}

/// Of the accesses to a variable.
#[derive(Clone, Copy, Default)]
struct Sizes {
    narrowest: Option<u8>,
    widest: u8,
}

struct Flow<'m> {
    memory: &'m Memory,
    /// What memory may hold.
    contents: Points,
    /// The variables whose address something is added to: there may be accesses to what lies behind it.
    moved: Points,
    registers: Vec<Vec<Points>>,
}

impl Flow<'_> {
    fn solve(&mut self, threads: &[Thread]) {
        for variable in &self.memory.variables {
            for initial in &variable.init {
                self.contents |= match initial {
                    Initial::Address { variable, .. } => bit(*variable),
                    Initial::Int(value) => constant(self.memory, *value as u64),
                };
            }
        }
        for thread in threads {
            let mut registers = vec![0; thread.function.registers as usize];
            for (points, value) in registers.iter_mut().zip(&thread.initial) {
                *points = constant(self.memory, *value);
            }
            self.registers.push(registers);
        }
        loop {
            let before = (self.contents, self.registers.clone());
            for (at, thread) in threads.iter().enumerate() {
                thread.function.code.iter().for_each(|instr| self.step(at, instr));
            }
            if before == (self.contents, self.registers.clone()) {
                return;
            }
        }
    }

    fn step(&mut self, thread: usize, instr: &Instr) {
        let value = |flow: &Flow<'_>, of: Operand| operand(flow.memory, &flow.registers[thread], of);
        let gives = match instr {
            Instr::Bin { op: BinOp::Xor | BinOp::Sub, a, b, .. } if a == b => 0,
            Instr::Move { .. } | Instr::Bin { .. } | Instr::SignExtend { .. } | Instr::Select { .. } => {
                let mut points = 0;
                instr.visit_operands(|operand| points |= value(self, operand));
                points
            }
            Instr::Load { .. } | Instr::LoadExclusive { .. } => self.contents,
            Instr::Store { value: stored, .. } | Instr::StoreExclusive { value: stored, .. } => {
                self.contents |= value(self, *stored);
                0
            }
            Instr::Rmw { operand, .. } => {
                self.contents |= value(self, *operand);
                self.contents
            }
            Instr::Cas { new, .. } => {
                self.contents |= value(self, *new);
                self.contents
            }
            _ => 0,
        };
        if let Instr::Bin { op: BinOp::Add, a, b, .. } = instr {
            let (a, b) = (value(self, *a), value(self, *b));
            self.moved |= if b & NUMBER != 0 { a } else { 0 } | if a & NUMBER != 0 { b } else { 0 };
        }
        if let Some(dst) = instr.destination() {
            self.registers[thread][dst.0 as usize] |= gives;
        }
    }
}

fn access(instr: &Instr) -> Option<(Operand, u8)> {
    match instr {
        Instr::Load { address, size, .. }
        | Instr::Store { address, size, .. }
        | Instr::Rmw { address, size, .. }
        | Instr::Cas { address, size, .. }
        | Instr::LoadExclusive { address, size, .. }
        | Instr::StoreExclusive { address, size, .. } => Some((*address, *size)),
        _ => None,
    }
}

fn operand(memory: &Memory, registers: &[Points], operand: Operand) -> Points {
    match operand {
        Operand::Reg(reg) => registers.get(reg.0 as usize).copied().unwrap_or(0),
        Operand::Const(value) => constant(memory, value),
    }
}

fn constant(memory: &Memory, value: u64) -> Points {
    match memory.at(value) {
        Some(variable) => bit(variable),
        None if value == 0 => 0,
        None => NUMBER,
    }
}

fn bit(variable: usize) -> Points {
    1 << variable.min(126)
}
