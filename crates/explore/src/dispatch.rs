//! Which checker a search uses: `porf_consistency::with_checker` picks it by what the program uses.

use crate::{Error, Options, Reduction, Reductions, check_dialect};
use porf_consistency::{MemoryModel, Uses, WithChecker, with_checker};
use porf_event::{Dialect, FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{Instr, Program};
use porf_model::{Equivalence, Model};

/// Something to do with a model that is known only at run time.
pub(crate) trait Search {
    type Output;
    fn run<M: MemoryModel + Default>(
        self,
        program: &Program,
        options: &Options,
    ) -> Result<Self::Output, Error>;
}

pub(crate) fn dispatch<S: Search>(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    search: S,
) -> Result<S::Output, Error> {
    struct Of<'a, S>(&'a Program, &'a Options, S);
    impl<S: Search> WithChecker for Of<'_, S> {
        type Output = Result<S::Output, Error>;
        fn run<M: MemoryModel + Default>(self) -> Self::Output {
            self.2.run::<M>(self.0, self.1)
        }
    }
    check_dialect(program, model)?;
    if equivalence == Equivalence::Values && model.entry().has(equivalence) {
        // The search up to values is another one, without tasks.
        return Err(Error::Unsupported("a search up to values by other ways than `explore`".into()));
    }
    if !program.bounds.is_empty() {
        let what = "an estimate, or several workers, where accesses of different sizes are several events";
        return Err(Error::Unsupported(what.into()));
    }
    let options = &fit(*options, model);
    with_checker(model, equivalence, uses(program), Of(program, options, search)).unwrap_or_else(|| {
        // Other programs have a checker.
        Err(match model.entry().has(equivalence) {
            true => Error::Undecided,
            false => {
                let with: Vec<&str> = Model::all()
                    .filter(|other| other.entry().has(equivalence))
                    .map(|other| other.name())
                    .collect();
                let with = with.join(", ");
                Error::Unsupported(format!("{model} up to {equivalence} (supported under {with})"))
            }
        })
    })
}

/// Without the reductions whose reasons do not hold under a model.
fn fit(mut options: Options, model: Model) -> Options {
    options.reductions = match model {
        // Its clocks do not tell which stores another thread must have seen. A write may leave its critical section:
        // locks alone do not protect.
        Model::Pso => options.reductions.without(Reduction::OwnNodes).without(Reduction::Locks),
        // The writes to a flag or a counter are not in one order.
        _ if !model.orders_writes() => [Reduction::Flags, Reduction::Counters, Reduction::OwnVariables]
            .into_iter()
            .fold(options.reductions, Reductions::without),
        _ => options.reductions,
    };
    options
}

fn uses(program: &Program) -> Uses {
    Uses {
        fences: uses_fences(program),
        sc_fences: uses_sc_fences(program),
        sc_accesses: uses_sc_accesses(program),
        varying_cas: varies(program),
    }
}

/// Whether the order before a compare-and-swap depends on its success. No compiler makes such instructions,
/// and no machine has them.
fn varies(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|instr| match instr {
        Instr::Cas { read, failure, kind, .. } => {
            read != failure || (program.dialect == Dialect::RiscV && *kind != RmwKind::Loop)
        }
        _ => false,
    })
}

fn uses_fences(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|instr| matches!(instr, Instr::Fence { .. } | Instr::FenceAt { .. }))
}

fn uses_sc_fences(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|instr| match instr {
        Instr::Fence { mode } | Instr::FenceAt { mode, .. } => *mode == FenceMode::SeqCst,
        _ => false,
    })
}

fn uses_sc_accesses(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|instr| match instr {
        Instr::Load { mode, .. } | Instr::LoadExclusive { mode, .. } => *mode == ReadMode::SeqCst,
        Instr::Store { mode, .. } | Instr::StoreExclusive { mode, .. } => *mode == WriteMode::SeqCst,
        Instr::Rmw { read, write, .. } | Instr::AddUnless { read, write, .. } => {
            *read == ReadMode::SeqCst || *write == WriteMode::SeqCst
        }
        Instr::Cas { read, write, failure, .. } => {
            *read == ReadMode::SeqCst || *write == WriteMode::SeqCst || *failure == ReadMode::SeqCst
        }
        _ => false,
    })
}
