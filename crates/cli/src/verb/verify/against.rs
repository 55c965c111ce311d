//! `porf verify --model A --against B`: the executions of a program under A that are none under B.
//!
//! Both models are explored, each with the program as compiled for it, and executions are compared as those of
//! the source: the accesses of each thread in program order (mappings add and remove none), what each read
//! reads from, and co. Fences are left out, and so are values, which rf decides. A thread whose assertion fails
//! ends there, so that such executions are compared too; those that wait or are cut off are not.
//!
//! B's executions are kept as 128-bit hashes; two that are different collide with a probability that does
//! not matter. Cost: both explorations.

use super::budget::Budget;
use super::{Args, Input, input, machine, parse_model};
use crate::options::{Format, Options};
use porf_event::{EventId, Label, ThreadId};
use porf_explore::{Equivalence, Error, Execution, Model, Visit, explore};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::{Instr, Operand, Program};
use porf_report::trace::Trace;
use porf_report::verify::{execution_json, execution_text};
use porf_verdict::Limit;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// What the first model allows and the second one forbids.
struct Difference {
    allowed: u64,
    forbidden: u64,
    witness: Option<Trace>,
}

enum Failure {
    Limit(Limit),
    Other(String),
}

pub fn run(args: &Args, against: &str, options: &Options) -> ExitCode {
    match compare(args, against) {
        Err(Failure::Other(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Limit(limit)) => {
            println!("inconclusive under {}: {limit}", args.model);
            ExitCode::from(3)
        }
        Ok(difference) => {
            show(args, against, options, &difference);
            ExitCode::from(u8::from(difference.forbidden > 0))
        }
    }
}

fn compare(args: &Args, against: &str) -> Result<Difference, Failure> {
    crate::interrupt::watch();
    let Input { program, model: own, .. } = input::load(args)?;
    let first = super::model(args, own)?;
    let second = parse_model(against)?;
    let program = without_failures(program);
    let one = machine::compile(program.clone(), first)?;
    let two = machine::compile(program, second)?;
    if one != two && allocates(&one) {
        let message = "--against compares models with different mappings only where no memory is allocated";
        return Err(Failure::Other(message.into()));
    }
    let with_co = first != Model::Wrc11 && second != Model::Wrc11;
    let search = Comparison { args, budget: Budget::parse(args.budget.as_deref())?, with_co };
    let mut known: HashSet<u128> = HashSet::new();
    let same = one == two;
    let two = search.explore(two, second, same, |_, execution| {
        known.insert(key(execution.graph, with_co));
    })?;
    let mut difference = Difference { allowed: 0, forbidden: 0, witness: None };
    let mut best = None;
    search.explore(if same { two } else { one }, first, same, |program, execution| {
        difference.allowed += 1;
        if !known.contains(&key(execution.graph, with_co)) {
            difference.forbidden += 1;
            let size = Trace::size(execution.graph, &|_| true);
            if best.is_none_or(|best| size < best) {
                best = Some(size);
                difference.witness = Some(Trace::of(program, execution.graph, &|_| true));
            }
        }
    })?;
    Ok(difference)
}

struct Comparison<'a> {
    args: &'a Args,
    budget: Budget,
    with_co: bool,
}

impl Comparison<'_> {
    /// Shows every complete execution; the program as it was cut.
    fn explore(
        &self,
        mut program: Program,
        model: Model,
        may_cut: bool,
        mut see: impl FnMut(&Program, &Execution<'_, '_>),
    ) -> Result<Program, Failure> {
        let options = porf_explore::Options { unroll: self.args.unroll, ..Default::default() };
        loop {
            let mut failure = None;
            let mut executions = 0;
            let mut visitor = |visit: Visit<'_, '_>| {
                match visit {
                    Visit::Complete(execution) => {
                        executions += 1;
                        see(&program, execution);
                        failure = self.budget.spent(executions, 1).map(Failure::Limit);
                    }
                    Visit::Fault(_, fault) | Visit::Memory(_, fault, ..) => {
                        let what = format!("an execution under {model} goes wrong: {}", fault.message);
                        failure = Some(Failure::Other(what));
                    }
                    Visit::Working(_) => failure = self.budget.over().map(Failure::Limit),
                    Visit::Blocked(_) | Visit::Race(..) => {}
                }
                if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let equivalence =
                if self.with_co || model != Model::Wrc11 { Equivalence::Mo } else { Equivalence::Rf };
            let explored = explore(&program, model, equivalence, &options, &mut visitor);
            match (explored, failure) {
                (Err(Error::Mixed(splits)), _) if may_cut => program.split(&splits),
                (Err(error), _) => return Err(Failure::Other(error.to_string())),
                (Ok(_), Some(failure)) => return Err(failure),
                (Ok(_), None) => return Ok(program),
            }
        }
    }
}

/// Ends a thread where its program is wrong by its own account.
fn without_failures(mut program: Program) -> Program {
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.code) {
        match instr {
            Instr::Assert { .. } => *instr = Instr::Assume { cond: Operand::Const(1) },
            Instr::Fail { .. } => *instr = Instr::ExitThread { value: Operand::Const(0) },
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
                    _ => 7.hash(hasher),
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

/// Which thread started it, and as how manieth, up to a thread of the beginning; `None` if it never started.
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

fn show(args: &Args, against: &str, options: &Options, difference: &Difference) {
    let Difference { allowed, forbidden, witness } = difference;
    match options.format {
        Format::Json => println!(
            "{}",
            serde_json::json!({
                "schema": 1,
                "command": "verify",
                "file": args.files.first(),
                "model": args.model,
                "against": against,
                "executions": allowed,
                "forbidden": forbidden,
                "witness": witness.as_ref().map(execution_json),
            })
        ),
        Format::Text => {
            let plural = if *allowed == 1 { "" } else { "s" };
            println!(
                "{forbidden} of {allowed} execution{plural} under {} are forbidden by {against}",
                args.model
            );
            if let Some(trace) = witness {
                print!("one of them:\n\n{}", execution_text(trace, super::width()));
            }
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Other(message)
    }
}
