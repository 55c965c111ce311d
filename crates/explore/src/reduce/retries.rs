//! Iterations that lead nowhere new.
//!
//! `r = load(x); while (!cas(x, &r, f(r))) {}`: a compare-and-swap that fails and reads v brings the thread to
//! where it would be had the load read v. Said of states, not of syntax: let a read q give v, and let p be an
//! earlier read of the same location by the same thread, with nothing but reads and fences between them. If
//! the thread that is told v at p comes to the same state as after q, everything that follows q follows p too.
//! The thread ends after q.
//!
//! Why nothing is lost: take an execution in which the thread goes on after q. Without p and all up to q, and
//! with p in the place of q, it is an execution of the program, and a shorter one. It is consistent: it has
//! fewer reads and fences, which only order, and p orders no more than q, for its mode is no stronger. Its
//! final memory, the ends of its threads and what goes wrong after q are the same; what goes wrong up to q is
//! seen before the thread ends. One thing would not be: that what was read before q, and is not read in the
//! shorter execution, races with a write, or with a free, that only comes after what the thread does later. So
//! these reads must be atomic, and of memory that nobody frees. The argument is repeated until no such pair is
//! left. Which histories end is a matter of one thread alone, so the search explores another program, each
//! execution of it exactly once.
//! Source: Kokologiannakis, Ren, Vafeiadis, "Dynamic partial order reductions for spinloops", FMCAD 2021, who
//! find such loops in the text of a program.
//!
//! A thread that comes back to a state that it was in, with no effect in between, waits, as at the head of a
//! loop ([`porf_ir::Instr::LoopHead`]), but only what is live counts.
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
use porf_event::{BlockReason, Label, ReadMode, RmwKind, Value};
use porf_graph::Loc;
use porf_interp::ThreadState;
use porf_ir::layout::Region;
use porf_ir::{AllocKind, Instr, Liveness};
use smallvec::SmallVec;

/// What tells retries.
pub(crate) struct Retries<'p> {
    live: Liveness<'p>,
    /// Whether the program frees what it allocated.
    frees: bool,
}

/// The read that a thread made last, and the fences after it.
struct Last {
    read: Tag,
    loc: Loc,
    value: Value,
    fences: SmallVec<[Label; 2]>,
}

