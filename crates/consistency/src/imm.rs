//! IMM, the intermediate memory model, over bit rows.
//!
//! Source: the papers that `models/imm.cat` cites; the names here are the names there. `tests/weave.rs` of
//! `porf-explore` compares the two.
//!
//! Creation and joining of threads are part of po, and order as fences do.
//! Limits: graphs of at most 128 events; larger ones are refused.
//! Cost: a few passes over the events, one word operation each; quadratic closures of happens-before and of
//! dependencies where there is synchronisation or forwarding.

use crate::checker::{Checker, Initial};
use crate::imm_mo::{DEPS, is_exclusive_read};
use crate::labels::no_access;
use crate::order::Architecture;
use porf_cat::{Diagnostic, Span};
use porf_event::{FenceMode, Label, ReadMode, WriteMode};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Need};
use porf_relation::Relation;

/// A set of events, by position less one.
pub(crate) type Row = u128;

/// The most events of a graph.
pub(crate) const MOST: usize = 128;

/// IMM on graphs that may have holes.
#[derive(Clone, Debug, Default)]
pub struct Imm {
    /// For each event: what is before it in po, hb, the global order; what is after it in eco.
    po: Vec<Row>,
    /// Before it in its own thread.
    own: Vec<Row>,
    /// Accesses to the same location.
    locs: Vec<Row>,
    /// Before it in po-other;hb.
    via: Vec<Row>,
    hb: Vec<Row>,
    ar: Vec<Row>,
    eco: Vec<Row>,
    deps: Vec<Row>,
    sets: Sets,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sets {
    reads: Row,
    /// Fences, and what orders as they do.
    fences: Row,
    acquire_reads: Row,
    acquire_fences: Row,
    release_writes: Row,
    release_fences: Row,
    sc_fences: Row,
    sc_accesses: Row,
    /// Rex: reads of read-modify-writes.
    exclusive_reads: Row,
    /// Writes of read-modify-writes.
    strong: Row,
}

impl Checker for Imm {
    fn architecture(&self) -> Option<Architecture> {
        Some(Architecture::Imm)
    }

    fn consistent(&mut self, linked: &impl Linked, _: Initial<'_>, _: Ev) -> Result<bool, Diagnostic> {
        let graph = linked.graph();
        if !is_atomic(graph) {
            return Ok(false);
        }
        self.order(graph)?;
        self.communication(graph);
        // COHERENCE: irreflexive hb;eco?.
        if (0..self.hb.len()).any(|e| self.hb[e] & (self.eco[e] | 1 << e) != 0) {
            return Ok(false);
        }
        if !self.is_sequential(graph) {
            return Ok(false);
        }
        self.global(linked);
        Ok(is_acyclic(&self.ar))
    }

    fn flags(&mut self, linked: &impl Linked, _: Initial<'_>) -> Result<Vec<String>, Diagnostic> {
        Ok(self.races(linked)?.first().map(|_| "undefined".to_string()).into_iter().collect())
    }

    fn happens_before(&mut self, linked: &impl Linked, _: Initial<'_>) -> Result<Relation, Diagnostic> {
        let graph = linked.graph();
        self.order(graph)?;
        let pairs = (0..self.hb.len()).flat_map(|b| rows(self.hb[b]).map(move |a| (a + 1, b + 1)));
        Ok(Relation::of(graph.len(), pairs))
    }

