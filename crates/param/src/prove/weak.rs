//! The weak part of a cube: reads that still wait for their write, and the order around them.
//!
//! Source: Conchon, Declerck, Zaïdi 2016, with the events of the paper reduced to what can still matter. The
//! search runs backward along an order L of steps that contains program order and reads-from. Every future
//! edge of ghb starts at a new (L-earlier) event, except from-reads edges out of reads that are not yet
//! satisfied: a future cycle passes through such a read. So a cube keeps the unsatisfied read *nodes* (the
//! reads of one step), which of them reaches which in ghb, and for each *entry* (the old events that a new one
//! can be ordered before) the set of nodes it reaches. There are no event names and no bound on events.
//!
//! Two orders L are known ([`Order`]), and each finds what the other does not:
//!
//! *Coherence*: L contains co. TSO: po ∪ rf ∪ co is acyclic wherever ghb is (an edge of po from a write to a
//! read can only be followed by po up to the next write, and write-write order is kept), so a new write is
//! co-before the old ones, and an old read that does not take it is from-reads-before it. PSO: write-write order
//! is not kept, so this needs that every location is written by one process alone, or by locked steps
//! alone: then co is inside program order and the order of locked steps. Reads of different processes stay
//! unordered, so there are few cubes; but a cube does not speak of one moment of a run.
//!
//! *Issue*: L is the order in which a store-buffer machine issues the steps, and an edge says which of two
//! events happens first on its clock: a read, fence or locked step when it is issued, so before everything
//! issued later; a buffered write when it reaches memory. A cube then speaks of a state of the machine and of
//! reads that are still to come, which is what makes candidates from a finite instance hit. A location is
//! *racy* if several processes write it, one of them through its buffer (as in 2+2W). An old read of such a
//! location may also miss a new write because a write issued earlier reached memory later
//! (*late*): the missed write is then kept as a node of its own, since the read's source happens after it.
//! What is forgotten beyond that only admits more executions: safe stays safe, and a spurious trace fails
//! its replay.
//!
//! Release–acquire has an order of its own, *happens-before* ([`super::release_acquire`]).

use super::literal::{ProcId, Var};
use super::release_acquire::{self, ReleaseAcquire};
use crate::Memory;

/// A set of nodes, by number.
pub type Mask = u32;
/// The most nodes of a cube.
pub const MAX_NODES: usize = 32;

/// The reads of a cube that wait for their write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weak {
    /// A node's number is its index; bit `n` of a [`Mask`] stands for node `n`.
    pub nodes: Vec<Node>,
    /// Sorted by entry; no empty mask.
    pub entries: Vec<(Entry, Mask)>,
}

/// The unsatisfied reads of one step of `thread`; which locations it reads is seen in the cube's literals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The process that reads.
    pub thread: ProcId,
    /// The nodes ordered after this one, itself included; transitively closed.
    pub reach: Mask,
    /// Locations whose read must come from a write that was overtaken (racy locations), with the nodes
    /// that happen before that write (under release–acquire: that do not happen after it).
    pub late: Vec<(Var, Mask)>,
    /// Locations that the step also writes, in a locked step; sorted. Release–acquire only.
    pub swaps: Vec<Var>,
}

/// Old events that a new event can be ordered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entry {
    /// Every event of the process.
    Any(ProcId),
    /// The events that a buffered write of the process precedes: its writes and drains (TSO), drains (PSO).
    Write(ProcId),
    /// The writes to a location.
    Location(Var),
    /// The writes of a process to a location, and those of others that it saw there (order of issue).
    Own(ProcId, Var),
    /// Fences (release–acquire).
    Fences,
}

/// What a step adds.
pub struct NewEvent<'a> {
    /// The process that takes the step.
    pub thread: ProcId,
    /// The weak locations that it writes.
    pub writes: &'a [Var],
    /// The weak locations that it reads.
    pub reads: &'a [Var],
    /// The buffer is drained first: a fence, or a locked step.
    pub drains: bool,
    /// The step reads and writes at once and does not go through the buffer.
    pub locked: bool,
}

