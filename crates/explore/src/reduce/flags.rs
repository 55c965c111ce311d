//! Flags that are taken for a while and given back, as locks are: `cas(flag, 0, 1) … flag = 0`.
//!
//! A loop that takes such a flag, reads, gives it back and comes to its first state waits, as one with a lock does
//! ([`retries`](super::retries)). Nobody says that a variable is a flag. The first iteration that would be left out
//! if it were one makes the search begin anew, now with the assumption that it is; and each access to the flag that
//! does not fit makes it begin once more, with that variable as one that is none. A flag is
//!
//! - *taken* by a read-modify-write that reads 0, as an acquire, and writes the flag's value, which is one and the same;
//! - *given back* by a store of 0, as a release, of the thread that has it;
//! - found *taken* by whoever reads the value. That must lead to nothing: to an iteration that is left out too.
//!
//! So in co a flag is taken and given back in turns, by the same thread.
//!
//! Why nothing is lost: take an execution, and leave out all iterations without effect of all threads at once. What
//! reads 0 from one that was left out can read it from what was last given back before: that happens before, so that
//! nothing is ordered that was not. Nobody who stays reads that the flag is taken by an iteration that does not stay.
//! For if somebody does, he would read 0 in the shorter execution, and the search comes to that one. Whenever a
//! thread reads 0 there, Porf asks what it would do if the flag were taken, even if nobody takes it in that
//! execution: it must come back to an earlier state, or wait, without reading anything but flags. This also covers
//! a relaxed read of a value that has long been overwritten. The same is asked of threads that try a lock.
//!
//! A thread never sees its own iterations: each read of it comes before or after all of one. So as long as only one
//! thread leaves out iterations with a flag, that thread is not asked. The search begins anew when a second one does.
//!
//! Limits: [`Flags::MOST`] flags; their values are 0 and one other.

use super::{Counter, Owner};
use crate::error::Error;
use crate::history::{History, Next, Tag};
use porf_event::{BlockReason, Label, LockKind, RmwKind, ThreadId, Value};
use porf_graph::Loc;
use serde::{Deserialize, Serialize};

/// What a search takes a variable for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Where it is.
    pub address: u64,
    /// Its bytes.
    pub size: u8,
    /// What it holds when it is taken; `None` of a variable that is no flag.
    pub taken: Option<Value>,
    /// What is known of it if it is a counter ([`counters`](super::counters)).
    #[serde(default)]
    pub counter: Option<Counter>,
    /// The thread that leaves out iterations with it, if it is known to be the only one.
    #[serde(default)]
    pub only: Option<u16>,
    /// The only thread that writes it ([`own_variables`](super::own_variables)).
    #[serde(default)]
    pub owner: Option<Owner>,
}

/// What a search takes variables for: what it found out in earlier attempts. Empty at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags([Option<Flag>; Flags::MOST]);

impl Flags {
    /// How many variables it knows of.
    pub const MOST: usize = 6;

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Flag> + '_ {
        self.0.iter().copied().flatten()
    }

    /// Takes a variable for something.
    pub fn set(&mut self, flag: Flag) {
        let known = |other: &Option<Flag>| {
            other.is_none_or(|other| (other.address, other.size) == (flag.address, flag.size))
        };
        if let Some(place) = self.0.iter_mut().find(|other| known(other)) {
            *place = Some(flag);
        }
    }

    /// Whether no more variables can be taken for something.
    pub fn is_full(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }
}

/// How far a thread that finds a flag taken is followed.
const FAR: u32 = 24;

