//! The numbers of executions in `corpus/programs/expected.toml` under sc, tso and pso, counted in another
//! way: every interleaving of the program's threads, and how many different executions (events, rf, co) they
//! make. Under tso and pso threads have store buffers, and the steps by which these are emptied interleave
//! too: that is how those models were first defined.
//!
//! Nothing here is shared with the explorer but the interpreter, and for tso and pso the barriers that C is
//! compiled to. Programs with too many interleavings are left out.

use porf_event::{Label, ThreadId};
use porf_frontend_llvm::{Options, load};
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::Program;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Programs with more partial executions are left out; more are tried in the long suite.
const MOST: usize = 30_000;
const MOST_FULL: usize = 1_000_000;

#[test]
fn executions_are_those_of_all_interleavings() {
    assert!(count(Memory::Sc, "sc") >= 60, "few programs are small enough");
}

#[test]
fn executions_with_store_buffers() {
    assert!(count(Memory::Tso, "tso") >= 40, "few programs are small enough");
}

#[test]
fn executions_with_a_store_buffer_for_each_location() {
    assert!(count(Memory::Pso, "pso") >= 40, "few programs are small enough");
}

/// What is between a thread and the memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Sc,
    /// A queue of stores.
    Tso,
    /// A queue of stores for each location.
    Pso,
}

