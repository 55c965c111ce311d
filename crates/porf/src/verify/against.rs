//! The executions of a program that one model allows and another one forbids.
//!
//! Both models are explored, each with the program as compiled for it, and executions are compared as those of
//! the source: the accesses of each thread in program order (mappings add and remove none), what each read
//! reads from, and co. Fences are left out, and so are values, which rf decides. A thread whose assertion fails
//! ends there, so that such executions are compared too; those that wait or are cut off are not.
//!
//! B's executions are kept as 128-bit hashes; two that are different collide with a probability that does
//! not matter. Cost: both explorations.

use super::budget::Watch;
use super::{Request, not_up_to_values};
use crate::explain::{Why, explain};
use crate::input::Input;
use crate::trace::Trace;
use crate::{Error, mapping};
use porf_event::{EventId, Label, ThreadId};
use porf_explore::{Equivalence, Execution, Reductions, Visit, explore};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::{Instr, Operand, Program};
use porf_model::Model;
use porf_verdict::Limit;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

/// What the first model allows and the second one forbids.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Executions that the first model allows.
    pub allowed: u64,
    /// Those of them that the second one forbids.
    pub forbidden: u64,
    /// The smallest of these.
    pub witness: Option<Trace>,
    /// Why the first model allows it and the second one forbids it; `None` where the program is compiled differently
    /// for the second.
    pub why: Option<(Why, Why)>,
    /// Why the comparison was broken off, if it was.
    pub limit: Option<Limit>,
}

/// Compares the executions under `request.model` with those under `second`. Only the model, the bound, the budget and the
/// interrupt of the request matter.
pub fn against(input: &Input, request: &Request<'_>, second: Model) -> Result<Difference, Error> {
    let first = request.model;
    if request.equivalence == Equivalence::Values {
        return Err(not_up_to_values("--against"));
    }
    if let Some(question) = &input.question {
        mapping::reading(question.test(), first)?;
        mapping::reading(question.test(), second)?;
    }
    let program = without_failures(input.program.clone());
    let mut one = mapping::compile(program.clone(), first)?;
    let mut two = mapping::compile(program, second)?;
    let same = one == two;
    if !same && allocates(&one) {
        let message = "--against compares models with different mappings only where no memory is allocated";
        return Err(Error::Unsupported(message.into()));
    }
    let with_co = first.orders_writes() && second.orders_writes();
    let search = Comparison { request, watch: Watch::start(request.budget, request.interrupt) };
    // Executions are comparable if the accesses of both programs are cut alike.
    loop {
        let (mut difference, mut best) = (Difference::default(), None);
        let mut known: HashSet<u128> = HashSet::new();
        let (limit, cut) = search.explore(&two, second, |seen| match seen {
            None => known.clear(),
            Some(execution) => drop(known.insert(key(execution.graph, with_co))),
        })?;
        if limit.is_some() {
            return Ok(Difference { limit, ..difference });
        }
        if let Some(cut) = cut {
            two = cut;
            one = if same { two.clone() } else { return Err(mixed()) };
        }
        let (limit, cut) = search.explore(&one, first, |seen| {
            let Some(execution) = seen else {
                (difference, best) = (Difference::default(), None);
                return;
            };
            difference.allowed += 1;
            if !known.contains(&key(execution.graph, with_co)) {
                difference.forbidden += 1;
                let size = Trace::size(execution.graph, &|_| true);
                if best.is_none_or(|best| size < best) {
                    best = Some(size);
                    difference.witness =
                        Some(Trace::of(execution.program(), execution.graph, &|_| true, with_co));
                }
            }
        })?;
        match cut {
            None => {
                let why = |trace: &Trace| Some((explain(trace, first)?, explain(trace, second)?));
                difference.why =
                    difference.witness.as_ref().filter(|_| same && one.bounds.is_empty()).and_then(why);
                return Ok(Difference { limit, ..difference });
            }
            Some(cut) if same => two = cut,
            Some(_) => return Err(mixed()),
        }
    }
}

fn mixed() -> Error {
    let message = "--against with different mappings where accesses of different sizes overlap";
    Error::Unsupported(message.into())
}

struct Comparison<'a> {
    request: &'a Request<'a>,
    watch: Watch<'a>,
}

