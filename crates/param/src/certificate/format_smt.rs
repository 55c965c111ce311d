//! Names, terms and formulas in SMT-LIB.
//!
//! Enumerations are bounded integers, processes distinct integers, numbers integers or reals. A formula is
//! translated from the system as it stands; quantifiers range over the processes of the obligation.

use super::obligations::{and, not, or};
use crate::prove::literal::Var;
use crate::syntax::Comparison;
use crate::system::*;
use std::collections::{BTreeMap, BTreeSet};

/// The constants of one obligation, declared as they are used.
pub struct Names<'a> {
    system: &'a System,
    procs: usize,
    /// Per symbol: its reads are events of their own, not looks at the state.
    waits: &'a [bool],
    /// A state set rather than a transition: reads name their process.
    pub in_states: bool,
    /// Name and symbol (for the sort); `None`: a proposition.
    declared: BTreeMap<String, Option<usize>>,
    cells: BTreeSet<Var>,
    step: BTreeSet<Var>,
    threads: BTreeSet<(u8, Var)>,
    fresh: usize,
}

impl<'a> Names<'a> {
    pub fn new(system: &'a System, procs: usize, waits: &'a [bool]) -> Names<'a> {
        Names {
            system,
            procs,
            waits,
            in_states: false,
            declared: BTreeMap::new(),
            cells: BTreeSet::new(),
            step: BTreeSet::new(),
            threads: BTreeSet::new(),
            fresh: 0,
        }
    }

    pub fn cell(&mut self, var: Var) -> String {
        self.cells.insert(var);
        self.declare(&format!("s{}", place(var)), var)
    }

    /// What the step itself reads.
    pub fn step_read(&mut self, location: Var) -> String {
        self.step.insert(location);
        self.declare(&format!("n{}", place(location)), location)
    }

    /// What an older read of the cube finds.
    pub fn node_read(&mut self, node: usize, location: Var) -> String {
        self.declare(&format!("r{node}_{}", place(location)), location)
    }

    /// What a process reads in an unsafe state.
    pub fn thread_read(&mut self, thread: u8, location: Var) -> String {
        self.threads.insert((thread, location));
        self.declare(&format!("t{thread}_{}", place(location)), location)
    }

    pub fn choice(&mut self, kind: &str, node: usize, location: Var) -> String {
        let name = format!("{kind}{node}_{}", place(location));
        self.declared.insert(name.clone(), None);
        name
    }

    pub fn fresh(&mut self, symbol: usize) -> String {
        self.fresh += 1;
        let name = format!("f{}", self.fresh);
        self.declared.insert(name.clone(), Some(symbol));
        name
    }

    pub fn step_reads(&self) -> BTreeSet<Var> {
        self.step.clone()
    }

    pub fn reads_by_thread(&self) -> Vec<(u8, Var)> {
        self.threads.iter().copied().collect()
    }

    pub fn cells_used(&self) -> Vec<Var> {
        self.cells.iter().copied().collect()
    }

    fn declare(&mut self, name: &str, var: Var) -> String {
        self.declared.insert(name.to_owned(), Some(var.symbol()));
        name.to_owned()
    }

    pub fn declarations(&self) -> String {
        let mut text = String::new();
        let procs: Vec<String> = (0..self.procs).map(|p| format!("p{p}")).collect();
        procs.iter().for_each(|p| text.push_str(&format!("(declare-const {p} Int)\n")));
        if procs.len() > 1 {
            text.push_str(&format!("(assert (distinct {}))\n", procs.join(" ")));
        }
        for (name, symbol) in &self.declared {
            let Some(symbol) = symbol else {
                text.push_str(&format!("(declare-const {name} Bool)\n"));
                continue;
            };
            let ty = self.system.symbols[*symbol].ty;
            let sort = if ty == REAL { "Real" } else { "Int" };
            text.push_str(&format!("(declare-const {name} {sort})\n"));
            let count = self.system.constructors(ty).len();
            if count > 0 {
                text.push_str(&format!("(assert (and (<= 0 {name}) (< {name} {count})))\n"));
            }
        }
        text
    }
}

