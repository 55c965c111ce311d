//! Which registers still matter: liveness.
//!
//! A register is live at an instruction if some way from there reads it before it is written. What is not
//! live does not influence what a thread does, so that two threads at the same place whose live registers are
//! equal will do the same.
//!
//! What the heads of loops ([`Instr::LoopHead`]) remember is never live, because it only decides where a thread may
//! stop. What may be looked at after the end is live: the named registers of a program without C's memory, because
//! a condition may mention them, and the addresses of variables that end with their function.
//!
//! Source: Aho, Lam, Sethi, Ullman, "Compilers", 2006, section 9.2.5. Cost: one pass over a function when it is
//! asked about for the first time, and a bit per instruction and register.

use crate::{Function, FunctionId, Instr, Operand, Program, Reg};
use std::cell::OnceCell;
use std::ops::Range;

/// The live registers of a program.
#[derive(Debug)]
pub struct Liveness<'p> {
    program: &'p Program,
    functions: Box<[OnceCell<Live>]>,
    /// How many registers a call of each function writes for certain.
    results: Box<[u32]>,
}

/// For each instruction of a function a row of bits: the registers that are live before it.
#[derive(Debug)]
struct Live {
    words: usize,
    rows: Box<[u64]>,
}

impl<'p> Liveness<'p> {
    /// Nothing is computed before it is asked for.
    pub fn new(program: &'p Program) -> Liveness<'p> {
        Liveness {
            program,
            functions: program.functions.iter().map(|_| OnceCell::new()).collect(),
            results: program.functions.iter().map(results).collect(),
        }
    }

    /// The registers that are live before an instruction.
    pub fn before(&self, function: FunctionId, at: u32) -> impl Iterator<Item = Reg> + '_ {
        let live = self.of(function);
        registers(live.row(at as usize))
    }

    /// The registers that are live while an instruction calls another function.
    pub fn during_call(&self, function: FunctionId, at: u32) -> impl Iterator<Item = Reg> + '_ {
        let live = self.of(function);
        let written = self.written(&self.program.function(function).code[at as usize]);
        // A call goes on behind itself.
        let row = if at as usize + 1 < live.rows.len() / live.words.max(1) { at + 1 } else { at };
        registers(live.row(row as usize)).filter(move |reg| !written.contains(&reg.0))
    }

    fn of(&self, function: FunctionId) -> &Live {
        self.functions[function.0 as usize].get_or_init(|| {
            let is_outermost = self.program.threads.iter().any(|thread| thread.function == function);
            let in_the_end = match self.program.image {
                None if is_outermost => named(self.program.function(function)),
                _ => Vec::new(),
            };
            Live::of(self, self.program.function(function), &in_the_end)
        })
    }

    /// The numbers of the registers that an instruction writes for certain.
    fn written(&self, instr: &Instr) -> Range<u32> {
        let Some(Reg(first)) = instr.destination() else { return 0..0 };
        let count = match instr {
            Instr::Call { function, .. } => self.results[function.0 as usize],
            Instr::Wide { op, .. } if !op.is_narrow() => 2,
            _ => 1,
        };
        first..first + count
    }
}

/// How many values a function gives back, wherever it does.
fn results(function: &Function) -> u32 {
    let values = function.code.iter().filter_map(|instr| match instr {
        // Nothing comes back from there that anybody reads: code that cannot be reached ends like that.
        Instr::Return { value: None } => None,
        Instr::Return { value: Some(_) } => Some(1),
        Instr::ReturnAll { values } => Some(values.len() as u32),
        _ => None,
    });
    values.min().unwrap_or(1)
}

fn named(function: &Function) -> Vec<Reg> {
    let names = function.register_names.iter().enumerate();
    names.filter(|(_, name)| !name.is_empty()).map(|(at, _)| Reg(at as u32)).collect()
}

fn registers(row: &[u64]) -> impl Iterator<Item = Reg> + '_ {
    row.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(Reg(word as u32 * 64 + bit))
        })
    })
}

