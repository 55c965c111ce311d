//! Random programs in which the order that one thread keeps matters: its first access is to x, its last one to y,
//! and another thread accesses y, then x, with a full fence between.

use super::dependent::{Idiom, add, nothing, update};
use super::generate::Random;
use porf_event::{ArmDomain, ArmKind, Dialect, FenceMode, RwSet};
use porf_ir::{FunctionBuilder, FunctionId, Instr, Program, Reg, ThreadEntry};

pub fn program(seed: u64, idiom: &Idiom) -> Program {
    let mut random = Random::new(seed);
    let mut program = Program { name: format!("chain {seed}"), dialect: idiom.dialect, ..Program::default() };
    let [x, y, z] = ["x", "y", "z"].map(|name| program.add_global(name, 4, Vec::new()));
    let mut code = FunctionBuilder::new("P0");
    let mut chain = Chain {
        last: code.register("a"),
        other: code.register("b"),
        temporary: code.register("t"),
        f: &mut code,
        random: &mut random,
        idiom,
    };
    chain.start(x);
    let steps = 1 + chain.random.below(3);
    for step in 1..=steps {
        let address = if step == steps { y } else { chain.random.pick(&[z, z, z, x]) };
        chain.step(address);
    }
    let mut functions = vec![code.finish()];
    let mut strong = FunctionBuilder::new("P1");
    access(&mut strong, &mut random, y, 5);
    strong.push(Instr::Fence { mode: full(idiom.dialect) });
    access(&mut strong, &mut random, x, 6);
    functions.push(strong.finish());
    if random.below(6) == 0 {
        let mut more = FunctionBuilder::new("P2");
        let address = random.pick(&[x, y, z]);
        access(&mut more, &mut random, address, 7);
        functions.push(more.finish());
    }
    for (at, function) in functions.into_iter().enumerate() {
        let entry = ThreadEntry {
            name: function.name.clone(),
            function: FunctionId(at as u32),
            registers: Vec::new(),
        };
        program.functions.push(function);
        program.threads.push(entry);
    }
    program
}

fn full(dialect: Dialect) -> FenceMode {
    match dialect {
        Dialect::RiscV => FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw },
        _ => FenceMode::Dmb(ArmDomain::Full, ArmKind::All),
    }
}

fn access(f: &mut FunctionBuilder, random: &mut Random, address: u64, value: u64) {
    let (dst, size) = (f.register(""), 4);
    f.push(match random.below(2) {
        0 => Instr::Load { dst, address: address.into(), size, mode: porf_event::ReadMode::Plain },
        _ => Instr::Store {
            address: address.into(),
            value: value.into(),
            size,
            mode: porf_event::WriteMode::Plain,
        },
    });
}

struct Chain<'c> {
    f: &'c mut FunctionBuilder,
    random: &'c mut Random,
    idiom: &'c Idiom,
    /// What was read last.
    last: Reg,
    other: Reg,
    temporary: Reg,
}

impl Chain<'_> {
    fn start(&mut self, x: u64) {
        match self.random.below(5) {
            0..3 => self.load(x.into()),
            3 => self.store(x.into(), 1.into()),
            _ => self.update(x),
        }
    }

    /// Something that may be ordered after what was read last, or all that was done.
    fn step(&mut self, address: u64) {
        match self.random.below(14) {
            0 => self.load(address.into()),
            1 => self.store(address.into(), 1.into()),
            2 => {
                self.point(address);
                self.load(self.temporary.into());
            }
            3 => {
                self.point(address);
                self.store(self.temporary.into(), 2.into());
            }
            4 => self.store_data(address),
            5 => {
                self.branch();
                self.plain(address);
            }
            6 => {
                self.branch();
                self.instruction_barrier();
                self.plain(address);
            }
            7 | 8 => {
                let mode = self.random.pick(self.idiom.fences);
                self.f.push(Instr::Fence { mode });
                self.plain(address);
            }
            9 => {
                // Passed on.
                if self.random.below(2) == 0 {
                    self.store_data(address);
                } else {
                    self.point(address);
                    self.store(self.temporary.into(), 2.into());
                }
                self.load(address.into());
            }
            10 => {
                self.load(address.into());
                self.load(address.into());
            }
            11 => self.update(address),
            12 => {
                self.update(address);
                self.load(address.into());
            }
            _ if self.idiom.dialect == Dialect::AArch64 => {
                let (dst, cond) = (self.other, self.last.into());
                self.f.push(Instr::Select { dst, cond, a: 1.into(), b: 2.into() });
                std::mem::swap(&mut self.last, &mut self.other);
                match self.random.below(4) {
                    0 => self.store_data(address),
                    1 => {
                        self.point(address);
                        self.load(self.temporary.into());
                    }
                    2 => {
                        self.point(address);
                        self.store(self.temporary.into(), 2.into());
                    }
                    _ => {
                        self.branch();
                        self.plain(address);
                    }
                }
            }
            _ => {
                self.point(address);
                self.load(self.temporary.into());
                self.instruction_barrier();
                self.plain(address);
            }
        }
    }

    fn instruction_barrier(&mut self) {
        let mode = match self.idiom.dialect {
            Dialect::RiscV => FenceMode::RiscvI,
            _ => FenceMode::Isb,
        };
        self.f.push(Instr::Fence { mode });
    }

    /// An address that depends on what was read last.
    fn point(&mut self, address: u64) {
        self.f.push(nothing(self.temporary, self.last));
        self.f.push(add(self.temporary, self.temporary, address));
    }

    fn branch(&mut self) {
        let after = self.f.label();
        self.f.branch(self.last, after, after);
        self.f.bind(after);
    }

    fn plain(&mut self, address: u64) {
        if self.random.below(2) == 0 {
            self.load(address.into());
        } else {
            self.store(address.into(), 1.into());
        }
    }

    fn load(&mut self, address: porf_ir::Operand) {
        let mode = self.random.pick(self.idiom.reads);
        self.f.push(Instr::Load { dst: self.other, address, size: 4, mode });
        std::mem::swap(&mut self.last, &mut self.other);
    }

    fn store(&mut self, address: porf_ir::Operand, value: porf_ir::Operand) {
        let mode = self.random.pick(self.idiom.writes);
        self.f.push(Instr::Store { address, value, size: 4, mode });
    }

    fn store_data(&mut self, address: u64) {
        self.f.push(nothing(self.temporary, self.last));
        self.f.push(add(self.temporary, self.temporary, 3));
        self.store(address.into(), self.temporary.into());
    }

    fn update(&mut self, address: u64) {
        let (read, write) = (self.random.pick(self.idiom.reads), self.random.pick(self.idiom.writes));
        let (dst, from, temporary) = (self.other, self.last, self.temporary);
        update(self.f, self.random, self.idiom, address, dst, from, temporary, read, write);
        std::mem::swap(&mut self.last, &mut self.other);
    }
}
