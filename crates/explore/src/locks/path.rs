//! What is left of a search in which threads take turns, as plain data.
//!
//! A turn may get further choices later, from wherever the search is. So it is not cut into parts: what is left is one
//! [`Task`](crate::task::Task) with all turns of the present graph. Cells are named by address, because their numbers are
//! those of one worker.

use super::footprint::Footprint;
use super::kept::Seen;
use super::races::done;
use super::{Locks, Sleeper, Step, Turn};
use crate::engine::Engine;
use crate::error::Error;
use crate::history::History;
use crate::search::{Frame, Trail};
use crate::task::{Task, TaskChoice};
use porf_consistency::{Choice, MemoryModel};
use porf_event::{Location, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc};
use serde::{Deserialize, Serialize};

/// Cells by address and size, and whether they are written.
type Cells = Vec<(u64, u8, bool)>;

/// The turns of a graph, and what is untried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Path {
    /// There is nothing to extend.
    seen: bool,
    turns: Vec<PathTurn>,
    /// Events with their untried choices.
    frames: Vec<(u32, Vec<TaskChoice>)>,
    /// Locks that were kept, those that guard something, and which was held when which was taken.
    #[serde(default)]
    kept: Vec<(u64, u8)>,
    #[serde(default)]
    guards: Vec<(u64, u8)>,
    #[serde(default)]
    orders: Vec<((u64, u8), (u64, u8))>,
}

/// A [`Turn`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PathTurn {
    event: u32,
    asleep: Vec<(u16, Cells)>,
    chosen: Vec<u16>,
    touches: Cells,
}

fn cells(history: &History<'_>, touches: &Footprint) -> Cells {
    let cell = |(loc, writes): (Loc, bool)| {
        let place = history.cells()[loc.as_usize()];
        (place.location.0, place.size, writes)
    };
    touches.iter().map(cell).collect()
}

fn footprint(history: &mut History<'_>, cells: &Cells) -> Result<Footprint, Error> {
    let mut touches = Footprint::default();
    for &(address, size, writes) in cells {
        if let Some(loc) = history.locate(Location(address), size)? {
            touches.touch(loc, writes);
        }
    }
    Ok(touches)
}

