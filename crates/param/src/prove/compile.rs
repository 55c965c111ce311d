//! From formulas to conjunctions of literals: guards, updates, initial and unsafe states in the form that
//! pre-images need.
//!
//! A guard is a disjunction of [`Conjunction`]s, each its own rule. Universal quantifiers stay in place (they
//! are instantiated over the processes of a cube), existential ones become further parameters. Under a weak
//! model a read of weak memory is a variable of the read node that the step creates.

use super::laws::Laws;
use super::literal::*;
use super::visited::Visited;
use super::weak::Order;
use crate::Memory;
use crate::syntax::span::error_at;
use crate::syntax::{Comparison, Diagnostic, Span};
use crate::system::*;
use smallvec::SmallVec;

const MAX_DISJUNCTS: usize = 2000;

/// A system under a model, ready for the search.
pub struct Compiled<'a> {
    pub system: &'a System,
    /// SC if the system has no weak symbol.
    pub memory: Memory,
    /// Per symbol, the values of its type as a set; all ones where the type is no enumeration.
    pub domains: Vec<u64>,
    /// Per symbol: writes of different processes may reach memory in another order than they are issued.
    pub racy: Vec<bool>,
    /// Per symbol: only locked steps write it.
    pub chained: Vec<bool>,
    /// Per symbol: a read of it waits for its write.
    pub waits: Vec<bool>,
    /// How steps are taken back under a weak model.
    pub order: Order,
    pub init: Clauses,
    pub unsafes: Vec<Clauses>,
    pub lemmas: Vec<Clauses>,
    pub axioms: Vec<Clauses>,
    pub rules: Vec<Rule>,
    /// The cubes of the axioms, and the laws: none until a search needs them.
    pub assumed: Visited,
    pub laws: Laws,
}

/// A state set: its parameters and its disjuncts.
pub struct Clauses {
    pub params: usize,
    pub disjuncts: Vec<Conjunction>,
}

#[derive(Clone, Debug, Default)]
pub struct Conjunction {
    pub literals: Vec<Literal>,
    pub universals: Vec<Universal>,
    /// Further process variables and what each differs from.
    pub existentials: Vec<(u8, Vec<u8>)>,
}

#[derive(Clone, Debug)]
pub struct Universal {
    pub slot: u8,
    pub excluded: Vec<u8>,
    pub body: Vec<Vec<Literal>>,
}

pub struct Rule {
    /// Index of the transition in the system.
    pub transition: usize,
    pub params: usize,
    pub acting: Option<u8>,
    pub fence: bool,
    pub locked: bool,
    pub guards: Vec<Conjunction>,
    pub updates: Vec<Effect>,
}

/// An update: which cells, and the alternatives for their new value (`None`: the cell keeps its value).
pub struct Effect {
    pub symbol: usize,
    /// Buffered: a write event rather than a change of state.
    pub weak: bool,
    pub pattern: Vec<Index>,
    pub alternatives: Vec<(Vec<Literal>, Option<Operand>)>,
}

pub fn compile(system: &System, memory: Memory, order: Order) -> Result<Compiled<'_>, Diagnostic> {
    if let Some(error) = system.refused_under(memory) {
        return Err(error.clone());
    }
    let memory = if system.has_weak() { memory } else { Memory::Sc };
    let domains = (system.symbols.iter())
        .map(|symbol| match system.constructors(symbol.ty).len() {
            0 => u64::MAX,
            64 => u64::MAX,
            n => (1 << n) - 1,
        })
        .collect();
    let racy = racy(system);
    let order = order.valid(memory, &racy);
    let waits: Vec<bool> = (0..system.symbols.len())
        .map(|symbol| memory != Memory::Sc && waits(system, symbol, order))
        .collect();
    let compiler = Compiler { system, weak: memory != Memory::Sc, waits: waits.clone() };
    let sets = |sets: &mut dyn Iterator<Item = &StateSet>| -> Result<Vec<Clauses>, Diagnostic> {
        sets.map(|set| compiler.states(set)).collect()
    };
    let rules = (system.transitions.iter().enumerate())
        .map(|(index, transition)| compiler.rule(index, transition))
        .collect::<Result<_, _>>()?;
    Ok(Compiled {
        system,
        memory,
        domains,
        racy,
        chained: (0..system.symbols.len()).map(|symbol| !buffered(system, symbol)).collect(),
        waits,
        order,
        init: compiler.init(&system.init)?,
        unsafes: sets(&mut system.unsafes.iter())?,
        lemmas: sets(&mut system.lemmas())?,
        axioms: sets(&mut system.axioms())?,
        rules,
        assumed: Visited::default(),
        laws: Laws::default(),
    })
}

