//! Stateless model checking: every execution of a program exactly once.
//!
//! [`explore`] runs a program under a memory model and an equivalence, and shows each execution to a
//! [`Visitor`]: complete ones, blocked ones, and what goes wrong on the way.

#![forbid(unsafe_code)]

mod buffering;
mod engine;
mod error;
mod estimate;
mod facts;
mod history;
mod memory;
mod mixed;
mod model;
mod parallel;
mod prefix;
mod schedule;
mod search;
mod seed;
mod split;
mod stuck;
mod task;
mod visit;
mod weave;

pub use error::Error;
pub use model::{Equivalence, Model};
pub use schedule::Schedule;
pub use stuck::{Stuck, Waiting};
pub use task::Task;
pub use visit::{Execution, Statistics, Visit, Visitor};

use history::Created;
use porf_consistency::{
    Architecture, Armv7, Armv8, Cat, Checked, Checker, Closure, Imm, ImmSc, ImmWeak, MemoryModel, Mo,
    OrderedBefore, Porf, Power, Pso, Ra, Rc11, Rc11Hb, Rc11Weak, Rf, RfSc, Riscv, Sc, Sra, Tso, WeakMo,
    Whole,
};
use porf_event::{Dialect, FenceMode, ReadMode, RmwKind, WriteMode};
use porf_interp::Interpreter;
use porf_ir::{Instr, Program};
use search::Policy;
use seed::Sown;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Which thread goes next.
    pub schedule: Schedule,
    /// Threads that take a backward jump more often are blocked.
    pub unroll: Option<u32>,
    /// Under rc11 with seq_cst up to rf: how often a search for an order of the writes may branch
    /// before the exploration gives up ([`Error::Undecided`]).
    pub branches: Option<u32>,
    /// About how many bytes of thread states a worker keeps: more is faster where threads see many
    /// different values.
    pub memory: Option<usize>,
    /// Show all blocked executions, also those in which a thread waits because it read something
    /// outdated. Otherwise most of them are cut off early, where executions differ by co.
    pub all_blocked: bool,
}

impl Options {
    fn model<M: MemoryModel + Default>(&self) -> M {
        let mut model = M::default();
        if let Some(branches) = self.branches {
            model.set_budget(branches);
        }
        model
    }
}

/// Where a search was broken off: all that is left to do, as plain data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Parts of the main search.
    pub tasks: Vec<Task>,
    /// Which event created which thread: the numbers are part of what threads have seen.
    created: Vec<(u16, u32)>,
    /// Executions with cycles in po | rf are to be searched for when there are no tasks any more; hashes of those
    /// that were already shown.
    #[serde(default)]
    cycles: Option<Vec<u64>>,
}

impl Rest {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.cycles.is_none()
    }
}

/// Explores every execution of `program`, or those up to where the visitor breaks off.
pub fn explore(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    explore_all(program, model, equivalence, options, visitor)
}

/// The same for any visitor, so that the searches are compiled once.
fn explore_all(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    mut visitor: &mut dyn Visitor,
) -> Result<Statistics, Error> {
    let visitor = &mut visitor;
    struct Alone<'o, V>(Model, &'o mut V);
    impl<V: Visitor> Search for Alone<'_, V> {
        type Output = Statistics;
        fn run<M: MemoryModel + Default>(
            self,
            program: &Program,
            options: &Options,
        ) -> Result<Self::Output, Error> {
            let Alone(model, visitor) = self;
            let created = Created::default();
            let mut engine = engine::Engine::<M>::new(program, options, created.clone())?;
            let ended = engine.run(visitor)?;
            let mut statistics = engine.trail.statistics;
            if ended.is_continue() && engine.detector.is_found() {
                let sown = if engine.detector.found { None } else { Some(vec![engine.sown()]) };
                let mut cyclic = buffering::Cyclic::new(visitor, HashSet::new());
                let (second, _) = weave_model(program, model, options, Start { created, sown }, &mut cyclic)?;
                statistics.add(&cyclic.statistics);
                statistics.buffering = true;
                statistics.whole = second.whole;
            }
            Ok(statistics)
        }
    }
    if needs_weaving(model, equivalence) {
        return weave_model(program, model, options, Start::default(), visitor)
            .map(|(statistics, _)| statistics);
    }
    dispatch(program, model, equivalence, options, Alone(model, visitor))
}

