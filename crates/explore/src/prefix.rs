//! What an event needs: the set that a revisit keeps.
//!
//! The prefix of an event holds what it depends on, what it reads from, and what its architecture orders
//! before it, and so on. A write that is read by its own thread only is passed on before it is ordered
//! (store forwarding): of such a write only what it depends on belongs to the prefix.

use porf_consistency::{Architecture, KeptOrder, is_exclusive_read, is_marked};
use porf_event::{DepSet, EventId, Label, RmwKind};
use porf_graph::{Ev, ExecutionGraph, Linked, Need, Partial};

/// A graph that can be asked what an architecture orders before an event.
pub(crate) trait Ordered: Linked {
    fn before(&self, architecture: Architecture, event: Ev, found: &mut dyn FnMut(Ev));
}

impl Ordered for Partial {
    fn before(&self, architecture: Architecture, event: Ev, found: &mut dyn FnMut(Ev)) {
        architecture.before(self, event, found);
    }
}

/// Marks of an event in a prefix.
const NEEDED: u8 = 1;
/// With what is ordered before it.
const ORDERED: u8 = 2;
/// Linux: needed for what it is, by way of plain accesses, which order nothing. Less than [`NEEDED`].
const VALUE: u8 = 4;

/// The prefix of one event after the other.
#[derive(Default)]
pub(crate) struct Prefix {
    /// What is below the event, itself not included.
    pub below: Vec<bool>,
    /// Whether it goes through a read-modify-write whose write its own thread reads, or that compares what it
    /// reads with something read before.
    pub early: bool,
    /// Whether it has the read of a read-modify-write but not its write, which needs more.
    pub split: bool,
    marks: Vec<u8>,
    work: Vec<(Ev, u8)>,
}

impl Prefix {
    /// Marks everything below `event`.
    ///
    /// The write of a read-modify-write belongs to its read, unless it needs more than is there: another
    /// read-modify-write could not know that the source is taken.
    pub fn mark_below(&mut self, linked: &impl Ordered, architecture: Option<Architecture>, event: Ev) {
        let events = &[event];
        self.mark_all(&Marking { linked, architecture, events, open: Ev::NONE, early: true });
        self.below[event.as_usize()] = false;
    }

    /// Marks some events and everything below them, and `read` and everything below it but for what it reads. The
    /// write of a read-modify-write that `read` belongs to is left out.
    pub fn mark_with(
        &mut self,
        linked: &impl Ordered,
        architecture: Option<Architecture>,
        events: &[Ev],
        read: Ev,
    ) {
        self.mark_all(&Marking { linked, architecture, events, open: read, early: true });
    }

    /// Whether `read` is below `event` only because a thread reads its own write early (that of a
    /// read-modify-write, or under IMM one that an acquire read takes), or because a compare-and-swap compares
    /// with it. Not every model orders that, and no revisit would be tried where it does not.
    pub fn is_doubtful(
        &mut self,
        linked: &impl Ordered,
        architecture: Option<Architecture>,
        event: Ev,
        read: Ev,
    ) -> bool {
        let orders = matches!(architecture, None | Some(Architecture::Riscv));
        if orders || !self.early || !self.below[read.as_usize()] {
            return false;
        }
        let events = &[event];
        self.mark_all(&Marking { linked, architecture, events, open: Ev::NONE, early: false });
        let doubtful = !self.below[read.as_usize()];
        self.mark_below(linked, architecture, event);
        doubtful
    }

    fn mark_all(&mut self, marking: &Marking<'_, impl Ordered>) {
        self.begin(marking);
        let mut has_pairs = false;
        while let Some((top, new)) = self.work.pop() {
            has_pairs |= marking.is_half(top);
            self.follow_access(marking, top, new);
            self.follow_pair(marking, top, new);
            self.follow_needs(marking, top, new);
            if new & ORDERED != 0 {
                self.follow_order(marking, top);
            }
        }
        if has_pairs {
            self.add_other_halves(marking);
        }
        self.split = self.has_lone_read(marking);
        self.below.clear();
        self.below.extend(self.marks.iter().map(|&mark| mark != 0));
    }

