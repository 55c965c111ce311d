//! Stateless model checking: every execution of a program exactly once.
//!
//! [`explore`] runs a program under a memory model and an equivalence, and shows each execution to a
//! [`Visitor`]: complete ones, blocked ones, and what goes wrong on the way.

mod engine;
mod error;
mod history;
mod memory;
mod schedule;
mod stuck;
mod visit;

pub use error::Error;
pub use schedule::Schedule;
pub use stuck::{Stuck, Waiting};
pub use visit::{Execution, Statistics, Visit, Visitor};

use porf_consistency::{
    Closure, MemoryModel, Mo, Porf, Pso, Ra, Rc11, Rc11Hb, Rc11Weak, Rf, Sc, Sra, Tso, WeakMo,
};
use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_interp::Interpreter;
use porf_ir::{Instr, Program};
use std::fmt;
use std::str::FromStr;

/// The models with a fast checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    Sc,
    Tso,
    Pso,
    Ra,
    Sra,
    Rc11,
    Wrc11,
}

/// When two executions count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// Same events, rf and co.
    Mo,
    /// Same events and rf.
    Rf,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub schedule: Schedule,
    /// Threads that take a backward jump more often are blocked.
    pub unroll: Option<u32>,
}

/// Explores every execution of `program`, or those up to where the visitor breaks off.
pub fn explore(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    match (model, equivalence) {
        (Model::Sc, Equivalence::Mo) => run::<Mo<Closure<Sc>>>(program, options, visitor),
        (Model::Sra, Equivalence::Mo) => run::<Mo<Closure<Sra>>>(program, options, visitor),
        (Model::Tso, Equivalence::Mo) => run::<Mo<Closure<Tso>>>(program, options, visitor),
        (Model::Pso, Equivalence::Mo) => run::<Mo<Closure<Pso>>>(program, options, visitor),
        (Model::Ra, Equivalence::Mo) => run::<Mo<Ra>>(program, options, visitor),
        (Model::Rc11, Equivalence::Mo) if uses_sc(program) => run::<Mo<Rc11>>(program, options, visitor),
        (Model::Rc11, Equivalence::Mo) if uses_fences(program) => {
            run::<Mo<Rc11Weak<Rc11Hb<true>>>>(program, options, visitor)
        }
        (Model::Rc11, Equivalence::Mo) => run::<Mo<Rc11Weak<Rc11Hb<false>>>>(program, options, visitor),
        (Model::Ra, Equivalence::Rf) => run::<Rf<Porf>>(program, options, visitor),
        (Model::Rc11, Equivalence::Rf) if !uses_sc(program) => {
            run::<Rf<Rc11Hb<true>>>(program, options, visitor)
        }
        (Model::Wrc11, _) if !uses_sc(program) => run::<WeakMo>(program, options, visitor),
        _ if uses_sc(program) => {
            Err(Error::Unsupported(format!("seq_cst accesses or fences under {model} up to {equivalence}")))
        }
        _ => Err(Error::Unsupported(format!("{model} up to {equivalence}"))),
    }
}

fn run<M: MemoryModel + Default>(
    program: &Program,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    let interp = Interpreter::new(program).unroll(options.unroll);
    let mut engine = engine::Engine::new(interp, M::default(), options.schedule)?;
    let _ = engine.run(visitor)?;
    Ok(engine.statistics)
}

fn uses_fences(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|instr| matches!(instr, Instr::Fence { .. } | Instr::FenceAt { .. }))
}

/// Whether some access or fence is seq_cst.
fn uses_sc(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|instr| match instr {
        Instr::Load { mode, .. } | Instr::LoadExclusive { mode, .. } => *mode == ReadMode::SeqCst,
        Instr::Store { mode, .. } | Instr::StoreExclusive { mode, .. } => *mode == WriteMode::SeqCst,
        Instr::Rmw { read, write, .. } | Instr::AddUnless { read, write, .. } => {
            *read == ReadMode::SeqCst || *write == WriteMode::SeqCst
        }
        Instr::Cas { read, write, failure, .. } => {
            *read == ReadMode::SeqCst || *write == WriteMode::SeqCst || *failure == ReadMode::SeqCst
        }
        Instr::Fence { mode } | Instr::FenceAt { mode, .. } => *mode == FenceMode::SeqCst,
        _ => false,
    })
}

impl Model {
    pub const ALL: [Model; 7] =
        [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::Rc11, Model::Wrc11];

    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Ra => "ra",
            Model::Sra => "sra",
            Model::Rc11 => "rc11",
            Model::Wrc11 => "wrc11",
        }
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        let known = Model::ALL.into_iter().find(|model| model.name() == name);
        known.ok_or_else(|| format!("no fast checker for a model called {name}"))
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Equivalence::Mo => "mo",
            Equivalence::Rf => "rf",
        })
    }
}
