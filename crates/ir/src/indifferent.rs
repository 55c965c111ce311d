//! Whether a function does the same whatever an instruction gives it.
//!
//! `rc = wait(); if (rc != 0 && rc != LAST) fail();` asks for a result, and then does not tell the two that it can be
//! from each other. The function is followed with each of the values, through computations whose operands are
//! known. If it comes to the same instruction, and what is live there is the same, nothing else can be different.
//!
//! Limits: what cannot be computed ends the way, and a way has at most [`LONGEST`] steps. Then the answer may be no
//! where it should be yes. Cost: these steps, once for each value.

use crate::{FunctionId, Instr, Liveness, Operand, Program, Reg};
use porf_event::Value;

/// How far a function is followed.
const LONGEST: usize = 64;

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Known(Value),
    /// What this register held in the beginning.
    As(Reg),
}

/// Where a function has come to, and the registers that it has written.
struct Way {
    at: usize,
    written: Vec<(Reg, Held)>,
}

impl Way {
    fn held(&self, reg: Reg) -> Held {
        let written = self.written.iter().rfind(|(other, _)| *other == reg);
        written.map_or(Held::As(reg), |(_, held)| *held)
    }

    fn of(&self, operand: Operand) -> Held {
        match operand {
            Operand::Const(value) => Held::Known(value),
            Operand::Reg(reg) => self.held(reg),
        }
    }

    fn value(&self, operand: Operand) -> Option<Value> {
        match self.of(operand) {
            Held::Known(value) => Some(value),
            Held::As(_) => None,
        }
    }

    /// Makes the instruction, if that can be done with what is known.
    fn step(&mut self, instr: &Instr) -> Option<()> {
        let (dst, held) = match *instr {
            Instr::Move { dst, src } => (dst, self.of(src)),
            Instr::Bin { dst, op, width, a, b } => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                (dst, Held::Known(op.apply(width, a, b).filter(|_| op.undefined(width, a, b).is_none())?))
            }
            Instr::Cmp { dst, op, width, a, b } => {
                (dst, Held::Known(op.apply(width, self.value(a)?, self.value(b)?).into()))
            }
            Instr::Jump { target } => {
                self.at = target as usize;
                return Some(());
            }
            Instr::Branch { cond, then, otherwise } => {
                self.at = if self.value(cond)? != 0 { then } else { otherwise } as usize;
                return Some(());
            }
            _ => return None,
        };
        self.written.push((dst, held));
        self.at += 1;
        Some(())
    }
}

impl Program {
    /// Whether a function goes on in the same way after an instruction that writes `reg`, whichever of these values
    /// that gets.
    pub fn is_indifferent(
        &self,
        live: &Liveness<'_>,
        function: FunctionId,
        at: usize,
        reg: Reg,
        values: &[Value],
    ) -> bool {
        let code = &self.function(function).code;
        let follow = |value: &Value| {
            let mut way = Way { at: at + 1, written: vec![(reg, Held::Known(*value))] };
            for _ in 0..LONGEST {
                match code.get(way.at).and_then(|instr| way.step(instr)) {
                    Some(()) => {}
                    None => return Some(way).filter(|way| way.at < code.len()),
                }
            }
            None
        };
        let Some(ways) = values.iter().map(follow).collect::<Option<Vec<Way>>>() else { return false };
        let Some((first, others)) = ways.split_first() else { return true };
        others.iter().all(|way| {
            way.at == first.at
                && live.before(function, way.at as u32).all(|reg| way.held(reg) == first.held(reg))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it matters to a function which of two values it is given: `r = 0` and `r = 1` at its beginning.
    fn matters(code: &str) -> bool {
        let text =
            format!("program p\nglobal x\nfn f(r) {{ d = 0; {code} return d }}\nthread P {{ a = f(1) }}\n");
        let program = crate::parse(&text).unwrap();
        let id = program.functions.iter().position(|function| function.name == "f").unwrap();
        let (function, live) = (FunctionId(id as u32), Liveness::new(&program));
        let names = &program.function(function).register_names;
        let reg = Reg(names.iter().position(|name| name == "r").unwrap() as u32);
        // The first instruction sets d.
        !program.is_indifferent(&live, function, 0, reg, &[0, 1])
    }

    #[test]
    fn what_is_not_told_apart() {
        assert!(!matters("if r > 1 { d = 7 }"));
        assert!(!matters("if r != 0 { if r != 1 { d = 7 } } x.rlx = 1;"));
        assert!(!matters("if r == 0 { d = 2 } else { d = 2 }"));
        assert!(!matters("x.rlx = 1;"));
    }

    #[test]
    fn what_is_told_apart() {
        assert!(matters("if r == 1 { d = 7 }"));
        assert!(matters("d = r;"));
        assert!(matters("x.rlx = r;"));
        assert!(matters("x.rlx = 1; d = r;"));
        assert!(matters("if r == 0 { x.rlx = 1 } else { x.rlx = 2 }"));
        assert!(matters("while r == 0 { }"));
    }
}