    fn begin(&mut self, marking: &Marking<'_, impl Ordered>) {
        self.early = false;
        self.marks.clear();
        self.marks.resize(marking.linked.graph().len(), 0);
        self.work.clear();
        for &event in marking.events.iter().chain(marking.open.is_some().then_some(&marking.open)) {
            self.marks[event.as_usize()] = NEEDED | ORDERED;
            self.work.push((event, NEEDED | ORDERED));
        }
    }

    fn mark(&mut self, event: Ev, kind: u8) {
        let before = self.marks[event.as_usize()];
        let is_more = kind & !before != 0 && !(kind == VALUE && before & NEEDED != 0);
        if event != Ev::INIT && is_more {
            self.marks[event.as_usize()] = before | kind;
            self.work.push((event, kind & !before));
        }
    }

    /// The other events of the access: it is there in whole or not at all.
    fn follow_access(&mut self, marking: &Marking<'_, impl Ordered>, top: Ev, new: u8) {
        let linked = marking.linked;
        let EventId { thread, index } = linked.graph().event(top).id;
        let events = linked.graph().thread(thread).events();
        if linked.continues(top) {
            self.mark(events[index as usize - 1], new);
        }
        match events.get(index as usize + 1) {
            Some(&next) if next.is_some() && linked.continues(next) => self.mark(next, new),
            _ => {}
        }
    }

    /// The read that a write belongs to.
    fn follow_pair(&mut self, marking: &Marking<'_, impl Ordered>, top: Ev, new: u8) {
        let pair = marking.linked.graph().event(top).pair;
        let passed_on = new & ORDERED == 0 && !marking.is_imm();
        if pair.is_some() && (marking.early || !passed_on) {
            self.mark(pair, NEEDED | ORDERED);
            self.early |= passed_on;
        }
    }

    /// What an event needs to be what it is.
    fn follow_needs(&mut self, marking: &Marking<'_, impl Ordered>, top: Ev, new: u8) {
        let &Marking { linked, architecture, open, early, .. } = marking;
        if new & VALUE != 0 || marking.is_plain_in_linux(top) {
            needs(linked, architecture, top, top != open, &mut |need, _, _| self.mark(need, VALUE));
        } else if new & NEEDED != 0 {
            let imm = marking.is_imm();
            needs(linked, architecture, top, top != open, &mut |need, kind, is_compared| {
                self.early |= is_compared && !imm;
                if early || imm || !is_compared {
                    self.mark(need, kind);
                }
            });
        }
    }

    /// What is ordered before an event.
    fn follow_order(&mut self, marking: &Marking<'_, impl Ordered>, top: Ev) {
        let &Marking { linked, architecture, open, early, .. } = marking;
        let graph = linked.graph();
        // IMM: what only orders need not be what it is.
        let only_orders = |event: Ev| marking.is_imm() && graph.event(event).label.is_read();
        if only_orders(top) && top != open && is_internal(graph, top) {
            self.early = true;
        } else if only_orders(top) && top != open && graph.rf(top).is_some() {
            self.mark(graph.rf(top), NEEDED | ORDERED);
        }
        let found = &mut |need| {
            self.mark(need, if only_orders(need) && !early { ORDERED } else { NEEDED | ORDERED });
        };
        match architecture {
            Some(architecture) => linked.before(architecture, top, found),
            None => po_before(graph, top).iter().copied().for_each(found),
        }
    }

