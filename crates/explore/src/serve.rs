//! Parts of one search, one after the other, by one worker that stays warm.
//!
//! The parts come from elsewhere: another process, another machine. The worker keeps its engine between
//! them, with the histories of the threads. It starts with a new one only if a part does not fit: accesses are
//! cut in another way, or threads have other numbers.

use crate::buffering::Cyclic;
use crate::dispatch::{Search, dispatch};
use crate::engine::Engine;
use crate::error::Error;
use crate::history::Created;
use crate::mixed::Sizes;
use crate::reduce::Reduction;
use crate::rest::{Rest, merged};
use crate::search::Policy;
use crate::task::Task;
use crate::visit::{Statistics, Visit, Visitor};
use crate::{Options, Start, cut_as_in, is_woven, weave_model};
use porf_consistency::MemoryModel;
use porf_ir::Program;
use porf_model::{Equivalence, Model};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// Who hands out parts of a search, and is shown what is in them.
pub trait Parts: Visitor {
    /// The next part; `None` ends the work.
    fn next(&mut self) -> Option<Rest>;
    /// What came of the last one.
    fn done(&mut self, served: Result<Served, Error>);
}

/// What came of a part.
#[derive(Clone, Debug)]
pub enum Served {
    /// It was searched, to its end or until the visitor had seen enough; this is left.
    Left(Statistics, Rest),
    /// The whole search has to begin anew, as this says.
    Anew(Rest),
}

/// All of a search that has not begun. Models that the main search is not made for have no tasks.
pub fn begin(model: Model, equivalence: Equivalence) -> Rest {
    match is_woven(model, equivalence) {
        true => Rest { cycles: Some(BTreeSet::new()), ..Rest::default() },
        false => Rest::whole(),
    }
}

/// Searches parts until there are none any more.
pub fn serve(
    program: &Program,
    model: Model,
    equivalence: Equivalence,
    options: &Options,
    parts: &mut dyn Parts,
) -> Result<(), Error> {
    let mut next = parts.next();
    while let Some(part) = next {
        let cut = cut_as_in(program, Some(&part));
        let options = options.as_in(&part)?;
        let serving = Serving { model, parts: &mut *parts, part };
        next = dispatch(cut.as_ref().unwrap_or(program), model, equivalence, &options, serving)?;
    }
    Ok(())
}

struct Serving<'s> {
    model: Model,
    parts: &'s mut dyn Parts,
    part: Rest,
}

impl Search for Serving<'_> {
    /// A part that is to be searched in another way.
    type Output = Option<Rest>;

    fn run<M: MemoryModel + Default>(
        self,
        program: &Program,
        options: &Options,
    ) -> Result<Option<Rest>, Error> {
        let Serving { model, parts, mut part } = self;
        let same = Rest { tasks: vec![Task::default()], ..part.alike() };
        let mut warm: Option<(Engine<'_, M>, Created)> = None;
        loop {
            let threads = program.threads.len();
            let fits = warm.as_ref().is_some_and(|(_, created)| created.grow_to(threads, &part.created));
            let begun = match warm.take().filter(|_| fits) {
                Some(warm) => Ok(warm),
                None => {
                    let created = Created::from_list(threads, &part.created);
                    Engine::new(program, options, created.clone()).map(|engine| (engine, created))
                }
            };
            let served = begun.and_then(|(mut engine, created)| {
                if !part.beginnings().is_empty() {
                    let start = Start { created, only_seeds: true, ..Start::default() };
                    return run_cycles(engine, (program, model, options), start, &part, parts);
                }
                let (statistics, rest) = run_part(&mut engine, &part, parts)?;
                let rest = Rest { created: created.list(), ..rest };
                warm = Some((engine, created));
                Ok(Served::Left(statistics, rest))
            });
            parts.done(match served {
                Err(Error::Mixed(splits)) => {
                    let mut cut = program.clone();
                    cut.split(&splits);
                    Ok(Served::Anew(Rest { cuts: cut.cuts, ..same.clone() }))
                }
                Err(Error::Overlap(overlap)) => {
                    let mut cut = program.clone();
                    // Accesses of several events are searched by one worker.
                    overlap.resolve(program, &Sizes::WithoutCells(model)).map(|splits| {
                        cut.split(&splits);
                        Served::Anew(Rest { cuts: cut.cuts, ..same.clone() })
                    })
                }
                Err(Error::Without(reduction)) => {
                    let without =
                        same.without.iter().cloned().chain([reduction.name().to_string()]).collect();
                    Ok(Served::Anew(Rest { without, ..same.clone() }))
                }
                Err(Error::Flag(flag)) => {
                    let mut flags = options.flags;
                    flags.set(flag);
                    Ok(Served::Anew(Rest { flags: flags.iter().collect(), ..same.clone() }))
                }
                Err(Error::Lock(lock)) => {
                    let mut locks = options.locks;
                    locks.set(lock);
                    Ok(Served::Anew(Rest { locks: locks.iter().collect(), ..same.clone() }))
                }
                served => served,
            });
            match parts.next() {
                Some(next) if next.alike() == part.alike() => part = next,
                next => return Ok(next),
            }
        }
    }
}

