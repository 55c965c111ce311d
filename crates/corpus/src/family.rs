//! The benchmark programs of the literature, by name and size.
//!
//! Sources: Kokologiannakis, Lahav, Sagonas, Vafeiadis, "Effective stateless model checking for C/C++
//! concurrency", POPL 2018 (casrot to fib_bench), Abdulla, Atig, Jonsson, Ngo, "Optimal stateless model
//! checking under the release-acquire semantics", OOPSLA 2018 (the rest), and folklore.

use porf_event::{FenceMode, ReadMode, RmwKind, Value, WriteMode};
use porf_ir::{
    BinOp, CmpOp, FunctionBuilder, FunctionId, InitCell, Instr, Operand, Program, Reg, RmwOp, ThreadEntry,
    Width,
};

/// Name, and the program for a size.
pub type Family = (&'static str, fn(u64) -> Program);

/// All families.
pub const FAMILIES: &[Family] = &[
    ("W+R", |_| threads("x", [vec![W("x", 1)], vec![R("x")]])),
    ("COWW+R", |_| threads("x", [vec![W("x", 1), W("x", 2)], vec![R("x")]])),
    ("CO2RRW", |_| threads("x", [vec![R("x"), R("x")], vec![R("x")], vec![W("x", 1)]])),
    ("CORR2", corr2),
    ("FAIS", |_| threads("x", [vec![Fai("x")], vec![Fai("x")]])),
    ("FAIS+42", |_| threads("x", [vec![Fai("x")], vec![Fai("x")], vec![W("x", 42)]])),
    ("SB", |_| threads("x y", [vec![W("x", 1), R("y")], vec![W("y", 1), R("x")]])),
    ("SB-sc", |_| threads("x y", [vec![Wsc("x", 1), Rsc("y")], vec![Wsc("y", 1), Rsc("x")]])),
    ("LB", |_| threads("x y", [vec![R("x"), W("y", 1)], vec![R("y"), W("x", 1)]])),
    ("WW3R", |_| threads("x", [vec![W("x", 1)], vec![W("x", 2)], vec![R("x"), R("x"), R("x")]])),
    ("N_concurrent_writes", |n| threads("x", (1..=n).map(|i| vec![W("x", i)]))),
    ("nwrites-loc", |n| threads("x", (1..=n).map(|i| vec![W("x", i)]))),
    ("nwrites", nwrites),
    ("assume-2w", |_| threads("x", [vec![R("x"), Assume], vec![W("x", 1)], vec![W("x", 2)]])),
    ("casrot", |n| threads("x", (1..=n).map(|i| vec![Cas("x", i - 1, i)]))),
    ("readers", |n| {
        threads("x", std::iter::once(vec![Wrel("x", 42)]).chain((0..n).map(|_| vec![Racq("x")])))
    }),
    ("ainc", |n| threads("x", (0..n).map(|_| vec![Fai("x")]))),
    ("binc", |n| threads("x y", (0..n).map(|_| vec![Fai("x"), Fai("y")]))),
    ("cinc", |n| threads("x y z", (0..n).map(|_| vec![Fai("x"), Fai("y"), Fai("z")]))),
    ("indexer", indexer),
    ("casw", |n| threads("x", (1..=n).map(|i| vec![Cas("x", 0, i), Wrel("x", i + 3)]))),
    ("wcas", |n| threads("x", std::iter::once(vec![W("x", 1)]).chain((0..n).map(|_| vec![Cas("x", 1, 2)])))),
    ("wainc", |n| threads("x", std::iter::once(vec![W("x", 1)]).chain((0..n).map(|_| vec![Fai("x")])))),
    ("lastzero", lastzero),
    ("lastzero-reversed", lastzero_reversed),
    ("fib_bench", fib_bench),
    ("Fig1a", |_| threads("x", [vec![Wrel("x", 1), Racq("x")], vec![Wrel("x", 2), Racq("x")]])),
    ("Fig7", |_| {
        let t = |v| vec![Racq("y"), Wrel("x", v)];
        threads("x y", [vec![Racq("x")], vec![Wrel("x", 2)], t(3), t(4)])
    }),
    ("N_writers_a_reader", |n| {
        threads("x", (1..=n).map(|i| vec![Wrel("x", i)]).chain(std::iter::once(vec![Racq("x")])))
    }),
    ("Redundant_co", |n| {
        let writer = || (0..n).map(|_| Wrel("x", 1)).collect::<Vec<_>>();
        threads("x", [writer(), writer(), vec![Racq("x"), Racq("x")]])
    }),
    ("Sigma", sigma),
    ("CO-2+2W", |n| threads("x", (0..n).map(|i| vec![W("x", 2 * i + 1), W("x", 2 * i + 2)]))),
    ("CoRR2", |n| {
        let reader = || vec![R("x"), R("x")];
        threads("x", (1..=n).map(|i| vec![W("x", i)]).chain([reader(), reader()]))
    }),
    ("floating_read", |n| {
        threads("x", std::iter::once(vec![R("x")]).chain((1..=n).map(|i| vec![W("x", i)])))
    }),
    ("lastwrite", |n| threads("x", (1..=n).map(|i| vec![W("x", i)]))),
];

/// A program by the name of its family and a size.
pub fn family(name: &str, size: u64) -> Option<Program> {
    FAMILIES.iter().find(|(known, _)| *known == name).map(|(_, build)| build(size))
}

/// One line of a straight thread.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    R(&'static str),
    Racq(&'static str),
    Rsc(&'static str),
    W(&'static str, Value),
    Wrel(&'static str, Value),
    Wsc(&'static str, Value),
    Fai(&'static str),
    Cas(&'static str, Value, Value),
    /// What was read last is not 0.
    Assume,
    Fence(FenceMode),
}
use Op::*;

/// A program of straight threads over the variables in `variables`.
pub fn threads(variables: &str, threads: impl IntoIterator<Item = Vec<Op>>) -> Program {
    let mut build = Build::new(variables);
    for ops in threads {
        build.thread(|f, program| {
            let mut last = None;
            for op in ops {
                let at = |name: &str| program.global(name).map_or(0, |global| global.address);
                match op {
                    R(x) => last = Some(load(f, at(x), ReadMode::Relaxed)),
                    Racq(x) => last = Some(load(f, at(x), ReadMode::Acquire)),
                    Rsc(x) => last = Some(load(f, at(x), ReadMode::SeqCst)),
                    W(x, v) => store(f, at(x), v, WriteMode::Relaxed),
                    Wrel(x, v) => store(f, at(x), v, WriteMode::Release),
                    Wsc(x, v) => store(f, at(x), v, WriteMode::SeqCst),
                    Fai(x) => last = Some(fai(f, at(x))),
                    Cas(x, expected, new) => last = Some(cas(f, at(x), expected, new)),
                    Assume => {
                        let cond = last.map_or(Operand::Const(0), Operand::Reg);
                        f.push(Instr::Assume { cond });
                    }
                    Fence(mode) => f.push(Instr::Fence { mode }),
                }
            }
        });
    }
    build.program
}

/// A program under construction.
pub struct Build {
    pub program: Program,
}

impl Build {
    /// With 4-byte variables of these names.
    pub fn new(variables: &str) -> Build {
        let mut program = Program::default();
        for name in variables.split_whitespace() {
            program.add_global(name, 4, Vec::new());
        }
        Build { program }
    }

    /// Adds a thread that runs from the start.
    pub fn thread(&mut self, code: impl FnOnce(&mut FunctionBuilder, &Program)) {
        let function = self.function(code);
        let name = format!("P{}", self.program.threads.len());
        self.program.threads.push(ThreadEntry { name, function, registers: Vec::new() });
    }

    /// Adds a function.
    pub fn function(&mut self, code: impl FnOnce(&mut FunctionBuilder, &Program)) -> FunctionId {
        let id = FunctionId(self.program.functions.len() as u32);
        let mut f = FunctionBuilder::new(&format!("f{}", id.0));
        code(&mut f, &self.program);
        self.program.functions.push(f.finish());
        id
    }
}

pub fn load(f: &mut FunctionBuilder, address: impl Into<Operand>, mode: ReadMode) -> Reg {
    let dst = f.register("");
    f.push(Instr::Load { dst, address: address.into(), size: 4, mode });
    dst
}

pub fn store(
    f: &mut FunctionBuilder,
    address: impl Into<Operand>,
    value: impl Into<Operand>,
    mode: WriteMode,
) {
    f.push(Instr::Store { address: address.into(), value: value.into(), size: 4, mode });
}

pub fn fai(f: &mut FunctionBuilder, address: impl Into<Operand>) -> Reg {
    let dst = f.register("");
    f.push(Instr::Rmw {
        dst,
        op: RmwOp::Add,
        address: address.into(),
        operand: 1.into(),
        size: 4,
        read: ReadMode::Relaxed,
        write: WriteMode::Relaxed,
        kind: RmwKind::Amo,
    });
    dst
}

pub fn cas(
    f: &mut FunctionBuilder,
    address: impl Into<Operand>,
    expected: impl Into<Operand>,
    new: impl Into<Operand>,
) -> Reg {
    let dst = f.register("");
    f.push(Instr::Cas {
        dst,
        address: address.into(),
        expected: expected.into(),
        new: new.into(),
        size: 4,
        read: ReadMode::Relaxed,
        write: WriteMode::Relaxed,
        failure: ReadMode::Relaxed,
        weak: false,
        kind: RmwKind::Amo,
    });
    dst
}

fn bin(f: &mut FunctionBuilder, op: BinOp, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
    let dst = f.register("");
    f.push(Instr::Bin { dst, op, width: Width::W64, a: a.into(), b: b.into() });
    dst
}

fn corr2(_: u64) -> Program {
    let reader = || vec![R("x"), R("x")];
    threads("x", [vec![W("x", 1)], vec![W("x", 2)], reader(), reader()])
}

/// N threads write N different locations.
fn nwrites(n: u64) -> Program {
    let mut build = Build::new("");
    let a = build.program.add_global("a", 4 * n, Vec::new());
    for i in 0..n {
        build.thread(|f, _| store(f, a + 4 * i, 1, WriteMode::Relaxed));
    }
    build.program
}

/// Flanagan and Godefroid's indexer: N threads insert 4 messages each into a table of 128.
fn indexer(n: u64) -> Program {
    let mut build = Build::new("");
    let table = build.program.add_global("table", 4 * 128, Vec::new());
    for tid in 0..n {
        build.thread(|f, _| {
            for message in 1..=4 {
                let w = message * 11 + tid;
                // h := (w * 7) % 128; while CAS(table[h], 0, w) fails: h := (h + 1) % 128
                let h = f.register("h");
                f.push(Instr::Move { dst: h, src: ((w * 7) % 128).into() });
                let (head, again, done) = (f.label(), f.label(), f.label());
                f.bind(head);
                let offset = bin(f, BinOp::Mul, h, 4);
                let address = bin(f, BinOp::Add, offset, table);
                let old = cas(f, address, 0, w);
                f.branch(old, again, done);
                f.bind(again);
                let next = bin(f, BinOp::Add, h, 1);
                f.push(Instr::Bin {
                    dst: h,
                    op: BinOp::URem,
                    width: Width::W64,
                    a: next.into(),
                    b: 128.into(),
                });
                f.jump(head);
                f.bind(done);
            }
        });
    }
    build.program
}

/// Thread 0 looks for the last zero of a[0..=N]; thread j sets a[j] to a[j-1] + 1.
fn lastzero(n: u64) -> Program {
    let mut build = Build::new("");
    let a = build.program.add_global("a", 4 * (n + 1), Vec::new());
    build.thread(|f, _| lastzero_finder(f, a, n));
    for j in 1..=n {
        build.thread(|f, _| lastzero_setter(f, a, j));
    }
    build.program
}

fn lastzero_reversed(n: u64) -> Program {
    let mut build = Build::new("");
    let a = build.program.add_global("a", 4 * (n + 1), Vec::new());
    for j in (1..=n).rev() {
        build.thread(|f, _| lastzero_setter(f, a, j));
    }
    build.thread(|f, _| lastzero_finder(f, a, n));
    build.program
}

fn lastzero_finder(f: &mut FunctionBuilder, a: Value, n: u64) {
    let at = f.register("at");
    f.push(Instr::Move { dst: at, src: (a + 4 * n).into() });
    let (head, again, done) = (f.label(), f.label(), f.label());
    f.bind(head);
    let value = load(f, at, ReadMode::Acquire);
    f.branch(value, again, done);
    f.bind(again);
    f.push(Instr::Bin { dst: at, op: BinOp::Sub, width: Width::W64, a: at.into(), b: 4.into() });
    f.jump(head);
    f.bind(done);
}

fn lastzero_setter(f: &mut FunctionBuilder, a: Value, j: u64) {
    let before = load(f, a + 4 * (j - 1), ReadMode::Acquire);
    let next = bin(f, BinOp::Add, before, 1);
    store(f, a + 4 * j, next, WriteMode::Release);
}

/// i = j = 1; two threads add them up K times each; a third reads both.
fn fib_bench(k: u64) -> Program {
    let mut build = Build::new("");
    let one = || vec![InitCell { offset: 0, size: 4, value: 1 }];
    let i = build.program.add_global("i", 4, one());
    let j = build.program.add_global("j", 4, one());
    for target in [i, j] {
        build.thread(|f, _| {
            for _ in 0..k {
                let (a, b) = (load(f, i, ReadMode::Acquire), load(f, j, ReadMode::Acquire));
                let sum = bin(f, BinOp::Add, a, b);
                store(f, target, sum, WriteMode::Release);
            }
        });
    }
    let mut fib = (1, 1);
    for _ in 0..2 * k {
        fib = (fib.1, fib.0 + fib.1);
    }
    build.thread(|f, _| {
        for at in [i, j] {
            let value = load(f, at, ReadMode::Acquire);
            let cond = f.register("");
            f.push(Instr::Cmp {
                dst: cond,
                op: CmpOp::Ule,
                width: Width::W64,
                a: value.into(),
                b: fib.1.into(),
            });
            f.push(Instr::Assert { cond: cond.into(), message: "exceeds the Fibonacci number".into() });
        }
    });
    build.program
}

/// SV-COMP's sigma: main increments an index, then starts a thread that sets the array at it.
fn sigma(n: u64) -> Program {
    let mut build = Build::new("index");
    let array = build.program.add_global("array", 4 * (n + 2), Vec::new());
    let index = build.program.global("index").map_or(0, |global| global.address);
    let worker = build.function(|f, _| {
        let at = load(f, index, ReadMode::Acquire);
        let offset = bin(f, BinOp::Mul, at, 4);
        let address = bin(f, BinOp::Add, offset, array);
        store(f, address, 1, WriteMode::Release);
    });
    build.thread(|f, _| {
        for _ in 0..n {
            let at = load(f, index, ReadMode::Acquire);
            let next = bin(f, BinOp::Add, at, 1);
            store(f, index, next, WriteMode::Release);
            let dst = f.register("");
            f.push(Instr::Create { dst, function: worker, arg: 0.into() });
        }
    });
    build.program
}
