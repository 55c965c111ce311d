//! The arena, its queries, extension and undo.
//!
//! Cost: O(threads) to add or remove an event, O(writes behind it) to place a write in co.

use porf_event::{EventId, FenceMode, Label, Location, ThreadId, no_access, silent};

/// The position of an event in insertion order; 0 is the initial write of every location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ev(pub u32);

/// A location by a dense number, given by whoever builds the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(pub u32);

/// An event, with its links to others.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its thread and its index there.
    pub id: EventId,
    /// What it does.
    pub label: Label,
    /// [`Loc::NONE`] unless it reads or writes.
    pub loc: Loc,
    /// For a read: the write it reads from, or [`Ev::NONE`].
    pub rf: Ev,
    /// For the write of a read-modify-write: its read.
    pub pair: Ev,
    /// For a write: the older read that was made to read from it when it came.
    pub revisited: Ev,
    /// For a write: its place in co, from 1, or [`ExecutionGraph::UNPLACED`].
    pub co: u32,
    /// For the owner of the graph.
    pub tag: u32,
    /// The newest read of this write; reads form a list, newest first.
    pub(crate) first_reader: Ev,
    /// The next older read of the same write; for what is listed as rare: the next older one of these.
    pub(crate) next_reader: Ev,
}

/// The events of a thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// By index; [`Ev::NONE`] is a hole.
    pub(crate) events: Vec<Ev>,
    /// The event that started the thread, [`Ev::INIT`] for those that run from the start.
    pub creator: Ev,
    /// For the owner of the graph: what the thread is like before its first event.
    pub tag: u32,
    /// For the owner of the graph: an earlier thread that is interchangeable with it.
    pub twin: Option<ThreadId>,
}

#[derive(Clone, Debug)]
pub(crate) struct LocationState {
    pub location: Location,
    /// All placed writes but the initial one.
    pub co: Vec<Ev>,
    /// The newest read of the initial write.
    pub init_reader: Ev,
    /// How many plain (non-atomic) accesses there are.
    pub plain: u32,
    /// A thread that accessed it, and whether another one did, too: in this graph or in one that it came from.
    pub thread: ThreadId,
    pub shared: bool,
}

/// Events, po, rf, co, insertion order and clocks.
#[derive(Clone, Debug)]
pub struct ExecutionGraph {
    pub(crate) events: Vec<Event>,
    pub(crate) threads: Vec<Thread>,
    /// See [`now`](Self::now). Beside the threads, because all of it is read for each new event.
    pub(crate) now: Vec<u32>,
    pub(crate) locations: Vec<LocationState>,
    /// Clocks of all events.
    pub(crate) clocks: Vec<Four>,
    pub(crate) shape: Shape,
    /// The newest event that frees memory or is an SC fence; they form a list.
    pub(crate) last_rare: Ev,
}

/// Numbers of a clock that are copied and compared in one step: for up to four threads that is all of it.
pub(crate) type Four = [u32; 4];

/// What the clocks of an event are. Small numbers: graphs are moved often, and one of 128 bytes is moved in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    kinds: u8,
    /// The clock that tells what an event cannot be without.
    needed: u8,
    /// [`Four`]s per clock.
    stride: u16,
}

impl Shape {
    #[inline]
    pub fn kinds(self) -> usize {
        self.kinds.into()
    }

    #[inline]
    pub fn needed(self) -> usize {
        self.needed.into()
    }

    #[inline]
    pub fn stride(self) -> usize {
        self.stride.into()
    }

    /// [`Four`]s per event.
    #[inline]
    pub fn width(self) -> usize {
        self.kinds() * self.stride()
    }

    /// The same for more threads.
    pub fn widened(self, threads: usize) -> Shape {
        let stride = threads.div_ceil(4).max(self.stride() * 2);
        Shape {
            stride: u16::try_from(stride).unwrap_or_else(|_| unreachable!("threads have 16 bits")),
            ..self
        }
    }
}

impl Ev {
    /// The initial write of every location.
    pub const INIT: Ev = Ev(0);
    /// No event.
    pub const NONE: Ev = Ev(u32::MAX);

    /// The number, to index with.
    #[inline]
    pub fn as_usize(self) -> usize {
        self.0 as usize
    }

    /// Whether it is an event.
    #[inline]
    pub fn is_some(self) -> bool {
        self != Ev::NONE
    }
}

impl Loc {
    /// No location.
    pub const NONE: Loc = Loc(u32::MAX);

