//! How many executions there may be: a sample of the search.
//!
//! Source: stochastic enumeration (Rubinstein, "Stochastic enumeration method for counting NP-hard problems",
//! Methodology and Computing in Applied Probability, 2013; Vaisman, Kroese, "Stochastic enumeration method for
//! counting trees", the same, 2017). A single random descent (Knuth 1975) is as unbiased, but hardly ever takes
//! the few ways that carry most of the weight: read-modify-writes make trees of that kind.
//!
//! The tree is that of [`Task`]s: the search of a task goes on to its first execution, and what it then has left to
//! do are the children, one for each untried choice. So every node stands for one execution, and the number of
//! nodes is what is asked for. If a level has more nodes than fit, some are kept and their weights grow. Those that
//! have much below them must not be missed: half of the sample is taken in proportion to the weights alone, the other
//! half also in proportion to what earlier passes have found below nodes of the same level and size. The list is gone
//! through in the order of sizes, in even steps from a random place on (systematic sampling; Madow 1949), so that
//! every size is there in its proportion. One such pass visits no execution twice.
//!
//! Several passes give a mean, its error, and an interval. A pass that had to leave out nothing is no estimate: the
//! number is exact. Cost: given in events.

use crate::engine::Engine;
use crate::error::Error;
use crate::reduce::Reduction;
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

/// So many passes are made, after some that only find out what is below nodes.
const PASSES: usize = 12;
const TRIALS: usize = 4;
/// The quantile of Student's t for the mean of the passes.
const T: f64 = 2.2;
/// How many parts of the search a pass keeps at least.
const NARROW: usize = 4;
/// And at most.
const WIDE: usize = 1 << 12;

/// An execution has about so many new events.
const SHORT: u64 = 16;

/// What one pass counted.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    complete: f64,
    blocked: f64,
    /// The complete executions that it saw: there are so many at least.
    seen: u64,
    is_exact: bool,
}

/// A part of the search: one choice of a task.
struct Node {
    /// Where it is among the nodes of the level before.
    parent: usize,
    task: Task,
    size: usize,
    weight: f64,
    /// How many executions are in it, by what the pass has seen.
    within: f64,
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
    if engine.locks.is_some() {
        return count(engine, budget);
    }
    let mut sampler = Sampler { engine, random: 0x9e37_79b9_7f4a_7c15, events: 0, below: Vec::new() };
    let mut passes = Vec::new();
    let mut width = NARROW;
    for at in 0..TRIALS + PASSES {
        let pass = sampler.pass(width)?;
        if pass.is_exact {
            return Ok(mean(&[pass]));
        }
        if at == 0 {
            let affordable = budget as f64 / ((TRIALS + PASSES) as u64 * sampler.events.max(1)) as f64;
            width = ((NARROW as f64 * affordable) as usize).clamp(NARROW, WIDE);
        }
        if at >= TRIALS {
            passes.push(pass);
        }
    }
    Ok(mean(&passes))
}