impl Compiled<'_> {
    pub fn full(&self) -> impl Fn(usize) -> u64 + Copy + '_ {
        |symbol| self.domains.get(symbol).copied().unwrap_or(u64::MAX)
    }
}

/// A symbol is racy if a cell may be written by two processes, one of which writes through its buffer.
fn racy(system: &System) -> Vec<bool> {
    let writes = |symbol: usize| {
        (system.transitions.iter())
            .flat_map(move |t| t.updates.iter().filter(move |u| u.symbol == symbol).map(move |u| (t, u)))
    };
    (system.symbols.iter().enumerate())
        .map(|(id, symbol)| {
            let plain = writes(id).any(|(transition, _)| !transition.locked);
            let owned = |dim: usize| {
                writes(id).all(|(transition, update)| {
                    transition
                        .acting
                        .is_some_and(|slot| update.indices[dim] == Index::Fixed(Proc::Slot(slot as u8)))
                })
            };
            plain && !(0..symbol.dims).any(owned)
        })
        .collect()
}

/// Whether a read of the symbol waits for its write. In the order of issue a location that no buffer ever holds
/// is as plain as a variable of SC: what a step reads of it is the state when the step is issued.
fn waits(system: &System, symbol: usize, order: Order) -> bool {
    system.symbols[symbol].weak && (order != Order::Issue || buffered(system, symbol))
}

/// Whether a step that is not locked writes the symbol.
fn buffered(system: &System, symbol: usize) -> bool {
    let writes = |transition: &Transition| transition.updates.iter().any(|update| update.symbol == symbol);
    system.transitions.iter().any(|transition| !transition.locked && writes(transition))
}

struct Compiler<'a> {
    system: &'a System,
    weak: bool,
    waits: Vec<bool>,
}

/// Who reads weak memory in the formula at hand.
#[derive(Clone, Copy)]
enum Reader {
    /// Initial memory itself.
    Memory,
    /// The node that the step creates.
    Step,
    /// One node per named process, numbered like its slot.
    Named,
}

type Dnf = Vec<Conjunction>;

