//! One thread while its code is read: registers by name, and what they hold at the start.

use porf_event::Value;
use porf_ir::{Function, FunctionBuilder, Instr, Operand, Reg};

pub(crate) struct ThreadBuilder {
    pub code: FunctionBuilder,
    names: Vec<(String, Reg)>,
    initial: Vec<Value>,
}

/// A thread whose code is complete.
pub(crate) struct Thread {
    pub function: Function,
    pub initial: Vec<Value>,
}

impl ThreadBuilder {
    pub fn new(number: usize) -> ThreadBuilder {
        ThreadBuilder {
            code: FunctionBuilder::new(&format!("P{number}")),
            names: Vec::new(),
            initial: Vec::new(),
        }
    }

    /// The register of that name; created if there is none.
    pub fn register(&mut self, name: &str) -> Reg {
        if let Some(reg) = self.find(name) {
            return reg;
        }
        let reg = self.code.register(name);
        self.names.push((name.to_string(), reg));
        reg
    }

    pub fn find(&self, name: &str) -> Option<Reg> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, reg)| *reg)
    }

    /// How many registers have names.
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// A register without a name.
    pub fn temp(&mut self) -> Reg {
        self.code.register("")
    }

    pub fn set_initial(&mut self, reg: Reg, value: Value) {
        let at = reg.0 as usize;
        if self.initial.len() <= at {
            self.initial.resize(at + 1, 0);
        }
        self.initial[at] = value;
    }

    pub fn push(&mut self, instr: Instr) {
        self.code.push(instr);
    }

    pub fn mov(&mut self, dst: Reg, src: impl Into<Operand>) {
        self.push(Instr::Move { dst, src: src.into() });
    }

    pub fn finish(self) -> Thread {
        Thread { function: self.code.finish(), initial: self.initial }
    }
}

impl Thread {
    /// The register of that name. One that is created here keeps its initial value.
    pub fn register(&mut self, name: &str) -> Reg {
        let names = &mut self.function.register_names;
        if let Some(at) = names.iter().position(|known| known == name) {
            return Reg(at as u32);
        }
        names.push(name.to_string());
        self.function.registers += 1;
        Reg(self.function.registers - 1)
    }

    pub fn set_initial(&mut self, name: &str, value: Value) {
        let at = self.register(name).0 as usize;
        if self.initial.len() <= at {
            self.initial.resize(at + 1, 0);
        }
        self.initial[at] = value;
    }
}
