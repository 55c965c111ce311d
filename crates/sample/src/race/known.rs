//! All that is known of the program's memory, each thing once.
//!
//! Neighbouring cells mostly have the same past: one loop or one `memset` touched them all. So a cell holds the
//! number of a [`State`], and cells of which the same is known share it. What an access makes of a state is
//! looked for in a small table before it becomes a state of its own; the table may forget, then a state is there
//! twice. A state that one cell alone uses is changed in place.
//!
//! Cost: O(1); memory O(different pasts), with a state of 32 bytes for each.

use super::extension::Extension;
use super::state::{NO_EXTENSION, State};
use super::{Access, Kind, Past};

/// The number of the state of what was never touched. Nobody counts its users.
pub(super) const UNTOUCHED: u32 = 0;

/// Slots of the table of states that may be shared. What a slot says is checked before it is believed.
const SLOTS: usize = 1 << 10;

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
        }
    }
}

impl Known {
    /// Nothing is known any more; no cell uses a number from before.
    pub fn reset(&mut self) {
        (self.state_count, self.extension_count) = (1, 1);
        self.free_states.clear();
        self.free_extensions.clear();
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
        match self.extensions[state.extension as usize].read_again(access) {
            Some(own) if users == cells => {
                (own.clock, own.pc) = (access.now, access.pc);
                true
            }
            Some(&mut Past { clock, pc, .. }) => (clock, pc) == (access.now, access.pc),
            None => false,
        }
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
