//! The stores of one atomic location and what is known of their modification order.
//!
//! Modification order (mo) is a set of constraints, never decided before a load observes it (the paper,
//! §4). A store and the read-modify-writes that read from it, directly or through each other, are
//! adjacent in mo: they form one [`Block`], totally ordered inside; constraints are edges between blocks.
//! (The paper migrates edges along rmw edges instead, Figure 4; blocks give the same order and also cover
//! an edge *into* a read-modify-write, which must reach its whole block.)
//!
//! Reachability is read off clock vectors, one per block: entry `t` is the newest store of thread `t` in
//! the block or before it. Stores of one thread to one location are mo-ordered, so block J is before
//! block K iff K's clock covers one store of J (Theorem 1 of the paper).
//!
//! No rollback: a load adds edges only into the block it reads from, so asking first whether that block
//! reaches the source of one of them suffices (§4.3).
//!
//! Cost: a store or load O(lanes · log accesses) plus propagation, also in a long chain of read-modify-writes; [`History::prune`] O(stores · lanes).

use crate::clock::Clock;
use crate::engine::View;
use crate::frozen::{Reader, Writer};
use crate::place::ByThread;
use crate::reuse::Reused;
use porf_event::ThreadId;
use smallvec::SmallVec;

/// No store.
pub const NONE: u32 = u32::MAX;

/// A store to one atomic location.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// What it wrote; narrower values are zero-extended.
    pub value: u128,
    /// Who wrote it.
    pub thread: ThreadId,
    /// The thread's clock at the store; unique among the thread's stores to this location.
    pub clock: u32,
    /// The block that it belongs to.
    pub block: u32,
    /// Place inside the block.
    pub position: u32,
    /// The thread's previous store to this location.
    pub previous: u32,
    /// Place in the order S of SC events; 0 when not SC.
    pub sc_index: u32,
    /// What an acquire load that reads this store synchronises with (RF of the paper, Figure 7).
    pub release: View,
}

#[derive(Clone, Debug, Default)]
struct Block {
    clock: Clock,
    /// A store of the block, as (thread, clock): covered by exactly the blocks at or after this one.
    key: (ThreadId, u32),
    /// The last store: the only one that a read-modify-write may still read.
    tail: u32,
    successors: SmallVec<[u32; 4]>,
}

impl Block {
    /// Has one store, and no order yet.
    #[inline]
    fn begin(&mut self, key: (ThreadId, u32), tail: u32) {
        self.clock.clear();
        (self.key, self.tail) = (key, tail);
        self.successors.clear();
    }
}

/// What one thread did here.
#[derive(Clone, Debug, Default)]
struct Lane {
    thread: ThreadId,
    last_store: u32,
    /// (clock, store written or read), ascending; a load that repeats the previous entry's store is left out.
    accesses: Vec<(u32, u32)>,
    /// The view at the thread's last release store here, where release sequences are those of C11.
    released: Option<Box<View>>,
}

impl Lane {
    /// The store written or read by the last access at or before `clock`.
    #[inline]
    fn last_access(&self, clock: u32) -> u32 {
        // Nearly always one of the last two; where nobody synchronises, one of many long ago.
        match self.accesses[..] {
            [.., (when, store)] if when <= clock => return store,
            [.., (when, store), _] if when <= clock => return store,
            _ => {}
        }
        let later = self.accesses.partition_point(|&(when, _)| when <= clock);
        later.checked_sub(1).map_or(NONE, |last| self.accesses[last].1)
    }
}

/// The stores of one atomic location, in the order of execution.
#[derive(Clone, Debug, Default)]
pub struct History {
    stores: Reused<Store>,
    blocks: Reused<Block>,
    lanes: SmallVec<[Lane; 2]>,
    lane_of: ByThread,
    /// SC stores in the order S: (sc_index, store).
    sc_stores: Vec<(u32, u32)>,
    /// From this store on, mo is known to be the order of execution, and all older stores are mo-before.
    /// Only saves time: most locations are written by one thread at a time, and for them this is 0.
    chain: u32,
    /// Entries in the lanes' lists of accesses.
    access_count: usize,
    /// Stores kept after the last pruning.
    kept: usize,
    queue: Vec<u32>,
}