impl NewEvent<'_> {
    fn is_buffered_write(&self) -> bool {
        !self.writes.is_empty() && !self.locked
    }

    /// The locations that a locked step reads and writes.
    fn swaps(&self) -> Vec<Var> {
        let both = self.reads.iter().filter(|location| self.locked && self.writes.contains(location));
        let mut both: Vec<Var> = both.copied().collect();
        both.sort_unstable();
        both
    }
}

/// How an old read relates to a new write of its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Reads it.
    Reads,
    /// Was done before it reached memory.
    Before,
    /// Was done after it was overwritten by a write issued earlier.
    Late,
}

/// A memory model: which edges a new event adds, and which old reads may take a new write.
pub trait Edges: Sync {
    /// The nodes that the new event precedes, by preserved program order, fences, co and fr.
    fn successors(&self, weak: &Weak, event: &NewEvent<'_>) -> Mask;
    /// The entries through which later-found events reach the new one.
    fn entries(&self, event: &NewEvent<'_>) -> Vec<Entry>;
    /// The entry through which later-found events reach a write of `location` that another process read.
    fn overwritten(&self, _reader: ProcId, _location: Var) -> Option<Entry> {
        None
    }
    /// The choices for a read of `location` by `reader`.
    fn choices(&self, event: &NewEvent<'_>, location: Var, reader: ProcId) -> &'static [Choice];
    /// Release–acquire: what a read was done before does not happen before it, and views say what is old.
    fn happens_before(&self) -> bool {
        false
    }
    /// Release–acquire: whether only locked steps write the location.
    fn chained(&self, _location: Var) -> bool {
        false
    }
}

/// The order in which steps are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// An order that contains co.
    Coherence,
    /// The order in which a store-buffer machine issues the steps.
    Issue,
    /// The order of release–acquire: it contains happens-before.
    HappensBefore,
}

impl Order {
    /// The word used in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Order::Coherence => "coherence",
            Order::Issue => "issue",
            Order::HappensBefore => "happens-before",
        }
    }

    /// This order, or the one that is needed: under PSO a racy location has a co that leaves the coherence order.
    pub fn valid(self, memory: Memory, racy: &[bool]) -> Order {
        match memory {
            Memory::Ra => Order::HappensBefore,
            Memory::Pso if racy.contains(&true) => Order::Issue,
            _ => self,
        }
    }
}

/// The model's part of the prover; `order` is [`Order::valid`]. SC never asks: its weak variables are plain.
pub fn edges<'a>(memory: Memory, order: Order, racy: &'a [bool], chained: &'a [bool]) -> Box<dyn Edges + 'a> {
    match (memory, order) {
        (Memory::Ra, _) => Box::new(ReleaseAcquire { racy, chained }),
        (Memory::Pso, Order::Coherence) => Box::new(Pso),
        (Memory::Sc | Memory::Tso, Order::Coherence) => Box::new(Tso),
        _ => Box::new(Issue { racy, fifo: memory != Memory::Pso }),
    }
}

/// TSO in the order of coherence.
pub struct Tso;

impl Edges for Tso {
    fn successors(&self, weak: &Weak, event: &NewEvent<'_>) -> Mask {
        let mut mask = if event.is_buffered_write() {
            weak.entry(Entry::Write(event.thread)) // ppo WW; W→R is not preserved
        } else {
            weak.entry(Entry::Any(event.thread)) // ppo RR, RW; fences and locked steps
        };
        for location in event.writes.iter().chain(event.reads) {
            mask |= weak.entry(Entry::Location(*location)); // co, fr
        }
        mask
    }

    fn entries(&self, event: &NewEvent<'_>) -> Vec<Entry> {
        let mut entries = vec![Entry::Any(event.thread)];
        if !event.writes.is_empty() || event.drains {
            entries.push(Entry::Write(event.thread));
        }
        entries.extend(event.writes.iter().map(|location| Entry::Location(*location)));
        entries
    }

    fn choices(&self, event: &NewEvent<'_>, _: Var, reader: ProcId) -> &'static [Choice] {
        // A po-earlier write of the same process is seen unless a later one was.
        if reader == event.thread { &[Choice::Reads] } else { &[Choice::Reads, Choice::Before] }
    }
}

/// PSO where co is inside L.
pub struct Pso;

impl Edges for Pso {
    fn successors(&self, weak: &Weak, event: &NewEvent<'_>) -> Mask {
        let mut mask = if event.is_buffered_write() {
            weak.entry(Entry::Write(event.thread)) // drains alone: write-write order is not kept
        } else {
            weak.entry(Entry::Any(event.thread))
        };
        for location in event.writes.iter().chain(event.reads) {
            mask |= weak.entry(Entry::Location(*location)); // co, fr
        }
        mask
    }

