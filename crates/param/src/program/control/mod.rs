//! The control of threads: where they may stand, and the steps between.
//!
//! A *point* is a thread before an access, with its registers as far as they are constant; other numbers are in slots,
//! arrays of the process's own. The points are found from the functions' begins; what locations may hold, who writes
//! them and which of them are numbers grows on the way, and everything is found anew until nothing grows.

mod access;
mod round;
mod slots;

use super::machine::{Atom, Family, Location, Val, Who};
use super::outside;
use super::setup::Setup;
use crate::syntax::Diagnostic;
use porf_ir::{FunctionId, Liveness, Program};
use round::Round;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What an access is to: a location, and whose piece of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub location: Location,
    /// The thread, if the location has a piece for each.
    pub of: Option<Who>,
}

/// What a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Const(u64),
    /// Something of the family of the location.
    Member,
}

/// What is known of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// What it may hold; of a number, what it holds at first.
    pub values: BTreeSet<u64>,
    /// It may hold what this family has for some thread, too.
    pub family: Option<Family>,
    /// It is a number.
    pub wide: bool,
    /// The roles that write it.
    pub writers: BTreeSet<usize>,
}

/// Where a thread may stand.
#[derive(Clone, Debug)]
pub struct Point {
    pub role: usize,
    pub kind: PointKind,
    /// The source.
    pub function: FunctionId,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// Before an access, if it is one of a location: whether it writes, and whether it is atomic.
    Running(Option<(Place, bool, bool)>),
    End,
    Stuck,
    Fail(String),
}

/// A step.
#[derive(Clone, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// What it does, for people.
    pub what: &'static str,
    pub place: Option<Place>,
    /// What it reads, where the location is no number.
    pub reads: Option<Reading>,
    pub guard: Vec<Atom>,
    /// What the location holds then.
    pub writes: Option<Val>,
    pub fence: bool,
    pub lock: bool,
    /// The slots that change.
    pub slots: Vec<(usize, Val)>,
}

/// The control of all threads.
pub struct Control {
    pub points: Vec<Point>,
    /// Where each role begins.
    pub begins: Vec<usize>,
    pub edges: Vec<Edge>,
    pub shared: BTreeMap<Location, Shared>,
    /// The slots for numbers.
    pub slots: BTreeSet<usize>,
    /// How many slots for threads there are.
    pub pointers: usize,
}

const MOST_ROUNDS: usize = 200;

/// Finds the control of the threads of a program. A number stays in its slot as long as it is needed, and then until
/// another one needs the slot: a proof may need what the thread does not. If that makes too many places, slots are
/// given out in the order of registers.
pub fn explore(program: &Program, setup: &Setup) -> Result<Control, Diagnostic> {
    explored(program, setup, true).or_else(|wrong| explored(program, setup, false).map_err(|_| wrong))
}

fn explored(program: &Program, setup: &Setup, stay: bool) -> Result<Control, Diagnostic> {
    let mut shared = BTreeMap::new();
    for _ in 0..MOST_ROUNDS {
        let mut round = Round {
            program,
            setup,
            liveness: Liveness::new(program),
            known: shared.clone(),
            shared,
            control: Control {
                points: Vec::new(),
                begins: Vec::new(),
                edges: Vec::new(),
                shared: BTreeMap::new(),
                slots: BTreeSet::new(),
                pointers: 0,
            },
            numbers: HashMap::new(),
            threads: Vec::new(),
            silent: None,
            stay,
            homes: HashMap::new(),
        };
        round.run()?;
        if round.shared == round.known {
            if let Some(wrong) = round.silent {
                return Err(wrong);
            }
            let mut control = round.control;
            for (location, shared) in &round.shared {
                let Some(family) = shared.family else { continue };
                if shared.wide || shared.values.iter().any(|value| family.may_be(*value)) {
                    let name = program.name_of(location.address, location.size);
                    let message = format!("{name} holds what threads have of their own, and other values");
                    return Err(outside(program, setup.roles[0].function, 0, message));
                }
            }
            control.shared = round.shared;
            return Ok(control);
        }
        shared = round.shared;
    }
    Err(outside(program, setup.roles[0].function, 0, "the values of shared memory do not settle"))
}
