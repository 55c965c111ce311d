//! How wide are the cells? Found from the accesses that may touch each variable.
//!
//! Addresses flow from initial values through registers and memory. The analysis ignores the order of
//! instructions and treats memory as one cell. A variable that is accessed with several sizes would
//! need mixed-size events, so the test is refused.

use crate::memory::{Initial, Memory};
use crate::thread::Thread;
use porf_ir::{BinOp, Instr, Operand, Span};

/// A variable is accessed with two sizes; the place is that of an access with the second size.
pub(crate) struct MixedSize {
    pub variable: String,
    pub span: Span,
    pub sizes: (u8, u8),
}

/// The variables that a value may point to; one bit each, the last bit stands for all further ones.
type Points = u128;

/// Sets the cell size of every variable that is accessed.
pub(crate) fn assign(memory: &mut Memory, threads: &[Thread]) -> Result<(), MixedSize> {
    let mut sizes = threads.iter().flat_map(|thread| &thread.function.code).filter_map(access);
    let first = sizes.next().map(|(_, size)| size);
    if let Some(size) = first
        && sizes.all(|(_, other)| other == size)
    {
        // In the ordinary case there is no need to know which access goes where.
        for variable in &mut memory.variables {
            variable.size = Some(size);
        }
        memory.default_size = size;
        return Ok(());
    }
    let mut flow = Flow { memory, contents: 0, registers: Vec::new() };
    flow.solve(threads);
    let registers = flow.registers;
    let mut found: Vec<Option<u8>> = vec![None; memory.variables.len()];
    for (thread, registers) in threads.iter().zip(&registers) {
        for (instr, span) in thread.function.code.iter().zip(&thread.function.spans) {
            let Some((address, size)) = access(instr) else { continue };
            let points = operand(memory, registers, address);
            for (at, known) in found.iter_mut().enumerate() {
                if points & bit(at) == 0 {
                    continue;
                }
                match *known {
                    Some(other) if other != size => {
                        let variable = memory.variables[at].name.clone();
                        return Err(MixedSize { variable, span: *span, sizes: (other, size) });
                    }
                    _ => *known = Some(size),
                }
            }
        }
    }
    for (variable, size) in memory.variables.iter_mut().zip(found) {
        variable.size = size.or(variable.size);
    }
    Ok(())
}

struct Flow<'m> {
    memory: &'m Memory,
    /// What memory may hold.
    contents: Points,
    registers: Vec<Vec<Points>>,
}

impl Flow<'_> {
    fn solve(&mut self, threads: &[Thread]) {
        for variable in &self.memory.variables {
            for initial in &variable.init {
                if let Initial::Address { variable, .. } = initial {
                    self.contents |= bit(*variable);
                }
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
    memory.at(value).map_or(0, bit)
}

fn bit(variable: usize) -> Points {
    1 << variable.min(127)
}