impl History<'_> {
    /// Ends threads that lead nowhere new, unless nobody wants that or they cannot.
    pub fn leave_out_retries(&mut self, reductions: Reductions, tracking: Tracking) {
        let program = self.interp.program();
        let wanted = reductions.has(Reduction::Retries) && tracking == Tracking::Never;
        let mut code = program.functions.iter().flat_map(|function| &function.code);
        let frees = code.any(|instr| matches!(instr, Instr::Free { kind, .. } if *kind != AllocKind::Stack));
        self.retries =
            (wanted && program.has_loops()).then(|| Retries { live: Liveness::new(program), frees });
    }

    /// The new history `tag`, which ends if it leads nowhere new.
    pub fn cut_short(&mut self, tag: Tag) -> Result<Tag, Error> {
        if !matches!(self.node(tag).next, Next::Emit(_)) {
            return Ok(tag);
        }
        if let Some((since, chose)) = self.comes_back(tag) {
            // What was chosen may be chosen in another way next time: such a thread does not hang.
            return Ok(match chose {
                true => self.block(tag, BlockReason::Retry, None),
                false => self.block(tag, BlockReason::Spin, Some(since)),
            });
        }
        match self.last_read(tag) {
            Some(last) if self.is_retry(tag, &last)? => Ok(self.block(tag, BlockReason::Retry, None)),
            _ => Ok(tag),
        }
    }

    fn are_like(&self, a: &ThreadState, b: &ThreadState) -> bool {
        self.retries.as_ref().is_some_and(|retries| a.is_like(b, &retries.live))
    }

    /// Whether the thread was in its present state before and nothing happened since: the index of the first event
    /// since then, and whether one of them was a choice.
    fn comes_back(&self, tag: Tag) -> Option<(u32, bool)> {
        let state = self.state(tag);
        let mut chose = false;
        let mut at = tag;
        loop {
            chose |= matches!(self.node(at).label, Label::Choice { .. });
            let (event, parent) = (at, self.node(at).parent?);
            at = parent;
            let before = self.state(at);
            if before.effects() != state.effects() || !self.may_drop(event, at) {
                return None;
            }
            if self.are_like(before, state) {
                return Some((before.events(), chose));
            }
        }
    }

    /// Whether nothing is lost with the event between `before` and `after`: it is in no race that comes about
    /// later.
    fn may_drop(&self, after: Tag, before: Tag) -> bool {
        let frees = self.retries.as_ref().is_some_and(|retries| retries.frees);
        let lasts = || match self.cells().get(self.node(before).loc.as_usize()) {
            Some(cell) if self.has_allocations() => match Region::of(cell.location.0) {
                Some(Region::Heap | Region::Zeroed) => !frees,
                region => region != Some(Region::Stack),
            },
            _ => true,
        };
        match self.node(after).label {
            Label::Read { mode, .. } => mode != ReadMode::Plain && lasts(),
            Label::Write { .. } => lasts(),
            _ => true,
        }
    }

    /// The last read of a thread, if it has had only fences since.
    fn last_read(&self, tag: Tag) -> Option<Last> {
        let mut fences = SmallVec::new();
        let mut at = tag;
        while let label @ Label::Fence { .. } = self.node(at).label {
            fences.push(label);
            at = self.node(at).parent?;
        }
        fences.reverse();
        let Label::Read { value, .. } = self.node(at).label else { return None };
        let before = self.node(at).parent?;
        only_reads(&self.node(at).label).then(|| Last { read: at, loc: self.node(before).loc, value, fences })
    }

    /// Whether an earlier read could have led to the same state at once.
    fn is_retry(&mut self, tag: Tag, last: &Last) -> Result<bool, Error> {
        let effects = self.state(tag).effects();
        let Label::Read { mode, .. } = self.node(last.read).label else { return Ok(false) };
        let mut at = last.read;
        // From a read to the state before it.
        while let Some(before) = self.node(at).parent {
            if at != last.read && self.node(before).loc == last.loc && self.node(at).label.is_read() {
                let mut short = self.child(before, last.value)?;
                let Label::Read { mode: short_mode, .. } = self.node(short).label else { return Ok(false) };
                // If p read v too, the thread has come back to where it was: it may wait there for ever.
                let fits = short != at && only_reads(&self.node(short).label) && short_mode <= mode;
                let mut follows = true;
                for fence in &last.fences {
                    follows &= matches!(&self.node(short).next, Next::Emit(label) if label == fence);
                    if follows {
                        short = self.child(short, 0)?;
                    }
                }
                if fits && follows && self.are_like(self.state(short), self.state(tag)) {
                    return Ok(true);
                }
            }
            let passes =
                matches!(self.node(at).label, Label::Fence { .. }) || only_reads(&self.node(at).label);
            let is_dropped = at != last.read;
            if !passes
                || self.state(before).effects() != effects
                || (is_dropped && !self.may_drop(at, before))
            {
                return Ok(false);
            }
            at = before;
        }
        Ok(false)
    }
}

/// Whether an event is a read that no write belongs to.
fn only_reads(label: &Label) -> bool {
    matches!(label, Label::Read { rmw: RmwKind::None | RmwKind::Failed, .. })
}

impl<G: Growing> Trail<'_, G> {
    /// Counts the threads of a blocked execution that a retry ended.
    pub fn count_retries(&mut self) {
        if self.history.retries.is_none() {
            return;
        }
        let graph = self.now.graph();
        let ended = (0..graph.threads().len()).filter(|&at| graph.threads()[at].is_started()).filter(|&at| {
            matches!(self.history.node(tag_of(graph, at)).next, Next::Blocked(BlockReason::Retry))
        });
        let ended = ended.count() as u64;
        self.statistics.reduced.count(Reduction::Retries, ended);
    }
}