    fn races(&mut self, linked: &impl Linked) -> Result<Vec<(Ev, Ev)>, Diagnostic> {
        let graph = linked.graph();
        self.order(graph)?;
        let plain = |ev: Ev| graph.event(ev).label.is_plain();
        let conflict = |a: Ev, b: Ev| {
            let (this, that) = (graph.event(a), graph.event(b));
            this.loc == that.loc
                && this.loc != Loc::NONE
                && this.id.thread != that.id.thread
                && (this.label.is_write() || that.label.is_write())
                && (plain(a) || plain(b))
                && self.hb[at(a)] & bit(b) == 0
                && self.hb[at(b)] & bit(a) == 0
        };
        let pairs = graph.all().flat_map(|b| graph.all().take_while(move |&a| a < b).map(move |a| (a, b)));
        Ok(pairs.filter(|&(a, b)| conflict(a, b)).collect())
    }
}

impl Imm {
    fn classify(&mut self, graph: &ExecutionGraph) {
        self.sets = Sets::default();
        let sets = &mut self.sets;
        for ev in graph.all() {
            let this = bit(ev);
            match graph.event(ev).label {
                Label::Read { mode, .. } => {
                    sets.reads |= this;
                    if mode == ReadMode::SeqCst {
                        sets.sc_accesses |= this;
                    }
                    if is_exclusive_read(graph, ev) {
                        sets.exclusive_reads |= this;
                    }
                    if matches!(mode, ReadMode::Acquire | ReadMode::AcquirePc | ReadMode::SeqCst) {
                        sets.acquire_reads |= this;
                    }
                }
                Label::Write { mode, .. } => {
                    if mode == WriteMode::SeqCst {
                        sets.sc_accesses |= this;
                    }
                    if matches!(mode, WriteMode::Release | WriteMode::SeqCst) {
                        sets.release_writes |= this;
                    }
                    if graph.event(ev).pair.is_some() {
                        sets.strong |= this;
                    }
                }
                Label::Fence { mode, .. } => {
                    sets.fences |= this;
                    if mode.is_acquire() {
                        sets.acquire_fences |= this;
                    }
                    if mode.is_release() {
                        sets.release_fences |= this;
                    }
                    if mode == FenceMode::SeqCst {
                        sets.sc_fences |= this;
                    }
                }
                Label::Choice { .. } | Label::Block { .. } | Label::Alloc { .. } | Label::Free { .. } => {}
                Label::Init | Label::Create { .. } | Label::Join { .. } | Label::End => sets.fences |= this,
            }
        }
    }

    fn program_order(&mut self, graph: &ExecutionGraph) {
        self.own.clear();
        self.own.resize(graph.len() - 1, 0);
        for thread in graph.threads() {
            let mut before = 0;
            for &ev in thread.events() {
                self.own[at(ev)] = before;
                before |= bit(ev);
            }
        }
        self.po.clear();
        self.po.resize(graph.len() - 1, 0);
        // Threads are created before they are joined: as many rounds as creations nest.
        loop {
            let mut changed = false;
            for thread in graph.threads() {
                let mut before = match thread.creator {
                    creator if creator.is_some() && creator != Ev::INIT => {
                        self.po[at(creator)] | bit(creator)
                    }
                    _ => 0,
                };
                for &ev in thread.events() {
                    if let Label::Join { child } = graph.event(ev).label
                        && let Some(end) = graph.thread_end(child)
                        && end != Ev::INIT
                    {
                        before |= self.po[at(end)] | bit(end);
                    }
                    changed |= self.po[at(ev)] != before;
                    self.po[at(ev)] = before;
                    before |= bit(ev);
                }
            }
            let nested =
                graph.threads().iter().any(|thread| thread.creator.is_some() && thread.creator != Ev::INIT);
            if !(changed && nested) {
                return;
            }
        }
    }

    /// po and hb.
    fn order(&mut self, graph: &ExecutionGraph) -> Result<(), Diagnostic> {
        if graph.len() > MOST {
            let span = Span { file: "imm".into(), line: 0, column: 0 };
            return Err(Diagnostic::new(&span, format!("executions of more than {MOST} events")));
        }
        self.classify(graph);
        self.program_order(graph);
        self.synchronise(graph);
        Ok(())
    }

    /// hb = (po | sw)+, sw = release;rf;([Racq] | [R & atomic];po;[Facq]).
    fn synchronise(&mut self, graph: &ExecutionGraph) {
        self.hb.clear();
        self.hb.extend_from_slice(&self.po);
        let Sets { acquire_reads, acquire_fences, release_writes, release_fences, .. } = self.sets;
        if release_writes | release_fences == 0 || acquire_reads | acquire_fences == 0 {
            return;
        }
        let mut synchronises = false;
        for read in graph.all() {
            let event = graph.event(read);
            let Label::Read { mode, .. } = event.label else { continue };
            if !event.rf.is_some() || event.rf == Ev::INIT {
                continue;
            }
            let released = self.released(graph, event.rf);
            if released == 0 {
                continue;
            }
            if acquire_reads & bit(read) != 0 {
                self.hb[at(read)] |= released;
                synchronises = true;
            }
            if mode.is_atomic() {
                for fence in rows(acquire_fences) {
                    if self.own[fence] & bit(read) != 0 {
                        self.hb[fence] |= released;
                        synchronises = true;
                    }
                }
            }
        }
        if synchronises {
            close(&mut self.hb);
        }
    }

