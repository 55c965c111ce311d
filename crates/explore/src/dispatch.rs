//! Which checker a search uses: one for each model and equivalence of the registry.

use crate::{Error, Options, Reduction, check_dialect};
use porf_consistency::{
    Armv7, Armv8, Checked, Closure, ImmSc, ImmWeak, MemoryModel, Mo, OrderedBefore, Porf, Power, Pso, Ra,
    Rc11, Rc11Hb, Rc11Weak, Rf, RfClosure, RfSc, Riscv, Sc, Sra, Tso, WeakMo,
};
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
    check_dialect(program, model)?;
    let options = &fit(*options, model);
    match (model, equivalence) {
        (Model::Sc, Equivalence::Mo) => search.run::<Mo<Closure<Sc>>>(program, options),
        (Model::Sra, Equivalence::Mo) => search.run::<Mo<Closure<Sra>>>(program, options),
        (Model::Tso, Equivalence::Mo) => search.run::<Mo<Closure<Tso>>>(program, options),
        (Model::Pso, Equivalence::Mo) => search.run::<Mo<Closure<Pso>>>(program, options),
        (Model::Ra, Equivalence::Mo) => search.run::<Mo<Ra>>(program, options),
        (Model::Rc11, _) => rc11::<false, S>(program, equivalence, options, search),
        (Model::C20, _) => rc11::<true, S>(program, equivalence, options, search),
        (Model::Imm, Equivalence::Mo) if uses_sc_accesses(program) => {
            search.run::<Mo<ImmSc<true>>>(program, options)
        }
        (Model::Imm, Equivalence::Mo) if uses_sc_fences(program) => {
            search.run::<Mo<ImmSc<false>>>(program, options)
        }
        (Model::Imm, Equivalence::Mo) if uses_fences(program) => {
            search.run::<Mo<ImmWeak<true>>>(program, options)
        }
        (Model::Imm, Equivalence::Mo) => search.run::<Mo<ImmWeak<false>>>(program, options),
        // How psc and the rest of the global order restrict co together is not known to the search for a witness.
        (Model::Imm, Equivalence::Rf) if uses_sc(program) => Err(Error::Undecided),
        (Model::Imm, Equivalence::Rf) => search.run::<Rf<Rc11Hb<true>, true>>(program, options),
        (Model::Armv8, Equivalence::Mo) if varies(program) => search.run::<Checked<Armv8>>(program, options),
        (Model::Riscv, Equivalence::Mo) if varies(program) => search.run::<Checked<Riscv>>(program, options),
        (Model::Armv8, Equivalence::Mo) => search.run::<OrderedBefore<Armv8>>(program, options),
        (Model::Armv7, Equivalence::Mo) => search.run::<Checked<Armv7>>(program, options),
        (Model::Power, Equivalence::Mo) => search.run::<Checked<Power>>(program, options),
        (Model::Riscv, Equivalence::Mo) => search.run::<OrderedBefore<Riscv>>(program, options),
        (Model::Ra, Equivalence::Rf) => search.run::<Rf<Porf>>(program, options),
        (Model::Sc, Equivalence::Rf) => search.run::<RfClosure<Sc>>(program, options),
        (Model::Sra, Equivalence::Rf) => search.run::<RfClosure<Sra>>(program, options),
        (Model::Tso, Equivalence::Rf) => search.run::<RfClosure<Tso>>(program, options),
        (Model::Pso, Equivalence::Rf) => search.run::<RfClosure<Pso>>(program, options),
        (Model::Wrc11, _) if uses_sc(program) => search.run::<WeakMo<true>>(program, options),
        (Model::Wrc11, _) => search.run::<WeakMo<false>>(program, options),
        _ => Err(Error::Unsupported(format!("{model} up to {equivalence}"))),
    }
}

/// Without the reductions whose reasons do not hold under a model.
fn fit(mut options: Options, model: Model) -> Options {
    options.reductions = match model {
        // Its clocks do not tell which stores another thread must have seen. A write may leave its critical section:
        // locks alone do not protect.
        Model::Pso => options.reductions.without(Reduction::OwnNodes).without(Reduction::Locks),
        // The writes to a flag or a counter are not in one order.
        Model::Wrc11 => options.reductions.without(Reduction::Flags).without(Reduction::Counters),
        _ => options.reductions,
    };
    options
}

/// RC11, with the release sequences of C11 or C++20: the weakest checker that does for the program.
fn rc11<const C20: bool, S: Search>(
    program: &Program,
    equivalence: Equivalence,
    options: &Options,
    search: S,
) -> Result<S::Output, Error> {
    match equivalence {
        Equivalence::Mo if uses_sc(program) => search.run::<Mo<Rc11<Rc11Hb<true, C20>>>>(program, options),
        Equivalence::Mo if uses_fences(program) => {
            search.run::<Mo<Rc11Weak<Rc11Hb<true, C20>>>>(program, options)
        }
        Equivalence::Mo => search.run::<Mo<Rc11Weak<Rc11Hb<false, C20>>>>(program, options),
        Equivalence::Rf if uses_sc(program) => search.run::<RfSc<Rc11Hb<true, C20>>>(program, options),
        Equivalence::Rf => search.run::<Rf<Rc11Hb<true, C20>>>(program, options),
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

fn uses_sc(program: &Program) -> bool {
    uses_sc_accesses(program) || uses_sc_fences(program)
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
