//! Stateless model checking: every execution of a program exactly once.
//!
//! [`explore`] runs a program under a memory model and an equivalence, and shows each execution to a
//! [`Visitor`]: complete ones, blocked ones, and what goes wrong on the way.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod barrier;
mod buffering;
mod dispatch;
mod engine;
mod error;
mod estimate;
mod facts;
mod history;
mod locks;
mod look;
mod memory;
mod mixed;
mod parallel;
mod prefix;
mod reduce;
mod rest;
mod schedule;
mod search;
mod seed;
mod serve;
mod split;
mod stuck;
mod symmetry;
mod task;
mod values;
mod visit;
mod weave;

pub use error::Error;
pub use estimate::Estimate;
pub use mixed::Overlap;
use porf_model::CheckedBy;
pub use porf_model::{Equivalence, Model};
pub use reduce::{Flag, Flags, KnownLock, KnownLocks, LockUse, Reduced, Reduction, Reductions};
pub use rest::{Beginning, Rest};
pub use schedule::Schedule;
pub use serve::{Parts, Served, begin, serve};
pub use stuck::{Stuck, Waiting};
pub use task::Task;
pub use visit::{Execution, Statistics, Visit, Visitor};

use dispatch::{Search, dispatch};
use history::Created;
use mixed::Sizes;
use porf_cat::CatModel;
use porf_consistency::{Architecture, Armv8, Cat, Checker, Imm, MemoryModel, Riscv, WithHoles};
use porf_interp::Interpreter;
use porf_ir::Program;
use search::Policy;
use seed::Sown;
use std::collections::{BTreeSet, HashSet};
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
    /// Which executions need not be visited.
    pub reductions: Reductions,
    /// What variables are taken for, as the search finds it out: nothing at first.
    pub flags: Flags,
    /// What is known of locks, in the same way.
    pub locks: KnownLocks,
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
                let start = Start { created, sown, ..Start::default() };
                let (second, _) = weave_model(program, model, options, start, &mut cyclic)?;
                statistics.add(&cyclic.statistics);
                statistics.buffering = true;
                statistics.whole = second.whole;
            }
            Ok(statistics)
        }
    }
    let sizes = Sizes::Of(model, equivalence);
    mixed::anew(program, options, &sizes, |program, options, anew| {
        if anew {
            let _ = visitor.visit(Visit::Anew(&program.cuts));
        }
        if equivalence == Equivalence::Values && model.entry().has(equivalence) {
            return values::explore(program, options, visitor);
        }
        if needs_weaving(program, model, equivalence) {
            return weave_model(program, model, options, Start::default(), visitor)
                .map(|(statistics, _)| statistics);
        }
        dispatch(program, model, equivalence, options, Alone(model, visitor))
    })
}

/// Explores every execution of `program` that a cat model allows, up to events, rf and co.
///
/// A model that forbids cycles in po | rf is searched with porf prefixes, the shipped models of
/// architectures with dependency prefixes; others are refused. What the search needs of a model is told in
/// [`porf_consistency::Checker`].
pub fn explore_cat(
    program: &Program,
    model: &CatModel,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    explore_all_of_cat(program, model, options, visitor)
}

fn explore_all_of_cat(
    program: &Program,
    model: &CatModel,
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
    let shipped = model.shipped_as();
    let architecture = shipped.and_then(Model::architecture);
    // A shipped model without an architecture keeps enough of program order, whatever its axioms say.
    let keeps_po = model.implies_porf_acyclicity() || shipped.is_some();
    if architecture.is_none() && !keeps_po {
        return Err(Error::Unsupported("a model that does not say `acyclic po | rf`".into()));
    }
    mixed::anew(program, options, &Sizes::OfText(model), |program, options, anew| {
        if anew {
            let _ = visitor.visit(Visit::Anew(&program.cuts));
        }
        let checker = Cat::new(model, program.dialect, architecture);
        weave(program, checker, options, Start::default(), visitor).map(|(statistics, _)| statistics)
    })
}

/// Whether the main search is not made for a model at all.
fn is_woven(model: Model, equivalence: Equivalence) -> bool {
    model.entry().checked == CheckedBy::Cat && equivalence == Equivalence::Mo
}

/// Whether the main search is not made for a program: because of the model, or because an access may be several events.
fn needs_weaving(program: &Program, model: Model, equivalence: Equivalence) -> bool {
    is_woven(model, equivalence) || !program.bounds.is_empty()
}

/// Whether the accesses and fences of a program are those that a model speaks of.
fn check_dialect(program: &Program, model: Model) -> Result<(), Error> {
    if model.speaks(program.dialect) {
        return Ok(());
    }
    let from = program.dialect.name();
    Err(Error::Unsupported(format!("a program in {from} under {model}, which does not speak of it")))
}

