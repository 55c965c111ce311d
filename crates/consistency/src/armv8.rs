//! ARMv8: locally ordered before.
//!
//! Source: `models/armv8.cat`; the names here are the names there. None of it depends on rf or co: which write of
//! its own thread a read comes after (lrs) follows from program order.

use crate::checked::Armv8;
use crate::labels::{no_access, silent};
use crate::local::{
    LocalOrder, contains, downwards, earlier, is_access, last_write, merge, set, set_below, words,
};
use porf_event::{ArmKind, FenceMode, Label, ReadMode, RmwKind, WriteMode};
use porf_graph::{Ev, Event, Linked, Need, Words};

const ADDR: u8 = Need::ADDR | Need::PICK_ADDR;
const DATA: u8 = Need::DATA | Need::PICK_DATA;
const CTRL: u8 = Need::CTRL | Need::PICK_CTRL;

impl LocalOrder for Armv8 {
    const AMO_IS_ONE: bool = false;

    /// Two sets: (lob | pick-lob)+, and lob alone.
    fn find<'w>(linked: &impl Linked, event: Ev, order_of: &impl Fn(Ev) -> &'w [u64]) -> Words {
        let graph = linked.graph();
        let this = graph.event(event);
        let events = earlier(graph, this);
        let count = words(this.id.index);
        let mut scan = Scan {
            linked,
            event,
            this,
            steps: Words::from_elem(0, count),
            picks: Words::from_elem(0, count),
        };
        scan.dependencies();
        scan.program_order(events);
        scan.pass_on();
        let Scan { mut steps, picks, .. } = scan;
        merge(&mut steps, &picks);
        let half = |at: u32, second: bool| {
            let count = words(at);
            let order = order_of(events[at as usize]);
            if second { &order[count..] } else { &order[..count] }
        };
        let access = |at: &u32| is_access(graph, events[*at as usize]);
        let mut lob = steps.clone();
        downwards(&steps).filter(access).for_each(|at| merge(&mut lob, half(at, true)));
        let mut all = lob.clone();
        downwards(&lob).filter(access).for_each(|at| merge(&mut all, half(at, false)));
        if this.label.is_write() {
            // pick-lob = pick-dep;lob;[W]; rmw, which pick-dep leaves out, is in lob.
            let mut scan = Scan { linked, event, this, steps, picks: Words::from_elem(0, count) };
            for at in downwards(&lob).filter(access) {
                scan.pick(events[at as usize], ADDR | DATA | CTRL);
                scan.pick_memory(events[at as usize]);
            }
            scan.pass_on();
            merge(&mut all, &scan.picks);
            downwards(&scan.picks).filter(access).for_each(|at| merge(&mut all, half(at, false)));
        }
        all.extend_from_slice(&lob);
        all
    }

    #[inline]
    fn by_source(_: &impl Linked, _: Ev, _: &mut impl FnMut(Ev)) {}

    fn is_atomic(others: usize, own: usize) -> bool {
        others == 0 || own > 0
    }
}

/// A look for what is directly before an event in lob.
struct Scan<'g, L> {
    linked: &'g L,
    event: Ev,
    this: &'g Event,
    steps: Words,
    /// Where pick-addr, pick-data or pick-ctrl begins.
    picks: Words,
}