impl Live {
    fn of(liveness: &Liveness<'_>, function: &Function, in_the_end: &[Reg]) -> Live {
        let (code, words) = (&function.code, (function.registers as usize).div_ceil(64));
        let mut live = Live { words, rows: vec![0; words * code.len()].into() };
        let mut row = vec![0; words];
        let mut changed = true;
        while changed {
            changed = false;
            for (at, instr) in code.iter().enumerate().rev() {
                row.fill(0);
                let next = instr.goes_on().then_some(at + 1).filter(|next| *next < code.len());
                for next in instr.targets().map(|target| target as usize).chain(next) {
                    row.iter_mut().zip(live.row(next)).for_each(|(word, after)| *word |= after);
                }
                let ends = matches!(
                    instr,
                    Instr::Return { .. }
                        | Instr::ReturnAll { .. }
                        | Instr::ExitThread { .. }
                        | Instr::ExitProcess
                );
                if ends {
                    in_the_end.iter().for_each(|reg| set(&mut row, *reg, true));
                }
                if !matches!(instr, Instr::LoopHead { .. }) {
                    liveness.written(instr).for_each(|reg| set(&mut row, Reg(reg), false));
                    instr.visit_operands(|operand| {
                        if let Operand::Reg(reg) = operand {
                            set(&mut row, reg, true);
                        }
                    });
                }
                function.locals.iter().for_each(|reg| set(&mut row, *reg, true));
                let known = &mut live.rows[at * words..(at + 1) * words];
                if *known != row[..] {
                    known.copy_from_slice(&row);
                    changed = true;
                }
            }
        }
        live
    }

    fn row(&self, at: usize) -> &[u64] {
        &self.rows[at * self.words..(at + 1) * self.words]
    }
}

fn set(row: &mut [u64], reg: Reg, live: bool) {
    let (word, bit) = (reg.0 as usize / 64, reg.0 % 64);
    row[word] = row[word] & !(1 << bit) | u64::from(live) << bit;
}

impl Program {
    /// Whether a function jumps backward, or calls may come back to it.
    pub fn has_loops(&self) -> bool {
        self.functions.iter().enumerate().any(|(at, function)| {
            function.code.iter().enumerate().any(|(pc, instr)| match instr {
                Instr::Call { function: callee, .. } => callee.0 as usize <= at,
                Instr::CallPointer { .. } => true,
                _ => instr.targets().any(|target| target as usize <= pc),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str, at: usize) -> Vec<String> {
        let program = crate::parse(text).unwrap();
        let liveness = Liveness::new(&program);
        let id = program.threads[0].function;
        let names = &program.function(id).register_names;
        liveness.before(id, at as u32).map(|reg| names[reg.0 as usize].clone()).collect()
    }

    #[test]
    fn what_is_read_before_it_is_written() {
        let text = "program p\nglobal x\nfn f(a, b) { r = a + 1; x.rlx = r; r = x.rlx; x.rlx = r }\nthread P = f(1, 2)";
        let program = crate::parse(text).unwrap();
        let code = &program.function(program.threads[0].function).code;
        let last = code.iter().rposition(|instr| matches!(instr, Instr::Store { .. })).unwrap();
        // What a condition may speak of is live to the end, but not what is written before.
        assert_eq!(live(text, 0), ["a", "b"]);
        assert_eq!(live(text, last), ["a", "b", "r"]);
    }

    #[test]
    fn a_call_may_write_several_registers() {
        let text = "program p\nglobal x\nfn g(a) { r = x.rlx; return r }\nfn f() { s = g(1); t = 2; x.rlx = t }\nthread P = f()";
        let mut program = crate::parse(text).unwrap();
        let id = program.threads[0].function;
        let call = program.function(id).code.iter().position(|instr| instr.destination().is_some()).unwrap();
        let Instr::Call { function: callee, dst: Some(dst), .. } = program.function(id).code[call] else {
            panic!("{:?}", program.function(id).code)
        };
        // The word behind the result is read, and nobody else writes it.
        let second = Reg(dst.0 + 1);
        program.functions[id.0 as usize].code[call + 1] = Instr::Move { dst: second, src: second.into() };
        let is_live = |program: &Program| {
            let liveness = Liveness::new(program);
            [
                liveness.before(id, call as u32).any(|reg| reg == second),
                liveness.during_call(id, call as u32).any(|reg| reg == second),
            ]
        };
        assert_eq!(is_live(&program), [true, true]);
        let value = Operand::Const(1);
        for instr in &mut program.functions[callee.0 as usize].code {
            if matches!(instr, Instr::Return { value: Some(_) }) {
                *instr = Instr::ReturnAll { values: [value, value].into() };
            }
        }
        assert_eq!(is_live(&program), [false, false]);
    }

    #[test]
    fn loops_are_found() {
        let loops = |text: &str| crate::parse(text).unwrap().has_loops();
        assert!(loops("program p\nglobal x\nthread P { while x.rlx == 0 { } }"));
        assert!(!loops("program p\nglobal x\nthread P { r = x.rlx; if r == 0 { x.rlx = 1 } }"));
    }
}
