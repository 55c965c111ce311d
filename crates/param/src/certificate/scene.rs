//! The processes, names and formulas of one obligation.
//!
//! An obligation names finitely many processes: those of a cube, of a transition, and one for each existential
//! quantifier. Of the last it is open whether they are there at all, since the process that a quantifier speaks of may be
//! one that already has a name. So a quantifier ranges over the named processes that exist. For an existential
//! quantifier that loses nothing. For a universal one it only makes the hypothesis weaker.

use super::cube::{Cell, Literal, Place, Relation};
use super::term::Term;
use crate::syntax::Comparison;
use crate::system::*;
use std::collections::{BTreeMap, BTreeSet};

/// The processes of parameters and quantified variables, by slot.
pub type Env = [u8; 16];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Truth,
    /// A moment on the run of commits: 0 is the state itself.
    Moment,
    /// A value of this type.
    Value(TypeId),
}

pub struct Scene<'a> {
    pub system: &'a System,
    /// Per symbol: a store buffer may hold it.
    pub buffered: &'a [bool],
    /// Per named process, whether it exists.
    exists: Vec<Term>,
    declared: BTreeMap<String, Sort>,
    /// What processes read of memory in the state itself.
    now: BTreeSet<(u8, Cell)>,
    cells: BTreeSet<Cell>,
    fresh: usize,
}

impl<'a> Scene<'a> {
    /// `certain` processes that exist, and `open` ones that may.
    pub fn new(system: &'a System, buffered: &'a [bool], certain: usize, open: usize) -> Scene<'a> {
        let mut scene = Scene {
            system,
            buffered,
            exists: vec![Term::True; certain],
            declared: BTreeMap::new(),
            now: BTreeSet::new(),
            cells: BTreeSet::new(),
            fresh: 0,
        };
        for process in certain..certain + open {
            let exists = scene.declare(format!("e{process}"), Sort::Truth);
            scene.exists.push(exists);
        }
        scene
    }

    pub fn processes(&self) -> u8 {
        self.exists.len() as u8
    }

    pub fn exists(&self, process: u8) -> Term {
        self.exists[process as usize].clone()
    }

    fn declare(&mut self, name: String, sort: Sort) -> Term {
        let term = Term::Name(name.as_str().into());
        self.declared.insert(name, sort);
        term
    }

    fn value(&mut self, name: String, symbol: usize) -> Term {
        let ty = self.system.symbols[symbol].ty;
        self.declare(name, Sort::Value(ty))
    }

    pub fn process(&self, process: u8) -> Term {
        Term::Name(format!("p{process}").into())
    }

    /// A cell of the state: of memory, for what is shared.
    pub fn cell(&mut self, cell: Cell) -> Term {
        self.cells.insert(cell);
        self.value(format!("s{}", suffix(&cell)), cell.symbol)
    }

    /// What a process reads in the state.
    pub fn now(&mut self, process: u8, cell: Cell) -> Term {
        if !self.buffered[cell.symbol] {
            return self.cell(cell);
        }
        self.now.insert((process, cell));
        self.value(format!("n{process}_{}", suffix(&cell)), cell.symbol)
    }

    /// What the process of a moment reads then.
    pub fn read(&mut self, moment: usize, cell: Cell) -> Term {
        self.value(format!("r{moment}_{}", suffix(&cell)), cell.symbol)
    }

    /// A value of the type of a symbol.
    pub fn any(&mut self, symbol: usize) -> Term {
        self.fresh += 1;
        self.value(format!("f{}", self.fresh), symbol)
    }

    pub fn moment(&mut self, name: String) -> Term {
        self.declare(name, Sort::Moment)
    }

    pub fn truth(&mut self, name: String) -> Term {
        self.declare(name, Sort::Truth)
    }

    /// The locations of buffered symbols that were read in the state, by process.
    pub fn reads_now(&self) -> &BTreeSet<(u8, Cell)> {
        &self.now
    }

    pub fn cells(&self) -> &BTreeSet<Cell> {
        &self.cells
    }

    /// The constants of the obligation, and what their types say of them.
    pub fn declarations(&self) -> String {
        let mut text = String::new();
        let mut declare = |name: &str, sort: &str| text.push_str(&format!("(declare-const {name} {sort})\n"));
        let mut facts: Vec<Term> = Vec::new();
        for process in 0..self.processes() {
            declare(&format!("p{process}"), "Int");
        }
        let name = |name: &str| Term::Name(name.into());
        for (constant, sort) in &self.declared {
            match sort {
                Sort::Truth => declare(constant, "Bool"),
                Sort::Moment => {
                    declare(constant, "Int");
                    facts.push(Term::Number(0).le(name(constant)));
                }
                Sort::Value(ty) => {
                    declare(constant, if *ty == REAL { "Real" } else { "Int" });
                    let count = self.system.constructors(*ty).len() as i64;
                    if count > 0 {
                        facts.push(Term::Number(0).le(name(constant)));
                        facts.push(name(constant).lt(Term::Number(count)));
                    }
                }
            }
        }
        if self.exists.len() > 1 {
            let all = (0..self.processes()).map(|p| self.process(p)).collect();
            facts.push(Term::App("distinct", all));
        }
        facts.iter().for_each(|fact| text.push_str(&format!("(assert {fact})\n")));
        text
    }

    pub fn term(&mut self, term: &crate::system::Term, env: &Env) -> Term {
        use crate::system::Term as Source;
        match term {
            Source::Proc(process) => self.process(resolve(*process, env)),
            Source::Enum(value) => Term::Number(i64::from(*value)),
            Source::Access(access) => self.access(access, env),
            Source::Linear(parts, constant) => {
                let parts: Vec<(i64, Term)> =
                    parts.iter().map(|(k, access)| (*k, self.access(access, env))).collect();
                Term::sum(parts, *constant)
            }
        }
    }

    fn access(&mut self, access: &Access, env: &Env) -> Term {
        let cell = cell_of(access, env);
        match access.by {
            Some(by) => self.now(resolve(by, env), cell),
            None => self.cell(cell),
        }
    }

    pub fn formula(&mut self, formula: &Formula, env: &Env) -> Term {
        match formula {
            Formula::True => Term::True,
            Formula::False => Term::False,
            Formula::Compare(_, left, comparison, right) => {
                let (left, right) = (self.term(left, env), self.term(right, env));
                match comparison {
                    Comparison::Eq => left.eq(right),
                    Comparison::Neq => left.eq(right).not(),
                    Comparison::Lt => left.lt(right),
                    Comparison::Le => left.le(right),
                    Comparison::Gt => right.lt(left),
                    Comparison::Ge => right.le(left),
                }
            }
            Formula::Not(inner) => self.formula(inner, env).not(),
            Formula::And(parts) => Term::and(self.formulas(parts, env)),
            Formula::Or(parts) => Term::or(self.formulas(parts, env)),
            Formula::If(condition, then, otherwise) => {
                let (condition, then) = (self.formula(condition, env), self.formula(then, env));
                condition.ite(then, self.formula(otherwise, env))
            }
            Formula::Forall(quantified) => {
                let parts = self.range(quantified, env);
                Term::and(parts.into_iter().map(|(exists, body)| exists.implies(body)))
            }
            Formula::Exists(quantified) => {
                let parts = self.range(quantified, env);
                Term::or(parts.into_iter().map(|(exists, body)| Term::and([exists, body])))
            }
        }
    }

    fn formulas(&mut self, parts: &[Formula], env: &Env) -> Vec<Term> {
        parts.iter().map(|part| self.formula(part, env)).collect()
    }

    /// The body for each named process, with whether that process exists.
    fn range(&mut self, quantified: &Quantified, env: &Env) -> Vec<(Term, Term)> {
        (0..self.processes())
            .filter(|process| !quantified.excluded.iter().any(|other| resolve(*other, env) == *process))
            .map(|process| {
                let mut env = *env;
                env[quantified.slot as usize] = process;
                (self.exists(process), self.formula(&quantified.body, &env))
            })
            .collect()
    }

    /// A literal of a cube, its places given by `value`.
    pub fn literal(
        &mut self,
        literal: &Literal,
        value: &mut dyn FnMut(&mut Scene<'a>, Place) -> Term,
    ) -> Term {
        match literal {
            Literal::In(place, set) => {
                let place = value(self, *place);
                Term::or((0..64).filter(|i| set >> i & 1 == 1).map(|i| place.clone().eq(Term::Number(i))))
            }
            Literal::Equal(a, b) => value(self, *a).eq(value(self, *b)),
            Literal::Distinct(a, b) => value(self, *a).eq(value(self, *b)).not(),
            Literal::Sum(terms, constant, relation) => {
                let terms: Vec<(i64, Term)> =
                    terms.iter().map(|(k, place)| (*k, value(self, *place))).collect();
                let sum = Term::sum(terms, *constant);
                match relation {
                    Relation::Le => sum.le(Term::Number(0)),
                    Relation::Lt => sum.lt(Term::Number(0)),
                    Relation::Eq => sum.eq(Term::Number(0)),
                    Relation::Neq => sum.eq(Term::Number(0)).not(),
                }
            }
        }
    }
}

