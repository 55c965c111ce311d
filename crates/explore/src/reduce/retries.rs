//! Iterations that lead nowhere new.
//!
//! `r = load(x); while (!cas(x, &r, f(r))) {}`: a compare-and-swap that fails and reads v brings the thread to
//! where it would be had the load read v. Said of states, not of syntax: let a read q give v, and let p be an
//! earlier read of the same location by the same thread, with nothing but reads and fences since p. If the thread
//! that is told v at p comes to the state that it is in now, everything that follows now follows p too. The
//! thread ends. Mostly q is its last read; if others came after it, they are left out too.
//!
//! Why nothing is lost: take an execution in which the thread goes on. With p in the place of q, and without all
//! else that it did since p, it is an execution of the program, and a shorter one. It is consistent: it has
//! fewer reads and fences, which only order, and p orders no more than q, for its mode is no stronger. Its
//! final memory, the ends of its threads and what goes wrong later are the same; what goes wrong up to now is
//! seen before the thread ends. One thing would not be: that what is not read in the shorter execution races with
//! a write, or with a free, that only comes after what the thread does later. So these reads must be atomic, and
//! of memory that nobody frees, or of the object that p is in: a free that is not ordered with an earlier access of
//! the thread is not ordered before or after its read at p either. The argument is repeated until no such pair is
//! left. Which histories end is a matter of one thread alone, so the search explores another program, each execution
//! of it exactly once.
//! Source: Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021, who
//! find such loops in the text of a program.
//!
//! A thread that comes back to a state that it was in, with no effect in between, waits, as at the head of a
//! loop ([`porf_ir::Instr::LoopHead`]), but only what is live counts. With [`Reduction::NetEffect`], taking locks
//! and giving them back is no effect either: who takes such a lock next may as well take it as it was before.
//! Nobody may see then that a lock was taken, so no thread may ask whether one is. Trying a lock in vain tells it
//! too, unless that leads to nothing: it is part of an iteration that is left out in its turn (`lock a; try b in
//! vain; unlock a`, as `std::lock` does). A thread that does something else after it tried in vain has seen the lock,
//! and the search begins anew without this reduction ([`Error::Without`]). If none does, take an execution and leave
//! out all iterations without effect of all threads at once: the attempts in vain go with them, and whoever takes a
//! lock finds it free as before. Reads under the lock may be plain: the next iteration makes them again.
//!
//! States are the same up to [`ThreadState::is_like`]. That says nothing of dependencies: under models that
//! have them nothing is left out here.
//!
//! Cost: when a history is made for the first time, one comparison with each earlier state of the thread since
//! its last effect, mostly of the place in the program. Programs without loops pay nothing.

use super::{Reduction, Reductions};
use crate::error::Error;
use crate::facts::Tracking;
use crate::history::{History, Next, Tag};
use crate::schedule::tag_of;
use crate::search::{Growing, Trail};
use porf_event::{BlockReason, EventId, Label, LockKind, ReadMode, RmwKind, ThreadId, Value, WriteMode};
use porf_graph::Loc;
use porf_interp::ThreadState;
use porf_ir::layout::Region;
use porf_ir::{AllocKind, Instr, Liveness, layout};
use smallvec::SmallVec;

/// What tells retries.
pub(crate) struct Retries<'p> {
    live: Liveness<'p>,
    /// Whether the program frees what it allocated.
    frees: bool,
    /// Whether a thread ends where an earlier read could have led.
    retries: bool,
    /// Whether taking a lock and giving it back is no effect.
    locks: bool,
    /// Whether nobody may see, for that, that a lock is taken, and somebody might: locks are also tried.
    tries: bool,
}

/// A read: where, what it gave, and how.
struct Given {
    loc: Loc,
    value: Value,
    mode: ReadMode,
}

/// The read that a thread made last, and the fences after it.
struct Last {
    read: Tag,
    given: Given,
    fences: SmallVec<[Label; 2]>,
}

