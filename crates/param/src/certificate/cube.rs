//! The cubes of a certificate, and what they say of a state of the store-buffer machine.
//!
//! A [`Cube`] is a set of states. A state is in it if there are distinct processes for its numbers and a run of
//! *commits alone* from that state, with a place on the run for each [`Moment`], such that
//!
//! - every literal holds, where [`Place::Cell`] is a cell of the state and [`Place::Read`] what the process of a moment
//!   reads there: its newest pending write, else memory;
//! - a moment comes no later than those in `before`;
//! - where [`Drained`] says so, the buffer of a process (or what it holds for one location) is empty by a moment;
//! - a [`Late`] read finds a write that is still pending in the state, and that reaches memory only after the moments
//!   in `after`.

use crate::Memory;
use crate::law::Law;

/// An inductive invariant, in words that a checker can take apart without trusting the prover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The memory under which it is one.
    pub memory: Memory,
    /// It is one of the watched system under sequential consistency: see `certificate/robust.rs`.
    pub robust: bool,
    /// No state of these is ever reached, nor is any unsafe state outside of them.
    pub cubes: Vec<Cube>,
    /// What holds of all processes at once in every state that is reached.
    pub laws: Vec<Law>,
}

/// A set of states, as the head of this file defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    /// How many distinct processes it speaks of; they are numbered from 0.
    pub processes: u8,
    /// What holds of them.
    pub literals: Vec<Literal>,
    /// Places on the run of commits at which processes read; numbered from 0.
    pub moments: Vec<Moment>,
    /// Buffers that are empty by some moments.
    pub drained: Vec<Drained>,
}

/// A variable or a cell of an array, by the index of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// An index into [`System::symbols`](crate::system::System::symbols).
    pub symbol: usize,
    indices: [u8; 3],
    dims: u8,
}

/// What a literal speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A process of the cube.
    Process(u8),
    /// What a cell of the state holds in memory.
    Cell(Cell),
    /// What the process of a moment reads.
    Read(u8, Cell),
}

/// A condition on values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// One of a set of constructors.
    In(Place, u64),
    /// Both are the same.
    Equal(Place, Place),
    /// They differ.
    Distinct(Place, Place),
    /// Σ factor · place + constant, compared with 0.
    Sum(Vec<(i64, Place)>, i64, Relation),
}

/// How a sum compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// ≤
    Le,
    /// <
    Lt,
    /// =
    Eq,
    /// ≠
    Neq,
}

/// A place on the run of commits, where a process reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The process that reads.
    pub process: u8,
    /// Moments that are no earlier.
    pub before: Vec<u8>,
    /// Its reads of writes that are still pending.
    pub late: Vec<Late>,
}

/// A read that finds a write which is pending in the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// What it reads.
    pub location: Cell,
    /// The moments that come before the write reaches memory.
    pub after: Vec<u8>,
}

/// A buffer that is empty from some moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drained {
    /// The process that it belongs to.
    pub process: u8,
    /// The location whose writes are gone; `None`: those of all locations.
    pub location: Option<Cell>,
    /// The moments by which it is empty.
    pub by: Vec<u8>,
}

impl Cell {
    /// The cell of a symbol at these processes; a variable has none.
    pub fn new(symbol: usize, at: &[u8]) -> Cell {
        let mut indices = [0; 3];
        indices[..at.len()].copy_from_slice(at);
        Cell { symbol, indices, dims: at.len() as u8 }
    }

    /// The processes that index it.
    pub fn indices(&self) -> &[u8] {
        &self.indices[..self.dims as usize]
    }

    /// The same cell for other processes: `processes[p]` takes the place of `p`.
    pub fn map(mut self, processes: &[u8]) -> Cell {
        self.indices[..self.dims as usize].iter_mut().for_each(|p| *p = processes[*p as usize]);
        self
    }
}

impl Place {
    /// The same place for other processes: `processes[p]` takes the place of `p`.
    pub fn map(self, processes: &[u8]) -> Place {
        match self {
            Place::Process(p) => Place::Process(processes[p as usize]),
            Place::Cell(cell) => Place::Cell(cell.map(processes)),
            Place::Read(moment, cell) => Place::Read(moment, cell.map(processes)),
        }
    }
}

impl Literal {
    /// Every place that the literal speaks of.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Literal::In(place, _) => vec![*place],
            Literal::Equal(a, b) | Literal::Distinct(a, b) => vec![*a, *b],
            Literal::Sum(terms, ..) => terms.iter().map(|(_, place)| *place).collect(),
        }
    }
}

impl Cube {
    /// The locations that a moment reads.
    pub fn reads(&self, moment: usize) -> Vec<Cell> {
        let mut reads: Vec<Cell> = (self.literals.iter().flat_map(Literal::places))
            .filter_map(|place| match place {
                Place::Read(at, cell) if at as usize == moment => Some(cell),
                _ => None,
            })
            .chain(self.moments[moment].late.iter().map(|late| late.location))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        reads
    }
}