    fn entries(&self, event: &NewEvent<'_>) -> Vec<Entry> {
        let mut entries = vec![Entry::Any(event.thread)];
        if event.drains {
            entries.push(Entry::Write(event.thread));
        }
        entries.extend(event.writes.iter().map(|location| Entry::Location(*location)));
        entries
    }

    fn choices(&self, event: &NewEvent<'_>, location: Var, reader: ProcId) -> &'static [Choice] {
        Tso.choices(event, location, reader)
    }
}

/// TSO and PSO in the order of issue.
pub struct Issue<'a> {
    /// Per symbol, whether several processes write it and one of them through its buffer.
    pub racy: &'a [bool],
    /// A buffer keeps the order of all writes (TSO), not only of those to one location (PSO).
    pub fifo: bool,
}

impl Edges for Issue<'_> {
    fn successors(&self, weak: &Weak, event: &NewEvent<'_>) -> Mask {
        if !event.is_buffered_write() {
            return ((1_u64 << weak.nodes.len()) - 1) as Mask; // done when issued: before all that is issued later
        }
        let mut mask = weak.entry(Entry::Write(event.thread));
        for location in event.writes {
            mask |= weak.entry(Entry::Own(event.thread, *location)); // same location: FIFO
        }
        mask
    }

    fn entries(&self, event: &NewEvent<'_>) -> Vec<Entry> {
        let mut entries = Vec::new();
        if event.drains || (self.fifo && !event.writes.is_empty()) {
            entries.push(Entry::Write(event.thread));
        }
        if !self.fifo {
            entries.extend(event.writes.iter().map(|location| Entry::Own(event.thread, *location)));
        }
        entries
    }

    fn overwritten(&self, reader: ProcId, location: Var) -> Option<Entry> {
        // Who saw a foreign write had none of its own pending: all it wrote before was overwritten by it.
        self.racy[location.symbol()].then_some(Entry::Own(reader, location))
    }

    fn choices(&self, event: &NewEvent<'_>, location: Var, reader: ProcId) -> &'static [Choice] {
        match (reader == event.thread, self.racy[location.symbol()]) {
            (true, false) => &[Choice::Reads],
            (true, true) => &[Choice::Reads, Choice::Late],
            (false, false) => &[Choice::Reads, Choice::Before],
            (false, true) => &[Choice::Reads, Choice::Before, Choice::Late],
        }
    }
}

impl Weak {
    /// The nodes that an entry reaches.
    pub fn entry(&self, entry: Entry) -> Mask {
        self.entries.binary_search_by_key(&entry, |(e, _)| *e).map_or(0, |at| self.entries[at].1)
    }

    /// Whether no read waits.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes after an event that is put in front of everything and those before it; `None` if ghb has a cycle.
    /// `reads`: old reads of the written locations with their choice. More of them only add constraints, so
    /// what is impossible for some is impossible for all.
    pub fn sides(
        &self,
        edges: &dyn Edges,
        event: &NewEvent<'_>,
        reads: &[(u8, Var, Choice)],
    ) -> Option<(Mask, Mask)> {
        let mut after = edges.successors(self, event);
        let mut before: Mask = 0;
        for &(node, location, choice) in reads {
            let old = &self.nodes[node as usize];
            let floor = old.late.iter().find(|(other, _)| *other == location).map(|(_, floor)| *floor);
            match choice {
                // A locked write is in memory when it is issued: nothing overtakes it.
                Choice::Reads if floor.is_some() && event.locked && !edges.happens_before() => return None,
                Choice::Reads => {
                    before |= floor.unwrap_or(0);
                    // rfe; the own process needs no order to see its own write.
                    if old.thread != event.thread {
                        after |= old.reach;
                    }
                }
                Choice::Before => before |= 1 << node, // fr
                Choice::Late if edges.happens_before() => {}
                Choice::Late => after |= old.reach, // co, then rfe
            }
        }
        if before & after != 0 {
            return None;
        }
        if edges.happens_before() && !release_acquire::locked_reads_agree(self, edges, reads) {
            return None;
        }
        // The source of a late read comes after those that read the missed write, and before the read itself.
        let impossible = |&(node, location, choice): &(u8, Var, Choice)| {
            choice == Choice::Late && self.nodes[node as usize].reach & readers(reads, location) != 0
        };
        if reads.iter().any(impossible) { None } else { Some((after, before)) }
    }

