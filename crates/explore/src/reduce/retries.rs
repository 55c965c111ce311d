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
//! vain; unlock a`, as `std::lock` does). A thread that does something else after it tried in vain has seen the lock;
//! then some of these iterations are made ([`tries`](super::tries)). If none does, take an execution and leave
//! out all iterations without effect of all threads at once: the attempts in vain go with them, and whoever takes a
//! lock finds it free as before. Reads under the lock may be plain: the next iteration makes them again.
//!
//! States are the same up to [`ThreadState::is_like`]. That says nothing of dependencies: under models that
//! have them nothing is left out here.
//!
//! Cost: when a history is made for the first time, one comparison with each earlier state of the thread since
//! its last effect, mostly of a number for the place in the program. Programs without loops pay nothing.

use super::Reduction;
use super::counters::Counting;
use super::flags::{Flag, Flags};
use super::known_locks::KnownLocks;
use super::own_nodes::Stored;
use super::own_variables::{self, OwnStores};
use super::tries::is_in_vain;
use crate::Options;
use crate::error::Error;
use crate::facts::Tracking;
use crate::history::{History, Next, Tag};
use crate::schedule::tag_of;
use crate::search::{Growing, Trail};
use porf_event::{BlockReason, EventId, Label, LockKind, ReadMode, RmwKind, ThreadId, Value, WriteMode};
use porf_graph::Loc;
use porf_interp::ThreadState;
use porf_ir::layout::Region;
use porf_ir::{AllocKind, Instr, Liveness, Reg, layout};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What tells retries.
pub(crate) struct Retries<'p> {
    live: Liveness<'p>,
    /// Whether the program frees what it allocated.
    frees: bool,
    /// Whether a thread ends where an earlier read could have led.
    retries: bool,
    /// Whether taking a lock and giving it back is no effect.
    locks: bool,
    /// Whether locks are also tried, for somebody may see then that a lock is taken; and what is known of that.
    pub tries: bool,
    pub known: KnownLocks,
    /// Whether threads may be interchangeable.
    pub alike: bool,
    /// Whether taking a flag and giving it back is none, see [`flags`](super::flags); and what is taken for a flag.
    takes_flags: bool,
    pub flags: Flags,
    /// Whether it is being asked what a thread does that finds a flag taken; histories that were made meanwhile.
    pub asks: bool,
    later: Vec<Tag>,
    /// Whether changing a counter and taking that back is none, see [`counters`](super::counters); and what is one.
    pub counts: bool,
    pub counting: Vec<Arc<Counting>>,
    /// Histories that fit what is assumed of counters.
    pub looked: HashSet<u32>,
    /// By the history before an attempt to change a counter, what is known of it.
    pub attempts: HashMap<u32, Attempts>,
    /// Whether a store to a node that nobody has seen is no effect, see [`own_nodes`](super::own_nodes).
    pub own_nodes: bool,
    /// Whether a store to a variable that no other thread writes may be none, see [`own_variables`].
    own_variables: bool,
}

/// Answers to an attempt to change a counter, and since when a thread repeats itself that fails with each.
type Attempts = SmallVec<[(Value, Option<u32>); 2]>;

/// An iteration that stores to more places of own nodes is not left out.
const MOST_STORED: usize = 128;

/// A read: where, what it gave, and how.
struct Given {
    loc: Loc,
    value: Value,
    mode: ReadMode,
}

/// The read that a thread made last, and what came after it: fences and stores to own nodes.
struct Last {
    read: Tag,
    given: Given,
    then: SmallVec<[Label; 2]>,
    /// Where these stores went to.
    stored: SmallVec<[Loc; 2]>,
}