/// Where the search for a model that does not keep program order begins: with seeds, or with nothing.
#[derive(Default)]
struct Start<'p> {
    /// The numbers that threads have already.
    created: Created,
    sown: Option<Vec<Sown<'p>>>,
    /// Never goes through the whole program: breaks off instead.
    only_seeds: bool,
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
        // Only the text says what several events of one access are.
        _ if !program.bounds.is_empty() => {}
        Model::Imm => return weave(program, Imm::default(), options, start, visitor),
        Model::Armv8 => return weave(program, WithHoles::<Armv8>::default(), options, start, visitor),
        Model::Riscv => return weave(program, WithHoles::<Riscv>::default(), options, start, visitor),
        _ => {}
    }
    let cat = CatModel::shipped(model);
    if !program.bounds.is_empty() && !cat.takes_mixed_sizes() {
        let what = format!("accesses cut as for another model: {model} does not say what they mean");
        return Err(Error::Unsupported(what));
    }
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
    let Start { created, sown, only_seeds } = start;
    let mut statistics = Statistics::default();
    let mut whole = sown.is_none();
    for part in sown.into_iter().flatten() {
        let mut weaver = weave::Weaver::from_seeds(part, checker, options.schedule);
        let ended = weaver.run_seeds(visitor);
        statistics.add(&weaver.trail.statistics);
        checker = weaver.checker;
        match ended {
            Ok(ControlFlow::Continue(())) => {}
            Err(Error::Unsupported(_)) if only_seeds => return Ok((statistics, ControlFlow::Break(()))),
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
            let mut start = Start { created, ..Start::default() };
            if is_new || !rest.tasks.is_empty() {
                let tasks = std::mem::take(&mut rest.tasks);
                let outcome = parallel::run::<M, V>(program, options, tasks, &start.created, visitors)?;
                let is_first = rest.cycles.is_none();
                let found = Rest {
                    created: start.created.list(),
                    cycles: outcome.buffering.then(BTreeSet::new),
                    sources: outcome.sources(),
                    ..Rest::default()
                };
                rest.take_back(&found);
                (statistics, rest.tasks) = (outcome.statistics, outcome.tasks);
                if outcome.broken {
                    return Ok((statistics, rest));
                }
                start.sown = outcome.sown.filter(|_| is_first);
            }
            if let (None, Some(sources)) = (&start.sown, &rest.sources) {
                let mut engine = engine::Engine::<M>::new(program, options, start.created.clone())?;
                start.sown = engine.sow_again(sources)?.then(|| vec![engine.sown()]);
            }
            finish(program, model, options, start, visitors, &mut statistics, &mut rest)?;
            Ok((statistics, rest))
        }
    }
    let begun = cut_as_in(program, from.as_ref());
    let mut from = from;
    let options = match &from {
        Some(rest) => options.as_in(rest)?,
        None => *options,
    };
    let sizes = Sizes::Of(model, equivalence);
    mixed::anew(begun.as_ref().unwrap_or(program), &options, &sizes, |program, options, anew| {
        let mut from = from.take();
        if anew {
            // What was left of another program is of no use.
            from = None;
            for visitor in &mut visitors {
                let _ = visitor.visit(Visit::Anew(&program.cuts));
            }
        }
        let (statistics, mut rest) = if needs_weaving(program, model, equivalence) {
            let mut statistics = Statistics::default();
            let mut rest = from.unwrap_or(Rest { cycles: Some(BTreeSet::new()), ..Rest::default() });
            let created = Created::from_list(program.threads.len(), &rest.created);
            let start = Start { created, ..Start::default() };
            finish(program, model, options, start, &mut visitors, &mut statistics, &mut rest)?;
            (statistics, rest)
        } else {
            dispatch(program, model, equivalence, options, Together(model, &mut visitors, from))?
        };
        rest.cuts.clone_from(&program.cuts);
        let without = Reduction::ALL.into_iter().filter(|reduction| !options.reductions.has(*reduction));
        rest.without = without.map(|reduction| reduction.name().to_string()).collect();
        rest.flags = options.flags.iter().collect();
        rest.locks = options.locks.iter().collect();
        Ok((statistics, rest))
    })
}

/// The program with its accesses cut as in a search that was broken off.
fn cut_as_in(program: &Program, from: Option<&Rest>) -> Option<Program> {
    let rest = from.filter(|rest| !rest.cuts.is_empty())?;
    let mut cut = program.clone();
    rest.cuts.iter().for_each(|splits| cut.split(splits));
    Some(cut)
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
    let sources = rest.sources.take();
    let mut cyclic = buffering::Cyclic::new(visitor, shown.into_iter().collect());
    cyclic.all = needs_weaving(program, model, Equivalence::Mo);
    let created = start.created.clone();
    let (second, ended) = weave_model(program, model, options, start, &mut cyclic)?;
    statistics.add(&cyclic.statistics);
    statistics.buffering = true;
    statistics.whole = second.whole;
    if ended.is_break() {
        rest.cycles = Some(cyclic.shown.into_iter().collect());
        rest.sources = sources;
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
    let cut = cut_as_in(program, Some(rest));
    let options = options.as_in(rest)?;
    dispatch(cut.as_ref().unwrap_or(program), model, equivalence, &options, Again(task, rest, visitor))
}

/// About how many executions there are; to find out takes about so many events.
pub fn estimate(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    budget: u64,
) -> Result<Estimate, Error> {
    struct Sample(u64);
    impl Search for Sample {
        type Output = Estimate;
        fn run<M: MemoryModel + Default>(
            self,
            program: &Program,
            options: &Options,
        ) -> Result<Estimate, Error> {
            let created = Created::default();
            estimate::estimate(&mut engine::Engine::<M>::new(program, options, created)?, self.0)
        }
    }
    mixed::anew(program, options, &Sizes::Of(model, equivalence), |program, options, _| {
        dispatch(program, model, equivalence, options, Sample(budget))
    })
}