impl Compiler<'_> {
    fn init(&self, set: &StateSet) -> Result<Clauses, Diagnostic> {
        let disjuncts = self.dnf(&set.body, true, Reader::Memory, set.span)?;
        if disjuncts.iter().any(|disjunct| !disjunct.existentials.is_empty()) {
            return Err(error_at(set.span, "init holds for all processes: `exists` has no place in it"));
        }
        Ok(Clauses { params: set.params.len(), disjuncts })
    }

    fn states(&self, set: &StateSet) -> Result<Clauses, Diagnostic> {
        let disjuncts = self.dnf(&set.body, true, Reader::Named, set.span)?;
        if disjuncts.iter().any(|disjunct| !disjunct.universals.is_empty()) {
            return Err(error_at(set.span, "a universal quantifier in unsafe or invariant states")
                .help("these states are given by some processes: use parameters, or a negated `exists`"));
        }
        Ok(Clauses { params: set.params.len(), disjuncts })
    }

    fn rule(&self, index: usize, transition: &Transition) -> Result<Rule, Diagnostic> {
        let guards = self.dnf(&transition.guard, true, Reader::Step, transition.span)?;
        let updates = (transition.updates.iter())
            .map(|update| self.effect(update, transition.span))
            .collect::<Result<_, _>>()?;
        Ok(Rule {
            transition: index,
            params: transition.params.len(),
            acting: transition.acting.map(|slot| slot as u8),
            fence: self.weak && transition.fence,
            locked: self.weak && transition.locked,
            guards,
            updates,
        })
    }

    fn effect(&self, update: &Update, span: Span) -> Result<Effect, Diagnostic> {
        let mut alternatives = Vec::new();
        match &update.value {
            UpdateValue::Any => alternatives.push((Vec::new(), Some(Operand::Any))),
            UpdateValue::Cases(cases) => {
                // Conditions that failed so far: the first case that holds wins.
                let mut before: Dnf = vec![Conjunction::default()];
                for (condition, value) in cases {
                    let holds = self.dnf(condition, true, Reader::Step, span)?;
                    let value = (!self.keeps(update, value)).then(|| self.operand(value, Reader::Step));
                    for disjunct in product(&before, &holds, span)? {
                        alternatives.push((disjunct.literals, value.clone()));
                    }
                    before = product(&before, &self.dnf(condition, false, Reader::Step, span)?, span)?;
                }
                alternatives.extend(before.into_iter().map(|disjunct| (disjunct.literals, None)));
            }
        }
        let weak = self.waits[update.symbol];
        Ok(Effect { symbol: update.symbol, weak, pattern: update.indices.clone(), alternatives })
    }

    /// `A[j] := case … | _ : A[j]`.
    fn keeps(&self, update: &Update, value: &Term) -> bool {
        let access = match value {
            Term::Access(access) => access,
            Term::Linear(parts, 0) if parts.len() == 1 && parts[0].0 == 1 => &parts[0].1,
            _ => return false,
        };
        access.symbol == update.symbol
            && access.indices.iter().zip(&update.indices).all(|(process, index)| match index {
                Index::Fixed(fixed) => process == fixed,
                Index::Bound(slot) => *process == Proc::Slot(*slot),
            })
    }

    fn dnf(&self, formula: &Formula, positive: bool, reader: Reader, span: Span) -> Result<Dnf, Diagnostic> {
        let join = |parts: &[Formula], positive: bool, conjunctive: bool| -> Result<Dnf, Diagnostic> {
            let mut result = if conjunctive { vec![Conjunction::default()] } else { Vec::new() };
            for part in parts {
                let part = self.dnf(part, positive, reader, span)?;
                if conjunctive {
                    result = product(&result, &part, span)?;
                } else {
                    result.extend(part);
                }
            }
            Ok(result)
        };
        match formula {
            Formula::True => Ok(if positive { vec![Conjunction::default()] } else { Vec::new() }),
            Formula::False => Ok(if positive { Vec::new() } else { vec![Conjunction::default()] }),
            Formula::Compare(ty, left, comparison, right) => {
                Ok(self.comparison(*ty, left, *comparison, right, positive, reader))
            }
            Formula::Not(inner) => self.dnf(inner, !positive, reader, span),
            Formula::And(parts) => join(parts, positive, positive),
            Formula::Or(parts) => join(parts, positive, !positive),
            Formula::If(condition, then, otherwise) => {
                let yes = self.dnf(condition, true, reader, span)?;
                let no = self.dnf(condition, false, reader, span)?;
                let mut result = product(&yes, &self.dnf(then, positive, reader, span)?, span)?;
                result.extend(product(&no, &self.dnf(otherwise, positive, reader, span)?, span)?);
                Ok(result)
            }
            Formula::Forall(quantified) | Formula::Exists(quantified) => {
                let universal = matches!(formula, Formula::Forall(_)) == positive;
                let body = self.dnf(&quantified.body, positive, reader, span)?;
                let excluded: Vec<u8> = quantified.excluded.iter().map(|p| slot(*p)).collect();
                if !universal {
                    return Ok((body.into_iter())
                        .map(|mut disjunct| {
                            disjunct.existentials.insert(0, (quantified.slot, excluded.clone()));
                            disjunct
                        })
                        .collect());
                }
                if body.iter().any(|d| !d.universals.is_empty() || !d.existentials.is_empty()) {
                    return Err(error_at(span, "a quantifier under a universal quantifier is not supported")
                        .help("write the inner quantifier in a transition of its own"));
                }
                let body = body.into_iter().map(|disjunct| disjunct.literals).collect();
                let universals = vec![Universal { slot: quantified.slot, excluded, body }];
                Ok(vec![Conjunction { universals, ..Conjunction::default() }])
            }
        }
    }

    fn comparison(
        &self,
        ty: TypeId,
        left: &Term,
        comparison: Comparison,
        right: &Term,
        positive: bool,
        reader: Reader,
    ) -> Dnf {
        let comparison = if positive { comparison } else { negated(comparison) };
        let (a, b) = (self.operand(left, reader), self.operand(right, reader));
        let one = |literal: Literal| vec![Conjunction { literals: vec![literal], ..Conjunction::default() }];
        let equal = match comparison {
            Comparison::Eq => Some(true),
            Comparison::Neq => Some(false),
            _ => None,
        };
        match (equal, a, b) {
            (Some(equal), Operand::Enum(x), Operand::Enum(y)) => {
                if (x == y) == equal {
                    vec![Conjunction::default()]
                } else {
                    Vec::new()
                }
            }
            (Some(equal), Operand::Var(var), Operand::Enum(value))
            | (Some(equal), Operand::Enum(value), Operand::Var(var)) => {
                let all = match self.system.constructors(ty).len() {
                    64 => u64::MAX,
                    n => (1 << n) - 1,
                };
                let bit = 1_u64 << value;
                one(Literal::In(var, if equal { bit } else { all & !bit }))
            }
            (Some(true), Operand::Var(a), Operand::Var(b)) => one(Literal::Eq(a.min(b), a.max(b))),
            (Some(false), Operand::Var(a), Operand::Var(b)) => one(Literal::Neq(a.min(b), a.max(b))),
            (_, a, b) => {
                let (a, b) = match comparison {
                    Comparison::Gt | Comparison::Ge => (linear(b), linear(a)),
                    _ => (linear(a), linear(b)),
                };
                let mut terms: LinTerms = a.0;
                terms.extend(b.0.into_iter().map(|(var, k)| (var, -k)));
                let constant = a.1 - b.1;
                let real = ty == REAL;
                let (op, constant) = match comparison {
                    Comparison::Eq => (LinOp::Eq, constant),
                    Comparison::Neq => (LinOp::Neq, constant),
                    Comparison::Le | Comparison::Ge => (LinOp::Le, constant),
                    Comparison::Lt | Comparison::Gt if real => (LinOp::Lt, constant),
                    Comparison::Lt | Comparison::Gt => (LinOp::Le, constant + 1),
                };
                one(Literal::Lin(Lin::new(op, terms, constant, real)))
            }
        }
    }

    fn operand(&self, term: &Term, reader: Reader) -> Operand {
        match term {
            Term::Proc(process) => Operand::Var(Var::process(slot(*process))),
            Term::Enum(value) => Operand::Enum(*value),
            Term::Access(access) => Operand::Var(self.var(access, reader)),
            Term::Linear(parts, constant) => Operand::Linear(
                parts.iter().map(|(k, access)| (self.var(access, reader), *k)).collect(),
                *constant,
            ),
        }
    }

    fn var(&self, access: &Access, reader: Reader) -> Var {
        let indices: SmallVec<[u8; 3]> = access.indices.iter().map(|p| slot(*p)).collect();
        let var = Var::cell(access.symbol, &indices);
        if !self.waits[access.symbol] {
            return var;
        }
        match (reader, access.by) {
            (Reader::Memory, _) => var,
            (Reader::Step, _) => var.read_by(NEW_NODE),
            (Reader::Named, Some(by)) => var.read_by(slot(by)),
            // Reported as a weak error before anything is compiled.
            (Reader::Named, None) => var,
        }
    }
}

