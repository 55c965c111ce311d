//! In which order locks are taken: a cycle is a deadlock that may happen, whether or not it did.
//!
//! Havelund's condition for lock graphs (SPIN 2000): an edge from a lock that a thread holds to one that it waits
//! for; a cycle whose edges are of different threads and have no other held lock in common. Threads of which one
//! had ended before the other was created are left out. A lock that is only tried is never waited for.
//!
//! Limits: what orders the threads otherwise is not looked at; such a cycle is reported though it cannot happen.
//! Cost: nothing for a thread that holds one lock at a time; else a search of the edges when one is new.

use crate::finding;
use crate::world::World;
use porf_event::ThreadId;
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
    /// The edges from each lock.
    edges: BTreeMap<u64, Vec<Edge>>,
}

struct Edge {
    to: u64,
    thread: ThreadId,
    /// Locks held beside the first.
    gates: Vec<u64>,
    /// The calls by which the second was taken.
    frames: Vec<usize>,
}

/// A search that takes longer is given up, and so is a longer cycle.
const LONGEST: usize = 6;
/// So many edges between two locks are kept, by different threads or under different gates.
const KEPT: usize = 4;

impl Orders {
    pub fn reset(&mut self) {
        self.edges.clear();
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
        add(w, first.lock, lock, gates.collect(), pc);
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

fn add(w: &mut World, from: u64, to: u64, gates: Vec<u64>, pc: usize) {
    let thread = w.current;
    let known = w.orders.edges.entry(from).or_default();
    let same = known.iter().filter(|edge| edge.to == to);
    if same.clone().count() >= KEPT || same.clone().any(|edge| edge.thread == thread && edge.gates == gates) {
        return;
    }
    let (frames, depth) = finding::frames(w, thread, pc);
    let edge = Edge { to, thread, gates, frames: frames[..depth].to_vec() };
    let cycle = search(w, from, &edge);
    if let Some(cycle) = cycle {
        let stacks: Vec<(ThreadId, Vec<usize>)> = std::iter::once(&edge)
            .chain(cycle.iter().map(|&(from, place)| &w.orders.edges[&from][place]))
            .map(|edge| (edge.thread, edge.frames.clone()))
            .collect();
        finding::inversion(w, &stacks);
    }
    w.orders.edges.entry(from).or_default().push(edge);
}

/// Edges that lead from the end of a new edge back to its beginning, as (lock, place).
fn search(w: &World, goal: u64, new: &Edge) -> Option<Vec<(u64, usize)>> {
    fn go(w: &World, at: u64, goal: u64, new: &Edge, path: &mut Vec<(u64, usize)>) -> bool {
        if at == goal {
            return true;
        }
        let Some(edges) = w.orders.edges.get(&at).filter(|_| path.len() < LONGEST) else { return false };
        for (place, edge) in edges.iter().enumerate() {
            let before = path.iter().map(|&(from, place)| &w.orders.edges[&from][place]);
            let fits = before.chain([new]).all(|other| w.may_meet(edge, other));
            if fits && path.iter().all(|&(from, _)| from != edge.to) {
                path.push((at, place));
                if go(w, edge.to, goal, new, path) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }
    let mut path = Vec::new();
    go(w, new.to, goal, new, &mut path).then_some(path)
}

impl World {
    /// Whether two threads can be at these edges at the same time.
    fn may_meet(&self, a: &Edge, b: &Edge) -> bool {
        let life = |edge: &Edge| self.fibers[edge.thread.as_usize()].life;
        let ((a_born, a_died), (b_born, b_died)) = (life(a), life(b));
        a.thread != b.thread
            && a_born < b_died
            && b_born < a_died
            && !a.gates.iter().any(|gate| b.gates.contains(gate))
    }
}