    /// The writes of read-modify-writes whose reads are there, as far as all that they need is there.
    fn add_other_halves(&mut self, marking: &Marking<'_, impl Ordered>) {
        let &Marking { linked, architecture, open, .. } = marking;
        let graph = linked.graph();
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for write in graph.all() {
                let pair = graph.event(write).pair;
                let is_open = !pair.is_some() || pair == open;
                if is_open || self.marks[write.as_usize()] != 0 || self.marks[pair.as_usize()] == 0 {
                    continue;
                }
                let mut all = true;
                needs(linked, architecture, write, true, &mut |need, _, _| {
                    all &= need == Ev::INIT || (need != open && self.marks[need.as_usize()] != 0);
                });
                if all {
                    self.marks[write.as_usize()] = NEEDED;
                    has_changed = true;
                }
            }
        }
    }

    /// Whether the read of a read-modify-write is there without its write.
    fn has_lone_read(&self, marking: &Marking<'_, impl Ordered>) -> bool {
        let graph = marking.linked.graph();
        graph.all().any(|write| {
            let event = graph.event(write);
            event.pair.is_some()
                && event.pair != marking.open
                && event.label.rmw() != RmwKind::Exclusive
                && self.marks[write.as_usize()] == 0
                && self.marks[event.pair.as_usize()] != 0
        })
    }
}

/// What is to be marked.
struct Marking<'l, L> {
    linked: &'l L,
    architecture: Option<Architecture>,
    /// These events and everything below them.
    events: &'l [Ev],
    /// A read that counts as if it had no source, if there is one.
    open: Ev,
    /// The read of a read-modify-write belongs to its write even if that is only passed on, and what a read that
    /// is only ordered before takes from its own thread belongs to it.
    early: bool,
}

impl<L: Ordered> Marking<'_, L> {
    fn is_imm(&self) -> bool {
        self.architecture == Some(Architecture::Imm)
    }

    /// Whether an event is the read of a read-modify-write whose write has to be looked at.
    fn is_half(&self, event: Ev) -> bool {
        let label = &self.linked.graph().event(event).label;
        event != self.open && label.is_read() && label.rmw().is_pair()
    }

    /// Linux: whether an event that is to be marked is a plain access, which orders nothing.
    fn is_plain_in_linux(&self, event: Ev) -> bool {
        self.architecture == Some(Architecture::Lkmm)
            && self.events.contains(&event)
            && !is_marked(self.linked.graph().event(event))
    }
}

/// Whether a read takes its value from its own thread.
fn is_internal(graph: &ExecutionGraph, read: Ev) -> bool {
    let event = graph.event(read);
    event.rf.is_some() && graph.event(event.rf).id.thread == event.id.thread
}

/// Reads of a thread, as many of the first as there are and single ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Covered {
    /// All reads before this index.
    pub until: u32,
    /// And these after it.
    pub later: DepSet,
}

/// The events of its own thread that are below an event, no matter what the reads read.
#[derive(Clone, Debug)]
pub(crate) struct Below {
    /// If the event is needed. `until` is its index if that is all.
    pub full: Covered,
    /// For a read under IMM: if it only orders.
    ordered: Covered,
}

impl Below {
    /// `below`: that of earlier events of the thread.
    pub fn new<'b>(
        linked: &impl Linked,
        architecture: Architecture,
        event: Ev,
        below: &impl Fn(Ev) -> &'b Below,
    ) -> Below {
        let graph = linked.graph();
        let id = graph.event(event).id;
        let events = &graph.thread(id.thread).events()[..id.index as usize];
        // Reading early from the own thread orders nothing.
        let is_own = |need: Ev| {
            need != Ev::INIT && graph.event(need).id.thread == id.thread && need != graph.rf(event)
        };
        let only_orders = |need: Ev| architecture == Architecture::Imm && graph.event(need).label.is_read();
        let mut full = Covered::default();
        needs(linked, Some(architecture), event, true, &mut |need, _, is_compared| {
            if is_own(need) && (architecture == Architecture::Imm || !is_compared) {
                full.add(graph.event(need).id.index, &below(need).full);
            }
        });
        full.settle(graph, events);
        let mut ordered = Covered::default();
        let is_read = graph.event(event).label.is_read();
        if full.until < id.index || (is_read && architecture == Architecture::Imm) {
            architecture.before(linked, event, &mut |need| {
                if is_own(need) {
                    let Below { full, ordered: only } = below(need);
                    ordered.add(graph.event(need).id.index, if only_orders(need) { only } else { full });
                }
            });
            ordered.settle(graph, events);
            full.join(&ordered);
            full.settle(graph, events);
        }
        Below { full, ordered }
    }
}

