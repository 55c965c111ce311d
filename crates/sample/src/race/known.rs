//! All that is known of the program's memory, each thing once.
//!
//! Neighbouring cells mostly have the same past: one loop or one `memset` touched them all. So a cell holds the
//! number of a [`State`], and cells of which the same is known share it. What an access makes of a state is
//! looked for in a small table before it becomes a state of its own; the table may forget, then a state is there
//! twice. A state that one cell alone uses is changed in place.
//!
//! What every thread has seen can race with nothing that is to come. When states gather, it is forgotten
//! ([`Known::settle`]), and states that say the same then are found and become one.
//!
//! Cost: O(1), and now and then O(states); memory O(different pasts that not everyone has seen), with a state of 32 bytes
//! for each.

use super::extension::Extension;
use super::state::{NO_EXTENSION, State};
use super::{Access, Kind};
use crate::clock::Clock;

/// The number of the state of what was never touched. Nobody counts its users.
pub(super) const UNTOUCHED: u32 = 0;

/// Slots of the table of states that may be shared. What a slot says is checked before it is believed.
const SLOTS: usize = 1 << 10;

/// States and extensions may gather in so many bytes before any is looked at, and in as many more each time.
const ROOM: usize = 1 << 20;

#[derive(Clone, Copy, Default, Debug)]
struct Shared {
    /// Cells in this state; 0 if the number is not in use.
    users: u32,
    state: State,
}

/// The states and extensions of one execution.
pub(super) struct Known {
    states: Vec<Shared>,
    state_count: usize,
    free_states: Vec<u32>,
    /// Each belongs to one state.
    extensions: Vec<Extension>,
    extension_count: usize,
    free_extensions: Vec<u32>,
    table: [u32; SLOTS],
    /// So many bytes of states and extensions may be in use until [`Known::settle`] is due.
    limit: usize,
}

impl Default for Known {
    fn default() -> Self {
        Known {
            states: vec![Shared::default()],
            state_count: 1,
            free_states: Vec::new(),
            extensions: vec![Extension::default()],
            extension_count: 1,
            free_extensions: Vec::new(),
            table: [UNTOUCHED; SLOTS],
            limit: ROOM,
        }
    }
}

impl Known {
    /// Nothing is known any more; no cell uses a number from before. The greatest of these.
    pub fn reset(&mut self) -> u32 {
        let last = self.state_count as u32 - 1;
        (self.state_count, self.extension_count) = (1, 1);
        self.free_states.clear();
        self.free_extensions.clear();
        self.limit = ROOM;
        last
    }