impl<L: Linked> Scan<'_, L> {
    /// dob without addr;po, and aob.
    fn dependencies(&mut self) {
        let graph = self.linked.graph();
        self.step(self.event, Need::ADDR | Need::DATA);
        self.pick(self.event, DATA);
        match self.this.label {
            Label::Write { .. } => {
                self.pick(self.event, CTRL | ADDR);
                if self.this.pair.is_some() {
                    set(&mut self.steps, graph.event(self.this.pair).id.index);
                }
            }
            Label::Read { .. } => {
                // lrs
                let Some(write) = last_write(graph, self.event) else { return };
                self.step(write, Need::ADDR | Need::DATA);
                let pair = graph.event(write).pair;
                if pair.is_some() && acquires(self.this) {
                    set(&mut self.steps, graph.event(pair).id.index);
                }
            }
            no_access!() => unreachable!("only accesses have a local order"),
        }
    }

    /// lws, bob, dsb, isb and addr;po;[W].
    fn program_order(&mut self, events: &[Ev]) {
        let graph = self.linked.graph();
        let is_write = self.this.label.is_write();
        let releases = releases(self.this);
        let is_acquire =
            matches!(self.this.label, Label::Read { mode: ReadMode::Acquire | ReadMode::SeqCst, .. });
        // Barriers were passed that order reads, writes before the event; an ISB was.
        let (mut reads, mut writes, mut isb) = (false, false, false);
        for (at, &ev) in events.iter().enumerate().rev() {
            let other = graph.event(ev);
            match other.label {
                Label::Fence { mode, .. } => match mode {
                    FenceMode::Dmb(_, ArmKind::All) | FenceMode::Dsb(_, ArmKind::All) => {
                        return set_below(&mut self.steps, at as u32);
                    }
                    FenceMode::Dmb(_, ArmKind::Loads) | FenceMode::Dsb(_, ArmKind::Loads) => reads = true,
                    FenceMode::Dmb(_, ArmKind::Stores) => writes |= is_write,
                    FenceMode::Dsb(_, ArmKind::Stores) => writes = true,
                    FenceMode::Isb => {
                        isb = true;
                        self.pick(ev, CTRL);
                    }
                    _ => {}
                },
                Label::Create { .. } | Label::Join { .. } => {
                    return set_below(&mut self.steps, at as u32 + 1);
                }
                Label::Read { rmw, .. } => {
                    let fenced = reads && rmw != RmwKind::AmoNoReturn;
                    if fenced || acquires(other) || releases || (is_write && other.loc == self.this.loc) {
                        set(&mut self.steps, at as u32);
                    }
                    if is_write || isb {
                        self.pick(ev, ADDR);
                    }
                }
                Label::Write { rmw, .. } => {
                    let is_full = || {
                        // [range([A];amo;[L])];po;[M]
                        !matches!(rmw, RmwKind::Exclusive | RmwKind::Loop)
                            && other.pair.is_some()
                            && matches!(
                                graph.event(other.pair).label,
                                Label::Read { mode: ReadMode::Acquire | ReadMode::SeqCst, .. }
                            )
                    };
                    if writes
                        || releases
                        || (is_write && other.loc == self.this.loc)
                        || (self::releases(other) && (is_acquire || is_full()))
                    {
                        set(&mut self.steps, at as u32);
                    }
                    if is_write || isb {
                        self.pick(ev, ADDR);
                    }
                }
                silent!() => {}
            }
        }
    }

    fn step(&mut self, event: Ev, kinds: u8) {
        let graph = self.linked.graph();
        let needs = self.linked.needs(event).filter(|need| need.is(kinds));
        needs.for_each(|need| set(&mut self.steps, graph.event(need.event).id.index));
    }

    fn pick(&mut self, event: Ev, kinds: u8) {
        let graph = self.linked.graph();
        let needs = self.linked.needs(event).filter(|need| need.is(kinds));
        needs.for_each(|need| set(&mut self.picks, graph.event(need.event).id.index));
    }

    /// pick-mem = (pick-addr-dep | pick-data-dep);lrs, back from a read.
    fn pick_memory(&mut self, event: Ev) {
        let graph = self.linked.graph();
        if graph.event(event).label.is_read()
            && let Some(write) = last_write(graph, event)
        {
            self.pick(write, ADDR | DATA);
        }
    }

    /// Goes back from the picks through pick-mem.
    fn pass_on(&mut self) {
        let events = earlier(self.linked.graph(), self.this);
        for at in (0..events.len() as u32).rev() {
            if contains(&self.picks, at) {
                self.pick_memory(events[at as usize]);
            }
        }
    }
}

/// A | Q
fn acquires(event: &Event) -> bool {
    matches!(
        event.label,
        Label::Read { mode: ReadMode::Acquire | ReadMode::AcquirePc | ReadMode::SeqCst, .. }
    )
}

/// L
fn releases(event: &Event) -> bool {
    matches!(event.label, Label::Write { mode: WriteMode::Release | WriteMode::SeqCst, .. })
}