/// The part of a name that tells cells apart.
pub fn suffix(cell: &Cell) -> String {
    let indices: Vec<String> = cell.indices().iter().map(|p| format!("_{p}")).collect();
    format!("{}{}", cell.symbol, indices.concat())
}

pub fn resolve(process: Proc, env: &Env) -> u8 {
    match process {
        Proc::Slot(slot) => env[slot as usize],
        Proc::Const(n) => n,
    }
}

pub fn cell_of(access: &Access, env: &Env) -> Cell {
    let indices: Vec<u8> = access.indices.iter().map(|p| resolve(*p, env)).collect();
    Cell::new(access.symbol, &indices)
}

/// How many processes the existential quantifiers of a formula may name: in negation normal form, where a negated
/// universal quantifier is an existential one. `holds`: the formula itself, or its negation.
pub fn witnesses(formula: &Formula, holds: bool) -> usize {
    match formula {
        Formula::True | Formula::False | Formula::Compare(..) => 0,
        Formula::Not(inner) => witnesses(inner, !holds),
        Formula::And(parts) | Formula::Or(parts) => {
            let each = parts.iter().map(|part| witnesses(part, holds));
            // Of a disjunction one part is enough.
            if matches!(formula, Formula::And(_)) == holds { each.sum() } else { each.max().unwrap_or(0) }
        }
        Formula::If(condition, then, otherwise) => {
            let yes = witnesses(condition, true) + witnesses(then, holds);
            yes.max(witnesses(condition, false) + witnesses(otherwise, holds))
        }
        Formula::Forall(quantified) | Formula::Exists(quantified) => {
            let existential = matches!(formula, Formula::Exists(_)) == holds;
            usize::from(existential) + witnesses(&quantified.body, holds)
        }
    }
}
