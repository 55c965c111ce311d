//! One execution under the memory model: clocks of threads, and what each operation may do.
//!
//! Happens-before clocks follow Figure 7 of the paper, consume is acquire. Release sequences are those of C++20,
//! or of C11 ([`Engine::c11`]), where a thread's later stores to the location belong to them too.
//! A thread's clock entry for itself counts its visible events: the event takes the current value, what
//! follows belongs to the next. Plain accesses belong to the value current when they happen.
//!
//! Besides happens-before, a [`View`] carries what SC fences add to coherence. Let A be an access to x,
//! B an earlier executed access to x, and B ⊑ A mean that A's store (the one written or read) is B's or
//! mo-after it. With S the order of execution, RC11's axioms are these bounds on A:
//!
//! - R1, coherence: B hb A implies B ⊑ A.
//! - R2, psc_F: B hb F2 <S F1 hb A for SC fences F1, F2 implies B ⊑ A. (`View::sc`)
//! - R3, psc_base: A and B SC, B a store, implies B ⊑ A.
//! - R4, psc_base: A SC, B a store, B hb F <S A for an SC fence F implies B ⊑ A. (`Engine::fenced`)
//! - R5, psc_base: B an SC store, B <S F hb A for an SC fence F implies B ⊑ A. (`View::fence`)
//!
//! Atomicity is the adjacency of read-modify-writes in [`History`]; sb ∪ rf is acyclic because loads read
//! what was executed.

use crate::clock::Clock;
use crate::frozen::Location;
use crate::history::{History, NONE, Store};
use crate::scheduler::Scheduler;
use porf_event::ThreadId;
use smallvec::SmallVec;

/// Initial stores belong to this clock of the main thread, which no event of it takes: not 0, which
/// every clock covers without having seen anything.
pub const INITIAL_CLOCK: u32 = 1;

/// So many locations are kept at hand.
const WARM: usize = 1 << 10;

/// An atomic object of the present execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocationId(pub u32);

/// A memory order; consume is acquire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Atomic, without ordering.
    Relaxed,
    /// Acquire; consume too.
    Acquire,
    /// Release.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

impl Order {
    /// Whether a load or fence of this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a store or fence of this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// What is visible at a point of a thread; travels along synchronisation.
#[derive(Clone, Default, Debug)]
pub struct View {
    /// Happens-before.
    pub hb: Clock,
    /// Place in S of the last SC fence that is hb-before this point (R5).
    pub fence: u32,
    /// What was hb-before an SC fence that is S-before an SC fence that is hb-before this point (R2). Counts only where
    /// `fence` is not 0: most programs have no such fence, and every store carries a view.
    sc: Option<Box<Clock>>,
}

impl View {
    /// Adds what another view has seen.
    #[inline]
    pub fn join(&mut self, other: &View) {
        self.hb.absorb(&other.hb);
        if other.fence != 0 {
            self.fenced(other.sc.as_deref(), other.fence);
        }
    }

    /// An SC fence in this place of S is hb-before, with what `sc` tells.
    #[inline(never)]
    fn fenced(&mut self, sc: Option<&Clock>, fence: u32) {
        let own = self.sc.get_or_insert_default();
        if self.fence == 0 {
            own.clear();
        }
        if let Some(sc) = sc {
            own.absorb(sc);
        }
        self.fence = self.fence.max(fence);
    }

    /// Of a view that no fence is known to: this one is.
    pub(crate) fn set_fence(&mut self, fence: u32, sc: Clock) {
        (self.fence, self.sc) = (fence, Some(Box::new(sc)));
    }

    /// What R2 adds to happens-before.
    #[inline]
    pub(crate) fn sc(&self) -> Option<&Clock> {
        self.sc.as_deref().filter(|_| self.fence != 0)
    }

    /// The newest event of a thread that coherence must respect.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        let hb = self.hb.get(thread);
        if self.fence == 0 { hb } else { hb.max(self.get_fenced(thread)) }
    }

    #[inline(never)]
    fn get_fenced(&self, thread: ThreadId) -> u32 {
        self.sc().map_or(0, |sc| sc.get(thread))
    }

