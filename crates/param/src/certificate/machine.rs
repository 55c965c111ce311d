//! The store-buffer machine, as far as an obligation needs it: what buffers may hold, and what a step does.
//!
//! Read from the text of the system: [`Machine::may_hold`] is an invariant of every run, because a write enters the
//! buffer of the process that acts.

use super::cube::Cell;
use super::scene::{Env, Scene, cell_of, resolve};
use super::term::Term;
use crate::Memory;
use crate::system::*;

pub struct Machine<'a> {
    pub system: &'a System,
    pub memory: Memory,
    /// Per symbol: a store buffer may hold it.
    pub buffered: Vec<bool>,
}

/// What a step does to one cell: whether it writes it, and what.
pub struct Write {
    pub cell: Cell,
    pub happens: Term,
    pub value: Term,
}

impl<'a> Machine<'a> {
    pub fn new(system: &'a System, memory: Memory) -> Machine<'a> {
        let memory = if system.has_weak() { memory } else { Memory::Sc };
        let held = |symbol: usize| {
            let writes = |update: &Update| update.symbol == symbol;
            memory != Memory::Sc
                && system.symbols[symbol].weak
                && system.transitions.iter().any(|t| !t.locked && t.updates.iter().any(writes))
        };
        let buffered = (0..system.symbols.len()).map(held).collect();
        Machine { system, memory, buffered }
    }

    /// Whether the buffer of a process may hold a write to the cell.
    pub fn may_hold(&self, process: u8, cell: &Cell) -> bool {
        self.patterns(cell).any(|(acting, indices)| {
            indices.iter().zip(cell.indices()).all(|(index, at)| match index {
                Index::Bound(_) => true,
                Index::Fixed(Proc::Const(n)) => n == at,
                // Parameters are pairwise distinct.
                Index::Fixed(Proc::Slot(slot)) => (usize::from(*slot) == acting) == (*at == process),
            })
        })
    }

    /// Whether the buffer of any other process may, also of one without a name.
    pub fn others_may_hold(&self, process: u8, cell: &Cell) -> bool {
        let named = |other: u8| other != process && self.may_hold(other, cell);
        self.anybody_may_hold(cell) || cell.indices().iter().any(|other| named(*other))
    }

    /// Whether a process that the cell does not name may.
    pub fn anybody_may_hold(&self, cell: &Cell) -> bool {
        let owned =
            |(acting, indices): (usize, &[Index])| indices.contains(&Index::Fixed(Proc::Slot(acting as u8)));
        self.patterns(cell).any(|pattern| !owned(pattern))
    }

    /// The buffered updates of the cell's symbol, each with the parameter that acts.
    fn patterns(&self, cell: &Cell) -> impl Iterator<Item = (usize, &[Index])> {
        let symbol = cell.symbol;
        (self.system.transitions.iter().filter(|transition| !transition.locked))
            .filter_map(|transition| Some((transition.acting?, transition)))
            .flat_map(move |(acting, transition)| {
                (transition.updates.iter().filter(move |update| update.symbol == symbol))
                    .map(move |update| (acting, update.indices.as_slice()))
            })
            .filter(move |_| self.buffered[symbol])
    }
}

/// What an update writes to the cells of the named processes.
pub fn writes(scene: &mut Scene<'_>, update: &Update, env: &Env) -> Vec<Write> {
    let mut places: Vec<(Vec<u8>, Env)> = vec![(Vec::new(), *env)];
    for index in &update.indices {
        let mut next = Vec::new();
        for (cell, env) in places {
            match index {
                Index::Fixed(process) => {
                    next.push((cell.iter().copied().chain([resolve(*process, &env)]).collect(), env));
                }
                Index::Bound(slot) => {
                    for process in 0..scene.processes() {
                        let mut env = env;
                        env[*slot as usize] = process;
                        next.push((cell.iter().copied().chain([process]).collect(), env));
                    }
                }
            }
        }
        places = next;
    }
    places.into_iter().map(|(at, env)| write(scene, update, Cell::new(update.symbol, &at), &env)).collect()
}

fn write(scene: &mut Scene<'_>, update: &Update, cell: Cell, env: &Env) -> Write {
    let UpdateValue::Cases(cases) = &update.value else {
        return Write { cell, happens: Term::True, value: scene.any(update.symbol) };
    };
    // The first case that holds wins; a case that gives a cell its own value writes nothing.
    let (mut happens, mut value) = (Term::False, Term::Number(0));
    for (condition, term) in cases.iter().rev() {
        let condition = scene.formula(condition, env);
        if keeps(term, cell, env) {
            happens = condition.ite(Term::False, happens);
        } else {
            value = if happens == Term::False {
                scene.term(term, env)
            } else {
                condition.clone().ite(scene.term(term, env), value)
            };
            happens = condition.ite(Term::True, happens);
        }
    }
    Write { cell, happens: as_formula(happens), value }
}

/// `ite` of truth values, as far as it can be said with `and` and `or`.
fn as_formula(term: Term) -> Term {
    match term {
        Term::App("ite", parts) => match <[Term; 3]>::try_from(parts) {
            Ok([condition, then, otherwise]) => {
                let (then, otherwise) = (as_formula(then), as_formula(otherwise));
                Term::or([Term::and([condition.clone(), then]), Term::and([condition.not(), otherwise])])
            }
            Err(parts) => Term::App("ite", parts),
        },
        other => other,
    }
}

fn keeps(term: &crate::system::Term, cell: Cell, env: &Env) -> bool {
    match term {
        crate::system::Term::Access(access) => cell_of(access, env) == cell,
        crate::system::Term::Linear(parts, 0) => {
            matches!(parts.as_slice(), [(1, access)] if cell_of(access, env) == cell)
        }
        _ => false,
    }
}
