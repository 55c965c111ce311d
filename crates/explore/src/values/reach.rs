//! Which memory each thread has touched, and when: so, which it may still touch.
//!
//! Nothing is known beforehand. Each history of a thread that the search meets notes the access that comes next in
//! it ([`Reach::note`]). That an access is not noted is what the search relies on where it does not try all threads
//! ([`Reach::rely`]). If such an access is met later, what was done may be wrong, and the search begins again with
//! what it knows by then.
//!
//! Accesses that joining a thread puts in order do not meet: a thread that has joined another one touches nothing
//! while that runs.
//!
//! Cost: the notes of a place, which are at most a few for each thread.

use smallvec::SmallVec;

/// What threads did at one place.
#[derive(Default)]
struct Place {
    touches: SmallVec<[Touch; 4]>,
    /// By thread: from which of its events on it was relied on that it does not come here in conflict with others.
    relied: SmallVec<[u32; 8]>,
}

/// Accesses of one thread to one place.
struct Touch {
    thread: usize,
    writes: bool,
    /// The threads that it had joined by then: a bit for each.
    joined: u64,
    /// The index of the last of these events.
    last: u32,
}

/// What is known so far.
#[derive(Default)]
pub(super) struct Reach {
    places: Vec<Place>,
    /// Something that was relied on turned out to be wrong.
    pub stale: bool,
    /// What grows any more is taken to have no end.
    pub impatient: bool,
}

impl Reach {
    fn place(&mut self, at: usize) -> &mut Place {
        if at >= self.places.len() {
            self.places.resize_with(at + 1, Place::default);
        }
        &mut self.places[at]
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// There is such a place.
    pub fn know(&mut self, at: usize) {
        self.place(at);
    }

    /// A thread that has joined some others comes to a place with its event `index`.
    pub fn note(&mut self, at: usize, thread: usize, writes: bool, joined: u64, index: u32) {
        let impatient = self.impatient;
        let place = self.place(at);
        let is_same =
            |touch: &&mut Touch| (touch.thread, touch.writes, touch.joined) == (thread, writes, joined);
        match place.touches.iter_mut().find(is_same) {
            Some(touch) if touch.last >= index => return,
            Some(touch) => touch.last = if impatient { u32::MAX } else { index },
            None => place.touches.push(Touch { thread, writes, joined, last: index }),
        }
        self.stale |= place.relied.get(thread).is_some_and(|&from| index >= from);
    }

    /// Whether a thread may touch a place, with its event `from` or a later one, in conflict with an access of
    /// `other`, and before that.
    pub fn meets(&self, at: usize, writes: bool, other: usize, thread: usize, from: u32) -> bool {
        let Some(place) = self.places.get(at) else { return false };
        place.touches.iter().any(|touch| {
            touch.thread == thread
                && touch.last >= from
                && (writes || touch.writes)
                && touch.joined >> other & 1 == 0
        })
    }

    /// Relies on that a thread does not.
    pub fn rely(&mut self, at: usize, thread: usize, from: u32) {
        let relied = &mut self.place(at).relied;
        if relied.len() <= thread {
            relied.resize(thread + 1, u32::MAX);
        }
        relied[thread] = relied[thread].min(from);
    }

    /// The search begins again.
    pub fn begin_again(&mut self) {
        self.stale = false;
        for place in &mut self.places {
            place.relied.clear();
        }
    }
}
