//! What each architecture keeps of program order for all values: the static part of its preserved program
//! order, as predecessors of an event.
//!
//! A prefix that is closed under this order can be extended, because no missing event is ordered before an
//! event of the prefix. The order must not hold more than the model does, or executions are lost: in a
//! consistent graph rfe ∪ (this order) has no cycle. The edges are named as in `models/*.cat`.
//! `tests/weave.rs` of `porf-explore` holds the search that uses it to brute force.

use crate::labels::{no_access, silent};
use porf_event::{ArmKind, FenceMode, Label, LockKind, ReadMode, RmwKind, RwSet, WriteMode};
use porf_graph::{Ev, Event, Linked, Need};
pub use porf_model::Architecture;

/// The order that an architecture keeps inside a thread.
pub trait KeptOrder {
    /// Calls `found` with events that are ordered before `event`; those that it depends on are left out.
    /// What a compare-and-swap orders because it succeeds, or fails, does not count.
    fn before(self, linked: &impl Linked, event: Ev, found: &mut dyn FnMut(Ev));
}

impl KeptOrder for Architecture {
    fn before(self, linked: &impl Linked, event: Ev, found: &mut dyn FnMut(Ev)) {
        let graph = linked.graph();
        let this = graph.event(event);
        if !matches!(this.label, Label::Read { .. } | Label::Write { .. }) {
            return;
        }
        let earlier = &graph.thread(this.id.thread).events()[..this.id.index as usize];
        // An AMO is one operation on RISC-V: what is before its write is before its read.
        let write = match (self, this.label.rmw()) {
            (Architecture::Riscv, RmwKind::Amo | RmwKind::AmoNoReturn | RmwKind::Barrier)
                if this.label.is_read() =>
            {
                graph.write_of(event).map(|write| *graph.event(write))
            }
            _ => None,
        };
        let mut scan = Scan {
            arch: self,
            event,
            this,
            write,
            reads: false,
            writes: false,
            update: false,
            atomic: false,
        };
        for &ev in earlier.iter().rev() {
            scan.step(linked, ev, found);
        }
    }
}

/// A walk back from an event through its thread.
struct Scan<'g> {
    arch: Architecture,
    event: Ev,
    this: &'g Event,
    /// The other half of it, if both are one.
    write: Option<Event>,
    /// A fence was passed that orders earlier reads, writes before the event.
    reads: bool,
    writes: bool,
    /// Linux: an atomic update was passed, or is the event; and a fence for what is after one.
    update: bool,
    atomic: bool,
}