fn place(var: Var) -> String {
    let indices: Vec<String> = var.indices().map(|p| format!("_{p}")).collect();
    format!("{}{}", var.symbol(), indices.concat())
}

pub fn resolve(process: Proc, env: &[u8; 16]) -> u8 {
    match process {
        Proc::Slot(slot) => env[slot as usize],
        Proc::Const(n) => n,
    }
}

/// The cell of an access.
pub fn cell(access: &Access, env: &[u8; 16]) -> Var {
    let indices: Vec<u8> = access.indices.iter().map(|p| resolve(*p, env)).collect();
    Var::cell(access.symbol, &indices)
}

pub fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

pub fn term(names: &mut Names<'_>, term: &Term, env: &[u8; 16]) -> String {
    match term {
        Term::Proc(process) => format!("p{}", resolve(*process, env)),
        Term::Enum(value) => value.to_string(),
        Term::Access(access) => read(names, access, env),
        Term::Linear(parts, constant) => {
            let mut sum = number(*constant);
            for (k, access) in parts {
                let cell = read(names, access, env);
                sum = format!("(+ {sum} (* {} {cell}))", number(*k));
            }
            sum
        }
    }
}

fn read(names: &mut Names<'_>, access: &Access, env: &[u8; 16]) -> String {
    let location = cell(access, env);
    if !names.waits.get(access.symbol).is_some_and(|waits| *waits) {
        return names.cell(location);
    }
    match access.by {
        // In a transition the reader is the acting process; in a state set it is named.
        Some(by) if names.in_states => names.thread_read(resolve(by, env), location),
        _ => names.step_read(location),
    }
}

pub fn formula(names: &mut Names<'_>, formula: &Formula, env: &[u8; 16]) -> String {
    match formula {
        Formula::True => "true".into(),
        Formula::False => "false".into(),
        Formula::Compare(
            _,
            Term::Proc(a),
            comparison @ (Comparison::Eq | Comparison::Neq),
            Term::Proc(b),
        ) => {
            let equal = resolve(*a, env) == resolve(*b, env);
            if equal == (*comparison == Comparison::Eq) { "true".into() } else { "false".into() }
        }
        Formula::Compare(_, left, comparison, right) => {
            let (left, right) = (term(names, left, env), term(names, right, env));
            match comparison {
                Comparison::Eq => format!("(= {left} {right})"),
                Comparison::Neq => format!("(not (= {left} {right}))"),
                Comparison::Lt => format!("(< {left} {right})"),
                Comparison::Le => format!("(<= {left} {right})"),
                Comparison::Gt => format!("(> {left} {right})"),
                Comparison::Ge => format!("(>= {left} {right})"),
            }
        }
        Formula::Not(inner) => not(&self::formula(names, inner, env)),
        Formula::And(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| self::formula(names, part, env)).collect();
            and(parts)
        }
        Formula::Or(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| self::formula(names, part, env)).collect();
            or(parts)
        }
        Formula::If(condition, then, otherwise) => {
            let (c, t, e) = (
                self::formula(names, condition, env),
                self::formula(names, then, env),
                self::formula(names, otherwise, env),
            );
            format!("(ite {c} {t} {e})")
        }
        Formula::Forall(quantified) | Formula::Exists(quantified) => {
            let mut parts = Vec::new();
            for process in 0..names.procs as u8 {
                if quantified.excluded.iter().any(|other| resolve(*other, env) == process) {
                    continue;
                }
                let mut env = *env;
                env[quantified.slot as usize] = process;
                parts.push(self::formula(names, &quantified.body, &env));
            }
            if matches!(formula, Formula::Forall(_)) { and(parts) } else { or(parts) }
        }
    }
}
