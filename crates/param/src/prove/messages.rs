//! Whether the reads of a cube find their messages in a state of the release–acquire machine.
//!
//! A cube is about a state and about reads that are still to come, of messages that are there. Each read needs a message
//! with these properties:
//!
//! - the values fit the literals;
//! - it is no older than what those have seen who come before the read: the processes, the fences and the chains of
//!   locked steps whose entries reach it, and the writers of what earlier reads take;
//! - a locked read takes what no other locked step takes;
//! - a late one takes what a write still to come can be put before, and what none of its floor has seen.

use super::cube::Cube;
use super::literal::{Literal, Var};
use super::pool::{holds, read};
use super::weak::Entry;
use super::work::Work;
use crate::explore::{Instance, State, View};

/// The reads of a cube, over the processes of an instance.
pub struct Reads<'a> {
    instance: &'a Instance<'a>,
    cube: &'a Cube,
    env: &'a [u8; 16],
    /// Node, variable of the cube, location.
    reads: Vec<(u8, Var, usize)>,
    /// Literals that speak of reads, each with the last read that it speaks of.
    literals: Vec<(usize, Literal)>,
    work: &'a Work<'a>,
}

impl<'a> Reads<'a> {
    /// Of a cube whose processes are given by `env`.
    pub fn new(
        instance: &'a Instance<'a>,
        cube: &'a Cube,
        env: &'a [u8; 16],
        work: &'a Work<'a>,
    ) -> Reads<'a> {
        let mut reads: Vec<(u8, Var, usize)> = Vec::new();
        let mut literals = Vec::new();
        for literal in &cube.literals {
            let mut last = None;
            literal.vars(&mut |var| {
                let Some(node) = var.node() else { return };
                let at = reads.iter().position(|(_, other, _)| *other == var).unwrap_or_else(|| {
                    let cell = instance.cell(var.symbol(), var.indices().map(|p| env[p as usize]));
                    reads.push((node, var, instance.location(cell)));
                    reads.len() - 1
                });
                last = last.max(Some(at));
            });
            literals.extend(last.map(|last| (last, literal.clone())));
        }
        Reads { instance, cube, env, reads, literals, work }
    }

    /// Whether all reads find their messages.
    pub fn found_in(&self, state: &State) -> bool {
        self.find(state, &mut Vec::new())
    }

    fn find(&self, state: &State, taken: &mut Vec<u8>) -> bool {
        if !self.work.spend(1) {
            return true;
        }
        let Some((_, _, location)) = self.reads.get(taken.len()) else { return true };
        (0..state.messages.locations[*location].len() as u8).any(|at| {
            taken.push(at);
            let fits = self.fits(state, taken) && self.find(state, taken);
            taken.pop();
            fits
        })
    }

    /// Whether the last message that was taken agrees with the others.
    fn fits(&self, state: &State, taken: &[u8]) -> bool {
        let last = taken.len() - 1;
        let value =
            |var: Var| match self.reads[..=last].iter().zip(taken).find(|((_, other, _), _)| *other == var) {
                Some(((.., location), at)) => {
                    i64::from(state.messages.locations[*location][*at as usize].value)
                }
                None => read(self.instance, var.map(|p| self.env[p as usize], |n| n), state),
            };
        (self.literals.iter().filter(|(at, _)| *at == last)).all(|(_, literal)| holds(literal, &value))
            && self.seen(state, taken)
            && (0..last)
                .all(|other| self.pair(state, taken, other, last) && self.pair(state, taken, last, other))
            && self.pair(state, taken, last, last)
            && self.locked(state, taken)
    }

    /// What has been seen by whom an entry stands for.
    fn entry<'s>(&self, state: &'s State, entry: &Entry) -> Option<&'s View> {
        let messages = &state.messages;
        match entry {
            Entry::Any(process) => Some(&messages.views[self.env[*process as usize] as usize]),
            Entry::Fences => Some(&messages.fenced),
            Entry::Location(location) => {
                let cell =
                    self.instance.cell(location.symbol(), location.indices().map(|p| self.env[p as usize]));
                messages.locations[self.instance.location(cell)].last().map(|message| &message.view)
            }
            Entry::Write(_) | Entry::Own(..) => None,
        }
    }

    fn seen(&self, state: &State, taken: &[u8]) -> bool {
        let last = taken.len() - 1;
        let (node, var, location) = self.reads[last];
        let at = taken[last];
        let late =
            self.cube.weak.nodes[node as usize].late.iter().find(|(other, _)| *other == var.location());
        let floor = late.map_or(0, |(_, floor)| *floor);
        let entries = &self.cube.weak.entries;
        (late.is_none() || at > 0)
            && entries.iter().all(|(entry, mask)| {
                let seen = self.entry(state, entry).map_or(0, |view| view[location]);
                (mask >> node & 1 == 0 || seen <= at) && (mask & floor == 0 || seen < at)
            })
    }

    /// Whether the message of read `b` is no older than what the writer of `a`'s had seen, if `a` comes before `b`.
    fn pair(&self, state: &State, taken: &[u8], a: usize, b: usize) -> bool {
        let (from, _, source) = self.reads[a];
        let (to, var, location) = self.reads[b];
        let view = &state.messages.locations[source][taken[a] as usize].view;
        let nodes = &self.cube.weak.nodes;
        let floor = nodes[to as usize].late.iter().find(|(other, _)| *other == var.location());
        (nodes[from as usize].reach >> to & 1 == 0 || view[location] <= taken[b])
            && floor
                .is_none_or(|(_, floor)| nodes[from as usize].reach & floor == 0 || view[location] < taken[b])
    }

    /// Whether no two locked steps take one message.
    fn locked(&self, state: &State, taken: &[u8]) -> bool {
        let swaps = |read: usize| {
            let (node, var, _) = self.reads[read];
            self.cube.weak.nodes[node as usize].swaps.contains(&var.location())
        };
        let last = taken.len() - 1;
        let location = self.reads[last].2;
        if !swaps(last) {
            return true;
        }
        let next = state.messages.locations[location].get(taken[last] as usize + 1);
        !next.is_some_and(|message| message.follows)
            && !(0..last)
                .any(|other| self.reads[other].2 == location && taken[other] == taken[last] && swaps(other))
    }
}