impl Comparison<'_> {
    /// Shows every complete execution, and `None` where the search starts over. Gives the limit that was reached, and
    /// the program if its accesses had to be cut.
    fn explore(
        &self,
        program: &Program,
        model: Model,
        mut see: impl FnMut(Option<&Execution<'_, '_>>),
    ) -> Result<(Option<Limit>, Option<Program>), Error> {
        let (mut failure, mut limit, mut executions, mut cut) = (None, None, 0, None);
        let mut visitor = |visit: Visit<'_, '_>| {
            match visit {
                Visit::Complete(execution) => {
                    executions += 1;
                    if cut.is_none() && execution.program().cuts.len() > program.cuts.len() {
                        cut = Some(execution.program().clone());
                    }
                    see(Some(execution));
                    limit = self.watch.spent(executions, 1);
                }
                Visit::Fault(_, fault) | Visit::Memory(_, fault, ..) => {
                    failure = Some(format!("an execution under {model} goes wrong: {}", fault.message));
                }
                Visit::Working(_) => limit = self.watch.over(),
                Visit::Anew(_) => {
                    (executions, cut) = (0, None);
                    see(None);
                }
                Visit::Blocked(_) | Visit::Race(..) => {}
            }
            if failure.is_some() || limit.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let equivalence = if model.orders_writes() { Equivalence::Mo } else { Equivalence::Rf };
        let options = porf_explore::Options {
            unroll: self.request.unroll,
            // Executions are counted here.
            reductions: Reductions::NONE,
            ..Default::default()
        };
        explore(program, model, equivalence, &options, &mut visitor).map_err(Error::Explore)?;
        match failure {
            Some(message) => Err(Error::Unsupported(message)),
            None => Ok((limit, cut)),
        }
    }
}

/// Ends a thread where its program is wrong by its own account.
fn without_failures(mut program: Program) -> Program {
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.code) {
        match instr {
            Instr::Assert { .. } => *instr = Instr::Assume { cond: Operand::Const(1) },
            Instr::Fail { .. } | Instr::FailWith { .. } => {
                *instr = Instr::ExitThread { value: Operand::Const(0) }
            }
            _ => {}
        }
    }
    program
}

fn allocates(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|instr| matches!(instr, Instr::Alloc { .. }))
}

/// Equal for executions that are the same to the source.
fn key(graph: &ExecutionGraph, with_co: bool) -> u128 {
    // The numbers of threads are those in which a search met them: by descent they are what they are.
    let mut threads: Vec<(Vec<u32>, usize)> =
        (0..graph.threads().len()).filter_map(|at| Some((descent(graph, at)?, at))).collect();
    threads.sort();
    let place = |thread: ThreadId| threads.iter().position(|(_, at)| *at == thread.as_usize());
    let name = |ev: Ev| match ev {
        Ev::INIT => None,
        _ => {
            let EventId { thread, index } = graph.event(ev).id;
            let before = &graph.thread(thread).events()[..index as usize];
            Some((place(thread), before.iter().filter(|ev| is_kept(graph, **ev)).count()))
        }
    };
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    1u8.hash(&mut hashers[1]);
    for hasher in &mut hashers {
        for (_, at) in &threads {
            let events = graph.threads()[*at].events().iter().filter(|ev| is_kept(graph, **ev));
            for &ev in events {
                match graph.event(ev).label {
                    Label::Read { access, .. } => (1, access, name(graph.rf(ev))).hash(hasher),
                    Label::Write { access, .. } => (2, access).hash(hasher),
                    Label::Join { child } => (3, place(child)).hash(hasher),
                    Label::Choice { chosen, .. } => (4, chosen).hash(hasher),
                    Label::Alloc { location, .. } => (5, location).hash(hasher),
                    Label::Free { location } => (6, location).hash(hasher),
                    Label::Init
                    | Label::Fence { .. }
                    | Label::Create { .. }
                    | Label::End
                    | Label::Block { .. } => 7.hash(hasher),
                }
            }
            0.hash(hasher);
        }
        if with_co {
            let mut orders: Vec<_> = (0..graph.location_count() as u32)
                .map(Loc)
                .filter(|loc| !graph.co(*loc).is_empty())
                .map(|loc| {
                    (graph.location(loc), graph.co(loc).iter().map(|&ev| name(ev)).collect::<Vec<_>>())
                })
                .collect();
            orders.sort();
            orders.hash(hasher);
        }
    }
    let [low, high] = hashers.map(|hasher| u128::from(hasher.finish()));
    high << 64 | low
}

fn is_kept(graph: &ExecutionGraph, ev: Ev) -> bool {
    ev.is_some() && !matches!(graph.event(ev).label, Label::Fence { .. } | Label::End)
}

/// The chain of threads that started it: for each, how many threads its creator had started before. `None` if it
/// never started.
fn descent(graph: &ExecutionGraph, thread: usize) -> Option<Vec<u32>> {
    let creator = graph.threads()[thread].creator;
    if !creator.is_some() {
        return None;
    }
    if creator == Ev::INIT {
        return Some(vec![thread as u32]);
    }
    let EventId { thread: parent, index } = graph.event(creator).id;
    let before = &graph.thread(parent).events()[..index as usize];
    let creates = |ev: &&Ev| ev.is_some() && matches!(graph.event(**ev).label, Label::Create { .. });
    let mut descent = descent(graph, parent.as_usize())?;
    descent.push(before.iter().filter(creates).count() as u32);
    Some(descent)
}