impl Covered {
    /// Adds an event and what is below it.
    #[inline]
    fn add(&mut self, index: u32, below: &Covered) {
        if index >= self.until {
            self.join(below);
            self.later.insert(index);
        }
    }

    fn join(&mut self, other: &Covered) {
        self.until = self.until.max(other.until);
        self.later.union_with(&other.later);
    }

    /// Counts the single reads among the first where they follow, and leaves out what is no read.
    fn settle(&mut self, graph: &ExecutionGraph, events: &[Ev]) {
        let is_read = |index: u32| graph.event(events[index as usize]).label.is_read();
        let end = events.len() as u32;
        let missing = |index: &u32| is_read(*index) && !self.later.contains(*index);
        self.until = (self.until..end).find(missing).unwrap_or(end);
        self.later.retain(|index| index > self.until && is_read(index));
    }
}

/// Events that everything of their thread is ordered with.
fn is_barrier(label: &Label) -> bool {
    matches!(label, Label::Create { .. } | Label::Join { .. } | Label::End)
}

fn po_before(graph: &ExecutionGraph, event: Ev) -> &[Ev] {
    let EventId { thread, index } = graph.event(event).id;
    &graph.thread(thread).events()[..index as usize]
}

/// What decides what an event is. The flag says that a compare-and-swap only compares with it: no machine
/// orders that, and it does not change what the event reads. With `source`, the write that it reads counts too.
fn needs(
    linked: &impl Linked,
    architecture: Option<Architecture>,
    event: Ev,
    source: bool,
    found: &mut impl FnMut(Ev, u8, bool),
) {
    let graph = linked.graph();
    let this = graph.event(event);
    if source && this.rf.is_some() {
        let source = graph.event(this.rf);
        // On RISC-V nobody reads early from an atomic operation.
        let early = source.id.thread == this.id.thread
            && !(architecture == Some(Architecture::Riscv) && source.label.rmw() != RmwKind::None);
        // Linux orders nothing by what plain accesses read and write.
        let plain = architecture == Some(Architecture::Lkmm) && !(is_marked(this) && is_marked(source));
        let kind = match (early, plain) {
            (true, _) => NEEDED,
            (_, true) => VALUE,
            _ => NEEDED | ORDERED,
        };
        found(this.rf, kind, false);
    }
    for need in linked.needs(event) {
        found(need.event, NEEDED | ORDERED, need.kinds() == Need::CAS);
    }
    let before = po_before(graph, event);
    if architecture == Some(Architecture::Imm) && this.label.is_write() {
        // [Rex];po is a dependency.
        before
            .iter()
            .filter(|&&ev| is_exclusive_read(graph, ev))
            .for_each(|&ev| found(ev, NEEDED | ORDERED, false));
    }
    if is_barrier(&this.label) {
        before.iter().for_each(|&ev| found(ev, NEEDED | ORDERED, false));
    } else if let Some(&barrier) = before.iter().rfind(|&&ev| is_barrier(&graph.event(ev).label)) {
        found(barrier, NEEDED | ORDERED, false);
    }
    let creator = graph.thread(this.id.thread).creator;
    if creator.is_some() {
        found(creator, NEEDED | ORDERED, false);
    }
    if let Label::Join { child } = this.label {
        let events = graph.threads().get(child.as_usize()).map_or(&[][..], |thread| thread.events());
        events.iter().for_each(|&ev| found(ev, NEEDED | ORDERED, false));
    }
}
