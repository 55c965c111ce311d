//! Atomic objects that nobody uses for a while, in a few bytes.
//!
//! A program may have many objects with atomics (the nodes of a list) of which it uses few at a time. What is known of
//! the others is more than a kilobyte each, mostly room and clocks that hardly differ. A [`Location`] is a [`History`]
//! or its text: numbers of seven bits to a byte (LEB128), and of each clock what is different from the clock before.
//!
//! Cost: O(bytes) to write and to read; about 100 bytes for an object with three stores.

use crate::clock::Clock;
use crate::engine::View;
use crate::history::History;
use porf_event::ThreadId;

/// An atomic object of the engine.
#[derive(Debug)]
pub(crate) enum Location {
    Live(Box<History>),
    /// The text of a history; empty for one that nothing is known of.
    Frozen(Box<[u8]>),
}

impl Default for Location {
    fn default() -> Location {
        Location::Frozen(Box::default())
    }
}

impl Location {
    /// The history, which somebody has used lately.
    #[inline]
    pub fn live(&self) -> &History {
        match self {
            Location::Live(history) => history,
            Location::Frozen(_) => unreachable!("whoever finds a location makes it live"),
        }
    }

    /// The same to be changed.
    #[inline]
    pub fn live_mut(&mut self) -> &mut History {
        match self {
            Location::Live(history) => history,
            Location::Frozen(_) => unreachable!("whoever finds a location makes it live"),
        }
    }

    /// Makes it live; says whether it was not.
    pub fn thaw(&mut self) -> bool {
        let Location::Frozen(text) = self else { return false };
        let mut history = Box::<History>::default();
        if !text.is_empty() {
            history.read(&mut Reader { rest: text, last: Clock::default() });
        }
        *self = Location::Live(history);
        true
    }

    /// Writes it down; says whether it was live.
    pub fn freeze(&mut self) -> bool {
        let Location::Live(history) = self else { return false };
        if history.is_empty() {
            *self = Location::default();
            return true;
        }
        let mut writer = Writer::default();
        history.write(&mut writer);
        *self = Location::Frozen(writer.bytes.into());
        true
    }

    /// How many stores are kept.
    pub fn len(&self) -> usize {
        match self {
            Location::Live(history) => history.len(),
            Location::Frozen(text) if text.is_empty() => 0,
            Location::Frozen(text) => Reader { rest: text, last: Clock::default() }.number() as usize,
        }
    }
}

/// A text that grows.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    last: Clock,
}

impl Writer {
    pub fn number(&mut self, number: impl Into<u128>) {
        let mut number = number.into();
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Beyond the last thread that it differs in, a clock is as the one before.
    pub fn clock(&mut self, clock: &Clock) {
        let threads = clock.threads().max(self.last.threads());
        let differ = |&thread: &ThreadId| clock.get(thread) != self.last.get(thread);
        let count = (0..threads).rev().map(ThreadId).find(differ).map_or(0, |thread| thread.0 + 1);
        self.number(count);
        for thread in (0..count).map(ThreadId) {
            let more = clock.get(thread).wrapping_sub(self.last.get(thread)) as i32;
            // Small numbers are short, whatever their sign.
            self.number(((more << 1) ^ (more >> 31)) as u32);
        }
        self.last.assign(clock);
    }

    pub fn view(&mut self, view: &View) {
        self.clock(&view.hb);
        self.number(view.fence);
        if view.fence != 0 {
            self.clock(view.sc().unwrap_or(&Clock::default()));
        }
    }
}

/// What is left of a text.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    last: Clock,
}

impl Reader<'_> {
    pub fn number(&mut self) -> u128 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = self.rest.split_first().expect("as much was written");
            self.rest = rest;
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    pub fn short(&mut self) -> u32 {
        self.number() as u32
    }

    pub fn clock(&mut self, clock: &mut Clock) {
        for thread in (0..self.number() as u16).map(ThreadId) {
            let coded = self.short();
            let more = (coded >> 1) ^ (coded & 1).wrapping_neg();
            self.last.set(thread, self.last.get(thread).wrapping_add(more));
        }
        clock.assign(&self.last);
    }

    pub fn view(&mut self, view: &mut View) {
        view.clear();
        self.clock(&mut view.hb);
        let fence = self.short();
        if fence != 0 {
            let mut sc = Clock::default();
            self.clock(&mut sc);
            view.set_fence(fence, sc);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Order};
    use crate::scheduler::Replay;

    #[test]
    fn numbers_and_clocks_of_all_lengths() {
        let clock = |entries: &[(u16, u32)]| {
            let mut clock = Clock::default();
            entries.iter().for_each(|&(thread, value)| clock.set(ThreadId(thread), value));
            clock
        };
        let clocks = [clock(&[(0, 7), (3, u32::MAX)]), clock(&[(0, 7)]), clock(&[(40, 1)]), Clock::default()];
        let mut writer = Writer::default();
        [0, 127, 128, u128::MAX].into_iter().for_each(|number| writer.number(number));
        clocks.iter().for_each(|clock| writer.clock(clock));
        let mut reader = Reader { rest: &writer.bytes, last: Clock::default() };
        assert_eq!([0; 4].map(|_| reader.number()), [0, 127, 128, u128::MAX]);
        for clock in &clocks {
            let mut read = Clock::default();
            reader.clock(&mut read);
            assert!(read.covers(clock) && clock.covers(&read));
        }
        assert!(reader.rest.is_empty());
    }

    #[test]
    fn an_object_needs_a_hundred_bytes() {
        let mut engine = Engine::new();
        let (writer, mut scheduler) = (engine.create_thread(ThreadId(0)), Replay::default());
        for round in 0..10_000 {
            engine.tick(writer);
            let location = engine.new_location(0);
            engine.store(writer, location, Order::Relaxed, round);
            engine.store(writer, location, Order::Release, round + 1);
            assert_eq!(engine.load(writer, location, Order::Relaxed, &mut scheduler), round + 1);
        }
        let mut history = engine.history(crate::LocationId(9_999)).clone();
        let mut writer = Writer::default();
        history.write(&mut writer);
        assert!(writer.bytes.len() < 100, "{} bytes", writer.bytes.len());
        let mut location = Location::Live(Box::new(std::mem::take(&mut history)));
        assert!(location.freeze() && !location.freeze());
        assert_eq!(location.len(), 3);
        assert!(location.thaw() && !location.thaw());
        assert_eq!(location.live().newest().value, 10_000);
    }
}