    /// Adds an event in front of everything; `reads` as in [`Weak::sides`]. `None` if ghb has a cycle. The new node,
    /// if it has reads, is the last of the result.
    pub fn extend(
        &self,
        edges: &dyn Edges,
        event: &NewEvent<'_>,
        reads: &[(u8, Var, Choice)],
    ) -> Option<Weak> {
        let (after, before) = self.sides(edges, event, reads)?;
        // Under release–acquire a late read is one that the missed write happens before: others are no different
        // from those that come before the write.
        let early = |&(node, _, choice): &(u8, Var, Choice)| choice == Choice::Late && after >> node & 1 == 0;
        if edges.happens_before() && reads.iter().any(early) {
            return None;
        }
        let mut weak = self.clone();
        let mut reach = after;
        // A write that a late read missed stays as a node without reads: the read's source happens after it.
        let missed = reads.iter().any(|(.., choice)| *choice == Choice::Late);
        if !event.reads.is_empty() || missed {
            let node = weak.nodes.len();
            reach |= 1 << node;
            let swaps = if edges.happens_before() { event.swaps() } else { Vec::new() };
            weak.nodes.push(Node { thread: event.thread, reach, late: Vec::new(), swaps });
        }
        // Whatever reaches a read that comes before the event now reaches what the event does.
        let spread = |mask: &mut Mask| {
            if *mask & before != 0 && !edges.happens_before() {
                *mask |= reach;
            }
        };
        weak.nodes.iter_mut().for_each(|node| spread(&mut node.reach));
        weak.entries.iter_mut().for_each(|(_, mask)| spread(mask));
        for entry in edges.entries(event) {
            weak.add_entry(entry, reach);
        }
        for &(node, location, choice) in reads {
            let reader = self.nodes[node as usize].thread;
            if choice == Choice::Reads
                && reader != event.thread
                && let Some(entry) = edges.overwritten(reader, location)
            {
                weak.add_entry(entry, reach);
            }
        }
        for &(node, location, choice) in reads {
            let floor = 1 << self.nodes.len() | readers(reads, location);
            let late = &mut weak.nodes[node as usize].late;
            match (choice, late.iter_mut().find(|(other, _)| *other == location)) {
                (Choice::Late, Some((_, old))) => *old |= floor,
                (Choice::Late, None) => {
                    late.push((location, floor));
                    late.sort_unstable();
                }
                (Choice::Reads, _) => late.retain(|(other, _)| *other != location),
                (Choice::Before, _) => {}
            }
        }
        Some(weak)
    }

    /// Adds what follows by transitivity.
    pub fn close(&mut self) {
        for _ in 0..self.nodes.len() {
            let reach: Vec<Mask> = self.nodes.iter().map(|node| node.reach).collect();
            let closed = |mask: Mask| {
                reach.iter().enumerate().filter(|(n, _)| mask >> n & 1 == 1).fold(mask, |m, (_, r)| m | r)
            };
            self.nodes.iter_mut().for_each(|node| node.reach = closed(node.reach));
            self.entries.iter_mut().for_each(|(_, mask)| *mask = closed(*mask));
        }
    }

    /// The entry reaches these nodes too.
    pub fn add_entry(&mut self, entry: Entry, mask: Mask) {
        if mask == 0 {
            return;
        }
        match self.entries.binary_search_by_key(&entry, |(e, _)| *e) {
            Ok(at) => self.entries[at].1 |= mask,
            Err(at) => self.entries.insert(at, (entry, mask)),
        }
    }