/// Searches the tasks of a part, the newest choices first: what is left are the oldest.
fn run_part<M: MemoryModel>(
    engine: &mut Engine<'_, M>,
    part: &Rest,
    parts: &mut dyn Parts,
) -> Result<(Statistics, Rest), Error> {
    let before = engine.trail.statistics;
    engine.detector.clear();
    let mut tasks = part.tasks.clone();
    let mut between = Between { parts, stop: false };
    while let Some(task) = tasks.pop() {
        engine.forget();
        engine.load(&task)?;
        // The same type of visitor as that of a search alone, so that engines are compiled once.
        let mut visitor: &mut dyn Visitor = &mut between;
        if engine.run(&mut visitor)?.is_break() {
            tasks.extend(engine.take_tasks());
            break;
        }
    }
    let detector = &mut engine.detector;
    let mut rest = part.part(tasks);
    rest.cycles = detector.is_found().then(BTreeSet::new);
    if !detector.found {
        rest.sources = merged(Vec::new(), std::mem::take(&mut detector.seeds.sources));
    }
    Ok((engine.trail.statistics.since(&before), rest))
}

/// Searches for executions with cycles from the beginnings of a part. They stay in what is left unless all of that
/// was done.
fn run_cycles<'p, M: MemoryModel>(
    mut engine: Engine<'p, M>,
    (program, model, options): (&'p Program, Model, &Options),
    mut start: Start<'p>,
    part: &Rest,
    parts: &mut dyn Parts,
) -> Result<Served, Error> {
    let mut rest = part.clone();
    engine.detector.clear();
    // Found again, they may be too many.
    if !engine.sow_again(part.beginnings())? {
        return Ok(Served::Left(Statistics::default(), rest));
    }
    let created = start.created.clone();
    start.sown = Some(vec![engine.sown()]);
    let mut visitor: &mut dyn Visitor = &mut Between { parts, stop: false };
    let mut cyclic = Cyclic::new(&mut visitor, HashSet::new());
    let (_, ended) = weave_model(program, model, options, start, &mut cyclic)?;
    rest.cycles = Some(cyclic.shown.into_iter().collect());
    rest.created = created.list();
    if ended.is_continue() {
        rest.sources = None;
    }
    Ok(Served::Left(cyclic.statistics, rest))
}

/// Ends the search between two executions once the visitor has seen enough.
struct Between<'s> {
    parts: &'s mut dyn Parts,
    stop: bool,
}

impl Visitor for Between<'_> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        let between = matches!(visit, Visit::Complete(_) | Visit::Blocked(_) | Visit::Working(_));
        self.stop |= self.parts.visit(visit).is_break();
        if self.stop && between { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Options {
    /// As in a search that has begun: without some reductions too, and with what is known of variables.
    pub(crate) fn as_in(&self, rest: &Rest) -> Result<Options, Error> {
        let mut options = *self;
        for name in &rest.without {
            let reduction: Reduction = name.parse().map_err(Error::Unsupported)?;
            options.reductions = options.reductions.without(reduction);
        }
        rest.flags.iter().for_each(|flag| options.flags.set(*flag));
        rest.locks.iter().for_each(|lock| options.locks.set(*lock));
        Ok(options)
    }
}