    /// What release;rs ends in a write: rs = [W];po-loc?;[W & atomic];(rf;rmw)*.
    fn released(&self, graph: &ExecutionGraph, write: Ev) -> Row {
        let mut all = 0;
        let mut end = write;
        while end != Ev::INIT {
            let event = graph.event(end);
            if matches!(event.label, Label::Write { mode, .. } if mode.is_atomic()) {
                for start in std::iter::once(end).chain(earlier_writes(graph, end)) {
                    all |= bit(start) & self.sets.release_writes;
                    all |= self.own[at(start)] & self.sets.release_fences;
                }
            }
            if !event.pair.is_some() || !graph.rf(event.pair).is_some() {
                break;
            }
            end = graph.rf(event.pair);
        }
        all
    }

    /// eco = (rf | co | fr)+: for each access, what is after it.
    fn communication(&mut self, graph: &ExecutionGraph) {
        self.eco.clear();
        self.eco.resize(graph.len() - 1, 0);
        for loc in (0..graph.location_count() as u32).map(Loc) {
            let co = graph.co(loc);
            // From the last write back: what is after a write, with all their readers.
            let mut after = 0;
            for &write in co.iter().rev() {
                let readers = graph.readers(write, loc).fold(0, |row, read| row | bit(read));
                for read in graph.readers(write, loc) {
                    self.eco[at(read)] = after;
                }
                self.eco[at(write)] = after | readers;
                after |= bit(write) | readers;
            }
            for read in graph.readers(Ev::INIT, loc) {
                self.eco[at(read)] = after;
            }
        }
    }

    /// rfe | bob | ppo | detour | psc | [strong];po;[W].
    fn global(&mut self, linked: &impl Linked) {
        let graph = linked.graph();
        self.dependencies(linked);
        self.ar.clear();
        self.ar.resize(graph.len() - 1, 0);
        let sets = self.sets;
        for ev in graph.all() {
            let event = graph.event(ev);
            let before = self.po[at(ev)];
            let mut row = before & (sets.acquire_reads | sets.fences);
            if (sets.release_writes | sets.fences) & bit(ev) != 0 {
                row = before;
            }
            match event.label {
                Label::Write { .. } => {
                    row |= before & sets.strong | self.deps[at(ev)] & sets.reads;
                    for earlier in earlier_writes(graph, ev) {
                        row |= bit(earlier) & sets.release_writes;
                    }
                }
                Label::Read { .. } if event.rf.is_some() && event.rf != Ev::INIT => {
                    let source = graph.event(event.rf);
                    if source.id.thread != event.id.thread {
                        row |= bit(event.rf);
                        // detour = (coe;rfe) & po
                        for &write in &graph.co(event.loc)[..source.co as usize - 1] {
                            if graph.event(write).id.thread != source.id.thread {
                                row |= bit(write) & before;
                            }
                        }
                    }
                }
                Label::Read { .. } | no_access!() => {}
            }
            self.ar[at(ev)] = row;
        }
        self.psc();
    }

    /// For each event, what is before it in (data | ctrl | addr;po? | casdep | [Rex];po | rfi)+.
    fn dependencies(&mut self, linked: &impl Linked) {
        let graph = linked.graph();
        self.deps.clear();
        self.deps.resize(graph.len() - 1, 0);
        let mut forwards = false;
        for thread in graph.threads() {
            let mut addresses = 0;
            for &ev in thread.events() {
                let event = graph.event(ev);
                let mut row = addresses | self.own[at(ev)] & self.sets.exclusive_reads;
                for need in linked.needs(ev) {
                    if need.is(DEPS) {
                        row |= bit(need.event);
                    }
                    if need.is(Need::ADDR) {
                        addresses |= bit(need.event);
                    }
                }
                if event.rf.is_some()
                    && event.rf != Ev::INIT
                    && graph.event(event.rf).id.thread == event.id.thread
                {
                    row |= bit(event.rf);
                    forwards = true;
                }
                self.deps[at(ev)] = row;
            }
        }
        // A write that is read again, by its own thread, and what a comparison depends on are passed on.
        if forwards || self.sets.exclusive_reads != 0 {
            close(&mut self.deps);
        }
    }