/// How many programs were counted again.
fn count(memory: Memory, model: &str) -> usize {
    let root = porf_corpus::expected::folder("programs");
    let expected: toml::Table = porf_corpus::expected::expected("programs");
    let full = porf_corpus::full();
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in expected["case"].as_array().unwrap() {
        // Under pso it is as under tso, unless the file says otherwise.
        let wanted = case.get(model).or_else(|| case.get(if model == "pso" { "tso" } else { model }));
        let Some(wanted) = wanted.and_then(|wanted| wanted.as_integer()) else { continue };
        if wanted > if full { 20_000 } else { 1_000 } {
            continue;
        }
        let file = case["file"].as_str().unwrap();
        let flags = case.get("flags").map_or("", |flags| flags.as_str().unwrap());
        let options =
            Options { flags: flags.split_whitespace().map(str::to_string).collect(), ..Options::default() };
        let mut program = load(&[root.join(file)], &options).unwrap();
        if let Some(machine) = model.parse::<porf::Model>().unwrap().entry().machine() {
            program = program.compiled_to(machine).unwrap();
        }
        match interleave(&program, memory, if full { MOST_FULL } else { MOST }) {
            None => {}
            Some(found) if found == wanted as usize => checked += 1,
            Some(found) => wrong.push(format!("{file} {flags}: {found} executions, not {wanted}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{checked} numbers of executions were counted under {model}");
    checked
}

/// A thread and its event.
type Id = (u16, u32);
/// What a thread was told, and by which write.
type Told = Vec<(u64, Option<Id>)>;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Buffered {
    Store {
        cell: (u64, u8),
        id: Id,
        value: u64,
    },
    /// What is before it goes to memory before what is after it.
    Barrier,
}

/// What can happen next.
#[derive(Clone, Copy)]
enum Move {
    Event(u16, Label),
    /// A store of a thread's buffer goes to memory.
    Flush(u16, usize),
}

#[derive(Clone)]
struct Partial {
    /// The threads that have started.
    threads: BTreeMap<u16, (ThreadState, Told)>,
    /// Of each cell: its writes, oldest first, and the newest value.
    cells: BTreeMap<(u64, u8), (Vec<Id>, u64)>,
    /// Of each thread: the stores that are not in memory yet, oldest first.
    buffers: BTreeMap<u16, Vec<Buffered>>,
    finished: Vec<u16>,
    /// A thread in the middle of an instruction.
    mid: Option<u16>,
}

/// The number of complete executions; `None` if there is too much to look at, or what this does not know.
fn interleave(program: &Program, memory: Memory, most: usize) -> Option<usize> {
    let interpreter = Interpreter::new(program);
    let mut created: HashMap<Id, u16> = HashMap::new();
    let start = Partial {
        threads: BTreeMap::from([(0, (interpreter.start(ThreadId(0)), Vec::new()))]),
        cells: BTreeMap::new(),
        buffers: BTreeMap::new(),
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
        let buffers = &partial.buffers;
        let drained = |thread: u16| buffers.get(&thread).is_none_or(Vec::is_empty);
        for (&thread, stores) in buffers {
            let oldest = |at: &usize| memory == Memory::Pso || *at == 0;
            let free = (0..stores.len()).filter(oldest).filter(|at| may_leave(stores, *at));
            moves.extend(free.map(|at| Move::Flush(thread, at)));
        }
        for (&thread, (state, _)) in &mut partial.threads {
            if partial.finished.contains(&thread) {
                continue;
            }
            match interpreter.run(state) {
                Step::Emit(Label::Join { child })
                    if !partial.finished.contains(&child.0) || !drained(child.0) || !drained(thread) => {}
                Step::Emit(Label::Fence { mode, .. }) if mode.is_full() && !drained(thread) => {}
                Step::Emit(Label::Create { .. }) if !drained(thread) => {}
                Step::Emit(label) => {
                    // What touches no memory commutes with everything: first, and alone.
                    if label.access().is_none() && !matches!(label, Label::Choice { .. }) {
                        alone = Some(Move::Event(thread, label));
                    }
                    // A read-modify-write goes to memory.
                    if label.is_read() && !drained(thread) {
                        let value = look(program, &partial.cells, buffers.get(&thread), &label).0;
                        if interpreter.settle(state, label, value).rmw().is_pair() {
                            continue;
                        }
                    }
                    moves.push(Move::Event(thread, label));
                }
                Step::Finished => partial.finished.push(thread),
                Step::Blocked(_) => {}
                Step::Fault(fault) => panic!("{} in a program that is safe", fault.message),
            }
        }
        // The end of a thread may let another one go on.
        if moves.is_empty() && partial.finished.len() < partial.threads.len() {
            let joins = |(state, _): &mut (ThreadState, _)| match interpreter.run(state) {
                Step::Emit(Label::Join { child }) => partial.finished.contains(&child.0) && drained(child.0),
                _ => false,
            };
            if partial.threads.clone().values_mut().any(joins) {
                work.push(partial);
                continue;
            }
        }
        if let Some(first) = partial.mid {
            moves.retain(|one| matches!(one, Move::Event(thread, _) if *thread == first));
        } else if let Some(only) = alone {
            moves = vec![only];
        }
        if moves.is_empty() {
            // No move: the buffers are empty.
            if partial.finished.len() == partial.threads.len() {
                complete.insert(key(&partial));
            }
            continue;
        }
        for one in moves {
            let (thread, label) = match one {
                Move::Event(thread, label) => (thread, label),
                Move::Flush(thread, at) => {
                    let mut next = partial.clone();
                    next.flush(program, thread, at);
                    if seen.insert(key(&next)) {
                        work.push(next);
                    }
                    continue;
                }
            };
            let answers = match label {
                Label::Choice { options, .. } => (0..u64::from(options)).collect(),
                _ => vec![0],
            };
            for answer in answers {
                let mut next = partial.clone();
                step(program, memory, &interpreter, &mut created, &mut next, thread, label, answer)?;
                if seen.insert(key(&next)) {
                    work.push(next);
                }
            }
        }
    }
    Some(complete.len())
}

/// Whether a store of a buffer may go to memory before those that are older.
fn may_leave(stores: &[Buffered], at: usize) -> bool {
    let Buffered::Store { cell, .. } = &stores[at] else { return false };
    stores[..at].iter().all(|older| matches!(older, Buffered::Store { cell: other, .. } if other != cell))
}

/// The value that a read would get, and where from.
fn look(
    program: &Program,
    cells: &BTreeMap<(u64, u8), (Vec<Id>, u64)>,
    buffer: Option<&Vec<Buffered>>,
    label: &Label,
) -> (u64, Option<Id>) {
    let Some(access) = label.access() else { return (0, None) };
    let at = (access.location.0, access.size);
    let own = buffer.into_iter().flatten().rev().find_map(|one| match one {
        Buffered::Store { cell, id, value } if *cell == at => Some((*value, Some(*id))),
        _ => None,
    });
    own.unwrap_or_else(|| match cells.get(&at) {
        Some((writes, value)) => (*value, writes.last().copied()),
        None => (program.initial_value(at.0, at.1), None),
    })
}

impl Partial {
    fn store(&mut self, program: &Program, cell: (u64, u8), id: Id, value: u64) {
        let initial = || (Vec::new(), program.initial_value(cell.0, cell.1));
        let (writes, memory) = self.cells.entry(cell).or_insert_with(initial);
        writes.push(id);
        *memory = value;
    }

    fn flush(&mut self, program: &Program, thread: u16, at: usize) {
        let Some(buffer) = self.buffers.get_mut(&thread) else { return };
        let store = buffer.remove(at);
        // A barrier that nothing is before has done its work.
        let leading = buffer.iter().take_while(|one| **one == Buffered::Barrier).count();
        buffer.drain(..leading);
        if let Buffered::Store { cell, id, value } = store {
            self.store(program, cell, id, value);
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one step of one search")]
fn step(
    program: &Program,
    memory: Memory,
    interpreter: &Interpreter<'_>,
    created: &mut HashMap<Id, u16>,
    partial: &mut Partial,
    thread: u16,
    label: Label,
    choice: u64,
) -> Option<()> {
    let id = (thread, partial.threads.get(&thread)?.1.len() as u32);
    let (mut answer, mut source, mut child) = (choice, None, None);
    if let Some(access) = label.access() {
        let (start, size) = (access.location.0, access.size);
        let overlaps = |(other, length): &(u64, u8)| {
            (*other, *length) != (start, size)
                && *other < start + u64::from(size)
                && start < other + u64::from(*length)
        };
        let waiting = partial.buffers.values().flatten().filter_map(|one| match one {
            Buffered::Store { cell, .. } => Some(cell),
            Buffered::Barrier => None,
        });
        if partial.cells.keys().chain(waiting).any(overlaps) {
            return None;
        }
        match label {
            Label::Write { value, rmw, .. } if memory == Memory::Sc || rmw.is_pair() => {
                partial.store(program, (start, size), id, value);
            }
            Label::Write { value, .. } => {
                let store = Buffered::Store { cell: (start, size), id, value };
                partial.buffers.entry(thread).or_default().push(store);
            }
            _ => (answer, source) = look(program, &partial.cells, partial.buffers.get(&thread), &label),
        }
    }
    if let (Memory::Pso, Label::Fence { mode, .. }) = (memory, label)
        && mode.is_release()
        && let Some(buffer) = partial.buffers.get_mut(&thread)
        && !buffer.is_empty()
    {
        buffer.push(Buffered::Barrier);
    }
    let (state, told) = partial.threads.get_mut(&thread)?;
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
    let buffers: Vec<_> = partial.buffers.iter().filter(|(_, stores)| !stores.is_empty()).collect();
    let buffers: Vec<_> = buffers.into_iter().map(|(thread, stores)| (*thread, stores.clone())).collect();
    (told, co, buffers, partial.mid)
}
