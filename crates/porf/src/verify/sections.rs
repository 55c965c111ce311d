//! Atomic sections: `__VERIFIER_atomic_begin` and `_end`, functions named `__VERIFIER_atomic_…`.
//!
//! Sections take a lock, so that they exclude each other. They must also exclude accesses outside of sections. That
//! is checked on whole executions: if something comes between the accesses of a section, the execution is dropped.
//!
//! Under sc an execution is the order of one interleaving in which each section is in one piece: with its events
//! as one, po ∪ rf ∪ co ∪ fr has no cycle. Under other models threads do not agree on one interleaving. There,
//! nothing comes between two accesses of a section to one location: the same without po. A section that has not
//! ended yet is seen by nobody, so that what goes wrong is looked at again when the execution is over.
//!
//! Cost: linear in the events of an execution, in programs with sections only.

use porf_event::{Label, LockKind, RmwKind};
use porf_explore::Execution;
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::Program;
use porf_model::{Equivalence, Model};

/// The sections of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections {
    /// The address of the lock.
    address: u64,
    with_po: bool,
}

impl Sections {
    /// `None` if there are none, or co is not part of an execution.
    pub fn of(program: &Program, model: Model, equivalence: Equivalence) -> Option<Sections> {
        if equivalence != Equivalence::Mo || !model.orders_writes() {
            return None;
        }
        let lock = program.global(porf_frontend_llvm::ATOMIC_SECTION)?;
        program.image.as_ref()?;
        Some(Sections { address: lock.address, with_po: model == Model::Sc })
    }

    /// Whether each section of an execution is in one piece.
    pub fn are_whole(&self, execution: &Execution<'_, '_>) -> bool {
        let graph = execution.graph;
        let (section, open) = self.assign(graph);
        let node = |event: Ev| section[event.as_usize()];
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); section.len()];
        let mut edge = |from: Ev, to: Ev| {
            if from != Ev::INIT && from.is_some() && node(from) != node(to) {
                next[node(from) as usize].push(node(to));
            }
        };
        for loc in (0..graph.location_count() as u32).map(Loc) {
            let co = graph.co(loc);
            co.windows(2).for_each(|pair| edge(pair[0], pair[1]));
            // A read comes after the write that it reads from, and before the one that follows.
            let sources = std::iter::once((Ev::INIT, co.first()));
            for (source, after) in sources.chain(co.iter().enumerate().map(|(at, w)| (*w, co.get(at + 1)))) {
                for read in graph.readers(source, loc) {
                    edge(source, read);
                    after.into_iter().for_each(|after| edge(read, *after));
                }
            }
        }
        if self.with_po {
            for event in graph.all() {
                edge(graph.po_pred(event), event);
                if let Label::Join { child } = graph.event(event).label
                    && let Some(end) = graph.thread_end(child)
                {
                    edge(end, event);
                }
            }
        }
        open.iter().all(|first| next[first.as_usize()].is_empty()) && is_acyclic(&next)
    }

    /// For each event the first event of its section, or itself; the first events of those that have not ended.
    fn assign(&self, graph: &ExecutionGraph) -> (Vec<u32>, Vec<Ev>) {
        let mut open = Vec::new();
        let mut section: Vec<u32> = (0..graph.len() as u32).collect();
        for thread in graph.threads() {
            let mut begin: Option<Ev> = None;
            for &event in thread.events().iter().filter(|event| event.is_some()) {
                section[event.as_usize()] = begin.unwrap_or(event).0;
                match graph.event(event).label {
                    Label::Write { access, rmw: RmwKind::Lock(kind), .. }
                        if access.location.0 == self.address =>
                    {
                        begin = match kind {
                            LockKind::Acquire => Some(event),
                            _ => None,
                        };
                    }
                    _ => {}
                }
            }
            open.extend(begin);
        }
        (section, open)
    }
}

fn is_acyclic(next: &[Vec<u32>]) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; next.len()];
    for root in 0..next.len() {
        if seen[root] != Seen::No {
            continue;
        }
        let mut stack = vec![(root, 0)];
        seen[root] = Seen::Open;
        while let Some((at, tried)) = stack.last_mut() {
            match next[*at].get(*tried).map(|to| *to as usize) {
                Some(to) => {
                    *tried += 1;
                    match seen[to] {
                        Seen::Open => return false,
                        Seen::Done => {}
                        Seen::No => {
                            seen[to] = Seen::Open;
                            stack.push((to, 0));
                        }
                    }
                }
                None => {
                    seen[*at] = Seen::Done;
                    stack.pop();
                }
            }
        }
    }
    true
}