    /// Keeps the nodes whose bit is set in `keep`, renumbered in order; `numbers[old]` is the new number.
    pub fn retain(&mut self, keep: Mask) -> Vec<u8> {
        let mut numbers = Vec::new();
        let mut next = 0;
        for node in 0..self.nodes.len() {
            numbers.push(next);
            next += u8::from(keep >> node & 1 == 1);
        }
        if next as usize == self.nodes.len() {
            return numbers;
        }
        let squeeze = |mask: Mask| {
            let mut result = 0;
            for (node, number) in numbers.iter().enumerate() {
                if (keep & mask) >> node & 1 == 1 {
                    result |= 1 << number;
                }
            }
            result
        };
        let mut at = 0;
        self.nodes.retain(|_| {
            at += 1;
            keep >> (at - 1) & 1 == 1
        });
        for node in &mut self.nodes {
            node.reach = squeeze(node.reach);
            node.late.iter_mut().for_each(|(_, floor)| *floor = squeeze(*floor));
        }
        self.entries.iter_mut().for_each(|(_, mask)| *mask = squeeze(*mask));
        self.entries.retain(|(_, mask)| *mask != 0);
        numbers
    }

    /// Puts other processes in the place of the present ones.
    pub fn rename(&mut self, procs: impl Fn(ProcId) -> ProcId + Copy) {
        for node in &mut self.nodes {
            node.thread = procs(node.thread);
            node.late.iter_mut().for_each(|(location, _)| *location = location.map(procs, |n| n));
            node.late.sort_unstable();
            node.swaps.iter_mut().for_each(|location| *location = location.map(procs, |n| n));
            node.swaps.sort_unstable();
        }
        for (entry, _) in &mut self.entries {
            *entry = entry.rename(procs);
        }
        self.entries.sort_unstable();
    }

    /// Visits every process that it speaks of.
    pub fn processes(&self, visit: &mut impl FnMut(ProcId)) {
        for node in &self.nodes {
            visit(node.thread);
            node.late.iter().for_each(|(location, _)| location.indices().for_each(&mut *visit));
            node.swaps.iter().for_each(|location| location.indices().for_each(&mut *visit));
        }
        self.entries.iter().for_each(|(entry, _)| entry.processes(visit));
    }

    /// Whether swapping two processes, and their nodes in order, changes nothing.
    pub fn is_symmetric(&self, swap: impl Fn(ProcId) -> ProcId + Copy, nodes: &[u8]) -> bool {
        let image = |mask: Mask| {
            (nodes.iter().enumerate())
                .filter(|(n, _)| mask >> n & 1 == 1)
                .fold(0, |m: Mask, (_, n)| m | 1 << n)
        };
        self.nodes.iter().zip(nodes).all(|(node, to)| {
            let to = &self.nodes[*to as usize];
            to.thread == swap(node.thread)
                && to.reach == image(node.reach)
                && to.late.len() == node.late.len()
                && to.swaps.len() == node.swaps.len()
                && node.swaps.iter().all(|location| to.swaps.contains(&location.map(swap, |n| n)))
                && (node.late.iter())
                    .all(|(location, floor)| to.late.contains(&(location.map(swap, |n| n), image(*floor))))
        }) && self.entries.iter().all(|(entry, mask)| self.entry(entry.rename(swap)) == image(*mask))
    }
}

/// The nodes that read the new write of a location: they did so before a late source overwrote it.
pub fn readers(reads: &[(u8, Var, Choice)], location: Var) -> Mask {
    (reads.iter().filter(|(_, other, choice)| *other == location && *choice == Choice::Reads))
        .fold(0, |mask, (node, ..)| mask | 1 << node)
}

impl Entry {
    /// Visits every process that it speaks of.
    pub fn processes(self, visit: &mut impl FnMut(ProcId)) {
        match self {
            Entry::Any(p) | Entry::Write(p) => visit(p),
            Entry::Location(location) => location.indices().for_each(visit),
            Entry::Fences => {}
            Entry::Own(p, location) => {
                visit(p);
                location.indices().for_each(visit);
            }
        }
    }

    /// The same entry for other processes.
    pub fn rename(self, procs: impl Fn(ProcId) -> ProcId + Copy) -> Entry {
        match self {
            Entry::Any(p) => Entry::Any(procs(p)),
            Entry::Write(p) => Entry::Write(procs(p)),
            Entry::Location(location) => Entry::Location(location.map(procs, |n| n)),
            Entry::Fences => Entry::Fences,
            Entry::Own(p, location) => Entry::Own(procs(p), location.map(procs, |n| n)),
        }
    }
}