/// Explores every execution of `program` that a cat model allows, up to events, rf and co.
///
/// A model that forbids cycles in po | rf is searched with porf prefixes, the shipped models of
/// architectures with dependency prefixes; others are refused. What the search needs of a model is told in
/// [`porf_consistency::Checker`].
pub fn explore_cat(
    program: &Program,
    model: &porf_cat::Model,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    explore_all_of_cat(program, model, options, visitor)
}

fn explore_all_of_cat(
    program: &Program,
    model: &porf_cat::Model,
    options: &Options,
    mut visitor: &mut dyn Visitor,
) -> Result<Statistics, Error> {
    let visitor = &mut visitor;
    if model.demands() {
        return Err(Error::Unsupported("a model with an axiom that wants something to be there".into()));
    }
    if model.chooses() {
        return Err(Error::Unsupported("a model that chooses relations of its own".into()));
    }
    let architecture = if model.is_builtin() { Architecture::of(model.name()) } else { None };
    let keeps_po =
        model.implies_porf_acyclicity() || (model.is_builtin() && matches!(model.name(), "tso" | "pso"));
    if architecture.is_none() && !keeps_po {
        return Err(Error::Unsupported("a model that does not say `acyclic po | rf`".into()));
    }
    weave(program, Cat::new(model, program.dialect, architecture), options, Start::default(), visitor)
        .map(|(statistics, _)| statistics)
}

/// Whether the main search is not made for a model at all.
fn needs_weaving(model: Model, equivalence: Equivalence) -> bool {
    model == Model::Lkmm && equivalence == Equivalence::Mo
}

/// Whether the accesses and fences of a program are those that a model speaks of.
fn check_dialect(program: &Program, model: Model) -> Result<(), Error> {
    if program.dialect == model.dialect() || model.architecture().is_none_or(|it| it == Architecture::Imm) {
        return Ok(());
    }
    let (from, to) = (program.dialect.name(), model.dialect().name());
    Err(Error::Unsupported(format!("a program in {from} under {model}: compile it to {to} first")))
}

/// Where the search for a model that does not keep program order begins: with seeds, or with nothing.
#[derive(Default)]
struct Start<'p> {
    /// The numbers that threads have already.
    created: Created,
    sown: Option<Vec<Sown<'p>>>,
}

/// The search for a model that does not keep program order: through all executions, or those with some seeds.
fn weave_model<'p>(
    program: &'p Program,
    model: Model,
    options: &Options,
    start: Start<'p>,
    visitor: &mut impl Visitor,
) -> Result<(Statistics, ControlFlow<()>), Error> {
    check_dialect(program, model)?;
    match model {
        Model::Imm => return weave(program, Imm::default(), options, start, visitor),
        Model::Armv8 => return weave(program, Whole::<Armv8>::default(), options, start, visitor),
        Model::Riscv => return weave(program, Whole::<Riscv>::default(), options, start, visitor),
        _ => {}
    }
    let cat = porf_cat::Model::builtin(model.name()).unwrap_or_else(|| unreachable!("it is shipped"));
    weave(program, Cat::new(&cat, program.dialect, model.architecture()), options, start, visitor)
}

fn weave<'p>(
    program: &'p Program,
    mut checker: impl Checker,
    options: &Options,
    start: Start<'p>,
    visitor: &mut impl Visitor,
) -> Result<(Statistics, ControlFlow<()>), Error> {
    if checker.architecture().is_some() && weave::has_implicit_flow(program) {
        return Err(Error::Unsupported("a value that depends on an `if` that is over".into()));
    }
    let is_optional = match checker.architecture() {
        Some(Architecture::Lkmm) => weave::has_optional_events(program),
        Some(Architecture::Imm) => weave::has_optional_writes(program),
        _ => false,
    };
    if is_optional {
        return Err(Error::Unsupported(
            "accesses inside of an `if` and after it, where the `if` ends control dependencies".into(),
        ));
    }
    let Start { created, sown } = start;
    let mut statistics = Statistics::default();
    let mut whole = sown.is_none();
    for part in sown.into_iter().flatten() {
        let mut weaver = weave::Weaver::from_seeds(part, checker, options.schedule);
        let ended = weaver.run_seeds(visitor);
        statistics.add(&weaver.trail.statistics);
        checker = weaver.checker;
        match ended {
            Ok(ControlFlow::Continue(())) => {}
            // From a seed something may look wrong that is right from the beginning.
            Err(Error::Unsupported(_)) => {
                whole = true;
                break;
            }
            ended => return Ok((statistics, ended?)),
        }
    }
    if !whole {
        return Ok((statistics, ControlFlow::Continue(())));
    }
    let interp = Interpreter::new(program).unroll(options.unroll);
    let mut weaver = weave::Weaver::new(interp, created, checker, options.schedule, options.memory)?;
    let ended = weaver.run(visitor)?;
    Ok((Statistics { whole: true, ..weaver.trail.statistics }, ended))
}