/// A way back to an earlier state of a thread.
#[derive(Default)]
struct Back {
    /// The index of the first event since then.
    since: u32,
    /// Whether one of the events was a choice.
    chose: bool,
    /// How many writes to locks there were.
    locks: u32,
    /// Of the locks that were given back, those that were not yet taken, going back.
    held: SmallVec<[Loc; 2]>,
    /// Objects that must be accessed again for nothing to be lost, or be new since then.
    objects: SmallVec<[EventId; 2]>,
    /// Objects that must be new since then.
    new: SmallVec<[EventId; 2]>,
}

/// What is lost with an event that is left out: races that come about later.
enum Loss {
    Nothing,
    /// Races with the end of an object, unless the thread accesses it later.
    EndOf(EventId),
    Something,
}

impl History<'_> {
    /// Ends threads that lead nowhere new, unless nobody wants that or there are none.
    pub fn reduce(&mut self, reductions: Reductions, tracking: Tracking) {
        let program = self.interp.program();
        let any =
            |is: fn(&Instr) -> bool| program.functions.iter().flat_map(|function| &function.code).any(is);
        let retries = reductions.has(Reduction::Retries);
        let locks = reductions.has(Reduction::NetEffect)
            && any(|instr| matches!(instr, Instr::Lock { .. }))
            && !any(|instr| matches!(instr, Instr::IsLocked { .. }));
        let tries = locks && any(|instr| matches!(instr, Instr::TryLock { .. }));
        if tracking == Tracking::Never && (retries || locks) && program.has_loops() {
            let frees = any(|instr| matches!(instr, Instr::Free { kind, .. } if *kind != AllocKind::Stack));
            self.retries = Some(Retries { live: Liveness::new(program), frees, retries, locks, tries });
        }
    }

    /// The new history `tag`, which ends if it leads nowhere new.
    pub fn cut_short(&mut self, tag: Tag) -> Result<Tag, Error> {
        let back = match self.node(tag).next {
            Next::Emit(_) => self.comes_back(tag),
            _ => None,
        };
        if self.saw_a_lock(tag, back.as_ref()) {
            return Err(Error::Without(Reduction::NetEffect));
        }
        if !matches!(self.node(tag).next, Next::Emit(_)) {
            return Ok(tag);
        }
        if let Some(back) = back {
            let by = if back.locks > 0 { Reduction::NetEffect } else { Reduction::Retries };
            // What was chosen may be chosen in another way next time: such a thread does not hang.
            return Ok(match back.chose {
                true => self.end(tag, by, BlockReason::Retry, None),
                false => self.end(tag, by, BlockReason::Spin, Some(back.since)),
            });
        }
        if let Some(last) = self.last_read(tag)
            && self.is_retry(tag, last)?
        {
            return Ok(self.end(tag, Reduction::Retries, BlockReason::Retry, None));
        }
        Ok(tag)
    }

    fn are_like(&self, a: &ThreadState, b: &ThreadState) -> bool {
        self.retries.as_ref().is_some_and(|known| a.is_like(b, &known.live))
    }

    /// Whether the thread was in its present state before and nothing happened since.
    fn comes_back(&self, tag: Tag) -> Option<Back> {
        let Retries { retries, locks, .. } = self.retries.as_ref()?;
        let state = self.state(tag);
        let mut back = Back::default();
        let mut after = tag;
        loop {
            let at = self.node(after).parent?;
            match self.node(after).label {
                Label::Choice { .. } => back.chose = true,
                Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. } if *locks => {
                    back.locks += 1;
                    back.held.push(self.node(at).loc);
                }
                Label::Write { rmw: RmwKind::Lock(LockKind::Acquire), .. } if *locks => {
                    back.locks += 1;
                    let held = back.held.iter().position(|lock| *lock == self.node(at).loc)?;
                    back.held.remove(held);
                }
                _ => {}
            }
            let before = self.state(at);
            let locked = !back.held.is_empty();
            if before.effects() + back.locks != state.effects() {
                return None;
            }
            match (self.own_variable(after, at, state.thread()), self.loss(after, at, locked)) {
                (Some(object), _) => back.new.push(object),
                (None, Loss::Nothing) => {}
                (None, Loss::EndOf(object)) => back.objects.push(object),
                (None, Loss::Something) => return None,
            }
            let is_new =
                |object: &EventId| object.thread == state.thread() && object.index >= before.events();
            let covered = |object: &EventId| is_new(object) || self.object(tag) == Some(*object);
            if !locked
                && (back.locks > 0 || *retries)
                && self.are_like(before, state)
                && back.new.iter().all(is_new)
                && back.objects.iter().all(covered)
            {
                back.since = before.events();
                return Some(back);
            }
            after = at;
        }
    }

    /// Whether the thread found a lock taken and something follows from that: more than reads, fences and locks, other
    /// than that it comes `back` to where it was before, or waits in a loop that it was in already.
    fn saw_a_lock(&self, tag: Tag, back: Option<&Back>) -> bool {
        if !self.retries.as_ref().is_some_and(|known| known.tries) {
            return false;
        }
        let repeated = match (&self.node(tag).next, back) {
            (_, Some(back)) => back.since,
            (Next::Emit(Label::Read { .. } | Label::Fence { .. } | Label::Choice { .. }), None) => {
                return false;
            }
            (Next::Emit(Label::Write { rmw: RmwKind::Lock(_), .. }), None) => return false,
            // Of no interest, or not decided.
            (Next::Blocked(BlockReason::Assume | BlockReason::Bound), None) => return false,
            (Next::Blocked(BlockReason::Spin), None) => self.waits_since(tag).unwrap_or(u32::MAX),
            (Next::Emit(_) | Next::Blocked(_) | Next::Finished | Next::Fault(_), None) => u32::MAX,
        };
        let in_vain = |label: &Label| matches!(label, Label::Read { rmw: RmwKind::Lock(LockKind::Test), .. });
        let mut after = tag;
        while let Some(at) = self.node(after).parent {
            if self.state(at).events() < repeated && in_vain(&self.node(after).label) {
                return true;
            }
            after = at;
        }
        false
    }

    /// The object that the next event of a thread is in, if it is one that was allocated.
    fn object(&self, tag: Tag) -> Option<EventId> {
        let cell = self.cells().get(self.node(tag).loc.as_usize())?;
        layout::allocation(cell.location.0).filter(|_| self.has_allocations())
    }

    /// The object, if the event between `before` and `after` is a plain access of a thread to a variable of its own
    /// functions.
    fn own_variable(&self, after: Tag, before: Tag, thread: ThreadId) -> Option<EventId> {
        let plain = match self.node(after).label {
            Label::Read { mode, rmw, .. } => mode == ReadMode::Plain && rmw == RmwKind::None,
            Label::Write { mode, rmw, .. } => mode == WriteMode::Plain && rmw == RmwKind::None,
            _ => false,
        };
        let place = self.cells().get(self.node(before).loc.as_usize()).filter(|_| plain)?;
        let local = Region::of(place.location.0) == Some(Region::Stack);
        self.object(before).filter(|object| local && object.thread == thread)
    }

    /// What is lost without the event between `before` and `after`.
    fn loss(&self, after: Tag, before: Tag, locked: bool) -> Loss {
        let frees = self.retries.as_ref().is_some_and(|known| known.frees);
        let of_memory = || match self.cells().get(self.node(before).loc.as_usize()) {
            Some(cell) if self.has_allocations() => match Region::of(cell.location.0) {
                Some(Region::Heap | Region::Zeroed) if !frees => Loss::Nothing,
                Some(Region::Heap | Region::Zeroed | Region::Stack) => {
                    self.object(before).map_or(Loss::Something, Loss::EndOf)
                }
                _ => Loss::Nothing,
            },
            _ => Loss::Nothing,
        };
        match self.node(after).label {
            Label::Read { mode: ReadMode::Plain, .. } if !locked => Loss::Something,
            Label::Read { .. } | Label::Write { .. } => of_memory(),
            _ => Loss::Nothing,
        }
    }

    /// The last read of a thread, if it has had only fences since.
    fn last_read(&self, tag: Tag) -> Option<Last> {
        self.retries.as_ref().filter(|known| known.retries)?;
        let mut fences = SmallVec::new();
        let mut read = tag;
        while let label @ Label::Fence { .. } = self.node(read).label {
            fences.push(label);
            read = self.node(read).parent?;
        }
        fences.reverse();
        let given = self.given(read)?;
        Some(Last { read, given, fences })
    }

    /// What the thread read on its way to a history, if it only read.
    fn given(&self, after: Tag) -> Option<Given> {
        let node = self.node(after);
        let Label::Read { value, mode, .. } = node.label else { return None };
        let loc = self.node(node.parent?).loc;
        only_reads(&node.label).then_some(Given { loc, value, mode })
    }

    /// Whether an earlier read could have led to the same state at once.
    fn is_retry(&mut self, tag: Tag, last: Last) -> Result<bool, Error> {
        let Last { read, given, fences } = last;
        let effects = self.state(tag).effects();
        // What the thread read since: one of these is read earlier, and the others are left out.
        let mut reads: SmallVec<[Given; 4]> = SmallVec::from_iter([given]);
        let Some(mut after) = self.node(read).parent else { return Ok(false) };
        // The object that they are in, where it matters: it must be that of the read that is made earlier.
        let (others, mut object) = match self.loss(read, after, false) {
            Loss::Nothing => (true, None),
            Loss::EndOf(object) => (true, Some(object)),
            Loss::Something => (false, None),
        };
        while let Some(at) = self.node(after).parent {
            if self.state(after).effects() != effects || self.state(at).effects() != effects {
                return Ok(false);
            }
            let label = self.node(after).label;
            if label.is_read() && (object.is_none() || object == self.object(at)) {
                let loc = self.node(at).loc;
                for given in reads.iter().filter(|given| given.loc == loc) {
                    if self.leads_there(at, after, tag, given, &fences)? {
                        return Ok(true);
                    }
                }
            }
            let passes = only_reads(&label) || matches!(label, Label::Fence { .. });
            match self.loss(after, at, false) {
                Loss::Nothing if passes => {}
                Loss::EndOf(new) if passes && object.is_none_or(|known| known == new) => object = Some(new),
                _ => return Ok(false),
            }
            reads.extend(self.given(after).filter(|_| others));
            after = at;
        }
        Ok(false)
    }

    /// Whether the thread comes from `before` to a state like that of `tag` if it is told now what it was `given`
    /// later, and not what led it to `after`.
    fn leads_there(
        &mut self,
        before: Tag,
        after: Tag,
        tag: Tag,
        given: &Given,
        fences: &[Label],
    ) -> Result<bool, Error> {
        let mut short = self.child(before, given.value)?;
        let label = self.node(short).label;
        let Label::Read { mode, .. } = label else { return Ok(false) };
        // If p read v too, the thread has come back to where it was: it may wait there for ever.
        if short == after || !only_reads(&label) || mode > given.mode {
            return Ok(false);
        }
        for fence in fences {
            match &self.node(short).next {
                Next::Emit(label) if label == fence => short = self.child(short, 0)?,
                _ => return Ok(false),
            }
        }
        Ok(self.are_like(self.state(short), self.state(tag)))
    }
}

/// Whether an event is a read that no write belongs to.
fn only_reads(label: &Label) -> bool {
    matches!(label, Label::Read { rmw: RmwKind::None | RmwKind::Failed, .. })
}

impl<G: Growing> Trail<'_, G> {
    /// Counts the threads of a blocked execution that a reduction ended.
    pub fn count_reductions(&mut self) {
        if self.history.retries.is_none() {
            return;
        }
        let graph = self.now.graph();
        for at in (0..graph.threads().len()).filter(|&at| graph.threads()[at].is_started()) {
            if let Some(by) = self.history.node(tag_of(graph, at)).ended_by {
                self.statistics.reduced.count(by, 1);
            }
        }
    }
}