/// Where threads take turns at locks the search is not cut into parts. It is made as a whole, or, if that takes too long,
/// without that reduction: then the number is too large.
fn count<M: MemoryModel>(engine: &mut Engine<'_, M>, budget: u64) -> Result<Estimate, Error> {
    engine.forget();
    let before = engine.trail.statistics;
    let mut visits = 0;
    let mut visitor = |visit: Visit<'_, '_>| {
        visits += u64::from(matches!(visit, Visit::Complete(_) | Visit::Blocked(_) | Visit::Working(_)));
        if visits > budget / SHORT { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    if engine.run(&mut visitor)?.is_break() {
        return Err(Error::Without(Reduction::Locks));
    }
    let seen = engine.trail.statistics.since(&before);
    let pass = Pass {
        complete: seen.executions as f64,
        blocked: seen.blocked as f64,
        seen: seen.executions,
        is_exact: true,
    };
    Ok(mean(&[pass]))
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
    /// By the level and the size of nodes: how many of them there were, and how many executions in all of these.
    below: Vec<Vec<(f64, f64)>>,
}

impl<M: MemoryModel> Sampler<'_, '_, M> {
    /// One way down the tree that keeps at most `width` nodes of each level.
    fn pass(&mut self, width: usize) -> Result<Pass, Error> {
        let mut pass = Pass { is_exact: true, ..Pass::default() };
        let mut levels: Vec<Vec<Node>> = Vec::new();
        let mut children = self.expand(None, 1.0, 0, &mut pass)?;
        while !children.is_empty() {
            if children.len() > width {
                self.thin_out(&mut children, levels.len(), width);
                pass.is_exact = false;
            }
            let mut next = Vec::new();
            for (at, node) in children.iter_mut().enumerate() {
                let below = self.expand(Some(&node.task), node.weight, at, &mut pass)?;
                next.extend(below);
            }
            levels.push(std::mem::replace(&mut children, next));
        }
        self.learn(&mut levels);
        Ok(pass)
    }

    /// Searches a task, or everything, up to its first execution; what it has left to do.
    fn expand(
        &mut self,
        task: Option<&Task>,
        weight: f64,
        parent: usize,
        pass: &mut Pass,
    ) -> Result<Vec<Node>, Error> {
        match self.first_execution(task)? {
            Some(Leaf::Complete) => {
                pass.complete += weight;
                pass.seen += 1;
            }
            Some(Leaf::Blocked) => pass.blocked += weight,
            None => return Ok(Vec::new()),
        }
        let mut nodes = Vec::new();
        for left in self.engine.take_tasks() {
            nodes.extend((0..left.choices()).map(|choice| {
                let task = left.only(choice);
                Node { parent, size: task.size_after(), task, weight, within: 1.0 }
            }));
        }
        Ok(nodes)
    }

    /// Keeps about so many nodes, with other weights.
    fn thin_out(&mut self, nodes: &mut Vec<Node>, level: usize, width: usize) {
        nodes.sort_by_key(|node| node.size);
        let expected: Vec<f64> = nodes.iter().map(|node| self.expected(level, node.size)).collect();
        let weights: f64 = nodes.iter().map(|node| node.weight).sum();
        let mean =
            nodes.iter().zip(&expected).map(|(node, expected)| node.weight * expected).sum::<f64>() / weights;
        // What is expected may be wrong: half of the sample does not depend on it.
        let shares: Vec<f64> =
            nodes.iter().zip(&expected).map(|(node, expected)| node.weight * (expected + mean)).collect();
        let step = shares.iter().sum::<f64>() / width as f64;
        let mut next = self.fraction() * step;
        let mut at = 0.0;
        let mut share = shares.into_iter();
        nodes.retain_mut(|node| {
            let share = share.next().unwrap_or(0.0);
            at += share;
            let mut times = 0.0;
            while next < at {
                times += 1.0;
                next += step;
            }
            node.weight *= times * step / share;
            times > 0.0
        });
    }

    /// How many executions may be in a node of some level and size, by what is known of the most similar ones.
    fn expected(&self, level: usize, size: usize) -> f64 {
        let Some(below) = self.below.get(level) else { return 1.0 };
        let known = |at: &usize| below.get(*at).is_some_and(|(nodes, _)| *nodes > 0.0);
        let nearest = (0..=size.max(below.len()))
            .find_map(|apart| [size + apart, size.wrapping_sub(apart)].into_iter().find(known));
        nearest.map_or(1.0, |at| below[at].1 / below[at].0)
    }

    /// Remembers how many executions there were in the nodes of a pass.
    fn learn(&mut self, levels: &mut [Vec<Node>]) {
        for level in (0..levels.len()).rev() {
            let (before, now) = levels.split_at_mut(level);
            let Some(nodes) = now.first() else { continue };
            for node in nodes {
                if self.below.len() <= level {
                    self.below.resize(level + 1, Vec::new());
                }
                let below = &mut self.below[level];
                if below.len() <= node.size {
                    below.resize(node.size + 1, (0.0, 0.0));
                }
                // A node stands for as many others as it has weight.
                let known = &mut below[node.size];
                *known = (known.0 + node.weight, known.1 + node.weight * node.within);
                if let Some(parents) = before.last_mut() {
                    let parent = &mut parents[node.parent];
                    parent.within += node.within * node.weight / parent.weight;
                }
            }
        }
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
                Visit::Working(_)
                | Visit::Race(..)
                | Visit::Fault(..)
                | Visit::Memory(..)
                | Visit::Anew(_) => None,
            };
            if leaf.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = self.engine.run(&mut visitor)?;
        self.events += self.engine.trail.statistics.events - before;
        Ok(leaf)
    }
}
