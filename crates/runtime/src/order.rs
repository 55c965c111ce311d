//! In which order locks are taken: a cycle is a deadlock that may happen, whether or not it did.
//!
//! Havelund's condition for lock graphs (SPIN 2000): an edge from a lock that a thread holds to one that it waits
//! for; a cycle whose edges are of different threads and have no other held lock in common. Threads of which one
//! had ended before the other was created are left out. A lock that is only tried is never waited for. On demand
//! ([`Orders::any`]) the edges may all be of one thread, as in ThreadSanitizer: no deadlock of this program, but of one
//! in which two threads do so.
//!
//! Limits: what orders the threads otherwise is not looked at; such a cycle is reported though it cannot happen. The
//! [`rank`](crate::order::rank) of locks and the search for cycles have [`CREDITS`] steps in an execution, and 64 more
//! for each order of two locks that is new; then further cycles are not looked for. Beyond [`MOST`] orders all are
//! forgotten.
//! Cost: nothing for a thread that holds one lock at a time; else two look-ups, and for a new edge what the ranks cost,
//! which is little where all threads keep to one order.

mod rank;

use crate::finding;
use crate::world::World;
use porf_event::ThreadId;
use rank::Ranks;
use std::collections::BTreeMap;

/// A lock held by a thread: a number for each lock's life.
#[derive(Clone, Copy)]
pub struct Held {
    lock: u64,
    /// Readers do not exclude each other.
    reads: bool,
}

#[derive(Default)]
pub struct Orders {
    /// The edges between two locks.
    edges: BTreeMap<(u64, u64), Vec<Edge>>,
    ranks: Ranks,
    /// Steps that searches may still take.
    credits: u64,
    /// One thread alone is enough for a cycle.
    any: bool,
}

struct Edge {
    thread: ThreadId,
    /// Locks held beside the first.
    gates: Vec<u64>,
    /// The calls by which the second was taken.
    frames: Vec<usize>,
}

/// A longer cycle is not looked for.
const LONGEST: usize = 20;
/// So many edges between two locks are kept, by different threads or under different gates.
const KEPT: usize = 4;
/// So many steps searches may take in an execution, and a few more for each edge.
const CREDITS: u64 = 1_000_000;
const CREDITS_PER_EDGE: u64 = 64;
/// So many pairs of locks are known at most.
const MOST: usize = 1 << 17;

impl Orders {
    pub fn reset(&mut self, any: bool) {
        self.edges.clear();
        self.ranks.clear();
        self.credits = CREDITS;
        self.any = any;
    }
}

/// The running thread is about to wait for the lock, or takes it at once.
pub fn wanted(w: &mut World, index: usize, reads: bool, pc: usize) {
    let lock = w.syncs[index].id;
    let held = std::mem::take(&mut w.fiber().held);
    for (place, first) in held.iter().enumerate() {
        if first.lock == lock || (first.reads && reads) {
            continue;
        }
        let gates = held.iter().enumerate().filter(|&(other, _)| other != place).map(|(_, held)| held.lock);
        add(w, (first.lock, lock), gates, pc);
    }
    w.fiber().held = held;
}

pub fn taken(w: &mut World, index: usize, reads: bool) {
    let lock = w.syncs[index].id;
    w.fiber().held.push(Held { lock, reads });
}

pub fn released(w: &mut World, index: usize) {
    let lock = w.syncs[index].id;
    let held = &mut w.fiber().held;
    if let Some(place) = held.iter().rposition(|held| held.lock == lock) {
        held.remove(place);
    }
}

fn add(w: &mut World, locks: (u64, u64), gates: impl Iterator<Item = u64> + Clone, pc: usize) {
    let thread = w.current;
    if let Some(known) = w.orders.edges.get(&locks)
        && (known.len() >= KEPT
            || known.iter().any(|edge| edge.thread == thread && gates.clone().eq(edge.gates.iter().copied())))
    {
        return;
    }
    if w.orders.edges.len() >= MOST {
        let (any, credits) = (w.orders.any, w.orders.credits);
        w.orders.reset(any);
        w.orders.credits = credits;
    }
    let (frames, depth) = finding::frames(w, thread, pc);
    let edge = Edge { thread, gates: gates.collect(), frames: frames[..depth].to_vec() };
    w.orders.credits += CREDITS_PER_EDGE;
    let Orders { ranks, credits, .. } = &mut w.orders;
    if !ranks.add(locks.0, locks.1, credits)
        && let Some(cycle) = search(w, locks, &edge)
    {
        let stacks: Vec<(ThreadId, Vec<usize>)> = std::iter::once(&edge)
            .chain(cycle.iter().map(|&(locks, place)| &w.orders.edges[&locks][place]))
            .map(|edge| (edge.thread, edge.frames.clone()))
            .collect();
        finding::inversion(w, &stacks);
    }
    w.orders.edges.entry(locks).or_default().push(edge);
}

/// An edge by its locks and its place among those between them.
type Name = ((u64, u64), usize);

/// Edges that lead from the end of a new edge back to its beginning.
fn search(w: &mut World, (goal, start): (u64, u64), new: &Edge) -> Option<Vec<Name>> {
    struct Search<'a> {
        w: &'a World,
        goal: u64,
        new: &'a Edge,
        credits: u64,
        path: Vec<Name>,
    }
    impl Search<'_> {
        fn go(&mut self, at: u64) -> bool {
            if at == self.goal {
                return true;
            }
            if self.path.len() + 1 >= LONGEST {
                return false;
            }
            for (&locks, edges) in self.w.orders.edges.range((at, 0)..=(at, u64::MAX)) {
                if self.path.iter().any(|&((from, _), _)| from == locks.1) {
                    continue;
                }
                for (place, edge) in edges.iter().enumerate() {
                    if self.credits == 0 {
                        return false;
                    }
                    self.credits -= 1;
                    let before = self.path.iter().map(|&(locks, place)| &self.w.orders.edges[&locks][place]);
                    if before.chain([self.new]).all(|other| self.w.may_meet(edge, other)) {
                        self.path.push((locks, place));
                        if self.go(locks.1) {
                            return true;
                        }
                        self.path.pop();
                    }
                }
            }
            false
        }
    }
    let mut search = Search { w, goal, new, credits: w.orders.credits, path: Vec::new() };
    let found = search.go(start);
    let (credits, path) = (search.credits, search.path);
    w.orders.credits = credits;
    found.then_some(path)
}

impl World {
    /// Whether two threads can be at these edges at the same time.
    fn may_meet(&self, a: &Edge, b: &Edge) -> bool {
        let life = |edge: &Edge| self.fibers[edge.thread.as_usize()].life;
        let ((a_born, a_died), (b_born, b_died)) = (life(a), life(b));
        let threads = a.thread != b.thread && a_born < b_died && b_born < a_died;
        (threads || self.orders.any) && !a.gates.iter().any(|gate| b.gates.contains(gate))
    }
}