impl Locks {
    /// The turn that an event begins.
    fn begins(&self, event: Ev) -> bool {
        self.turns.binary_search_by_key(&event, |turn| turn.event).is_ok()
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// All that is left to do, taken away from this search.
    pub fn take_path(&mut self) -> Option<Task> {
        let locks = self.locks.as_ref()?;
        let Trail { now: graph, history, frames, choices, seen, .. } = &mut self.trail;
        let untried = |at: usize| {
            let end = frames.get(at + 1).map_or(choices.len(), |next| next.start as usize);
            &choices[frames[at].start as usize..end]
        };
        let last = if *seen {
            frames[(0..frames.len()).rev().find(|&at| !untried(at).is_empty())?].event
        } else {
            graph.newest()
        };
        let kept = (0..frames.len()).filter(|&at| frames[at].event <= last);
        let is_left = |at: &usize| !untried(*at).is_empty() || locks.begins(frames[*at].event);
        let left = kept.filter(is_left).map(|at| {
            (frames[at].event.0, untried(at).iter().map(|&choice| TaskChoice::from(choice)).collect())
        });
        let turns = locks.turns.iter().filter(|turn| turn.event <= last).map(|turn| PathTurn {
            event: turn.event.0,
            asleep: turn.asleep.iter().map(|s| (s.thread.0, cells(history, &s.touches))).collect(),
            chosen: turn.chosen.iter().map(|thread| thread.0).collect(),
            touches: cells(history, &turn.touches),
        });
        let cell = |lock: &Loc| {
            let place = history.cells()[lock.as_usize()];
            (place.location.0, place.size)
        };
        let path = Path {
            seen: *seen,
            turns: turns.collect(),
            frames: left.collect(),
            kept: locks.seen.kept.iter().map(cell).collect(),
            guards: locks.seen.guards.iter().map(cell).collect(),
            orders: locks.seen.orders.iter().map(|(before, taken)| (cell(before), cell(taken))).collect(),
        };
        let task = Task::along(graph, last, path);
        choices.clear();
        frames.clear();
        *seen = true;
        Some(task)
    }

    /// Goes on where another search was broken off. The events are there, with sources and places.
    pub fn follow(&mut self, path: &Path) -> Result<(), Error> {
        self.see_again(path)?;
        for turn in &path.turns {
            let history = &mut self.trail.history;
            let mut asleep = Vec::new();
            for (thread, cells) in &turn.asleep {
                asleep.push(Sleeper { thread: ThreadId(*thread), touches: footprint(history, cells)? });
            }
            let touches = footprint(history, &turn.touches)?;
            let event = Ev(turn.event);
            let read = self.trail.now.event(event);
            let (thread, lock) = (read.id.thread, read.loc);
            let chosen = turn.chosen.iter().map(|&thread| ThreadId(thread)).collect();
            let Some(locks) = &mut self.locks else { return Err(super::WITHOUT) };
            if !locks.words.contains(&lock) {
                locks.words.push(lock);
            }
            let step = Step::default();
            locks.turns.push(Turn { event, thread, lock, asleep, chosen, step, touches });
        }
        self.settle_in_order();
        for (event, choices) in &path.frames {
            let start = self.trail.choices.len() as u32;
            self.trail.frames.push(Frame { event: Ev(*event), revisited: Ev::NONE, start });
            self.trail.choices.extend(choices.iter().map(|&choice| Choice::from(choice)));
        }
        self.trail.seen = path.seen;
        Ok(())
    }

    /// What was seen of locks.
    fn see_again(&mut self, path: &Path) -> Result<(), Error> {
        let history = &mut self.trail.history;
        let mut lock = |&(address, size): &(u64, u8)| -> Result<Loc, Error> {
            history.locate(Location(address), size)?.ok_or(super::WITHOUT)
        };
        let mut seen = Seen::default();
        for cell in &path.kept {
            seen.kept.push(lock(cell)?);
        }
        for cell in &path.guards {
            seen.guards.push(lock(cell)?);
        }
        for (before, taken) in &path.orders {
            seen.orders.push((lock(before)?, lock(taken)?));
        }
        if let Some(locks) = &mut self.locks {
            locks.seen = seen;
        }
        Ok(())
    }

    /// Computes the clocks of all events, and what was done with each turn but the last. Nothing is read from a newer event.
    fn settle_in_order(&mut self) {
        let mut next = 0;
        for event in self.trail.now.all() {
            let Some(locks) = &mut self.locks else { return };
            if locks.turns.get(next).is_some_and(|turn| turn.event == event) {
                if next > 0 {
                    let step = done(locks, &self.trail.now, locks.turns[next - 1].event, event);
                    locks.end_step(&mut self.trail.now, next - 1, step);
                }
                next += 1;
            }
            let label = self.trail.now.event(event).label;
            self.trail.now.update_porf(event);
            if !label.is_read() || self.trail.now.rf(event).is_some() {
                self.update_clocks(event);
            }
        }
    }
}

impl Locks {
    /// Notes what was done with a turn. Who keeps a lock comes after all that had it before.
    pub(super) fn end_step(&mut self, graph: &mut ExecutionGraph, at: usize, mut step: Step) {
        let lock = self.turns[at].lock;
        if step.has_lock {
            self.keep(graph, lock);
        }
        step.keeps_lock = step.waits || (step.has_lock && !self.is_open(graph, lock));
        step.touches.touch(lock, step.keeps_lock);
        let (older, turn) = self.turns.split_at_mut(at);
        let Some(turn) = turn.first_mut() else { return };
        turn.touches.join(&step.touches);
        if let (true, Some(last)) = (step.keeps_lock, step.last) {
            for other in older.iter().filter(|other| other.lock == turn.lock) {
                if let Some(end) = super::release_after(graph, other.event, other.lock) {
                    graph.add_need(last, end);
                }
            }
        }
        turn.step = step;
    }
}