/// Explores with one worker for each visitor. Begins where `from` ended, or at the beginning; gives
/// what is left if a visitor breaks off. Breaking off takes effect after the current execution.
pub fn explore_parallel<V: Visitor + Send>(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    mut visitors: Vec<V>,
    from: Option<Rest>,
) -> Result<(Statistics, Rest), Error> {
    let visitors = visitors.iter_mut().map(|visitor| visitor as &mut (dyn Visitor + Send)).collect();
    explore_all_together(program, model, equivalence, options, visitors, from)
}

fn explore_all_together(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    mut visitors: Vec<&mut (dyn Visitor + Send)>,
    from: Option<Rest>,
) -> Result<(Statistics, Rest), Error> {
    struct Together<'o, V>(Model, &'o mut [V], Option<Rest>);
    impl<V: Visitor + Send> Search for Together<'_, V> {
        type Output = (Statistics, Rest);
        fn run<M: MemoryModel + Default>(
            self,
            program: &Program,
            options: &Options,
        ) -> Result<Self::Output, Error> {
            let Together(model, visitors, from) = self;
            let is_new = from.is_none();
            let (mut statistics, mut rest) = (Statistics::default(), from.unwrap_or_default());
            let created = Created::from_list(program.threads.len(), &rest.created);
            let mut start = Start { created, sown: None };
            if is_new || !rest.tasks.is_empty() {
                let tasks = std::mem::take(&mut rest.tasks);
                let outcome = parallel::run::<M, V>(program, options, tasks, &start.created, visitors)?;
                // Where executions with cycles begin is not part of what is left.
                start.sown = outcome.sown.filter(|_| rest.cycles.is_none());
                let cycles = rest.cycles.or(outcome.buffering.then(Vec::new));
                statistics = outcome.statistics;
                rest = Rest { tasks: outcome.tasks, created: start.created.list(), cycles };
                if outcome.broken {
                    return Ok((statistics, rest));
                }
            }
            finish(program, model, options, start, visitors, &mut statistics, &mut rest)?;
            Ok((statistics, rest))
        }
    }
    if needs_weaving(model, equivalence) {
        let mut statistics = Statistics::default();
        let mut rest = from.unwrap_or(Rest { cycles: Some(Vec::new()), ..Rest::default() });
        let created = Created::from_list(program.threads.len(), &rest.created);
        let start = Start { created, sown: None };
        finish(program, model, options, start, &mut visitors, &mut statistics, &mut rest)?;
        return Ok((statistics, rest));
    }
    dispatch(program, model, equivalence, options, Together(model, &mut visitors, from))
}

/// Searches for executions with cycles, if there may be some and nothing else is left to do. One worker does
/// that: graphs with holes are not cut into tasks.
fn finish<'p, V: Visitor>(
    program: &'p Program,
    model: Model,
    options: &Options,
    start: Start<'p>,
    visitors: &mut [V],
    statistics: &mut Statistics,
    rest: &mut Rest,
) -> Result<(), Error> {
    let Some(visitor) = visitors.first_mut().filter(|_| rest.tasks.is_empty()) else { return Ok(()) };
    let Some(shown) = rest.cycles.take() else { return Ok(()) };
    let mut cyclic = buffering::Cyclic::new(visitor, shown.into_iter().collect());
    cyclic.all = needs_weaving(model, Equivalence::Mo);
    let created = start.created.clone();
    let (second, ended) = weave_model(program, model, options, start, &mut cyclic)?;
    statistics.add(&cyclic.statistics);
    statistics.buffering = true;
    statistics.whole = second.whole;
    if ended.is_break() {
        rest.cycles = Some(cyclic.shown.into_iter().collect());
        rest.created = created.list();
    }
    Ok(())
}