impl History<'_> {
    /// What a variable is taken for; `None` if nothing is known.
    pub fn flag(&self, loc: Loc) -> Option<Flag> {
        let flags = &self.retries.as_ref()?.flags;
        let cell = self.cells().get(loc.as_usize())?;
        flags.iter().find(|flag| (flag.address, flag.size) == (cell.location.0, cell.size))
    }

    /// The variable as a flag with which a thread leaves out iterations, if nothing speaks against it.
    fn may_be_flag(&self, loc: Loc, taken: Value, thread: ThreadId) -> Option<Flag> {
        let known = self.retries.as_ref()?;
        match self.flag(loc) {
            Some(flag) => {
                let only = flag.only.filter(|only| *only == thread.0);
                (flag.taken == Some(taken)).then_some(Flag { only, ..flag })
            }
            None if known.flags.is_full() => None,
            None => {
                let cell = self.cells().get(loc.as_usize())?;
                let (address, size, only) = (cell.location.0, cell.size, Some(thread.0));
                Some(Flag { address, size, taken: Some(taken), counter: None, only, owner: None })
            }
        }
    }

    /// Whether a variable is a flag.
    pub fn is_flag(&self, loc: Loc) -> bool {
        self.flag(loc).is_some_and(|flag| flag.taken.is_some())
    }

    /// Whether the event between two histories may give back a flag.
    pub fn gives_back(&self, after: Tag, before: Tag) -> bool {
        let gives = match self.node(after).label {
            Label::Write { rmw: RmwKind::None, value: 0, mode, .. } => mode.is_release(),
            _ => false,
        };
        gives && self.flag(self.node(before).loc).is_none_or(|flag| flag.taken.is_some())
    }

    /// The flag that the event between two histories may take.
    pub fn takes(&self, after: Tag, before: Tag) -> Option<Flag> {
        let Label::Write { rmw, value, .. } = self.node(after).label else { return None };
        if matches!(rmw, RmwKind::None | RmwKind::Lock(_) | RmwKind::Barrier) || value == 0 {
            return None;
        }
        // A weak compare-and-swap has a choice between its read and its write.
        let mut read = before;
        while let Label::Choice { .. } = self.node(read).label {
            read = self.node(read).parent?;
        }
        match self.node(read).label {
            Label::Read { value: 0, mode, .. } if mode.is_acquire() => {
                self.may_be_flag(self.node(before).loc, value, self.state(after).thread())
            }
            _ => None,
        }
    }

    /// Whether a variable is not yet known to be a flag.
    pub fn is_new(&self, flag: &Flag) -> bool {
        self.retries.as_ref().is_some_and(|known| !known.flags.iter().any(|other| other == *flag))
    }

    /// Whether a thread has a flag.
    fn has_taken(&self, mut tag: Tag, loc: Loc) -> bool {
        while let Some(before) = self.node(tag).parent {
            if let Label::Write { value, .. } = self.node(tag).label
                && self.node(before).loc == loc
            {
                return value != 0;
            }
            tag = before;
        }
        false
    }

    /// The flag that a thread found taken by another one.
    pub fn found_taken(&self, after: Tag, before: Tag) -> Option<Flag> {
        let loc = self.node(before).loc;
        let taken = matches!(self.node(after).label, Label::Read { value, .. } if value != 0);
        let flag = self.flag(loc).filter(|flag| taken && flag.taken.is_some())?;
        (!self.has_taken(before, loc)).then_some(flag)
    }

    /// Begins anew if the last event of a history is an access that is none to a flag, or if it would matter to find
    /// the flag taken; the same with locks.
    pub fn look_at_flag(&mut self, tag: Tag) -> Result<(), Error> {
        let Some(before) = self.node(tag).parent else { return Ok(()) };
        let (loc, label) = (self.node(before).loc, self.node(tag).label);
        // It is part of what is left out. But it would stay if it read something else.
        if self.node(tag).ended_by.is_some() && !matches!(label, Label::Read { value: 0, .. }) {
            return Ok(());
        }
        if let Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), value: 0, .. } = label {
            let tries = self.retries.as_ref().is_some_and(|known| known.tries);
            if tries
                && self.interp.is_conditional(self.state(before))
                && !self.leads_to_nothing(before, 1)?
                && let Some(error) = self.matters(tag, loc, u32::MAX)
            {
                return Err(error);
            }
            return Ok(());
        }
        let Some(flag @ Flag { taken: Some(taken), .. }) = self.flag(loc) else { return Ok(()) };
        let fits = match label {
            Label::Read { value: 0, .. } => {
                flag.only == Some(self.state(tag).thread().0) || self.leads_to_nothing(before, taken)?
            }
            Label::Read { value, .. } => value == taken,
            // Nobody else has seen it yet.
            Label::Write { value: 0, .. } if self.watched(tag).own => true,
            Label::Write { rmw: RmwKind::None, .. } => {
                self.gives_back(tag, before) && self.has_taken(before, loc)
            }
            // An exchange that finds the flag taken leaves it as it is.
            Label::Write { value, .. } => {
                let found = self.node(before).label;
                let in_vain =
                    matches!(found, Label::Read { value: found, .. } if found == taken && value == taken);
                in_vain || (self.takes(tag, before).is_some() && !self.has_taken(before, loc))
            }
            _ => true,
        };
        let starts = self.cells()[loc.as_usize()].initial;
        if fits && starts == 0 { Ok(()) } else { Err(Error::Flag(Flag { taken: None, ..flag })) }
    }

    /// Whether a thread that finds a flag or a lock taken, by its next read, does nothing but wait or come back.
    fn leads_to_nothing(&mut self, tag: Tag, taken: Value) -> Result<bool, Error> {
        self.ask(true);
        let answer = self.follow(tag, taken, FAR, false);
        self.ask(false);
        answer
    }

    /// It is being asked what a thread would do: the histories that are made now are looked at later.
    pub fn ask(&mut self, asks: bool) {
        if let Some(known) = &mut self.retries {
            known.asks = asks;
        }
    }

    /// `gave` tells whether it has given something back meanwhile: others may see that.
    fn follow(&mut self, tag: Tag, answer: Value, far: u32, gave: bool) -> Result<bool, Error> {
        let after = self.child(tag, answer)?;
        let loc = self.node(after).loc;
        match self.node(after).next {
            Next::Blocked(BlockReason::Assume) if gave => Ok(false),
            Next::Blocked(_) => Ok(true),
            _ if far == 0 => Ok(false),
            Next::Emit(Label::Fence { .. }) => self.follow(after, 0, far - 1, gave),
            Next::Emit(Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. }) => {
                self.follow(after, 0, far - 1, true)
            }
            // A flag that is given back, or found taken by an exchange.
            Next::Emit(Label::Write { value, rmw, .. }) if self.is_flag(loc) => {
                let harmless = if rmw == RmwKind::None { value == 0 } else { value == answer };
                Ok(harmless && self.follow(after, 0, far - 1, true)?)
            }
            Next::Emit(Label::Read { .. }) => match self.flag(loc).and_then(|flag| flag.taken) {
                Some(taken) => {
                    Ok(self.follow(after, 0, far / 2, gave)? && self.follow(after, taken, far / 2, gave)?)
                }
                None => Ok(false),
            },
            Next::Emit(_) | Next::Finished | Next::Fault(_) => Ok(false),
        }
    }
}