fn linear(operand: Operand) -> (LinTerms, i64) {
    match operand {
        Operand::Linear(terms, constant) => (terms, constant),
        Operand::Var(var) => (SmallVec::from_slice(&[(var, 1)]), 0),
        Operand::Enum(value) => (SmallVec::new(), i64::from(value)),
        Operand::Any => (SmallVec::new(), 0),
    }
}

fn slot(process: Proc) -> u8 {
    match process {
        Proc::Slot(slot) => slot,
        Proc::Const(n) => NAMED + n,
    }
}

fn negated(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Eq => Comparison::Neq,
        Comparison::Neq => Comparison::Eq,
        Comparison::Lt => Comparison::Ge,
        Comparison::Le => Comparison::Gt,
        Comparison::Gt => Comparison::Le,
        Comparison::Ge => Comparison::Lt,
    }
}

fn product(a: &[Conjunction], b: &[Conjunction], span: Span) -> Result<Dnf, Diagnostic> {
    if a.len() * b.len() > MAX_DISJUNCTS {
        return Err(error_at(span, "the disjunctive form of this formula is too large")
            .help("split the transition or state set in several"));
    }
    let mut result = Vec::new();
    for x in a {
        for y in b {
            let mut both = x.clone();
            for literal in &y.literals {
                if !both.literals.contains(literal) {
                    both.literals.push(literal.clone());
                }
            }
            both.universals.extend(y.universals.iter().cloned());
            both.existentials.extend(y.existentials.iter().cloned());
            result.push(both);
        }
    }
    Ok(result)
}