    /// Whether so many states gathered that it pays to forget what everyone has seen.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.bytes() >= self.limit
    }

    /// Forgets what nobody can race with any more who has seen `everyone`. Returns for each state the one that says the
    /// same, for [`Known::move_to`].
    pub fn settle(&mut self, everyone: &Clock) -> Vec<u32> {
        let mut same: Vec<u32> = (0..self.state_count as u32).collect();
        // Forgetful as the other table, but with room for all.
        let mut table = vec![UNTOUCHED; self.state_count.next_power_of_two()];
        let last = table.len() - 1;
        for (index, same) in same.iter_mut().enumerate().skip(1) {
            if self.states[index].users > 0 {
                let hash = self.settle_one(index, everyone);
                let slot = &mut table[hash as usize & last];
                if self.states[index].state == State::default() {
                    *same = UNTOUCHED;
                } else if self.is_shareable(*slot) && self.say_the_same(*slot as usize, index) {
                    *same = *slot;
                } else {
                    *slot = index as u32;
                }
            }
        }
        same
    }

    /// The same for one state; a number that states which say the same share.
    fn settle_one(&mut self, index: usize, everyone: &Clock) -> u64 {
        let state = &mut self.states[index].state;
        if state.extension == NO_EXTENSION {
            state.settle(everyone);
            return state.hash();
        }
        let number = state.extension;
        let extension = &mut self.extensions[number as usize];
        if extension.sync != 0 {
            // A lock may be used by who has not seen all that it waits for.
            return 0;
        }
        extension.settle(everyone);
        match extension.as_state() {
            Some(simple) => {
                *state = simple;
                self.free_extensions.push(number);
                simple.hash()
            }
            None => extension.hash(),
        }
    }

    /// Whether two states mean the same, and the cells of both may be in one.
    fn say_the_same(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|index| &self.states[index]);
        let number = |shared: &Shared| shared.state.extension;
        u64::from(one.users) + u64::from(other.users) < u64::from(u32::MAX / 2)
            && match [number(one), number(other)] {
                [NO_EXTENSION, NO_EXTENSION] => one.state == other.state,
                [NO_EXTENSION, _] | [_, NO_EXTENSION] => false,
                [one, other] => {
                    let [one, other] = [one, other].map(|number| &self.extensions[number as usize]);
                    one.sync == 0 && other.sync == 0 && one == other
                }
            }
    }

    /// A cell goes from one state to another that says the same.
    pub fn move_to(&mut self, from: u32, to: u32) {
        if to != UNTOUCHED {
            self.states[to as usize].users += 1;
        }
        self.leave(from, 1);
    }

    /// All cells have gone where they should; so many are touched, and their shadow needs room as well: to go through it
    /// often does not pay.
    pub fn has_settled(&mut self, touched: usize) {
        let used = self.bytes();
        self.limit = used + ROOM.max(used / 4).max(touched * size_of::<super::Cell>() / 4);
    }

    /// Bytes of the states and extensions in use.
    #[inline]
    fn bytes(&self) -> usize {
        (self.state_count - self.free_states.len()) * size_of::<Shared>()
            + (self.extension_count - self.free_extensions.len()) * size_of::<Extension>()
    }

    /// A state by its number.
    #[inline]
    pub fn state(&self, state: u32) -> &State {
        &self.states[state as usize].state
    }

    /// What a state says of each byte, if it has an extension.
    #[inline]
    pub fn extension(&self, state: u32) -> Option<&Extension> {
        let extension = self.state(state).extension;
        (extension != NO_EXTENSION).then(|| &self.extensions[extension as usize])
    }

    /// So many cells go from one state to another, which has no extension: the number of that.
    #[inline]
    pub fn put(&mut self, from: u32, state: State, cells: u32) -> u32 {
        let Shared { users, state: old } = &mut self.states[from as usize];
        if *users == cells && old.write_mask == 15 && state.write_mask == 15 {
            // A variable of its own that is used again: nobody else will be in this state.
            *old = state;
            return from;
        }
        let slot = state.hash() as usize % SLOTS;
        let known = self.table[slot];
        if self.is_shareable(known) && *self.state(known) == state {
            self.again(from, known, cells);
            return known;
        }
        if *self.state(from) == state {
            return from;
        }
        let to = self.replace(from, state, cells);
        self.table[slot] = to;
        to
    }

    /// The access repeats one of its epoch, or the only users of the state are these cells, a variable of its own that
    /// is used again, and the state may change: true if nothing more is to be done.
    #[inline(always)]
    pub fn access_at_once(&mut self, from: u32, access: &Access, cells: u32, may_change: bool) -> bool {
        let Shared { users, state } = &mut self.states[from as usize];
        let writes = access.kind == Kind::Write;
        // All fields of a state with an extension are zero, and no epoch is.
        if state.is_repeated(access.thread, access.now, access.mask, writes) {
            return true;
        }
        may_change
            && if state.extension == NO_EXTENSION {
                *users == cells && state.advance(access)
            } else {
                !writes && self.read_again(from, access, cells)
            }
    }

    /// So many cells go from one state to another that is in use.
    #[inline]
    pub fn again(&mut self, from: u32, to: u32, cells: u32) {
        if from != to {
            self.states[to as usize].users += cells;
            self.leave(from, cells);
        }
    }

    /// Whether a few more cells may be in this state.
    #[inline]
    pub fn is_shareable(&self, state: u32) -> bool {
        state != UNTOUCHED && (state as usize) < self.state_count && {
            let users = self.states[state as usize].users;
            users > 0 && users < u32::MAX / 2
        }
    }

    /// What is known of a cell changes by `change`, which an extension can tell: the number of its state then.
    pub fn change(&mut self, from: u32, change: impl FnOnce(&mut Extension)) -> u32 {
        let is_own = self.own_extension(from).is_some();
        let made = if is_own { self.state(from).extension } else { self.extend(from) };
        change(&mut self.extensions[made as usize]);
        let extension = &self.extensions[made as usize];
        if extension.sync != 0 && is_own {
            return from;
        }
        if let Some(state) = extension.as_state() {
            if !is_own {
                self.free_extensions.push(made);
            }
            return self.put(from, state, 1);
        }
        let slot = extension.hash() as usize % SLOTS;
        let known = self.table[slot];
        if known != from
            && self.is_shareable(known)
            && self.extension(known).is_some_and(|known| *known == self.extensions[made as usize])
        {
            if !is_own {
                self.free_extensions.push(made);
            }
            self.again(from, known, 1);
            return known;
        }
        let to =
            if is_own { from } else { self.replace(from, State { extension: made, ..State::default() }, 1) };
        self.table[slot] = to;
        to
    }

    /// A cell gets a state with an extension that no other cell uses: its number.
    pub fn own(&mut self, from: u32) -> u32 {
        if self.own_extension(from).is_some() {
            return from;
        }
        let extension = self.extend(from);
        self.replace(from, State { extension, ..State::default() }, 1)
    }

    /// The extension of a state, if there is one and one cell alone uses it.
    #[inline]
    pub fn own_extension(&mut self, state: u32) -> Option<&mut Extension> {
        let Shared { users, state } = self.states[state as usize];
        (state.extension != NO_EXTENSION && users == 1)
            .then(|| &mut self.extensions[state.extension as usize])
    }

    /// A read of so many cells that repeats one of their extension, where nothing else is to be looked at: true if it
    /// is recorded.
    pub fn read_again(&mut self, state: u32, access: &Access, cells: u32) -> bool {
        let Shared { users, state } = self.states[state as usize];
        self.extensions[state.extension as usize].read_again(access, users == cells)
    }

    /// So many cells less are in this state. Returns what the runtime kept for a lock there, or 0, if they were the
    /// last.
    #[inline]
    pub fn leave(&mut self, state: u32, cells: u32) -> u32 {
        if state == UNTOUCHED {
            return 0;
        }
        let left = &mut self.states[state as usize];
        left.users -= cells;
        if left.users > 0 {
            return 0;
        }
        self.free_states.push(state);
        match left.state.extension {
            NO_EXTENSION => 0,
            extension => self.free_extension(extension),
        }
    }

    /// States in use.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.state_count - self.free_states.len()
    }

    /// The only users of a state change it; others leave it for a new one.
    fn replace(&mut self, from: u32, state: State, cells: u32) -> u32 {
        if from != UNTOUCHED && self.states[from as usize].users == cells {
            let old = std::mem::replace(&mut self.states[from as usize].state, state);
            if old.extension != NO_EXTENSION {
                self.free_extension(old.extension);
            }
            return from;
        }
        self.leave(from, cells);
        let index = self.free_states.pop().map_or(self.state_count, |index| index as usize);
        let new = Shared { users: cells, state };
        if index == self.state_count {
            self.state_count += 1;
            if index == self.states.len() {
                self.states.push(new);
            }
        }
        self.states[index] = new;
        index as u32
    }

    /// A new extension that says what the state does.
    fn extend(&mut self, from: u32) -> u32 {
        let index = self.free_extensions.pop().map_or(self.extension_count, |index| index as usize);
        if index == self.extension_count {
            self.extension_count += 1;
            if index == self.extensions.len() {
                self.extensions.push(Extension::default());
            }
        }
        let state = *self.state(from);
        if state.extension == NO_EXTENSION {
            self.extensions[index].begin(&state);
        } else {
            self.extensions[index] = self.extensions[state.extension as usize].clone();
        }
        index as u32
    }

    fn free_extension(&mut self, extension: u32) -> u32 {
        self.free_extensions.push(extension);
        std::mem::take(&mut self.extensions[extension as usize].sync)
    }
}