/// A way back to an earlier state of a thread.
#[derive(Default)]
pub(super) struct Back {
    /// The index of the first event since then.
    pub since: u32,
    /// Whether one of the events was a choice.
    chose: bool,
    /// Whether the thread looked at a clock meanwhile.
    looked: bool,
    /// How many writes to locks there were, and to flags.
    locks: u32,
    pub flags: u32,
    /// The locks that were taken, and whether others were tried in vain.
    pub taken: SmallVec<[Loc; 2]>,
    pub in_vain: bool,
    /// Of the locks that were given back, those that were not yet taken, going back.
    held: SmallVec<[Loc; 2]>,
    /// Objects that must be accessed again for nothing to be lost, or be new since then.
    objects: SmallVec<[EventId; 2]>,
    /// Objects that must be new since then.
    new: SmallVec<[EventId; 2]>,
    /// How many stores to own nodes count as effects, and what the last one at each place stored.
    own_effects: u32,
    own: Stored,
    /// What it stored to variables that no other thread writes.
    variables: OwnStores,
    /// What would have to be a flag, or to have an owner.
    flag: Option<Flag>,
}

/// What is lost with an event that is left out: races that come about later.
pub(crate) enum Loss {
    Nothing,
    /// Races with the end of an object, unless the thread accesses it later.
    EndOf(EventId),
    Something,
}

