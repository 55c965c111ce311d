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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub memory: Memory,
    /// No state of these is ever reached, nor is any unsafe state outside of them.
    pub cubes: Vec<Cube>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    pub processes: u8,
    pub literals: Vec<Literal>,
    pub moments: Vec<Moment>,
    pub drained: Vec<Drained>,
}

/// A variable or a cell of an array, by the index of its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub symbol: usize,
    indices: [u8; 3],
    dims: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Process(u8),
    Cell(Cell),
    /// What the process of a moment reads.
    Read(u8, Cell),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// One of a set of constructors.
    In(Place, u64),
    Equal(Place, Place),
    Distinct(Place, Place),
    /// Σ factor · place + constant, compared with 0.
    Sum(Vec<(i64, Place)>, i64, Relation),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Le,
    Lt,
    Eq,
    Neq,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub process: u8,
    /// Moments that are no earlier.
    pub before: Vec<u8>,
    pub late: Vec<Late>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    pub location: Cell,
    pub after: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drained {
    pub process: u8,
    pub location: Option<Cell>,
    /// The moments by which it is empty.
    pub by: Vec<u8>,
}

impl Cell {
    pub fn new(symbol: usize, at: &[u8]) -> Cell {
        let mut indices = [0; 3];
        indices[..at.len()].copy_from_slice(at);
        Cell { symbol, indices, dims: at.len() as u8 }
    }

    pub fn indices(&self) -> &[u8] {
        &self.indices[..self.dims as usize]
    }

    pub fn map(mut self, processes: &[u8]) -> Cell {
        self.indices[..self.dims as usize].iter_mut().for_each(|p| *p = processes[*p as usize]);
        self
    }
}

impl Place {
    pub fn map(self, processes: &[u8]) -> Place {
        match self {
            Place::Process(p) => Place::Process(processes[p as usize]),
            Place::Cell(cell) => Place::Cell(cell.map(processes)),
            Place::Read(moment, cell) => Place::Read(moment, cell.map(processes)),
        }
    }
}

impl Literal {
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
