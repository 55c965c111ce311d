//! The numbers of executions in `corpus/programs/expected.toml` under sc, counted in another way: every
//! interleaving of the program's threads, and how many different executions (events, rf, co) they make.
//!
//! Nothing here is shared with the explorer but the interpreter. Programs with too many interleavings
//! are left out.

use porf_event::{Label, ThreadId};
use porf_frontend_llvm::{Options, load};
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::Program;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Programs with more partial executions are left out; more are tried in the long suite.
const MOST: usize = 30_000;
const MOST_FULL: usize = 1_000_000;

#[test]
fn executions_are_those_of_all_interleavings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/programs");
    let text = std::fs::read_to_string(root.join("expected.toml")).unwrap();
    let expected: toml::Table = text.parse().unwrap();
    let full = std::env::var_os("PORF_FULL").is_some_and(|value| value != "0");
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in expected["case"].as_array().unwrap() {
        let Some(wanted) = case.get("sc").and_then(|wanted| wanted.as_integer()) else { continue };
        if wanted > if full { 20_000 } else { 1_000 } {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        let options =
            Options { flags: flags.split_whitespace().map(str::to_string).collect(), ..Options::default() };
        let program = load(&[root.join(file)], &options).unwrap();
        match interleave(&program, if full { MOST_FULL } else { MOST }) {
            None => {}
            Some(found) if found == wanted as usize => checked += 1,
            Some(found) => wrong.push(format!("{file} {flags}: {found} executions, not {wanted}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{checked} numbers of executions were counted");
    assert!(checked >= 60, "only {checked} programs are small enough");
}

/// A thread and its event.
type Id = (u16, u32);
/// What a thread was told, and by which write.
type Told = Vec<(u64, Option<Id>)>;

#[derive(Clone)]
struct Partial {
    /// The threads that have started.
    threads: BTreeMap<u16, (ThreadState, Told)>,
    /// Of each cell: its writes, oldest first, and the newest value.
    cells: BTreeMap<(u64, u8), (Vec<Id>, u64)>,
    finished: Vec<u16>,
    /// A thread in the middle of an instruction.
    mid: Option<u16>,
}

/// The number of complete executions; `None` if there is too much to look at, or what this does not know.
fn interleave(program: &Program, most: usize) -> Option<usize> {
    let interpreter = Interpreter::new(program);
    let mut created: HashMap<Id, u16> = HashMap::new();
    let start = Partial {
        threads: BTreeMap::from([(0, (interpreter.start(ThreadId(0)), Vec::new()))]),
        cells: BTreeMap::new(),
        finished: Vec::new(),
        mid: None,
    };
    let mut seen = HashSet::new();
    let mut complete = HashSet::new();
    let mut work = vec![start];
    while let Some(mut partial) = work.pop() {
        if seen.len() > most {
            return None;
        }
        let mut moves = Vec::new();
        let mut alone = None;
        for (&thread, (state, _)) in &mut partial.threads {
            if partial.finished.contains(&thread) {
                continue;
            }
            match interpreter.run(state) {
                Step::Emit(Label::Join { child }) if !partial.finished.contains(&child.0) => {}
                Step::Emit(label) => {
                    // What touches no memory commutes with everything: first, and alone.
                    if label.access().is_none() && !matches!(label, Label::Choice { .. }) {
                        alone = Some((thread, label));
                    }
                    moves.push((thread, label));
                }
                Step::Finished => partial.finished.push(thread),
                Step::Blocked(_) => {}
                Step::Fault(fault) => panic!("{} in a program that is safe", fault.message),
            }
        }
        // The end of a thread may let another one go on.
        if moves.is_empty() && partial.finished.len() < partial.threads.len() {
            let joins = |(state, _): &mut (ThreadState, _)| match interpreter.run(state) {
                Step::Emit(Label::Join { child }) => partial.finished.contains(&child.0),
                _ => false,
            };
            if partial.threads.clone().values_mut().any(joins) {
                work.push(partial);
                continue;
            }
        }
        if let Some(first) = partial.mid {
            moves.retain(|(thread, _)| *thread == first);
        } else if let Some(only) = alone {
            moves = vec![only];
        }
        if moves.is_empty() {
            if partial.finished.len() == partial.threads.len() {
                complete.insert(key(&partial));
            }
            continue;
        }
        for (thread, label) in moves {
            let answers = match label {
                Label::Choice { options, .. } => (0..u64::from(options)).collect(),
                _ => vec![0],
            };
            for answer in answers {
                let mut next = partial.clone();
                step(program, &interpreter, &mut created, &mut next, thread, label, answer)?;
                if seen.insert(key(&next)) {
                    work.push(next);
                }
            }
        }
    }
    Some(complete.len())
}

fn step(
    program: &Program,
    interpreter: &Interpreter<'_>,
    created: &mut HashMap<Id, u16>,
    partial: &mut Partial,
    thread: u16,
    label: Label,
    choice: u64,
) -> Option<()> {
    let (state, told) = partial.threads.get_mut(&thread)?;
    let id = (thread, told.len() as u32);
    let (mut answer, mut source, mut child) = (choice, None, None);
    if let Some(access) = label.access() {
        let (start, size) = (access.location.0, access.size);
        let overlaps = |(other, length): &(u64, u8)| {
            (*other, *length) != (start, size)
                && *other < start + u64::from(size)
                && start < other + u64::from(*length)
        };
        if partial.cells.keys().any(overlaps) {
            return None;
        }
        let (writes, value) = partial
            .cells
            .entry((start, size))
            .or_insert_with(|| (Vec::new(), program.initial_value(start, size)));
        match label {
            Label::Write { value: new, .. } => {
                writes.push(id);
                *value = new;
            }
            _ => {
                answer = *value;
                source = writes.last().copied();
            }
        }
    }
    if let Label::Create { .. } = label {
        let next = 1 + created.len() as u16;
        let number = *created.entry(id).or_insert(next);
        let (function, argument) = interpreter.created(state)?;
        child = Some((number, interpreter.start_function(ThreadId(number), function, argument)));
        answer = number.into();
    }
    interpreter.deliver(state, answer);
    // An instruction may be over without a second event.
    let _ = interpreter.run(state);
    partial.mid = state.is_mid_instruction().then_some(thread);
    told.push((answer, source));
    if let Some((number, state)) = child {
        partial.threads.insert(number, (state, Vec::new()));
    }
    Some(())
}

/// Equal for equal executions: a thread's state is a function of what it was told.
fn key(partial: &Partial) -> impl std::hash::Hash + Eq + use<> {
    let told: Vec<_> = partial.threads.iter().map(|(thread, (_, told))| (*thread, told.clone())).collect();
    let co: Vec<_> = partial
        .cells
        .iter()
        .filter(|(_, (writes, _))| !writes.is_empty())
        .map(|(cell, (writes, _))| (*cell, writes.clone()))
        .collect();
    (told, co, partial.mid)
}