    /// The number, to index with.
    #[inline]
    pub fn as_usize(self) -> usize {
        self.0 as usize
    }
}

impl Event {
    /// Without links and tag.
    #[inline]
    pub(crate) fn new(id: EventId, label: Label, loc: Loc) -> Event {
        Event {
            id,
            label,
            loc,
            rf: Ev::NONE,
            pair: Ev::NONE,
            revisited: Ev::NONE,
            co: ExecutionGraph::UNPLACED,
            tag: 0,
            first_reader: Ev::NONE,
            next_reader: Ev::NONE,
        }
    }
}

impl Thread {
    pub(crate) fn new(creator: Ev, tag: u32) -> Thread {
        Thread { events: Vec::new(), creator, tag, twin: None }
    }

    /// Positions of its events, by index; [`Ev::NONE`] is a hole.
    pub fn events(&self) -> &[Ev] {
        &self.events
    }

    /// Whether it runs: from the start, or because the event that starts it is there.
    #[inline]
    pub fn is_started(&self) -> bool {
        self.creator.is_some()
    }

    /// The newest event, if there is one.
    pub fn last(&self) -> Option<Ev> {
        self.events.last().copied()
    }
}

impl ExecutionGraph {
    /// The place in co of a write that has none yet.
    pub const UNPLACED: u32 = u32::MAX;
    /// The clock that is kept here.
    pub const PORF: usize = 0;

    /// A graph with the initial write only, and `kinds` clocks per event (at least 1).
    pub fn new(kinds: usize) -> ExecutionGraph {
        let mut graph = ExecutionGraph {
            events: Vec::new(),
            threads: Vec::new(),
            locations: Vec::new(),
            now: Vec::new(),
            clocks: Vec::new(),
            shape: Shape { kinds: kinds as u8, needed: Self::PORF as u8, stride: 1 },
            last_rare: Ev::NONE,
        };
        graph.events.push(Event { co: 0, ..Event::new(EventId::INIT, Label::Init, Loc::NONE) });
        graph.clocks.resize(graph.shape.width(), Four::default());
        graph
    }

