//! Threads that try a lock, beside others that take it in iterations without effect.
//!
//! Who tries a lock in vain sees that another thread has it. That leads to nothing, or it *matters*: the thread does
//! something else than to come back to an earlier state, or to wait. If it matters, and if the other thread has the
//! lock in an iteration that is to be left out ([`retries`](super::retries)), the attempt has nothing to read from in
//! the shorter execution. So this iteration must stay. But an attempt reads from one iteration only. If the threads of
//! an execution make m attempts that matter, at most m iterations of a thread are seen by others, and all further
//! ones are left out as before.
//!
//! So a thread may make some iterations without effect: as many as there are attempts that matter, of other threads.
//! How many there are the search finds out: at first it takes them for none. When a thread makes one more than is
//! known, it begins anew with that number ([`LockUse::Tried`]). Which histories end is still a matter of one thread.
//!
//! Why nothing is lost: take an execution, and cut the history of each thread, from its beginning, into iterations
//! without effect, none of which overlap, and the rest. Leave out, of all threads at once, those that take no lock that
//! is tried so that it matters, and those from which no such attempt reads. Attempts that do not matter go with the
//! iteration that they are part of; so an iteration that is seen must not have any itself. The result is an execution,
//! for the reasons that [`retries`](super::retries) tells, and each thread makes at most as many iterations as there
//! are attempts that matter. That they are as many as is known holds by this: if not, take the attempts one by one
//! in an order that extends po ∪ rf, and look at the first one too many. What comes before it is a beginning of an execution
//! that the search visits. There the attempt may fail, or it finds the lock free because the iteration that it reads
//! from is not there. Whenever an attempt succeeds, Porf asks what the thread would do had it failed
//! ([`flags`](super::flags)). So the search learns of it in both cases.
//!
//! Limits: [`MOST`] attempts that matter in all. With more of them, or if an iteration of the kind
//! `lock a; try b in vain; unlock a` may itself be seen, the search begins anew without the reduction.

use super::known_locks::{KnownLock, LockUse};
use super::retries::Back;
use super::{Flag, Reduction};
use crate::error::Error;
use crate::history::{History, Next, Tag};
use porf_event::{BlockReason, Label, LockKind, RmwKind};
use porf_graph::Loc;

/// How many attempts may matter. Each lets threads make one more iteration, and that in any order.
const MOST: u32 = 4;

/// Whether an event is an attempt to take a lock that failed.
pub(super) fn is_in_vain(label: &Label) -> bool {
    matches!(label, Label::Read { rmw: RmwKind::Lock(LockKind::Test), .. })
}

impl History<'_> {
    /// If the thread found a lock or a flag taken and something follows from that: that the search must begin anew.
    /// Something is more than reads, fences and locks, other than that it comes `back` to where it was before, or
    /// waits in a loop that it was in already.
    pub(super) fn saw_a_lock(&self, tag: Tag, back: Option<&Back>) -> Option<Error> {
        let known = self.retries.as_ref()?;
        if !known.tries && known.flags.iter().next().is_none() {
            return None;
        }
        let repeated = match (&self.node(tag).next, back) {
            (_, Some(back)) => back.since,
            (Next::Emit(Label::Read { .. } | Label::Fence { .. } | Label::Choice { .. }), None) => {
                return None;
            }
            (Next::Emit(Label::Write { rmw: RmwKind::Lock(_), .. }), None) => return None,
            (Next::Emit(Label::Write { .. }), None) if self.is_flag(self.node(tag).loc) => return None,
            // Of no interest, or not decided.
            (Next::Blocked(BlockReason::Assume | BlockReason::Bound), None) => return None,
            (Next::Blocked(BlockReason::Spin | BlockReason::Clock), None) => {
                self.waits_since(tag).unwrap_or(u32::MAX)
            }
            (Next::Emit(_) | Next::Blocked(_) | Next::Finished | Next::Fault(_), None) => u32::MAX,
        };
        let mut after = tag;
        while let Some(at) = self.node(after).parent {
            if self.state(at).events() < repeated {
                if known.tries
                    && is_in_vain(&self.node(after).label)
                    && let Some(error) = self.matters(tag, self.node(at).loc, repeated)
                {
                    return Some(error);
                }
                if let Some(flag) = self.found_taken(after, at) {
                    return Some(Error::Flag(Flag { taken: None, ..flag }));
                }
            }
            after = at;
        }
        None
    }

    /// It matters whether a thread gets a lock that it has tried to take in its first events: what the search must know,
    /// unless it does.
    pub(super) fn matters(&self, tag: Tag, lock: Loc, events: u32) -> Option<Error> {
        let (mut after, mut times) = (tag, 0);
        while let Some(at) = self.node(after).parent {
            let counts = self.state(at).events() < events && self.node(at).loc == lock;
            times += u16::from(counts && self.is_attempt(after, at));
            after = at;
        }
        let address = self.cells()[lock.as_usize()].location.0;
        let thread = self.state(tag).thread().0;
        let (mut own, mut others) = (0, 0);
        for (tried, by, known) in self.attempts() {
            match (tried, by) == (address, thread) {
                true => own = known,
                false => others += u32::from(known),
            }
        }
        if times <= own {
            return None;
        }
        Some(match others + u32::from(times) <= MOST {
            true => Error::Lock(KnownLock { address, by: LockUse::Tried { thread, times } }),
            false => Error::Without(Reduction::NetEffect),
        })
    }

    /// Whether a thread tries to take a lock between two histories, successfully or not.
    fn is_attempt(&self, after: Tag, before: Tag) -> bool {
        match self.node(after).label {
            Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. } => {
                self.interp.is_conditional(self.state(before))
            }
            label => is_in_vain(&label),
        }
    }

    /// The locks that are known to be tried so that it matters; by whom, and how often.
    fn attempts(&self) -> impl Iterator<Item = (u64, u16, u16)> + '_ {
        let known = self.retries.iter().flat_map(|known| known.known.iter());
        known.filter_map(|lock| match lock.by {
            LockUse::Tried { thread, times } => Some((lock.address, thread, times)),
            LockUse::Ordered => None,
        })
    }

    /// Whether the thread may go on after an iteration without effect, because others may see that.
    pub(super) fn may_be_seen(&self, tag: Tag, back: &Back) -> Result<bool, Error> {
        let Some(known) = self.retries.as_ref().filter(|known| known.tries) else { return Ok(false) };
        let thread = self.state(tag).thread().0;
        // What an interchangeable thread may do this one may do as well.
        let others = || self.attempts().filter(|(_, by, _)| known.alike || *by != thread);
        let address = |lock: &Loc| self.cells()[lock.as_usize()].location.0;
        let is_tried = |lock: &Loc| others().any(|(tried, ..)| tried == address(lock));
        if !back.taken.iter().any(is_tried) {
            return Ok(false);
        }
        if back.in_vain || back.flags > 0 {
            return Err(Error::Without(Reduction::NetEffect));
        }
        let most: u16 = others().map(|(.., times)| times).sum();
        Ok(self.node(tag).seen < most)
    }
}