impl History {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.stores.clear();
        self.blocks.clear();
        self.lanes.clear();
        self.lane_of = ByThread::default();
        self.sc_stores.clear();
        self.chain = 0;
        self.access_count = 0;
        self.kept = 0;
    }

    /// Whether only one store is left, and reading it tells nobody anything who has seen `everyone`. Then the location
    /// is as one that has always held this value.
    pub fn is_settled(&self, everyone: &View) -> bool {
        let [store] = &self.stores[..] else { return false };
        store.clock <= everyone.hb.get(store.thread)
            && everyone.covers(&store.release)
            && self.lanes.iter().all(|lane| lane.released.is_none())
    }

    /// Begins with one store that happens before everything.
    pub fn init(&mut self, value: u128) {
        self.clear();
        self.append(value, ThreadId(0), crate::engine::INITIAL_CLOCK, &View::default(), 0, &[], NONE);
    }

    /// Whoever reads the first store synchronises with `release`.
    pub fn release_at_first(&mut self, release: View) {
        if let Some(first) = self.stores.first_mut() {
            first.release = release;
        }
    }

    /// A store by its number.
    pub fn store(&self, store: u32) -> &Store {
        &self.stores[store as usize]
    }

    /// Whether a read-modify-write is among the stores.
    pub fn is_updated(&self) -> bool {
        self.blocks.len() < self.stores.len()
    }

    /// How many stores are kept.
    pub fn len(&self) -> usize {
        self.stores.len()
    }

    /// Whether there is no store, not even the initial one.
    pub fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// The store executed last: what native memory holds.
    pub fn newest(&self) -> &Store {
        self.stores.last().expect("a history begins with its initial store")
    }

    /// The store that whoever has this view must read, or write after, if that is plain to see: the
    /// mo-maximal store is visible, so every bound on the access is at or before it. (The common case of
    /// the rules below, without computing them.)
    #[inline]
    pub fn settled(&self, view: &View) -> Option<u32> {
        let top = self.newest();
        let last = self.stores.len() as u32 - 1;
        (self.chain <= last && top.clock <= view.get(top.thread)).then_some(last)
    }

    /// If one of the stores that a load must not miss lies in the chain, the load may return the latest
    /// of them and whatever is younger: the first store it may return, and no edges are to be added.
    #[inline]
    pub fn floor(&self, prior: &[u32]) -> Option<u32> {
        prior.iter().copied().max().filter(|&floor| floor >= self.chain)
    }

    /// The paper's may-read-from set (Figure 10): per thread, back to the first store that is visible.
    #[inline]
    pub fn readable(&self, view: &View, out: &mut SmallVec<[u32; 16]>) {
        for lane in &self.lanes {
            let seen = view.get(lane.thread);
            let mut store = lane.last_store;
            while store != NONE {
                out.push(store);
                let s = &self.stores[store as usize];
                if s.clock <= seen {
                    break;
                }
                store = s.previous;
            }
        }
    }

    /// Per thread, the store written or read by its last access that is visible in `view` (S4 of
    /// Figure 11; with the SC part of the view also S3).
    #[inline]
    pub fn visible_accesses(&self, view: &View, out: &mut SmallVec<[u32; 16]>) {
        for lane in &self.lanes {
            let seen = view.get(lane.thread);
            let store = lane.last_access(seen);
            if store != NONE {
                out.push(store);
            }
        }
    }

    /// Per thread, its last store that is visible in `clock`.
    pub fn visible_stores(&self, clock: &Clock, out: &mut SmallVec<[u32; 16]>) {
        for lane in &self.lanes {
            let seen = clock.get(lane.thread);
            let mut store = lane.last_store;
            while store != NONE && self.stores[store as usize].clock > seen {
                store = self.stores[store as usize].previous;
            }
            if store == NONE {
                // It may have been pruned while its block lives on; its access entry then stands for the
                // block. (An entry may also be a load: that can only narrow the choices.)
                store = lane.last_access(seen);
            }
            if store != NONE {
                out.push(store);
            }
        }
    }

    /// The last SC store before `sc_index` in S.
    pub fn last_sc_store(&self, sc_index: u32) -> Option<u32> {
        if let Some(&(index, store)) = self.sc_stores.last()
            && index < sc_index
        {
            return Some(store);
        }
        let later = self.sc_stores.partition_point(|&(index, _)| index < sc_index);
        later.checked_sub(1).map(|last| self.sc_stores[last].1)
    }

    /// Is `a` mo-before `b` in every modification order that satisfies the constraints?
    #[inline]
    pub fn mo_before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.stores[a as usize], &self.stores[b as usize]);
        if a.block == b.block { a.position < b.position } else { self.block_before(a.block, b.block) }
    }

    /// May a load that must not miss `prior` return `store`?
    #[inline]
    pub fn allows(&self, store: u32, prior: &[u32]) -> bool {
        prior.iter().all(|&p| p == store || !self.mo_before(store, p))
    }

    /// Has no read-modify-write read `store` yet?
    #[inline]
    pub fn is_tail(&self, store: u32) -> bool {
        self.blocks[self.stores[store as usize].block as usize].tail == store
    }

    /// Orders every store of `prior` at or before `store`. The caller has checked [`History::allows`].
    pub fn order_before(&mut self, prior: &[u32], store: u32) {
        let target = self.stores[store as usize].block;
        for &p in prior {
            let source = self.stores[p as usize].block;
            self.add_edge(source, target);
        }
    }

    /// A thread has read a store: its later accesses must not go back behind it. Says whether that is new.
    #[inline]
    pub fn record_load(&mut self, thread: ThreadId, clock: u32, store: u32) -> bool {
        let lane = self.lane_mut(thread);
        let is_new = lane.accesses.last().is_none_or(|&(_, last)| last != store);
        if is_new {
            lane.accesses.push((clock, store));
            self.access_count += 1;
        }
        is_new
    }

    /// Adds a store after `prior`; `read` is the store it read if it is a read-modify-write, else NONE.
    #[expect(clippy::too_many_arguments, reason = "one record, written field by field in one place")]
    pub fn append(
        &mut self,
        value: u128,
        thread: ThreadId,
        clock: u32,
        release: &View,
        sc_index: u32,
        prior: &[u32],
        read: u32,
    ) -> u32 {
        let id = self.stores.len() as u32;
        let (block, position) = if read == NONE {
            let block = self.blocks.len() as u32;
            self.blocks.next().begin((thread, clock), id);
            if let Some((&first, others)) = prior.split_first() {
                self.follow(self.stores[first as usize].block, block);
                for &p in others {
                    let source = self.stores[p as usize].block;
                    self.add_edge(source, block);
                }
            }
            (block, 0)
        } else {
            let block = self.stores[read as usize].block;
            debug_assert!(self.is_tail(read), "a second read-modify-write of one store");
            self.blocks[block as usize].tail = id;
            (block, self.stores[read as usize].position + 1)
        };
        // Only now may the block claim the store: before, the entry would hide missing edges from
        // the thread's older stores.
        self.blocks[block as usize].clock.raise(thread, clock);
        self.propagate(block);
        let lane = self.lane_mut(thread);
        let previous = std::mem::replace(&mut lane.last_store, id);
        lane.accesses.push((clock, id));
        self.access_count += 1;
        let store = self.stores.next();
        (store.value, store.thread, store.clock) = (value, thread, clock);
        (store.block, store.position, store.previous) = (block, position, previous);
        store.sc_index = sc_index;
        store.release.assign(release);
        if sc_index != 0 {
            self.sc_stores.push((sc_index, id));
        }
        let newest = id.wrapping_sub(1);
        let extends = self.chain <= newest && (read == newest || prior.contains(&newest));
        if id > 0 && !extends {
            self.chain = if self.is_above_all(id) { id } else { NONE };
        }
        id
    }

    /// Whether every other store is known to be mo-before `id`. Gives up early.
    fn is_above_all(&self, id: u32) -> bool {
        const FEW: usize = 8;
        self.stores.len() <= FEW && (0..id).all(|other| self.mo_before(other, id))
    }

    /// Whether enough stores have gathered that pruning pays.
    #[inline]
    pub fn is_due(&self, slack: usize) -> bool {
        self.stores.len().max(self.access_count / 4) > slack + 2 * self.kept
    }

    /// Forgets the stores that no thread can read any more (the paper, §6.1).
    ///
    /// Conservative part: a store mo-before one that happens before every running thread (`everyone`)
    /// cannot be read. With a `window`, also the stores mo-before the one executed `window` stores ago;
    /// a store not yet ordered with that one is ordered before it, which only narrows the choices.
    pub fn prune(&mut self, everyone: &Clock, window: Option<usize>) {
        let mut settled: SmallVec<[u32; 16]> = SmallVec::new();
        self.visible_stores(everyone, &mut settled);
        if self.chain == NONE && self.is_above_all(self.stores.len() as u32 - 1) {
            self.chain = self.stores.len() as u32 - 1;
        }
        if let Some(window) = window
            && self.stores.len() > window
        {
            let outside = (self.stores.len() - window) as u32;
            let latest = |bar, old| if self.mo_before(bar, old) { old } else { bar };
            let bar = (0..outside).fold(outside - 1, latest);
            for old in 0..outside {
                if self.allows(bar, &[old]) {
                    self.order_before(&[old], bar);
                }
            }
            settled.push(bar);
        }
        let mut dead: Vec<bool> = match self.floor(&settled) {
            Some(floor) => (0..self.stores.len() as u32).map(|store| store < floor).collect(),
            None => (0..self.stores.len() as u32)
                .map(|store| settled.iter().any(|&bar| store != bar && self.mo_before(store, bar)))
                .collect(),
        };
        // What was executed last is what native memory holds, wherever it is in mo.
        if let Some(newest) = dead.last_mut() {
            *newest = false;
        }
        self.compact(&dead, everyone);
        self.kept = self.stores.len();
    }

    fn compact(&mut self, dead: &[bool], everyone: &Clock) {
        let mut new_id = vec![NONE; self.stores.len()];
        let mut live = 0;
        for (old, &dead) in dead.iter().enumerate() {
            if !dead {
                new_id[old] = live;
                live += 1;
            }
        }
        let renamed = |id: u32| if id == NONE { NONE } else { new_id[id as usize] };
        // A bound by a forgotten store whose block lives on is a bound by the block's first live store.
        let mut first_live = vec![NONE; self.blocks.len()];
        for (id, store) in self.stores.iter().enumerate().rev() {
            if !dead[id] {
                first_live[store.block as usize] = new_id[id];
            }
        }
        let bound: Vec<u32> = self
            .stores
            .iter()
            .zip(&new_id)
            .map(|(store, &new)| if new == NONE { first_live[store.block as usize] } else { new })
            .collect();
        // A block whose first stores are gone is known by the first that lives.
        let mut lives = vec![false; self.blocks.len()];
        for (store, _) in self.stores.iter().zip(dead).filter(|(_, dead)| !**dead) {
            let block = &mut self.blocks[store.block as usize];
            if !std::mem::replace(&mut lives[store.block as usize], true) {
                block.key = (store.thread, store.clock);
                block.tail = renamed(block.tail);
            }
        }
        let mut new_block = vec![NONE; self.blocks.len()];
        let living = lives.iter().enumerate().filter(|(_, lives)| **lives).map(|(block, _)| block);
        for (new, old) in living.clone().enumerate() {
            new_block[old] = new as u32;
        }
        self.blocks.keep(living);
        for block in self.blocks.iter_mut() {
            block.successors.retain(|successor| new_block[*successor as usize] != NONE);
            block.successors.iter_mut().for_each(|successor| *successor = new_block[*successor as usize]);
        }
        self.stores.keep(dead.iter().enumerate().filter(|(_, dead)| !**dead).map(|(store, _)| store));
        for store in self.stores.iter_mut() {
            store.block = new_block[store.block as usize];
            store.previous = renamed(store.previous);
        }
        let mut previous = NONE;
        self.sc_stores.retain_mut(|(_, store)| {
            *store = bound[*store as usize];
            // Of a row of forgotten stores the first entry says it all.
            let keeps = *store != NONE && *store != previous;
            if keeps {
                previous = *store;
            }
            keeps
        });
        if self.chain != NONE {
            let older = dead[..self.chain as usize].iter().filter(|&&dead| !dead).count();
            self.chain = older as u32;
        }
        self.access_count = 0;
        for lane in &mut self.lanes {
            lane.last_store = renamed(lane.last_store);
            // Of the accesses that happen before everyone only the last can still bound a load.
            let seen = everyone.get(lane.thread);
            let settled = lane.accesses.iter().take_while(|&&(clock, _)| clock <= seen).count();
            let mut index = 0;
            let mut previous = NONE;
            lane.accesses.retain_mut(|(_, store)| {
                index += 1;
                *store = bound[*store as usize];
                // Of a row of accesses to one store the first says it all.
                let keeps = *store != NONE && index >= settled && *store != previous;
                if keeps {
                    previous = *store;
                }
                keeps
            });
            self.access_count += lane.accesses.len();
        }
        // A thread of which nothing is left bounds nobody.
        self.lanes
            .retain(|lane| lane.last_store != NONE || !lane.accesses.is_empty() || lane.released.is_some());
        self.lane_of = ByThread::default();
        for (index, lane) in self.lanes.iter().enumerate() {
            self.lane_of.set(lane.thread, index);
        }
    }

    /// Writes all of it down.
    pub(crate) fn write(&self, out: &mut Writer) {
        out.number(self.stores.len() as u32);
        for store in self.stores.iter() {
            out.number(store.value);
            out.number(store.thread.0);
            let rest =
                [store.clock, store.block, store.position, store.previous.wrapping_add(1), store.sc_index];
            rest.into_iter().for_each(|number| out.number(number));
            out.view(&store.release);
        }
        out.number(self.blocks.len() as u32);
        for block in self.blocks.iter() {
            out.clock(&block.clock);
            let rest = [u32::from(block.key.0.0), block.key.1, block.tail, block.successors.len() as u32];
            rest.iter().chain(&block.successors).for_each(|&number| out.number(number));
        }
        out.number(self.lanes.len() as u32);
        for lane in &self.lanes {
            let rest =
                [u32::from(lane.thread.0), lane.last_store.wrapping_add(1), lane.accesses.len() as u32];
            rest.into_iter().for_each(|number| out.number(number));
            for &(clock, store) in &lane.accesses {
                out.number(clock);
                out.number(store);
            }
            out.number(u32::from(lane.released.is_some()));
            if let Some(released) = &lane.released {
                out.view(released);
            }
        }
        out.number(self.sc_stores.len() as u32);
        for &(index, store) in &self.sc_stores {
            out.number(index);
            out.number(store);
        }
        out.number(self.chain.wrapping_add(1));
        out.number(self.kept as u32);
    }

    /// Becomes what was written down; it is new.
    pub(crate) fn read(&mut self, from: &mut Reader) {
        for _ in 0..from.short() {
            let store = self.stores.next();
            store.value = from.number();
            store.thread = ThreadId(from.short() as u16);
            (store.clock, store.block, store.position) = (from.short(), from.short(), from.short());
            (store.previous, store.sc_index) = (from.short().wrapping_sub(1), from.short());
            from.view(&mut store.release);
        }
        for _ in 0..from.short() {
            let block = self.blocks.next();
            from.clock(&mut block.clock);
            (block.key, block.tail) = ((ThreadId(from.short() as u16), from.short()), from.short());
            block.successors = (0..from.short()).map(|_| from.short()).collect();
        }
        for place in 0..from.short() as usize {
            let (thread, last_store) = (ThreadId(from.short() as u16), from.short().wrapping_sub(1));
            let accesses: Vec<_> = (0..from.short()).map(|_| (from.short(), from.short())).collect();
            self.access_count += accesses.len();
            let released = (from.short() == 1).then(|| {
                let mut view = Box::default();
                from.view(&mut view);
                view
            });
            self.lanes.push(Lane { thread, last_store, accesses, released });
            self.lane_of.set(thread, place);
        }
        self.sc_stores = (0..from.short()).map(|_| (from.short(), from.short())).collect();
        self.chain = from.short().wrapping_sub(1);
        self.kept = from.short() as usize;
    }

    /// The thread's last release store here has this view.
    pub fn set_released(&mut self, thread: ThreadId, view: &View) {
        match &mut self.lane_mut(thread).released {
            Some(known) => known.assign(view),
            none => *none = Some(Box::new(view.clone())),
        }
    }

    /// The view at the thread's last release store here.
    pub fn released(&mut self, thread: ThreadId) -> Option<&View> {
        self.lane_mut(thread).released.as_deref()
    }

    #[inline(always)]
    fn lane_mut(&mut self, thread: ThreadId) -> &mut Lane {
        let lanes = &self.lanes;
        let place = match self.lane_of.get(thread, || lanes.iter().position(|lane| lane.thread == thread)) {
            Some(place) => place,
            None => self.new_lane(thread),
        };
        &mut self.lanes[place]
    }

    #[cold]
    #[inline(never)]
    fn new_lane(&mut self, thread: ThreadId) -> usize {
        self.lanes.push(Lane { thread, last_store: NONE, ..Lane::default() });
        self.lane_of.set(thread, self.lanes.len() - 1);
        self.lanes.len() - 1
    }

    #[inline]
    fn block_before(&self, a: u32, b: u32) -> bool {
        let (thread, clock) = self.blocks[a as usize].key;
        self.blocks[b as usize].clock.get(thread) >= clock
    }

    /// A new block, which nothing follows yet, comes after another: the first that is known to be before it.
    #[inline]
    fn follow(&mut self, source: u32, block: u32) {
        let [source, new] = self
            .blocks
            .get_disjoint_mut([source as usize, block as usize])
            .expect("a new block is not an older one");
        source.successors.push(block);
        new.clock.assign(&source.clock);
    }

    fn add_edge(&mut self, source: u32, target: u32) {
        if source == target || self.block_before(source, target) {
            return;
        }
        debug_assert!(!self.block_before(target, source), "a cycle in modification order");
        self.blocks[source as usize].successors.push(target);
        if self.merge(source, target) {
            self.propagate(target);
        }
    }

    #[inline]
    fn merge(&mut self, source: u32, target: u32) -> bool {
        let [source, target] = self
            .blocks
            .get_disjoint_mut([source as usize, target as usize])
            .expect("an edge joins two different blocks");
        target.clock.join(&source.clock)
    }

    #[inline]
    fn propagate(&mut self, from: u32) {
        if !self.blocks[from as usize].successors.is_empty() {
            self.propagate_far(from);
        }
    }

    #[inline(never)]
    fn propagate_far(&mut self, from: u32) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.push(from);
        while let Some(block) = queue.pop() {
            for i in 0..self.blocks[block as usize].successors.len() {
                let successor = self.blocks[block as usize].successors[i];
                if self.merge(block, successor) {
                    queue.push(successor);
                }
            }
        }
        self.queue = queue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_executed_last_is_kept() {
        let mut history = History::default();
        history.init(0);
        let [one, two] = [1, 2].map(ThreadId);
        let first = history.append(1, one, 5, &View::default(), 0, &[0], NONE);
        let last = history.append(2, two, 7, &View::default(), 0, &[0], NONE);
        // The second thread reads what the first wrote: its own store is mo-before.
        history.order_before(&[last], first);
        let mut everyone = Clock::default();
        [(ThreadId(0), 2), (one, 5), (two, 7)]
            .iter()
            .for_each(|&(thread, clock)| everyone.set(thread, clock));
        history.prune(&everyone, None);
        assert_eq!(history.newest().value, 2, "native memory holds it");
        assert_eq!(history.len(), 2);
    }
}