    /// RC11's axiom for SC events: acyclic psc-base | psc-fence.
    fn is_sequential(&mut self, graph: &ExecutionGraph) -> bool {
        let sc = self.sets.sc_accesses | self.sets.sc_fences;
        if sc & (sc.wrapping_sub(1)) == 0 {
            return true;
        }
        self.locations(graph);
        self.via.clear();
        for middle in 0..self.hb.len() {
            let first = |row, first: usize| row | self.po[first] & !self.locs[first];
            self.via.push(rows(self.hb[middle]).fold(0, first));
        }
        self.ar.clear();
        self.ar.resize(graph.len() - 1, 0);
        for last in rows(sc) {
            let is_fence = self.sets.sc_fences >> last & 1 == 1;
            // What ends scb, and what begins it.
            let ends = 1 << last | if is_fence { self.hb[last] } else { 0 };
            let begins = rows(ends).fold(0, |row, end| row | self.scb(graph, end));
            let mut row = begins & sc;
            for begin in rows(begins) {
                row |= self.hb[begin] & self.sets.sc_fences;
            }
            if is_fence {
                row |= self.hb[last] & self.sets.sc_fences | self.psc_to(last);
            }
            self.ar[last] = row;
        }
        is_acyclic(&self.ar)
    }

    fn locations(&mut self, graph: &ExecutionGraph) {
        let mut accesses = vec![0; graph.location_count()];
        let access = |ev: &Ev| graph.event(*ev).loc != Loc::NONE;
        for ev in graph.all().filter(access) {
            accesses[graph.event(ev).loc.as_usize()] |= bit(ev);
        }
        self.locs.clear();
        self.locs.extend(graph.all().map(|ev| match graph.event(ev).loc {
            Loc::NONE => 0,
            loc => accesses[loc.as_usize()],
        }));
    }

    /// What is before an event in scb = po | po-other;hb;po-other | hb & loc | co | fr.
    fn scb(&self, graph: &ExecutionGraph, end: usize) -> Row {
        let mut row = self.po[end] | self.hb[end] & self.locs[end];
        for middle in rows(self.po[end] & !self.locs[end]) {
            row |= self.via[middle];
        }
        let event = graph.event(Ev(end as u32 + 1));
        if event.label.is_write() && event.co != ExecutionGraph::UNPLACED {
            let earlier = &graph.co(event.loc)[..event.co as usize - 1];
            for &write in [Ev::INIT].iter().chain(earlier) {
                row |= if write == Ev::INIT { 0 } else { bit(write) };
                row |= graph.readers(write, event.loc).fold(0, |row, read| row | bit(read));
            }
        }
        row
    }

    /// psc = [Fsc];hb;eco;hb;[Fsc].
    fn psc(&mut self) {
        for last in rows(self.sets.sc_fences) {
            let first = self.psc_to(last);
            self.ar[last] |= first;
        }
    }

    fn psc_to(&self, last: usize) -> Row {
        let first = (0..self.hb.len()).filter(|&y| self.eco[y] & self.hb[last] != 0);
        first.fold(0, |row, y| row | self.hb[y]) & self.sets.sc_fences
    }
}

/// ATOMICITY: empty rmw & (fre;coe).
fn is_atomic(graph: &ExecutionGraph) -> bool {
    graph.all().all(|write| {
        let event = graph.event(write);
        if !event.pair.is_some() {
            return true;
        }
        let source = graph.event(graph.rf(event.pair)).co;
        let between =
            &graph.co(event.loc)[(source as usize).min(event.co as usize - 1)..event.co as usize - 1];
        between.iter().all(|&other| graph.event(other).id.thread == event.id.thread)
    })
}

/// The writes before a write in its thread, to the same location.
fn earlier_writes(graph: &ExecutionGraph, write: Ev) -> impl Iterator<Item = Ev> + '_ {
    let event = graph.event(write);
    let before = &graph.thread(event.id.thread).events()[..event.id.index as usize];
    let same = move |ev: &Ev| graph.event(*ev).loc == event.loc && graph.event(*ev).label.is_write();
    before.iter().copied().filter(same)
}

/// Makes the rows transitive.
fn close(rows: &mut [Row]) {
    for via in 0..rows.len() {
        let row = rows[via];
        for other in rows.iter_mut() {
            if *other >> via & 1 == 1 {
                *other |= row;
            }
        }
    }
}

/// Whether the order, by predecessors, has no cycle.
pub(crate) fn is_acyclic(before: &[Row]) -> bool {
    let mut left: Row = if before.len() == MOST { Row::MAX } else { (1 << before.len()) - 1 };
    loop {
        let mut done = 0;
        for event in rows(left) {
            if before[event] & (left & !done) == 0 {
                done |= 1 << event;
            }
        }
        left &= !done;
        if left == 0 || done == 0 {
            return left == 0;
        }
    }
}

fn rows(mut set: Row) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

pub(crate) fn at(ev: Ev) -> usize {
    ev.as_usize() - 1
}

pub(crate) fn bit(ev: Ev) -> Row {
    1 << (ev.0 - 1)
}