/// Shows a visitor once more what is wrong in the graph of an [`Execution`], which the search that
/// `rest` is left of came across.
pub fn again(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    of: (&Task, &Rest),
    visitor: &mut impl Visitor,
) -> Result<(), Error> {
    show_again(program, model, equivalence, options, of, visitor)
}

fn show_again(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    (task, rest): (&Task, &Rest),
    mut visitor: &mut dyn Visitor,
) -> Result<(), Error> {
    let visitor = &mut visitor;
    struct Again<'a, V>(&'a Task, &'a Rest, &'a mut V);
    impl<V: Visitor> Search for Again<'_, V> {
        type Output = ();
        fn run<M: MemoryModel + Default>(self, program: &Program, options: &Options) -> Result<(), Error> {
            let created = Created::from_list(program.threads.len(), &self.1.created);
            engine::Engine::<M>::new(program, options, created)?.show_again(self.0, self.2)
        }
    }
    dispatch(program, model, equivalence, options, Again(task, rest, visitor))
}

/// About how many executions there are, complete or blocked, with the standard error of that number.
pub fn estimate(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    samples: u32,
) -> Result<(f64, f64), Error> {
    struct Estimate(u32);
    impl Search for Estimate {
        type Output = (f64, f64);
        fn run<M: MemoryModel + Default>(
            self,
            program: &Program,
            options: &Options,
        ) -> Result<Self::Output, Error> {
            let created = Created::default();
            estimate::estimate(&mut engine::Engine::<M>::new(program, options, created)?, self.0)
        }
    }
    dispatch(program, model, equivalence, options, Estimate(samples))
}

/// Something to do with a model that is known only at run time.
trait Search {
    type Output;
    fn run<M: MemoryModel + Default>(
        self,
        program: &Program,
        options: &Options,
    ) -> Result<Self::Output, Error>;
}

fn dispatch<S: Search>(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    search: S,
) -> Result<S::Output, Error> {
    check_dialect(program, model)?;
    match (model, equivalence) {
        (Model::Sc, Equivalence::Mo) => search.run::<Mo<Closure<Sc>>>(program, options),
        (Model::Sra, Equivalence::Mo) => search.run::<Mo<Closure<Sra>>>(program, options),
        (Model::Tso, Equivalence::Mo) => search.run::<Mo<Closure<Tso>>>(program, options),
        (Model::Pso, Equivalence::Mo) => search.run::<Mo<Closure<Pso>>>(program, options),
        (Model::Ra, Equivalence::Mo) => search.run::<Mo<Ra>>(program, options),
        (Model::Rc11, Equivalence::Mo) if uses_sc(program) => search.run::<Mo<Rc11>>(program, options),
        (Model::Rc11, Equivalence::Mo) if uses_fences(program) => {
            search.run::<Mo<Rc11Weak<Rc11Hb<true>>>>(program, options)
        }
        (Model::Rc11, Equivalence::Mo) => search.run::<Mo<Rc11Weak<Rc11Hb<false>>>>(program, options),
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
        (Model::Armv8, Equivalence::Mo) if varies(program) => search.run::<Checked<Armv8>>(program, options),
        (Model::Riscv, Equivalence::Mo) if varies(program) => search.run::<Checked<Riscv>>(program, options),
        (Model::Armv8, Equivalence::Mo) => search.run::<OrderedBefore<Armv8>>(program, options),
        (Model::Armv7, Equivalence::Mo) => search.run::<Checked<Armv7>>(program, options),
        (Model::Power, Equivalence::Mo) => search.run::<Checked<Power>>(program, options),
        (Model::Riscv, Equivalence::Mo) => search.run::<OrderedBefore<Riscv>>(program, options),
        (Model::Ra, Equivalence::Rf) => search.run::<Rf<Porf>>(program, options),
        (Model::Rc11, Equivalence::Rf) if !uses_sc(program) => {
            search.run::<Rf<Rc11Hb<true>>>(program, options)
        }
        (Model::Rc11, Equivalence::Rf) => search.run::<RfSc>(program, options),
        (Model::Wrc11, _) if uses_sc(program) => search.run::<WeakMo<true>>(program, options),
        (Model::Wrc11, _) => search.run::<WeakMo<false>>(program, options),
        _ => Err(Error::Unsupported(format!("{model} up to {equivalence}"))),
    }
}

/// Whether what a compare-and-swap is ordered after depends on whether it succeeds: no compiler makes such,
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