    /// Keeps what the other view has seen too.
    pub fn meet(&mut self, other: &View) {
        self.hb.meet(&other.hb);
        self.fence = self.fence.min(other.fence);
        if let (Some(sc), Some(other)) = (&mut self.sc, other.sc()) {
            sc.meet(other);
        }
    }

    /// Whether joining `other` would change nothing.
    pub fn covers(&self, other: &View) -> bool {
        self.hb.covers(&other.hb)
            && self.fence >= other.fence
            && other.sc().is_none_or(|other| self.sc().is_some_and(|sc| sc.covers(other)))
    }

    /// Makes this view equal to `other` without giving up its memory.
    #[inline]
    pub fn assign(&mut self, other: &View) {
        self.hb.assign(&other.hb);
        self.fence = 0;
        if other.fence != 0 {
            self.fenced(other.sc.as_deref(), other.fence);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.hb.clear();
        self.fence = 0;
    }
}

#[derive(Clone, Default, Debug)]
struct Thread {
    view: View,
    /// The view at the last release fence.
    released: View,
    /// What the relaxed loads so far would synchronise with at an acquire fence.
    acquirable: View,
    running: bool,
}

impl Thread {
    /// What the thread, number `t`, learns by reading a store.
    #[inline]
    fn synchronise(&mut self, t: ThreadId, store: &Store, order: Order) {
        if store.thread == t && store.position == 0 && store.clock != INITIAL_CLOCK {
            // The thread's own store, and no read-modify-write: it released nothing that the thread has not seen.
            return;
        }
        if order.acquires() {
            self.view.join(&store.release);
        } else {
            self.acquirable.join(&store.release);
        }
    }
}

/// A number for one edge of reads-from: who read, as its event, and what.
#[inline]
fn edge(read: (ThreadId, u32), store: &Store) -> u64 {
    let pair = |(thread, clock): (ThreadId, u32)| u64::from(thread.0) << 32 | u64::from(clock);
    let edge = [pair(read), pair((store.thread, store.clock))]
        .iter()
        .fold(1u64, |hash, &part| (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    edge ^ (edge >> 31)
}

/// What an operation that reads is going to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Intent {
    Load,
    /// A read-modify-write that may turn out to be a load.
    MayFail,
    /// One that writes whatever it reads.
    Writes,
}

/// What a compare-and-swap or another read-modify-write does with the value it reads.
pub enum Update {
    /// Write this value.
    Write(u128),
    /// Do not write; the operation was a load with this order.
    Fail(Order),
}

/// One execution: the threads, the atomic objects, and what each thread has seen.
#[derive(Default)]
pub struct Engine {
    threads: Vec<Thread>,
    thread_count: usize,
    locations: Vec<Location>,
    location_count: usize,
    free: Vec<LocationId>,
    /// Locations that are not written down, in use or not.
    live: usize,
    /// R4: what is hb-before some SC fence.
    fenced: Clock,
    /// The last place given out in S.
    sc_index: u32,
    /// At most so many stores kept per location, if set (aggressive pruning).
    pub window: Option<usize>,
    /// Release sequences as in C11 and RC11, not as in C++20.
    pub c11: bool,
    /// So many stores to a location may gather before it is pruned for the first time.
    pub prune_slack: usize,
    /// A hash of the reads-from relation of this execution, independent of the interleaving.
    pub reads_from: u64,
    /// Atomic operations and fences so far.
    pub events: u64,
    /// The store that was read last: its thread and clock.
    pub last_read: (ThreadId, u32),
    /// What the store in hand releases, see [`Engine::own_release`].
    release: View,
    /// See [`Engine::all_have_seen`].
    seen: View,
}

impl Engine {
    /// An execution with the main thread alone, and no limit on stores.
    pub fn new() -> Engine {
        let mut engine = Engine { prune_slack: 64, ..Engine::default() };
        engine.reset();
        engine
    }

    /// Begins a new execution with one running thread; keeps allocated memory.
    pub fn reset(&mut self) {
        self.thread_count = 0;
        (self.location_count, self.live) = (0, 0);
        self.free.clear();
        self.fenced.clear();
        self.seen.clear();
        self.sc_index = 0;
        self.reads_from = 0;
        self.events = 0;
        self.new_thread();
        self.threads[0].view.hb.set(ThreadId(0), INITIAL_CLOCK + 1);
    }

    /// A thread that begins where `parent` is.
    pub fn create_thread(&mut self, parent: ThreadId) -> ThreadId {
        let child = self.new_thread();
        let [from, to] = self
            .threads
            .get_disjoint_mut([parent.as_usize(), child.as_usize()])
            .expect("a new thread differs from its parent");
        to.view.assign(&from.view);
        to.view.hb.set(child, 1);
        self.tick(parent);
        child
    }

    /// A thread that begins where `view` was left.
    pub fn create_thread_after(&mut self, view: &View) -> ThreadId {
        let child = self.new_thread();
        let to = &mut self.threads[child.as_usize()].view;
        to.assign(view);
        to.hb.set(child, 1);
        child
    }

    /// `thread` waits for the end of another and can do nothing before it has seen all of that one's
    /// past; until [`Engine::join_thread`] it does not hold back pruning.
    pub fn await_thread(&mut self, thread: ThreadId) {
        self.threads[thread.as_usize()].running = false;
    }

    /// The thread ends and no longer holds back pruning.
    pub fn finish_thread(&mut self, thread: ThreadId) {
        self.threads[thread.as_usize()].running = false;
    }

    /// `thread` waited for the end of `child`.
    pub fn join_thread(&mut self, thread: ThreadId, child: ThreadId) {
        let [into, from] = self
            .threads
            .get_disjoint_mut([thread.as_usize(), child.as_usize()])
            .expect("a thread cannot join itself");
        into.view.join(&from.view);
        into.running = true;
        self.tick(thread);
    }

    /// Synchronises with a lock or another object that keeps a view.
    pub fn acquire(&mut self, thread: ThreadId, view: &View) {
        self.threads[thread.as_usize()].view.join(view);
        self.tick(thread);
    }

    /// The thread leaves what it has seen in `view`, as an unlock does.
    pub fn release(&mut self, thread: ThreadId, view: &mut View) {
        view.join(&self.threads[thread.as_usize()].view);
        self.tick(thread);
    }

    /// What happens before the thread's next event.
    pub fn clock(&self, thread: ThreadId) -> &Clock {
        &self.threads[thread.as_usize()].view.hb
    }

    /// The current value of the thread's own clock.
    #[inline]
    pub fn now(&self, thread: ThreadId) -> u32 {
        self.threads[thread.as_usize()].view.hb.get(thread)
    }

    /// Ends the current stretch of plain accesses of a thread.
    #[inline]
    pub fn tick(&mut self, thread: ThreadId) {
        let clock = &mut self.threads[thread.as_usize()].view.hb;
        clock.set(thread, clock.get(thread) + 1);
        self.events += 1;
    }

    /// A new atomic object; its initial value happens before everything.
    pub fn new_location(&mut self, initial: u128) -> LocationId {
        let location = self.free.pop().unwrap_or(LocationId(self.location_count as u32));
        let id = location.0 as usize;
        if id == self.location_count {
            self.location_count += 1;
            if id == self.locations.len() {
                self.locations.push(Location::default());
            }
            self.locations[id].thaw();
            self.live += 1;
        }
        self.thaw(location);
        self.locations[id].live_mut().init(initial);
        location
    }

    /// The location has bytes of others that are to end: whoever reads its value synchronises with what stored last
    /// there. That may be more than the program asks for, and never less.
    pub fn inherit_release(&mut self, location: LocationId, release: View) {
        self.locations[location.0 as usize].live_mut().release_at_first(release);
    }

    /// The location is about to be used: it may have been [frozen](Engine::freeze).
    pub fn thaw(&mut self, location: LocationId) {
        self.live += usize::from(self.locations[location.0 as usize].thaw());
    }

    /// Whether so many locations were used since the last time that those which were not had better be written down.
    pub fn is_warm(&self) -> bool {
        self.live > WARM.max(self.location_count / 16)
    }

    /// Writes down all locations that are not `in_use`: before they are used, they must be [thawed](Engine::thaw).
    pub fn freeze(&mut self, in_use: impl Fn(LocationId) -> bool) {
        for index in (0..self.location_count).filter(|&index| !in_use(LocationId(index as u32))) {
            self.live -= usize::from(self.locations[index].freeze());
        }
    }

    /// The location is gone; its number may be given out again.
    pub fn free_location(&mut self, location: LocationId) {
        match &mut self.locations[location.0 as usize] {
            Location::Live(history) => history.clear(),
            frozen => *frozen = Location::default(),
        }
        self.free.push(location);
    }

    /// Locations in use.
    pub fn live_locations(&self) -> usize {
        self.location_count - self.free.len()
    }

    /// What every running thread has seen, or `awaits`: a thread that waits may be known to see more before anything
    /// else that it does. None if no thread runs.
    pub fn everyone<'a>(&self, awaits: impl Fn(ThreadId) -> Option<&'a View>) -> Option<View> {
        let mut everyone: Option<View> = None;
        let mut meet = |view: &View| match &mut everyone {
            Some(everyone) => everyone.meet(view),
            none => *none = Some(view.clone()),
        };
        let threads = self.threads[..self.thread_count].iter().enumerate();
        for (number, thread) in threads.filter(|(_, thread)| thread.running) {
            match awaits(ThreadId(number as u16)) {
                Some(more) => {
                    let mut view = thread.view.clone();
                    view.join(more);
                    meet(&view);
                }
                None => meet(&thread.view),
            }
        }
        everyone
    }

    /// Every thread has seen this; it helps to forget stores that nobody can read.
    pub fn all_have_seen(&mut self, view: &View) {
        self.seen.join(view);
    }

    /// Every location in use of which nothing is worth remembering but its value, which memory has: it may be freed,
    /// and be a new one when it is next accessed. O(stores).
    pub fn settled_locations(&mut self, everyone: &View) -> Vec<LocationId> {
        let window = self.window;
        let mut settled = Vec::new();
        for (index, location) in self.locations[..self.location_count].iter_mut().enumerate() {
            if location.len() == 0 {
                continue;
            }
            let was_frozen = location.thaw();
            let history = location.live_mut();
            if history.len() > 1 {
                history.prune(&everyone.hb, window);
            }
            if history.is_settled(everyone) {
                settled.push(LocationId(index as u32));
            }
            if was_frozen {
                location.freeze();
            }
        }
        settled
    }

    /// The location is gone, and so is its memory.
    pub fn release_location(&mut self, location: LocationId) {
        self.live -= usize::from(matches!(self.locations[location.0 as usize], Location::Live(_)));
        self.locations[location.0 as usize] = Location::default();
        self.free.push(location);
    }

    /// Forgets everything about the location: it now holds `value` and has always done so.
    pub fn restart_location(&mut self, location: LocationId, value: u128) {
        self.locations[location.0 as usize].live_mut().init(value);
    }

    /// The stores of an atomic object.
    pub fn history(&self, location: LocationId) -> &History {
        self.locations[location.0 as usize].live()
    }

    /// A plain store to an atomic location, by `thread` when its clock was `clock`.
    pub fn plain_store(&mut self, location: LocationId, thread: ThreadId, clock: u32, value: u128) {
        let mut prior = SmallVec::new();
        let history = self.locations[location.0 as usize].live_mut();
        history.visible_accesses(&self.threads[thread.as_usize()].view, &mut prior);
        history.append(value, thread, clock, &View::default(), 0, &prior, NONE);
    }

    /// An atomic load: the scheduler chooses among the stores that the model allows.
    pub fn load(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
    ) -> u128 {
        let read = self.read(t, location, order, scheduler, Intent::Load, |_| Some(order));
        let thread = &mut self.threads[t.as_usize()];
        let history = self.locations[location.0 as usize].live_mut();
        let store = history.store(read);
        let (value, clock) = (store.value, thread.view.hb.get(t));
        self.last_read = (store.thread, store.clock);
        self.reads_from = self.reads_from.wrapping_add(edge((t, clock), store));
        thread.synchronise(t, store, order);
        let is_new = history.record_load(t, clock, read);
        thread.view.hb.set(t, clock + 1);
        self.events += 1;
        if is_new && history.is_due(self.prune_slack) {
            self.prune(location);
        }
        value
    }

    /// An atomic store.
    pub fn store(&mut self, t: ThreadId, location: LocationId, order: Order, value: u128) {
        let sc_index = self.next_sc_index(order);
        if self.c11 {
            self.own_release(t, location, order);
        }
        let mut others: SmallVec<[u32; 16]> = SmallVec::new();
        let settled =
            self.locations[location.0 as usize].live_mut().settled(&self.threads[t.as_usize()].view);
        let prior = match &settled {
            Some(last) => std::slice::from_ref(last),
            None => {
                self.bounds(t, location, order, &mut others);
                &others[..]
            }
        };
        let thread = &mut self.threads[t.as_usize()];
        let history = self.locations[location.0 as usize].live_mut();
        let release = match order.releases() {
            _ if self.c11 => &self.release,
            true => &thread.view,
            false => &thread.released,
        };
        let clock = thread.view.hb.get(t);
        history.append(value, t, clock, release, sc_index, prior, NONE);
        thread.view.hb.set(t, clock + 1);
        self.events += 1;
        if history.is_due(self.prune_slack) {
            self.prune(location);
        }
    }

    /// A read-modify-write; returns the value read. `update` must be a function of its argument.
    pub fn rmw(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
        update: impl Fn(u128) -> Update,
    ) -> u128 {
        self.update(t, location, order, scheduler, Intent::MayFail, update)
    }

    /// A read-modify-write that writes whatever it reads.
    pub fn rmw_always(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
        change: impl Fn(u128) -> u128,
    ) -> u128 {
        self.update(t, location, order, scheduler, Intent::Writes, |value| Update::Write(change(value)))
    }

    fn update(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
        intent: Intent,
        update: impl Fn(u128) -> Update,
    ) -> u128 {
        let read = self.read(t, location, order, scheduler, intent, |value| match update(value) {
            Update::Write(_) => None,
            Update::Fail(failure) => Some(failure),
        });
        self.note_read(t, location, read);
        let value = self.locations[location.0 as usize].live_mut().store(read).value;
        match update(value) {
            Update::Fail(failure) => {
                self.synchronise(t, location, read, failure);
                let clock = self.now(t);
                self.locations[location.0 as usize].live_mut().record_load(t, clock, read);
            }
            Update::Write(new) => {
                self.synchronise(t, location, read, order);
                let sc_index = self.next_sc_index(order);
                self.own_release(t, location, order);
                let clock = self.now(t);
                let history = self.locations[location.0 as usize].live_mut();
                self.release.join(&history.store(read).release);
                history.append(new, t, clock, &self.release, sc_index, &[], read);
            }
        }
        self.tick(t);
        self.prune_if_due(location);
        value
    }

    /// What a store of a thread releases by itself, whatever it reads: into [`Engine::release`].
    #[inline]
    fn own_release(&mut self, t: ThreadId, location: LocationId, order: Order) {
        let thread = &self.threads[t.as_usize()];
        self.release.assign(if order.releases() { &thread.view } else { &thread.released });
        if self.c11 {
            let history = self.locations[location.0 as usize].live_mut();
            if order.releases() {
                history.set_released(t, &self.release);
            } else if let Some(earlier) = history.released(t) {
                self.release.join(earlier);
            }
        }
    }

    /// An atomic fence.
    pub fn fence(&mut self, t: ThreadId, order: Order) {
        let thread = &mut self.threads[t.as_usize()];
        if order.acquires() {
            thread.view.join(&thread.acquirable);
        }
        if order == Order::SeqCst {
            self.fenced.join(&thread.view.hb);
            self.sc_index += 1;
            thread.view.fenced(Some(&self.fenced), self.sc_index);
        }
        if order.releases() {
            thread.released.assign(&thread.view);
        }
        self.tick(t);
    }

    /// What a full fence does to the loads of the thread that follow, without an order of anything else: the machine does
    /// so at a barrier that must not be seen.
    pub fn pass(&mut self, t: ThreadId) {
        let thread = &mut self.threads[t.as_usize()];
        self.fenced.join(&thread.view.hb);
        self.sc_index += 1;
        thread.view.fenced(Some(&self.fenced), self.sc_index);
        self.tick(t);
    }

    /// A full fence in every thread, wherever it is, between two of the caller: Linux's `membarrier`. A thread
    /// that has ended had one at its end.
    pub fn fence_all(&mut self, t: ThreadId) {
        self.fence(t, Order::SeqCst);
        for other in (0..self.thread_count as u16).map(ThreadId).filter(|other| *other != t) {
            self.fence(other, Order::SeqCst);
        }
        self.fence(t, Order::SeqCst);
    }

    /// Stores kept now, over all locations.
    pub fn stores_kept(&self) -> usize {
        self.locations[..self.location_count].iter().map(Location::len).sum()
    }

    fn new_thread(&mut self) -> ThreadId {
        let id = ThreadId(u16::try_from(self.thread_count).expect("at most 65,535 threads"));
        if self.thread_count == self.threads.len() {
            self.threads.push(Thread::default());
        }
        let thread = &mut self.threads[self.thread_count];
        self.thread_count += 1;
        thread.view.clear();
        thread.released.clear();
        thread.acquirable.clear();
        thread.running = true;
        thread.view.hb.set(id, 1);
        id
    }

    /// Chooses the store that a load or a read-modify-write returns, if there is a choice.
    #[inline(always)]
    fn read(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
        intent: Intent,
        load_order: impl Fn(u128) -> Option<Order>,
    ) -> u32 {
        if let Some(only) =
            self.locations[location.0 as usize].live_mut().settled(&self.threads[t.as_usize()].view)
        {
            scheduler.pick_store(1);
            return only;
        }
        self.choose(t, location, order, scheduler, intent, load_order)
    }

    /// [`Engine::read`] where it is not plain to see that there is one such store only. `load_order` says with which order the
    /// operation, having read this value, is a mere load; None if it goes on to write, with `order`.
    #[inline(never)]
    fn choose(
        &mut self,
        t: ThreadId,
        location: LocationId,
        order: Order,
        scheduler: &mut impl Scheduler,
        intent: Intent,
        load_order: impl Fn(u128) -> Option<Order>,
    ) -> u32 {
        let mut prior: SmallVec<[u32; 16]> = SmallVec::new();
        self.bounds(t, location, order, &mut prior);
        if (order != Order::SeqCst || intent != Intent::MayFail)
            && let Some(floor) = self.locations[location.0 as usize].live_mut().floor(&prior)
        {
            return self.read_chain(location, floor, scheduler, intent, load_order);
        }
        // A CAS that fails with a weaker order than seq_cst is not bound by R3 and R4.
        let mut weaker: SmallVec<[u32; 16]> = SmallVec::new();
        if order == Order::SeqCst {
            self.bounds(t, location, Order::Relaxed, &mut weaker);
        }
        let history = self.locations[location.0 as usize].live_mut();
        let is_weaker = |store: u32| {
            order == Order::SeqCst
                && load_order(history.store(store).value).is_some_and(|order| order != Order::SeqCst)
        };
        let mut candidates = SmallVec::new();
        history.readable(&self.threads[t.as_usize()].view, &mut candidates);
        candidates.retain(|&mut store| {
            (history.is_tail(store) || load_order(history.store(store).value).is_some())
                && history.allows(store, if is_weaker(store) { &weaker } else { &prior })
        });
        if candidates.len() > 1 {
            candidates.sort_unstable();
        }
        scheduler.is_updated(history.is_updated());
        let chosen = candidates[scheduler.pick_store(candidates.len())];
        if is_weaker(chosen) {
            prior = weaker;
        }
        prior.retain(|p| *p != chosen);
        history.order_before(&prior, chosen);
        chosen
    }

    /// [`Engine::read`] where every store from `floor` on is allowed, if it may still be read.
    #[inline]
    fn read_chain(
        &self,
        location: LocationId,
        floor: u32,
        scheduler: &mut impl Scheduler,
        intent: Intent,
        load_order: impl Fn(u128) -> Option<Order>,
    ) -> u32 {
        let history = self.locations[location.0 as usize].live();
        scheduler.is_updated(history.is_updated());
        if intent == Intent::Load {
            return floor + scheduler.pick_store(history.len() - floor as usize) as u32;
        }
        let allowed =
            |&store: &u32| history.is_tail(store) || load_order(history.store(store).value).is_some();
        let stores = floor..history.len() as u32;
        let count = stores.clone().filter(allowed).count();
        let chosen = scheduler.pick_store(count);
        stores.clone().filter(allowed).nth(chosen).expect("the newest store is always allowed")
    }

    /// The stores that must not be mo-after the store written or read by an access of thread `t`.
    fn bounds(&self, t: ThreadId, location: LocationId, order: Order, prior: &mut SmallVec<[u32; 16]>) {
        let history = self.locations[location.0 as usize].live();
        let view = &self.threads[t.as_usize()].view;
        history.visible_accesses(view, prior); // R1, R2
        if order == Order::SeqCst {
            prior.extend(history.last_sc_store(u32::MAX)); // R3
            if !self.fenced.is_empty() {
                history.visible_stores(&self.fenced, prior); // R4
            }
        }
        if view.fence > 0 {
            prior.extend(history.last_sc_store(view.fence)); // R5
        }
    }

    fn synchronise(&mut self, t: ThreadId, location: LocationId, read: u32, order: Order) {
        let store = self.locations[location.0 as usize].live().store(read);
        self.threads[t.as_usize()].synchronise(t, store, order);
    }

    fn next_sc_index(&mut self, order: Order) -> u32 {
        if order != Order::SeqCst {
            return 0;
        }
        self.sc_index += 1;
        self.sc_index
    }

    fn note_read(&mut self, t: ThreadId, location: LocationId, read: u32) {
        let now = self.now(t);
        let store = self.locations[location.0 as usize].live().store(read);
        self.last_read = (store.thread, store.clock);
        self.reads_from = self.reads_from.wrapping_add(edge((t, now), store));
    }

    #[inline]
    fn prune_if_due(&mut self, location: LocationId) {
        if self.locations[location.0 as usize].live_mut().is_due(self.prune_slack) {
            self.prune(location);
        }
    }

    #[cold]
    fn prune(&mut self, location: LocationId) {
        let Some(mut everyone) = self.everyone(|_| None) else { return };
        everyone.join(&self.seen);
        self.locations[location.0 as usize].live_mut().prune(&everyone.hb, self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_settled_when_everyone_has_seen_all_of_it() {
        let settled = |engine: &mut Engine| {
            let everyone = engine.everyone(|_| None).expect("the main thread runs");
            engine.settled_locations(&everyone)
        };
        let mut engine = Engine::new();
        let main = ThreadId(0);
        let x = engine.new_location(0);
        assert_eq!(settled(&mut engine), [x]);
        let child = engine.create_thread(main);
        engine.store(child, x, Order::Release, 1);
        assert_eq!(settled(&mut engine), [], "the main thread may read either value");
        engine.finish_thread(child);
        engine.join_thread(main, child);
        assert_eq!(settled(&mut engine), [x]);
        engine.release_location(x);
        assert_eq!(engine.live_locations(), 0);
        assert_eq!(engine.new_location(7), x);
    }

    #[test]
    fn a_location_whose_store_would_still_synchronise_is_not_settled() {
        let mut engine = Engine::new();
        let main = ThreadId(0);
        let x = engine.new_location(0);
        let [one, two] = [(); 2].map(|()| engine.create_thread(main));
        engine.store(one, x, Order::Release, 1);
        // The second thread's relaxed update goes on with what the first released and has not seen that itself.
        engine.rmw_always(two, x, Order::Relaxed, &mut Newest, |value| value + 1);
        engine.finish_thread(two);
        engine.join_thread(main, two);
        let everyone = engine.everyone(|_| None).expect("the main thread runs");
        assert!(engine.settled_locations(&everyone).is_empty());
    }

    struct Newest;

    impl Scheduler for Newest {
        fn begin(&mut self, _seed: u64) {}
        fn next_thread(&mut self, _runnable: &[ThreadId], _current: ThreadId) -> usize {
            0
        }
        fn pick_store(&mut self, count: usize) -> usize {
            count - 1
        }
        fn choose(&mut self, _count: usize) -> usize {
            0
        }
    }
}
