//! How many executions there may be: a sample of the search.
//!
//! Source: stochastic enumeration (Rubinstein, "Stochastic enumeration method for counting NP-hard problems",
//! Methodology and Computing in Applied Probability, 2013; Vaisman, Kroese, "Stochastic enumeration method for
//! counting trees", the same, 2017). A single random descent (Knuth 1975) is as unbiased, but hardly ever takes
//! the few ways that carry most of the weight: read-modify-writes make trees of that kind.
//!
//! The tree is that of [`Task`]s: the search of a task goes on to its first execution, and what it then has left to
//! do are the children, one for each untried choice. So every node stands for one execution, and the number of
//! nodes is what is asked for. All nodes of a level have the same weight. If there are more than fit, some are kept
//! and the weight grows: of all, sorted by their size, every n-th one, from a random place on, so that small and large
//! parts of the search are kept in their proportion. One such pass visits no execution twice.
//!
//! Several passes give a mean, its error, and an interval. A pass that had to leave out nothing is no estimate: the
//! number is exact. Cost: given in events.

use crate::engine::Engine;
use crate::error::Error;
use crate::search::Policy;
use crate::task::Task;
use crate::visit::Visit;
use porf_consistency::MemoryModel;
use std::ops::ControlFlow;

/// About how many executions a search will visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Complete executions.
    pub executions: f64,
    /// The standard error of that number; 0 if it is exact.
    pub standard_error: f64,
    /// It lies between these with a probability of about 95 %, as far as so few passes can tell.
    pub interval: (f64, f64),
    /// Blocked executions.
    pub blocked: f64,
}

/// So many passes are made.
const PASSES: usize = 12;
/// The quantile of Student's t for their mean.
const T: f64 = 2.2;
/// How many parts of the search a pass keeps at least.
const NARROW: usize = 4;
/// And at most.
const WIDE: usize = 1 << 16;

/// What one pass counted.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    complete: f64,
    blocked: f64,
    /// The complete executions that it saw: there are so many at least.
    seen: u64,
    is_exact: bool,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Complete,
    Blocked,
}

/// An estimate that takes about `budget` events.
pub(crate) fn estimate<M: MemoryModel>(engine: &mut Engine<'_, M>, budget: u64) -> Result<Estimate, Error> {
    // Nobody looks for cycles.
    engine.detector.found = true;
    let mut sampler = Sampler { engine, random: 0x9e37_79b9_7f4a_7c15, events: 0 };
    let first = sampler.pass(NARROW)?;
    if first.is_exact {
        return Ok(mean(&[first]));
    }
    let affordable = budget as f64 / (PASSES as u64 * sampler.events.max(1)) as f64;
    let width = ((NARROW as f64 * affordable) as usize).clamp(NARROW, WIDE);
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let pass = sampler.pass(width)?;
        if pass.is_exact {
            return Ok(mean(&[pass]));
        }
        passes.push(pass);
    }
    Ok(mean(&passes))
}

fn mean(passes: &[Pass]) -> Estimate {
    let n = passes.len() as f64;
    let executions = passes.iter().map(|pass| pass.complete).sum::<f64>() / n;
    let blocked = passes.iter().map(|pass| pass.blocked).sum::<f64>() / n;
    let seen = passes.iter().map(|pass| pass.seen).max().unwrap_or(0) as f64;
    let squares: f64 = passes.iter().map(|pass| (pass.complete - executions).powi(2)).sum();
    let standard_error = if passes.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
    // The numbers are products, and their errors are factors.
    let factor = if executions > 0.0 { (T * standard_error / executions).exp() } else { 1.0 };
    let interval = ((executions / factor).max(seen), (executions * factor).max(seen));
    Estimate { executions, standard_error, interval, blocked }
}

struct Sampler<'e, 'p, M: MemoryModel> {
    engine: &'e mut Engine<'p, M>,
    random: u64,
    /// How many events were added so far.
    events: u64,
}

impl<M: MemoryModel> Sampler<'_, '_, M> {
    /// One way down the tree that keeps at most `width` nodes of each level.
    fn pass(&mut self, width: usize) -> Result<Pass, Error> {
        let mut pass = Pass { is_exact: true, ..Pass::default() };
        let mut weight = 1.0;
        let mut level = vec![None];
        while !level.is_empty() {
            let mut left = Vec::new();
            for task in &level {
                match self.first_execution(task.as_ref())? {
                    Some(Leaf::Complete) => {
                        pass.complete += weight;
                        pass.seen += 1;
                    }
                    Some(Leaf::Blocked) => pass.blocked += weight,
                    None => continue,
                }
                left.extend(self.engine.take_tasks());
            }
            let mut children: Vec<(usize, usize)> = left
                .iter()
                .enumerate()
                .flat_map(|(at, task)| (0..task.choices()).map(move |choice| (at, choice)))
                .collect();
            if children.len() > width {
                children.sort_by_key(|&(at, choice)| (left[at].size(), left[at].is_revisit(choice)));
                weight *= children.len() as f64 / width as f64;
                children = self.every_nth(&children, width);
                pass.is_exact = false;
            }
            level = children.into_iter().map(|(at, choice)| Some(left[at].only(choice))).collect();
        }
        Ok(pass)
    }

    /// So many of a list, evenly, each with the same probability.
    fn every_nth(&mut self, list: &[(usize, usize)], keep: usize) -> Vec<(usize, usize)> {
        let from = self.fraction();
        let step = list.len() as f64 / keep as f64;
        (0..keep).map(|at| list[(((at as f64 + from) * step) as usize).min(list.len() - 1)]).collect()
    }

    /// A number from 0 up to 1.
    fn fraction(&mut self) -> f64 {
        // xorshift64*
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Searches a task, or everything, up to the first execution.
    fn first_execution(&mut self, task: Option<&Task>) -> Result<Option<Leaf>, Error> {
        self.engine.forget();
        if self.engine.trail.history.is_large() {
            self.engine.prune();
        }
        if let Some(task) = task {
            self.engine.load(task)?;
            self.events += task.size() as u64;
        }
        let before = self.engine.trail.statistics.events;
        let mut leaf = None;
        let mut visitor = |visit: Visit<'_, '_>| {
            leaf = match visit {
                Visit::Complete(_) => Some(Leaf::Complete),
                Visit::Blocked(_) => Some(Leaf::Blocked),
                Visit::Working(_) | Visit::Race(..) | Visit::Fault(..) | Visit::Memory(..) | Visit::Anew => None,
            };
            if leaf.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = self.engine.run(&mut visitor)?;
        self.events += self.engine.trail.statistics.events - before;
        Ok(leaf)
    }
}