    /// About how many bytes its events take.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.events.len() * (size_of::<Event>() + self.shape.width() * size_of::<Four>())
    }

    /// The same with one more clock, for what an event [needs](Self::needs) beyond its porf prefix.
    pub fn with_needs(kinds: usize) -> ExecutionGraph {
        let mut graph = ExecutionGraph::new(kinds + 1);
        graph.shape.needed = kinds as u8;
        graph
    }

    /// Whether what events need is more than their porf prefixes.
    #[inline]
    pub fn has_needs(&self) -> bool {
        self.shape.needed() != Self::PORF
    }

    /// A thread; threads started later name their `creator`. Numbers may be skipped.
    pub fn add_thread(&mut self, thread: ThreadId, creator: Ev, tag: u32) {
        let at = thread.as_usize();
        while self.threads.len() <= at {
            self.threads.push(Thread::new(Ev::NONE, 0));
            self.now.push(0);
        }
        self.threads[at].creator = creator;
        self.threads[at].tag = tag;
        self.now[at] = tag;
        self.threads[at].twin = None;
        if self.threads.len() > self.stride() {
            self.widen();
        }
    }

    /// Notes that an earlier thread is interchangeable with a thread.
    pub fn set_twin(&mut self, thread: ThreadId, twin: Option<ThreadId>) {
        self.threads[thread.as_usize()].twin = twin;
    }

    /// Makes `loc` stand for `location`.
    pub fn name_location(&mut self, loc: Loc, location: Location) {
        while self.locations.len() <= loc.as_usize() {
            self.locations.push(LocationState {
                location: Location(0),
                co: Vec::new(),
                init_reader: Ev::NONE,
                plain: 0,
                thread: ThreadId::INIT,
                shared: false,
            });
        }
        self.locations[loc.as_usize()].location = location;
    }

    /// Appends the next event of a thread. A read has no source yet, a write no place in co; see
    /// [`set_rf`](Self::set_rf) and [`place`](Self::place). The clocks but porf, and all those of a read, are so far
    /// those of the event before.
    #[inline]
    pub fn add(&mut self, thread: ThreadId, label: Label, loc: Loc, tag: u32) -> Ev {
        let new = Ev(self.events.len() as u32);
        let of = &mut self.threads[thread.as_usize()];
        let index = of.events.len() as u32;
        let before = match of.events.last() {
            Some(&last) => last,
            None => of.creator,
        };
        of.events.push(new);
        self.now[thread.as_usize()] = tag;
        let pair = match label {
            Label::Write { rmw, .. } if rmw.is_pair() => self.find_pair(thread, index, &label),
            Label::Read { .. } | Label::Write { .. } | no_access!() => Ev::NONE,
        };
        self.events.push(Event { pair, tag, ..Event::new(EventId::new(thread, index), label, loc) });
        self.list_if_rare(new);
        if loc != Loc::NONE {
            self.note_access(thread, loc, &label);
        }
        self.push_clocks(before);
        if !label.is_read() {
            self.start_porf(new);
        }
        new
    }

    /// Lists the newest event if it frees memory or is an SC fence.
    #[inline]
    pub(crate) fn list_if_rare(&mut self, new: Ev) {
        let event = &mut self.events[new.as_usize()];
        if let Label::Free { .. } | Label::Fence { mode: FenceMode::SeqCst, .. } = event.label {
            event.next_reader = std::mem::replace(&mut self.last_rare, new);
        }
    }

    /// A thread accesses a location.
    #[inline]
    pub(crate) fn note_access(&mut self, thread: ThreadId, loc: Loc, label: &Label) {
        let state = &mut self.locations[loc.as_usize()];
        state.plain += u32::from(label.is_plain());
        if state.thread != thread {
            state.shared |= state.thread != ThreadId::INIT;
            state.thread = thread;
        }
    }

    /// Events that free memory and SC fences, newest first.
    fn rare(&self) -> impl Iterator<Item = Ev> + '_ {
        let older = |rare: &Ev| Some(self.events[rare.as_usize()].next_reader).filter(|rare| rare.is_some());
        std::iter::successors(Some(self.last_rare).filter(|rare| rare.is_some()), older)
    }

    /// All events that free memory, newest first.
    pub fn frees(&self) -> impl Iterator<Item = Ev> + '_ {
        self.rare().filter(|&rare| matches!(self.events[rare.as_usize()].label, Label::Free { .. }))
    }

    /// All SC fences, newest first.
    pub fn sc_fences(&self) -> impl Iterator<Item = Ev> + '_ {
        self.rare().filter(|&rare| matches!(self.events[rare.as_usize()].label, Label::Fence { .. }))
    }

    /// The newest event that frees memory or is an SC fence and is older than another event.
    pub(crate) fn rare_before(&self, event: Ev) -> Ev {
        self.rare().find(|rare| *rare < event).unwrap_or(Ev::NONE)
    }

    /// Removes the newest event, with what depends on it.
    #[inline]
    pub fn remove_last(&mut self) {
        let last = Ev(self.events.len() as u32 - 1);
        let Event { id, label, loc, rf, co, next_reader, .. } = self.events[last.as_usize()];
        match label {
            Label::Read { .. } if rf.is_some() => self.clear_rf(last),
            Label::Write { .. } if co != Self::UNPLACED => self.unplace(last),
            Label::Create { child } => self.stop_thread(child),
            Label::Read { .. } | Label::Write { .. } => {}
            silent!() | Label::Fence { .. } | Label::Join { .. } => {}
        }
        if last == self.last_rare {
            self.last_rare = next_reader;
        }
        if label.is_plain() {
            self.locations[loc.as_usize()].plain -= 1;
        }
        let at = id.thread.as_usize();
        let thread = &mut self.threads[at];
        thread.events.pop();
        self.now[at] = match thread.events.last() {
            Some(before) if before.is_some() => self.events[before.as_usize()].tag,
            _ => thread.tag,
        };
        self.events.truncate(last.as_usize());
        self.clocks.truncate(self.clocks.len() - self.shape.width());
    }

    /// The read takes its value from `source`; its label becomes `label`. Clears an earlier choice.
    #[inline]
    pub fn set_rf(&mut self, read: Ev, source: Ev, label: Label, tag: u32) {
        let Event { rf, loc, .. } = self.events[read.as_usize()];
        if rf.is_some() {
            self.clear_rf(read);
        }
        let next = std::mem::replace(self.reader_head(source, loc), read);
        let event = &mut self.events[read.as_usize()];
        event.next_reader = next;
        event.rf = source;
        self.set_label(read, label, tag);
        self.init_porf(read, self.po_pred(read));
        if source != Ev::INIT {
            self.join_clock(Self::PORF, read, Self::PORF, source);
        }
    }

    /// Takes the source away again. Only reads that are the newest of their source can lose it.
    pub(crate) fn clear_rf(&mut self, read: Ev) {
        let Event { rf, loc, next_reader, .. } = self.events[read.as_usize()];
        let head = self.reader_head(rf, loc);
        debug_assert_eq!(*head, read, "sources are cleared newest first");
        *head = next_reader;
        self.events[read.as_usize()].rf = Ev::NONE;
    }

    /// Makes a read as it was before its source was known: its label becomes `label`, its tag 0.
    pub fn forget_rf(&mut self, read: Ev, label: Label) {
        if self.events[read.as_usize()].rf.is_some() {
            self.clear_rf(read);
        }
        self.set_label(read, label, 0);
    }

    /// Puts a write at place `co` (from 1) of its location; those behind move on.
    #[inline]
    pub fn place(&mut self, write: Ev, co: u32) {
        let loc = self.events[write.as_usize()].loc;
        let order = &mut self.locations[loc.as_usize()].co;
        order.insert(co as usize - 1, write);
        for (i, w) in order.iter().enumerate().skip(co as usize - 1) {
            self.events[w.as_usize()].co = i as u32 + 1;
        }
    }

    /// Takes a write out of co again.
    #[inline]
    pub fn unplace(&mut self, write: Ev) {
        let Event { loc, co, .. } = self.events[write.as_usize()];
        let order = &mut self.locations[loc.as_usize()].co;
        order.remove(co as usize - 1);
        for (i, w) in order.iter().enumerate().skip(co as usize - 1) {
            self.events[w.as_usize()].co = i as u32 + 1;
        }
        self.events[write.as_usize()].co = Self::UNPLACED;
    }

    /// Puts the placed writes of a location in another order.
    pub fn set_co(&mut self, loc: Loc, order: &[Ev]) {
        let co = &mut self.locations[loc.as_usize()].co;
        debug_assert_eq!(co.len(), order.len(), "the same writes");
        co.copy_from_slice(order);
        for (i, w) in order.iter().enumerate() {
            self.events[w.as_usize()].co = i as u32 + 1;
        }
    }

    /// Notes that a write was made the source of an older read when it came.
    pub fn set_revisited(&mut self, write: Ev, read: Ev) {
        self.events[write.as_usize()].revisited = read;
    }

    /// Gives an event another label and tag.
    pub fn set_label(&mut self, event: Ev, label: Label, tag: u32) {
        let at = &mut self.events[event.as_usize()];
        at.label = label;
        at.tag = tag;
        let thread = at.id.thread.as_usize();
        if at.id.index as usize + 1 == self.threads[thread].events.len() {
            self.now[thread] = tag;
        }
    }

    /// The event at a position.
    #[inline]
    pub fn event(&self, event: Ev) -> &Event {
        &self.events[event.as_usize()]
    }

    /// How many events there are, the initial write included.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is nothing but the initial write.
    pub fn is_empty(&self) -> bool {
        self.events.len() == 1
    }

    /// The newest event.
    #[inline]
    pub fn newest(&self) -> Ev {
        Ev(self.events.len() as u32 - 1)
    }

    /// All events but the initial write, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Ev> + use<> {
        (1..self.events.len() as u32).map(Ev)
    }

    /// All threads, by number.
    #[inline]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// For each thread the tag of its newest event; that of the thread if there is none; 0 if it does not run.
    #[inline]
    pub fn now(&self) -> &[u32] {
        &self.now
    }

    /// Stops a thread, because the event that started it is removed.
    pub(crate) fn stop_thread(&mut self, thread: ThreadId) {
        self.threads[thread.as_usize()].creator = Ev::NONE;
        self.now[thread.as_usize()] = 0;
    }

    /// What [`now`](Self::now) says of a thread whose first `settled` events count.
    pub(crate) fn now_after(&self, at: usize, settled: usize) -> u32 {
        let thread = &self.threads[at];
        match settled.checked_sub(1) {
            Some(last) => self.events[thread.events[last].as_usize()].tag,
            None if thread.is_started() => thread.tag,
            None => 0,
        }
    }

    /// The thread with a number.
    #[inline]
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.as_usize()]
    }

    /// The position of an event, if it is there.
    pub fn find(&self, id: EventId) -> Option<Ev> {
        if id == EventId::INIT {
            return Some(Ev::INIT);
        }
        let thread = self.threads.get(id.thread.as_usize())?;
        thread.events.get(id.index as usize).copied().filter(|ev| ev.is_some())
    }

    /// How many location numbers are in use.
    pub fn location_count(&self) -> usize {
        self.locations.len()
    }

    /// What a location number stands for.
    pub fn location(&self, loc: Loc) -> Location {
        self.locations[loc.as_usize()].location
    }

    /// The placed writes of a location in co order, without the initial one.
    #[inline]
    pub fn co(&self, loc: Loc) -> &[Ev] {
        &self.locations[loc.as_usize()].co
    }

    /// Whether the location has non-atomic accesses.
    #[inline]
    pub fn has_plain(&self, loc: Loc) -> bool {
        self.locations[loc.as_usize()].plain > 0
    }

    /// Whether several threads access a location, or did in a graph that this one came from.
    #[inline]
    pub fn is_shared(&self, loc: Loc) -> bool {
        self.locations[loc.as_usize()].shared
    }

    /// The co-last write, the initial one if there is no other.
    #[inline]
    pub fn co_max(&self, loc: Loc) -> Ev {
        self.co(loc).last().copied().unwrap_or(Ev::INIT)
    }

    /// The source of a read, or [`Ev::NONE`].
    #[inline]
    pub fn rf(&self, read: Ev) -> Ev {
        self.events[read.as_usize()].rf
    }

    /// The reads of a write, newest first; of the initial write, those at `loc`.
    #[inline]
    pub fn readers(&self, write: Ev, loc: Loc) -> Readers<'_> {
        let next = if write == Ev::INIT {
            self.locations[loc.as_usize()].init_reader
        } else {
            self.events[write.as_usize()].first_reader
        };
        Readers { graph: self, next }
    }

    /// The accesses to a location that have their source or place, without the initial write.
    pub fn accesses(&self, loc: Loc) -> impl Iterator<Item = Ev> + '_ {
        let writes = self
            .co(loc)
            .iter()
            .flat_map(move |&write| std::iter::once(write).chain(self.readers(write, loc)));
        self.readers(Ev::INIT, loc).chain(writes)
    }

    /// The event before it in its thread, or the one that started the thread.
    #[inline]
    pub fn po_pred(&self, event: Ev) -> Ev {
        let EventId { thread, index } = self.events[event.as_usize()].id;
        let thread = &self.threads[thread.as_usize()];
        for at in (0..index as usize).rev() {
            if thread.events[at].is_some() {
                return thread.events[at];
            }
        }
        thread.creator
    }

    /// The last event of a thread, or the one that started it.
    pub fn thread_end(&self, thread: ThreadId) -> Option<Ev> {
        let thread = self.threads.get(thread.as_usize())?;
        thread.last().or(Some(thread.creator)).filter(|ev| ev.is_some())
    }

    /// The write that belongs to the read of a read-modify-write, if it is there.
    pub fn write_of(&self, read: Ev) -> Option<Ev> {
        let EventId { thread, index } = self.event(read).id;
        let later = &self.thread(thread).events()[index as usize + 1..];
        later.iter().copied().find(|&write| write.is_some() && self.event(write).pair == read)
    }

    pub(crate) fn reader_head(&mut self, write: Ev, loc: Loc) -> &mut Ev {
        if write == Ev::INIT {
            &mut self.locations[loc.as_usize()].init_reader
        } else {
            &mut self.events[write.as_usize()].first_reader
        }
    }

    /// The read that the write of a read-modify-write belongs to: the last one of its kind.
    pub(crate) fn find_pair(&self, thread: ThreadId, index: u32, label: &Label) -> Ev {
        let thread = &self.threads[thread.as_usize()];
        for at in (0..index as usize).rev() {
            let ev = thread.events[at];
            if ev.is_some() {
                let other = &self.events[ev.as_usize()].label;
                if other.is_read() && other.rmw() == label.rmw() && other.access() == label.access() {
                    return ev;
                }
            }
        }
        unreachable!("the write of a read-modify-write follows its read")
    }
}

/// See [`ExecutionGraph::readers`].
pub struct Readers<'g> {
    graph: &'g ExecutionGraph,
    next: Ev,
}

impl Iterator for Readers<'_> {
    type Item = Ev;

    #[inline]
    fn next(&mut self) -> Option<Ev> {
        if self.next == Ev::NONE {
            return None;
        }
        let read = self.next;
        self.next = self.graph.events[read.as_usize()].next_reader;
        Some(read)
    }
}
