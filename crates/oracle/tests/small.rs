//! The enumeration against counts that can be done by hand, with models written out directly.

use porf_event::{ReadMode, RmwKind, WriteMode};
use porf_ir::{FunctionBuilder, FunctionId, Instr, Program, RmwOp, ThreadEntry};
use porf_oracle::{Candidate, Judge, enumerate};
use porf_relation::Relation;

/// acyclic(po ∪ rf ∪ co ∪ fr), or only coherence per location; with or without pruning.
struct Direct {
    sc: bool,
    prune: bool,
    po: Relation,
    loc: Relation,
    rmw: Relation,
    rf: Relation,
}

impl Direct {
    fn new(sc: bool, prune: bool) -> Direct {
        let empty = Relation::empty(0);
        Direct { sc, prune, po: empty.clone(), loc: empty.clone(), rmw: empty.clone(), rf: empty }
    }
}

impl Judge for Direct {
    fn implies_coherence(&self) -> bool {
        self.prune
    }
    fn implies_atomicity(&self) -> bool {
        self.prune
    }
    fn needs_dependencies(&self) -> bool {
        false
    }
    fn takes_mixed_sizes(&self) -> bool {
        false
    }

    fn begin(&mut self, _: &Program, candidate: &Candidate<'_>) {
        let n = candidate.len();
        let event = |i: usize| &candidate.events[i];
        self.po = Relation::filter(n, |a, b| {
            a >= candidate.inits()
                && event(a).id.thread == event(b).id.thread
                && event(a).id.index < event(b).id.index
        });
        self.loc =
            Relation::filter(n, |a, b| event(a).location.is_some() && event(a).location == event(b).location);
        self.rmw = Relation::of(n, candidate.rmw.iter().copied());
    }
    fn set_rf(&mut self, rf: &Relation) -> bool {
        self.rf = rf.clone();
        true
    }
    fn count(&mut self, co: &Relation) -> usize {
        let fr = self.rf.inverse().compose(co);
        let com = self.rf.clone().union(co).union(&fr);
        let po = if self.sc { self.po.clone() } else { self.po.clone().intersection(&self.loc) };
        let atomic = self.rmw.clone().intersection(&fr.compose(co)).is_empty();
        usize::from(atomic && po.union(&com).is_acyclic())
    }
}

enum Op {
    R(&'static str),
    W(&'static str, u64),
    Fai(&'static str),
    /// Reads what is not 0.
    Await(&'static str),
}
use Op::{Await, Fai, R, W};

fn program(threads: &[&[Op]]) -> Program {
    let mut program = Program::default();
    for (i, ops) in threads.iter().enumerate() {
        let mut function = FunctionBuilder::new(&format!("P{i}"));
        for op in *ops {
            let name = match op {
                R(x) | W(x, _) | Fai(x) | Await(x) => x,
            };
            let address = match program.global(name) {
                Some(global) => global.address,
                None => program.add_global(name, 4, vec![]),
            };
            let address = address.into();
            let dst = function.register("");
            function.push(match op {
                R(_) | Await(_) => Instr::Load { dst, address, size: 4, mode: ReadMode::Relaxed },
                W(_, v) => Instr::Store { address, value: (*v).into(), size: 4, mode: WriteMode::Relaxed },
                Fai(_) => Instr::Rmw {
                    dst,
                    op: RmwOp::Add,
                    address,
                    operand: 1.into(),
                    size: 4,
                    read: ReadMode::Relaxed,
                    write: WriteMode::Relaxed,
                    kind: RmwKind::Amo,
                },
            });
            if let Await(_) = op {
                function.push(Instr::Assume { cond: dst.into() });
            }
        }
        program.functions.push(function.finish());
        program.threads.push(ThreadEntry {
            name: format!("P{i}"),
            function: FunctionId(i as u32),
            registers: vec![],
        });
    }
    porf_ir::validate(&program).unwrap();
    program
}

/// The counts under SC and under coherence alone; pruning must not change them.
fn check(threads: &[&[Op]], sc: usize, coherent: usize) {
    let program = program(threads);
    for (strong, expected) in [(true, sc), (false, coherent)] {
        for prune in [true, false] {
            let mut count = 0;
            enumerate(&program, &mut Direct::new(strong, prune), 2, |_, _| {
                count += 1;
                true
            })
            .unwrap();
            assert_eq!(count, expected, "sc {strong}, pruned {prune}");
        }
    }
}

#[test]
fn store_buffering() {
    check(&[&[W("x", 1), R("y")], &[W("y", 1), R("x")]], 3, 4);
}

#[test]
fn load_buffering() {
    check(&[&[R("x"), W("y", 1)], &[R("y"), W("x", 1)]], 3, 4);
}

/// A thread may wait for what it has written itself, whether the model tells that or not.
#[test]
fn awaits_its_own_write() {
    check(&[&[W("x", 1), Await("x")], &[W("y", 1)]], 1, 1);
}

#[test]
fn corr2() {
    check(&[&[W("x", 1)], &[W("x", 2)], &[R("x"), R("x")], &[R("x"), R("x")]], 72, 72);
}

#[test]
fn fetch_and_increment() {
    check(&[&[Fai("x")], &[Fai("x")], &[Fai("x")]], 6, 6);
    check(&[&[Fai("x")], &[Fai("x")], &[W("x", 42)]], 6, 6);
    // binc(N) has (N!)² executions, also under SC (RCMC, POPL 2018, Table 2).
    check(&[&[Fai("x"), Fai("y")], &[Fai("x"), Fai("y")]], 4, 4);
}

#[test]
fn two_plus_two_writes() {
    check(&[&[W("x", 1), W("y", 2)], &[W("y", 1), W("x", 2)]], 3, 4);
}