impl Scan<'_> {
    fn step(&mut self, linked: &impl Linked, ev: Ev, found: &mut dyn FnMut(Ev)) {
        let event = linked.graph().event(ev);
        if !self.is_certain(linked, ev) {
            return;
        }
        match event.label {
            Label::Fence { mode, .. } => {
                let (reads, writes) = self.fence(mode);
                if reads || writes {
                    found(ev);
                }
                self.reads |= reads;
                self.writes |= writes;
                if matches!(mode, FenceMode::Isb | FenceMode::Isync) {
                    self.instruction_barrier(linked, ev, found);
                }
            }
            Label::Read { .. } | Label::Write { .. } => {
                let fenced = match event.label.rmw() {
                    // Arm's barriers for loads do not speak of what returns nothing.
                    RmwKind::AmoNoReturn if event.label.is_read() => self.reads && self.writes,
                    _ if event.label.is_read() => self.reads,
                    _ => self.writes,
                };
                let halves = std::iter::once(self.this).chain(&self.write);
                let fenced = fenced && self.sees(linked, ev);
                if fenced || halves.into_iter().any(|half| self.orders(linked, ev, half)) {
                    found(ev);
                }
                if self.keeps_addresses() && self.this.label.is_write() {
                    of_kind(linked, ev, Need::ADDR | Need::PICK_ADDR, found);
                }
                self.linux_atomics(event);
            }
            Label::Create { .. } | Label::Join { .. } | silent!() => {}
        }
    }

    /// Whether an earlier event is there whenever the event is: what is inside of an `if` that is over
    /// may not be there, and what it orders does not count.
    fn is_certain(&self, linked: &impl Linked, ev: Ev) -> bool {
        let mut control = linked.needs(ev).filter(|need| need.is(Need::CTRL));
        control.all(|need| linked.needs(self.event).any(|our| our.event == need.event))
    }

    /// Which earlier accesses a fence orders before the event.
    fn fence(&mut self, mode: FenceMode) -> (bool, bool) {
        let write = self.this.label.is_write() || self.write.is_some();
        let read = self.this.label.is_read();
        match mode {
            FenceMode::Acquire | FenceMode::Release | FenceMode::AcqRel if self.arch == Architecture::Imm => {
                (true, true)
            }
            FenceMode::SeqCst
            | FenceMode::Sync
            | FenceMode::Mb
            | FenceMode::SyncRcu
            | FenceMode::SyncSrcu => (true, true),
            FenceMode::Dmb(_, ArmKind::All) | FenceMode::Dsb(_, ArmKind::All) => (true, true),
            FenceMode::Dmb(_, ArmKind::Loads) | FenceMode::Dsb(_, ArmKind::Loads) => {
                (self.arch == Architecture::Armv8, false)
            }
            FenceMode::Dmb(_, ArmKind::Stores) => (false, write),
            FenceMode::Dsb(_, ArmKind::Stores) => (false, write || self.arch == Architecture::Armv8),
            FenceMode::Lwsync => (true, write),
            FenceMode::Eieio => (false, write),
            FenceMode::Riscv { before, after } => {
                let here = match after {
                    RwSet::R => read,
                    RwSet::W => write,
                    RwSet::Rw => true,
                };
                (here && before != RwSet::W, here && before != RwSet::R)
            }
            FenceMode::RiscvTso => (true, write),
            FenceMode::Rmb => (read, false),
            FenceMode::Wmb => (false, write),
            // [M];F;[update];po?;[M] and [M];po?;[update];F;[M].
            FenceMode::BeforeAtomic => {
                (self.update || self.is_update(self.this), self.update || self.is_update(self.this))
            }
            FenceMode::AfterAtomic | FenceMode::AfterSpinlock | FenceMode::AfterSrcuReadUnlock => {
                self.atomic = true;
                (false, false)
            }
            _ => (false, false),
        }
    }

    /// Linux: nothing is ordered after a plain access or before a plain read, and a plain write only as
    /// long as it does not pass on what a plain or unordered read gave it.
    fn sees(&self, linked: &impl Linked, ev: Ev) -> bool {
        let event = linked.graph().event(ev);
        self.arch != Architecture::Lkmm
            || is_marked(self.this)
                && (is_marked(event)
                    || event.label.is_write() && !linked.needs(ev).any(|need| need.is(Need::DATA)))
    }

    fn linux_atomics(&mut self, event: &Event) {
        if self.arch != Architecture::Lkmm {
            return;
        }
        if self.is_update(event) {
            self.update = true;
            if self.atomic {
                self.reads = true;
                self.writes = true;
            }
        }
    }

    fn is_update(&self, event: &Event) -> bool {
        matches!(event.label.rmw(), RmwKind::Amo | RmwKind::AmoNoReturn | RmwKind::Barrier | RmwKind::Failed)
            || matches!(event.label.rmw(), RmwKind::Lock(LockKind::Acquire))
            || matches!(event.label, Label::Write { mode: WriteMode::SrcuUnlock, .. })
    }

    /// Whether an earlier access is ordered before `this` by what the two are.
    fn orders(&self, linked: &impl Linked, ev: Ev, this: &Event) -> bool {
        let event = linked.graph().event(ev);
        // A compare-and-swap orders what follows only if it succeeds: that does not count.
        let open = linked.is_conditional(if event.pair.is_some() { event.pair } else { ev });
        let (read, write) = (!open && self.acquires(event), self.releases(this));
        let same = event.loc == this.loc && this.label.is_write();
        match self.arch {
            Architecture::Imm => {
                read || write
                    || (!open && self.releases(event) && same)
                    // [strong];po;[W]: with [Rex];po the read is there, and so is what it decided.
                    || (event.pair.is_some() && this.label.is_write())
            }
            Architecture::Armv8 => {
                let full =
                    matches!(this.label, Label::Read { mode: ReadMode::Acquire | ReadMode::SeqCst, .. });
                let both = !open
                    && self.releases(event)
                    && !matches!(event.label.rmw(), RmwKind::Exclusive | RmwKind::Loop)
                    && event.pair.is_some()
                    && matches!(
                        linked.graph().event(event.pair).label,
                        Label::Read { mode: ReadMode::Acquire | ReadMode::SeqCst, .. }
                    );
                read || write || same || (!open && self.releases(event) && full) || both
            }
            Architecture::Riscv => {
                read || write
                    || same
                    || (!open && self.is_ordered_update(event) && self.is_ordered_update(this))
            }
            Architecture::Power => same && event.label.is_read(),
            Architecture::Armv7 => false,
            Architecture::Lkmm => {
                is_marked(this)
                    && (((read || write || same) && is_marked(event)) || (write && event.label.is_write()))
            }
        }
    }

    fn acquires(&self, event: &Event) -> bool {
        match event.label {
            Label::Read { mode, .. } => {
                matches!(mode, ReadMode::Acquire | ReadMode::AcquirePc | ReadMode::SeqCst)
            }
            Label::Write { mode, .. } if self.arch == Architecture::Riscv => {
                matches!(mode, WriteMode::RiscvAcquire | WriteMode::SeqCst)
            }
            Label::Write { .. } | no_access!() => false,
        }
    }

    fn releases(&self, event: &Event) -> bool {
        match event.label {
            Label::Write { mode, .. } => matches!(mode, WriteMode::Release | WriteMode::SeqCst),
            Label::Read { mode, .. } if self.arch == Architecture::Riscv => {
                matches!(mode, ReadMode::RiscvRelease | ReadMode::SeqCst)
            }
            Label::Read { .. } | no_access!() => false,
        }
    }

    /// RISC-V: an update that has an ordering annotation.
    fn is_ordered_update(&self, event: &Event) -> bool {
        event.label.rmw() != RmwKind::None && (self.acquires(event) || self.releases(event))
    }

    fn keeps_addresses(&self) -> bool {
        self.arch != Architecture::Lkmm
    }

    /// What an instruction barrier depends on is ordered before what follows it.
    fn instruction_barrier(&self, linked: &impl Linked, barrier: Ev, found: &mut dyn FnMut(Ev)) {
        found(barrier);
        of_kind(linked, barrier, Need::CTRL | Need::PICK_CTRL, found);
        if self.arch == Architecture::Armv8 {
            let id = linked.graph().event(barrier).id;
            for &ev in &linked.graph().thread(id.thread).events()[..id.index as usize] {
                of_kind(linked, ev, Need::ADDR | Need::PICK_ADDR, found);
            }
        }
    }
}

fn of_kind(linked: &impl Linked, ev: Ev, kinds: u8, found: &mut dyn FnMut(Ev)) {
    linked.needs(ev).filter(|need| need.is(kinds)).for_each(|need| found(need.event));
}

/// Whether it is an atomic access: marked, as Linux says.
pub fn is_marked(event: &Event) -> bool {
    match event.label {
        Label::Read { mode, .. } => mode.is_atomic(),
        Label::Write { mode, .. } => mode.is_atomic(),
        no_access!() => false,
    }
}