impl History<'_> {
    /// Ends threads that lead nowhere new, unless nobody wants that or there are none.
    pub fn reduce(&mut self, options: &Options, tracking: Tracking) {
        let Options { reductions, flags, locks: known, .. } = *options;
        let program = self.interp.program();
        let any =
            |is: fn(&Instr) -> bool| program.functions.iter().flat_map(|function| &function.code).any(is);
        let retries = reductions.has(Reduction::Retries);
        let locks = reductions.has(Reduction::NetEffect)
            && any(|instr| matches!(instr, Instr::Lock { .. }))
            && !any(|instr| matches!(instr, Instr::IsLocked { .. }));
        let tries = locks && any(|instr| matches!(instr, Instr::TryLock { .. }));
        let own_nodes = retries
            && reductions.has(Reduction::OwnNodes)
            && any(|instr| matches!(instr, Instr::Alloc { .. }));
        let takes_flags = reductions.has(Reduction::Flags)
            && any(|instr| matches!(instr, Instr::Rmw { .. } | Instr::Cas { .. }));
        let counts = reductions.has(Reduction::Counters)
            && program.words.is_empty()
            && any(|instr| matches!(instr, Instr::Rmw { .. }));
        let own_variables = reductions.has(Reduction::OwnVariables)
            && program.words.is_empty()
            && any(|instr| matches!(instr, Instr::Store { .. }));
        let wanted = retries || locks || takes_flags || counts || own_variables;
        if tracking == Tracking::Never && wanted && program.has_loops() {
            let frees = any(|instr| matches!(instr, Instr::Free { kind, .. } if *kind != AllocKind::Stack));
            self.retries = Some(Retries {
                live: Liveness::new(program),
                frees,
                retries,
                locks,
                tries,
                known,
                alike: true,
                takes_flags,
                flags: if takes_flags || counts || own_variables { flags } else { Flags::default() },
                asks: false,
                later: Vec::new(),
                counts,
                counting: if counts { Counting::of(&flags) } else { Vec::new() },
                looked: HashSet::new(),
                attempts: HashMap::new(),
                own_nodes,
                own_variables,
            });
        }
    }

    /// The new history `tag`, which ends if it leads nowhere new.
    pub fn cut_short(&mut self, tag: Tag) -> Result<Tag, Error> {
        let ended = self.ended_if_nothing_new(tag)?;
        let Some(known) = self.retries.as_mut().filter(|known| known.tries || known.takes_flags) else {
            return Ok(ended);
        };
        known.later.push(ended);
        while let Some(known) = self.retries.as_mut().filter(|known| !known.asks)
            && let Some(later) = known.later.pop()
        {
            self.look_at_flag(later)?;
        }
        Ok(ended)
    }

    fn ended_if_nothing_new(&mut self, tag: Tag) -> Result<Tag, Error> {
        let back = match self.node(tag).next {
            Next::Emit(_) => match self.comes_back(tag, false) {
                None if self.guesses_owners() => self.comes_back(tag, true),
                back => back,
            },
            _ => None,
        };
        if let Some(error) = self.saw_a_lock(tag, back.as_ref()) {
            return Err(error);
        }
        // A thread may also end where an earlier read could have ended it.
        if !matches!(self.node(tag).next, Next::Emit(_) | Next::Finished) {
            return Ok(tag);
        }
        if let Some(back) = back {
            if let Some(flag) = back.flag {
                return Err(Error::Flag(flag));
            }
            if self.may_be_seen(tag, &back)? {
                self.go_on(tag);
                return Ok(tag);
            }
            let by = match (back.locks, back.flags) {
                (0, 0) if !back.variables.is_empty() => Reduction::OwnVariables,
                (0, 0) if back.own.is_empty() => Reduction::Retries,
                (0, 0) => Reduction::OwnNodes,
                (0, _) => Reduction::Flags,
                _ => Reduction::NetEffect,
            };
            return Ok(match (back.chose, back.looked) {
                // What was chosen may be chosen in another way next time: such a thread does not hang.
                (true, _) => self.end(tag, by, BlockReason::Retry, None),
                (false, true) => self.end(tag, by, BlockReason::Clock, Some(back.since)),
                (false, false) => self.end(tag, by, BlockReason::Spin, Some(back.since)),
            });
        }
        if let Some(last) = self.last_read(tag)
            && let Some(by) = self.is_retry(tag, last)?
        {
            return Ok(self.end(tag, by, BlockReason::Retry, None));
        }
        if matches!(self.node(tag).next, Next::Emit(_))
            && let Some((reason, since)) = self.is_undone(tag)?
        {
            return Ok(self.end(tag, Reduction::Counters, reason, since));
        }
        if matches!(self.node(tag).next, Next::Emit(_))
            && let Some(since) = self.fails_at_once(tag)?
        {
            return Ok(self.end(tag, Reduction::Counters, BlockReason::Spin, Some(since)));
        }
        Ok(tag)
    }

    pub fn are_like(&self, a: &ThreadState, b: &ThreadState) -> bool {
        self.retries.as_ref().is_some_and(|known| a.is_like(b, &known.live)) || self.ended_alike(a, b)
    }

    /// Whether a thread has ended in two states, and left the same behind: of threads that run from the start the
    /// registers that have a name, of others nothing.
    fn ended_alike(&self, a: &ThreadState, b: &ThreadState) -> bool {
        let program = self.interp.program();
        let named = |thread: ThreadId| {
            let root = program.threads.get(thread.as_usize());
            let names = root.map_or(&[][..], |root| &program.function(root.function).register_names);
            (0..names.len()).filter(|at| !names[*at].is_empty()).map(|at| Reg(at as u32))
        };
        a.place().is_none()
            && b.place().is_none()
            && a.ends_process() == b.ends_process()
            && a.panic() == b.panic()
            && named(a.thread()).all(|reg| a.register(reg) == b.register(reg))
    }

    /// Whether variables may be taken to have an owner.
    fn guesses_owners(&self) -> bool {
        self.retries
            .as_ref()
            .is_some_and(|known| known.own_variables && !known.asks && !known.flags.is_full())
    }

    /// Whether the thread was in its present state before and nothing happened since; with `guesses`, if variables of
    /// which nothing is known may be its own.
    fn comes_back(&self, tag: Tag, guesses: bool) -> Option<Back> {
        let Retries { retries, locks, takes_flags, .. } = self.retries.as_ref()?;
        if !self.was_here(tag, guesses) {
            return None;
        }
        let state = self.state(tag);
        let mut back = Back { variables: OwnStores::new(guesses), ..Back::default() };
        let mut after = tag;
        loop {
            let at = self.node(after).parent?;
            if guesses && self.state(at).events() + own_variables::FAR < state.events() {
                return None;
            }
            // Iterations that are made do not overlap.
            if after != tag && self.node(after).seen > self.node(at).seen {
                return None;
            }
            // Variables of functions that the loop calls are another matter: they end with the iteration.
            let variable = self.own_variable(after, at, state.thread());
            let own = variable.is_none() && self.is_own_store(after, at);
            let of_owner =
                variable.is_none() && !own && self.is_of_own_variable(after, at, &mut back.variables);
            match self.node(after).label {
                _ if of_owner => {
                    back.own_effects += self.state(after).effects() - self.state(at).effects();
                }
                Label::Choice { .. } => back.chose = true,
                label if is_in_vain(&label) => back.in_vain = true,
                Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. } if *locks => {
                    back.locks += 1;
                    back.held.push(self.node(at).loc);
                    back.taken.push(self.node(at).loc);
                }
                Label::Write { rmw: RmwKind::Lock(LockKind::Acquire), .. } if *locks => {
                    back.locks += 1;
                    let held = back.held.iter().position(|lock| *lock == self.node(at).loc)?;
                    back.held.remove(held);
                }
                _ if *takes_flags && !own && self.gives_back(after, at) => {
                    back.flags += self.state(after).effects() - self.state(at).effects();
                    back.held.push(self.node(at).loc);
                }
                Label::Write { .. } if *takes_flags && !own && !back.held.is_empty() => {
                    let held = back.held.iter().position(|flag| *flag == self.node(at).loc);
                    if let (Some(held), Some(flag)) = (held, self.takes(after, at)) {
                        back.flags += self.state(after).effects() - self.state(at).effects();
                        back.held.remove(held);
                        back.flag = Some(flag).filter(|flag| self.is_new(flag)).or(back.flag);
                    }
                }
                _ => {}
            }
            let before = self.state(at);
            let locked = !back.held.is_empty();
            if let (true, Label::Write { value, .. }) = (own, self.node(after).label) {
                back.own_effects += self.state(after).effects() - before.effects();
                let loc = self.node(at).loc;
                if back.own.iter().all(|(known, _)| *known != loc) {
                    back.own.push((loc, value));
                }
                if back.own.len() > MOST_STORED {
                    return None;
                }
            }
            if before.effects() + back.locks + back.flags + back.own_effects != state.effects() {
                return None;
            }
            match (variable, self.loss(after, at, locked || of_owner)) {
                (Some(object), _) => back.new.push(object),
                (None, _) if own => {}
                (None, Loss::Nothing) => {}
                (None, Loss::EndOf(object)) => back.objects.push(object),
                (None, Loss::Something) => return None,
            }
            let is_new =
                |object: &EventId| object.thread == state.thread() && object.index >= before.events();
            let covered = |object: &EventId| is_new(object) || self.object(tag) == Some(*object);
            if !locked
                && (back.locks + back.flags > 0 || !back.variables.is_empty() || *retries)
                && self.are_like(before, state)
                && back.new.iter().all(is_new)
                && back.objects.iter().all(covered)
                && back.own.iter().all(|&(loc, value)| self.own_content(at, loc) == Some(value))
                && self.leaves_as_it_was(at, &back.variables)
            {
                back.since = before.events();
                back.flag = back.flag.or_else(|| self.new_owned(state.thread(), &back.variables));
                back.looked = before.looks() != state.looks();
                return Some(back);
            }
            after = at;
        }
    }

    /// Whether the thread was in its present state before, and has done nothing since that surely counts: a quick look.
    fn was_here(&self, tag: Tag, guesses: bool) -> bool {
        let state = self.state(tag);
        let place = self.node(tag).place;
        let (mut after, mut far) = (tag, 0);
        while let Some(at) = self.node(after).parent {
            far += 1;
            if guesses && far > own_variables::FAR || self.surely_counts(after, at, guesses) {
                return false;
            }
            if self.node(at).place == place && self.are_like(self.state(at), state) {
                return true;
            }
            after = at;
        }
        false
    }

    /// Whether the event between two histories is one that no iteration without effect has.
    fn surely_counts(&self, after: Tag, before: Tag, guesses: bool) -> bool {
        let loc = self.node(before).loc;
        let may_not = match self.node(after).label {
            Label::Write { rmw, value, .. } => {
                guesses
                    || rmw != RmwKind::None
                    || value == 0
                    || self.watched(after).own
                    || self.flag(loc).is_some()
            }
            Label::Read { .. } => guesses || self.flag(loc).is_some(),
            _ => false,
        };
        !may_not && self.state(after).effects() != self.state(before).effects()
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
    pub fn loss(&self, after: Tag, before: Tag, locked: bool) -> Loss {
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

    /// The last read of a thread, if it has had only fences and stores to own nodes since.
    fn last_read(&self, tag: Tag) -> Option<Last> {
        self.retries.as_ref().filter(|known| known.retries)?;
        let (mut then, mut stored) = (SmallVec::new(), SmallVec::new());
        let mut read = tag;
        while then.len() < MOST_STORED {
            let label = self.node(read).label;
            let before = self.node(read).parent?;
            if self.is_own_store(read, before) {
                stored.push(self.node(before).loc);
            } else if !matches!(label, Label::Fence { .. }) {
                break;
            }
            then.push(label);
            read = before;
        }
        then.reverse();
        let given = self.given(read)?;
        Some(Last { read, given, then, stored })
    }

    /// What the thread read on its way to a history, if it only read.
    fn given(&self, after: Tag) -> Option<Given> {
        let node = self.node(after);
        let Label::Read { value, mode, .. } = node.label else { return None };
        let loc = self.node(node.parent?).loc;
        only_reads(&node.label).then_some(Given { loc, value, mode })
    }

    /// Whether an earlier read could have led to the same state at once; by which reduction it need not be looked at.
    fn is_retry(&mut self, tag: Tag, last: Last) -> Result<Option<Reduction>, Error> {
        let Last { read, given, then, stored } = last;
        let mut effects = self.state(read).effects();
        let mut by = if stored.is_empty() { Reduction::Retries } else { Reduction::OwnNodes };
        // What the thread read since: one of these is read earlier, and the others are left out.
        let mut reads: SmallVec<[Given; 4]> = SmallVec::from_iter([given]);
        let Some(mut after) = self.node(read).parent else { return Ok(None) };
        // The object that they are in, where it matters: it must be that of the read that is made earlier.
        let (others, mut object) = match self.loss(read, after, false) {
            Loss::Nothing => (true, None),
            Loss::EndOf(object) => (true, Some(object)),
            Loss::Something => (false, None),
        };
        while let Some(at) = self.node(after).parent {
            // What was stored to an own node must be stored there again.
            let own = self.is_own_store(after, at) && stored.contains(&self.node(at).loc);
            if self.state(after).effects() != effects || !own && self.state(at).effects() != effects {
                return Ok(None);
            }
            effects = self.state(at).effects();
            let label = self.node(after).label;
            if label.is_read() && (object.is_none() || object == self.object(at)) {
                let loc = self.node(at).loc;
                for given in reads.iter().filter(|given| given.loc == loc) {
                    if self.leads_there(at, after, tag, given, &then)? {
                        return Ok(Some(by));
                    }
                }
            }
            let passes = only_reads(&label) || matches!(label, Label::Fence { .. });
            match self.loss(after, at, false) {
                _ if own => by = Reduction::OwnNodes,
                Loss::Nothing if passes => {}
                Loss::EndOf(new) if passes && object.is_none_or(|known| known == new) => object = Some(new),
                _ => return Ok(None),
            }
            reads.extend(self.given(after).filter(|_| others));
            after = at;
        }
        Ok(None)
    }

    /// Whether the thread comes from `before` to a state like that of `tag` if it is told now what it was `given`
    /// later, and not what led it to `after`.
    fn leads_there(
        &mut self,
        before: Tag,
        after: Tag,
        tag: Tag,
        given: &Given,
        then: &[Label],
    ) -> Result<bool, Error> {
        let mut short = self.child(before, given.value)?;
        let label = self.node(short).label;
        let Label::Read { mode, .. } = label else { return Ok(false) };
        // If p read v too, the thread has come back to where it was: it may wait there for ever.
        if short == after || !only_reads(&label) || mode > given.mode {
            return Ok(false);
        }
        for next in then {
            match &self.node(short).next {
                Next::Emit(label) if label == next => short = self.child(short, 0)?,
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
