//! Memory models as an explorer needs them: which choices may the newest event have?
//!
//! [`MemoryModel`] is the interface. The two equivalences share it: [`Mo`] distinguishes executions by co, the
//! other types do not. [`with_checker`] is the one place that says which type checks which model:
//!
//! | model | type | checked by |
//! | --- | --- | --- |
//! | sc, sra, tso, pso | [`Mo`] of [`Closure`] | backward closure from the new event |
//! | ra, rc11 | [`Mo`] of [`Ra`], [`Rc11`] | clocks; for SC accesses and fences a search in psc |
//! | ra, rc11 up to rf | [`Rf`] | "writes before", per location |
//! | rc11 with SC up to rf | [`RfSc`] | a witness for mo, searched for where the old one fails |
//! | sc, sra, tso, pso up to rf | [`RfClosure`] | the same |
//! | imm without cycles in po, rf | [`Mo`] of [`ImmWeak`], [`ImmSc`] | as rc11 |
//! | armv8, riscv without such | [`OrderedBefore`] | backward closure, local orders by words |
//! | armv7, power without such | [`Checked`] | the cat text |
//! | wrc11 | [`WeakMo`] | clocks and a per-location fixpoint |
//!
//! The axioms are in `models/*.cat`; the differential tests of `porf-explore` compare the two.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod armv8;
mod cat;
mod checked;
mod checker;
mod choice;
mod closure;
mod global_order;
mod hb;
mod imm;
mod imm_mo;
mod labels;
mod local;
mod memory_model;
mod mo;
mod mo_search;
mod order;
mod ordered_before;
mod psc;
mod psc_relation;
mod race;
mod reach;
mod rf_sc;
mod riscv;
mod weak;
mod with_holes;
mod writes_before;

pub use cat::{AxiomViolation, Cat};
pub use checked::{Armv7, Armv8, Checked, Power, Riscv};
pub use checker::{Checker, Initial};
pub use choice::Choice;
pub use closure::{Closure, Pso, Sc, Sra, Tso};
pub use hb::{HappensBefore, Po, Porf, PorfAndPo, Rc11Hb};
pub use imm::Imm;
pub use imm_mo::{ImmSc, ImmWeak, is_exclusive_read};
pub use memory_model::MemoryModel;
pub use mo::{Floor, Mo, Ra, Rc11, Rc11Weak};
pub use order::{Architecture, KeptOrder, is_marked};
pub use ordered_before::OrderedBefore;
pub use race::{has_race, may_race, races};
pub use rf_sc::{RfClosure, RfSc};
pub use weak::WeakMo;
pub use with_holes::WithHoles;
pub use writes_before::Rf;

use porf_model::{Equivalence, Model};

/// Something to do with a checker whose type is known only at run time.
pub trait WithChecker {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<M: MemoryModel + Default>(self) -> Self::Output;
}

/// What a program uses of its model. A checker that ignores the rest costs less.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    /// Fences of any kind.
    pub fences: bool,
    /// Sequentially consistent fences.
    pub sc_fences: bool,
    /// Sequentially consistent reads, writes or read-modify-writes.
    pub sc_accesses: bool,
    /// Compare-and-swaps whose order before them depends on their success.
    pub varying_cas: bool,
}

impl Uses {
    fn sc(self) -> bool {
        self.sc_fences || self.sc_accesses
    }
}

/// Runs `task` with the cheapest checker that is exact for a model, an equivalence and what a program uses.
/// `None`: there is no such checker, for the model or for what the program uses.
pub fn with_checker<T: WithChecker>(
    model: Model,
    equivalence: Equivalence,
    uses: Uses,
    task: T,
) -> Option<T::Output> {
    use Equivalence as E;
    Some(match (model, equivalence) {
        (Model::Sc, E::Mo) => task.run::<Mo<Closure<Sc>>>(),
        (Model::Sc, E::Rf) => task.run::<RfClosure<Sc>>(),
        (Model::Tso, E::Mo) => task.run::<Mo<Closure<Tso>>>(),
        (Model::Tso, E::Rf) => task.run::<RfClosure<Tso>>(),
        (Model::Pso, E::Mo) => task.run::<Mo<Closure<Pso>>>(),
        (Model::Pso, E::Rf) => task.run::<RfClosure<Pso>>(),
        (Model::Sra, E::Mo) => task.run::<Mo<Closure<Sra>>>(),
        (Model::Sra, E::Rf) => task.run::<RfClosure<Sra>>(),
        (Model::Ra, E::Mo) => task.run::<Mo<Ra>>(),
        (Model::Ra, E::Rf) => task.run::<Rf<Porf>>(),
        (_, E::Values) => return None,
        (Model::Rc11, _) => return with_rc11::<false, T>(equivalence, uses, task),
        (Model::C20, _) => return with_rc11::<true, T>(equivalence, uses, task),
        (Model::Wrc11, _) if uses.sc() => task.run::<WeakMo<true>>(),
        (Model::Wrc11, _) => task.run::<WeakMo<false>>(),
        (Model::Imm, E::Mo) if uses.sc_accesses => task.run::<Mo<ImmSc<true>>>(),
        (Model::Imm, E::Mo) if uses.sc_fences => task.run::<Mo<ImmSc<false>>>(),
        (Model::Imm, E::Mo) if uses.fences => task.run::<Mo<ImmWeak<true>>>(),
        (Model::Imm, E::Mo) => task.run::<Mo<ImmWeak<false>>>(),
        // How psc and the rest of the global order restrict co together is not known to the search for a witness.
        (Model::Imm, E::Rf) if uses.sc() => return None,
        (Model::Imm, E::Rf) => task.run::<Rf<Rc11Hb<true>, true>>(),
        (Model::Armv8, E::Mo) if uses.varying_cas => task.run::<Checked<Armv8>>(),
        (Model::Armv8, E::Mo) => task.run::<OrderedBefore<Armv8>>(),
        (Model::Riscv, E::Mo) if uses.varying_cas => task.run::<Checked<Riscv>>(),
        (Model::Riscv, E::Mo) => task.run::<OrderedBefore<Riscv>>(),
        (Model::Armv7, E::Mo) => task.run::<Checked<Armv7>>(),
        (Model::Power, E::Mo) => task.run::<Checked<Power>>(),
        _ => return None,
    })
}

/// RC11, with the release sequences of C11 or C++20.
fn with_rc11<const C20: bool, T: WithChecker>(
    equivalence: Equivalence,
    uses: Uses,
    task: T,
) -> Option<T::Output> {
    Some(match equivalence {
        Equivalence::Mo if uses.sc() => task.run::<Mo<Rc11<Rc11Hb<true, C20>>>>(),
        Equivalence::Mo if uses.fences => task.run::<Mo<Rc11Weak<Rc11Hb<true, C20>>>>(),
        Equivalence::Mo => task.run::<Mo<Rc11Weak<Rc11Hb<false, C20>>>>(),
        Equivalence::Rf if uses.sc() => task.run::<RfSc<Rc11Hb<true, C20>>>(),
        Equivalence::Rf => task.run::<Rf<Rc11Hb<true, C20>>>(),
        Equivalence::Values => return None,
    })
}
