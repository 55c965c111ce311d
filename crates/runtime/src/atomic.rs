//! Atomic accesses and fences: the compilers' `__tsan_atomic*` functions.
//!
//! Native memory always holds the store executed last. A location is known to the engine from its first
//! atomic access on; what memory held then is its initial store. Plain writes in between become stores
//! when the next atomic access sees them, values that changed without a callback (written by libc or the
//! kernel) restart the location.

use crate::call::caller;
use crate::entry;
use crate::finding;
use crate::plain::short_pc;
use crate::settled;
use crate::shadow;
use crate::trace::{self, Accessed};
use crate::world::{HOT, IDLE, PENDING, Step, visible_as, world};
use porf_sample::engine::{Update, View};
use porf_sample::race::{Access, Kind};
use porf_sample::scheduler::Scheduler;
use porf_sample::scheduler::systematic::Op;
use porf_sample::{LocationId, Order};

#[inline(always)]
pub unsafe fn read_native(address: usize, size: usize) -> u128 {
    // SAFETY: the program is about to access these bytes itself.
    unsafe {
        match size {
            1 => u128::from((address as *const u8).read()),
            2 => u128::from((address as *const u16).read_unaligned()),
            4 => u128::from((address as *const u32).read_unaligned()),
            8 => u128::from((address as *const u64).read_unaligned()),
            _ => (address as *const u128).read_unaligned(),
        }
    }
}

#[inline(always)]
pub unsafe fn write_native(address: usize, size: usize, value: u128) {
    // SAFETY: as above.
    unsafe {
        match size {
            1 => (address as *mut u8).write(value as u8),
            2 => (address as *mut u16).write_unaligned(value as u16),
            4 => (address as *mut u32).write_unaligned(value as u32),
            8 => (address as *mut u64).write_unaligned(value as u64),
            _ => (address as *mut u128).write_unaligned(value),
        }
    }
}

/// The location of an atomic access, brought up to date with what memory holds. Its number is also that
/// of the race detector's place.
#[inline(always)]
pub unsafe fn locate(address: usize, size: usize) -> LocationId {
    // SAFETY: called while running; the program accesses these bytes.
    unsafe {
        let w = world();
        let memory = read_native(address, size);
        let recent = &w.recent[slot(address)];
        if recent.address != address || recent.size != size {
            return find(address, size, memory);
        }
        up_to_date(recent.location, memory)
    }
}

/// The location of the object that begins here is to be looked for again.
pub fn forget_recent(address: usize) {
    // SAFETY: called while running.
    unsafe { world() }.recent[slot(address)].address = 0;
}

/// A location found lately; most accesses are to one of these.
#[derive(Clone, Copy)]
pub struct Recent {
    address: usize,
    size: usize,
    location: LocationId,
}

pub const NOTHING_RECENT: [Recent; 256] = [Recent { address: 0, size: 0, location: LocationId(0) }; 256];

#[inline(always)]
fn slot(address: usize) -> usize {
    (address >> 2) & 255
}

/// What was written to the location without an atomic access becomes part of its history.
#[inline(always)]
unsafe fn up_to_date(location: LocationId, memory: u128) -> LocationId {
    // SAFETY: called while running.
    let w = unsafe { world() };
    if let Some((writer, clock)) = w.detector.place(location.0).take_overwritten() {
        w.engine.plain_store(location, writer, clock, memory);
    } else if w.engine.history(location).newest().value != memory {
        w.engine.restart_location(location, memory);
    }
    location
}

#[inline(never)]
unsafe fn find(address: usize, size: usize, memory: u128) -> LocationId {
    // SAFETY: called while running; a cell of the shadow.
    unsafe {
        let w = world();
        let known = w.detector.place_at(&*shadow::cell(address), address & 3).filter(|&known| {
            let place = w.detector.place(known);
            place.address == address && usize::from(place.size) == size
        });
        let location = match known {
            Some(known) => {
                make_room();
                w.engine.thaw(LocationId(known));
                up_to_date(LocationId(known), memory)
            }
            None => establish(address, size, memory),
        };
        w.recent[slot(address)] = Recent { address, size, location };
        location
    }
}

/// Makes a location of these bytes; objects of other sizes that overlap it end.
#[cold]
unsafe fn establish(address: usize, size: usize, memory: u128) -> LocationId {
    let release = released(address, size);
    forget(address, size);
    // SAFETY: called while running.
    let w = unsafe { world() };
    if w.engine.live_locations() >= w.next_sweep {
        settled::forget_locations(w);
        w.next_sweep = FIRST_SWEEP.max(2 * w.engine.live_locations());
    }
    make_room();
    let location = w.engine.new_location(memory);
    if let Some(release) = release {
        w.engine.inherit_release(location, release);
    }
    w.detector.new_place(location.0, address, size);
    shadow::for_each(address, size, |cell, mask| {
        // SAFETY: a cell of the shadow.
        w.detector.cover(unsafe { &mut *cell }, mask, location.0);
    });
    location
}

/// Writes down the locations that were not used lately, if there are many.
fn make_room() {
    // SAFETY: called while running.
    let w = unsafe { world() };
    if w.engine.is_warm() {
        let mut recent = w.recent.map(|recent| recent.location.0);
        recent.sort_unstable();
        w.engine.freeze(|location| recent.binary_search(&location.0).is_ok());
    }
}

/// So many locations may gather before the first look at which of them are worth remembering.
pub const FIRST_SWEEP: usize = 1 << 12;

/// What the last stores to atomic objects that overlap these bytes release, if there are any.
fn released(address: usize, size: usize) -> Option<View> {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let mut release: Option<View> = None;
    for byte in address..address + size {
        // SAFETY: a cell of the shadow.
        if let Some(place) = w.detector.place_at(unsafe { &*shadow::cell(byte) }, byte & 3) {
            w.engine.thaw(LocationId(place));
            release.get_or_insert_default().join(&w.engine.history(LocationId(place)).newest().release);
        }
    }
    release
}

/// Ends the atomic objects that overlap these bytes.
pub fn forget(address: usize, size: usize) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    for byte in address..address + size {
        // SAFETY: a cell of the shadow.
        let Some(place) = w.detector.place_at(unsafe { &*shadow::cell(byte) }, byte & 3) else { continue };
        let (start, length) = (w.detector.place(place).address, usize::from(w.detector.place(place).size));
        shadow::for_each(start, length, |cell, mask| {
            // SAFETY: as above.
            w.detector.uncover(unsafe { &mut *cell }, mask, place);
        });
        w.engine.free_location(LocationId(place));
        w.recent[slot(start)].address = 0;
    }
}

/// Checks an atomic access that took the clock `now` for races with plain ones. After the access: what it
/// synchronised with happens before it.
#[inline(always)]
pub unsafe fn check(location: LocationId, kind: Kind, now: u32, accessed: Accessed) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let look =
        w.detector.place(location.0).touch(w.current, now, short_pc(caller()), kind == Kind::AtomicWrite);
    w.refresh();
    if look || w.attentive {
        look_closely(location, kind, now, accessed);
    }
}

#[cold]
fn look_closely(location: LocationId, kind: Kind, now: u32, accessed: Accessed) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let (thread, pc) = (w.current, caller());
    let place = w.detector.place(location.0);
    let (address, size) = (place.address, usize::from(place.size));
    let mut found = None;
    shadow::for_each(address, size, |cell, mask| {
        let access = Access { thread, clock: w.engine.clock(thread), now, pc: short_pc(pc), mask, kind };
        // SAFETY: a cell of the shadow.
        found = found.or_else(|| w.detector.check_atomic(unsafe { &*cell }, &access));
    });
    if w.attentive {
        finding::watched(w, address, size, kind, pc, now);
    }
    if w.tracing {
        trace::access(w, (address, size), now, accessed);
    }
    if let Some(conflict) = found {
        w.detector.place(location.0).doubt(thread, kind == Kind::AtomicWrite);
        finding::conflict(w, address, size, kind, pc, conflict);
    }
}

/// The location that [`locate`] found when a volatile store was announced.
pub unsafe fn location_for_pending_store(address: usize, size: usize) -> LocationId {
    // SAFETY: called while running; a cell of the shadow.
    unsafe {
        match world().detector.place_at(&*shadow::cell(address), address & 3) {
            Some(place) => {
                world().engine.thaw(LocationId(place));
                LocationId(place)
            }
            None => establish(address, size, read_native(address, size)),
        }
    }
}

/// A load, its scheduling point already passed.
#[inline(always)]
pub unsafe fn load(address: usize, size: usize, order: Order) -> u128 {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        let value = w.engine.load(w.current, location, order, &mut w.scheduler);
        check(location, Kind::AtomicRead, now, Accessed { order, read: Some(value), written: None });
        if w.systematic {
            w.has_read(address);
        }
        value
    }
}

#[inline(always)]
pub unsafe fn store(address: usize, size: usize, order: Order, value: u128) {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        w.changed();
        w.engine.store(w.current, location, order, value);
        write_native(address, size, value);
        w.has_written(address, size);
        check(location, Kind::AtomicWrite, now, Accessed { order, read: None, written: Some(value) });
    }
}

/// A read-modify-write that writes whatever it reads.
unsafe fn change(address: usize, size: usize, order: Order, change: impl Fn(u128) -> u128) -> u128 {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        let old = w.engine.rmw_always(w.current, location, order, &mut w.scheduler, &change);
        w.changed();
        let new = change(old);
        write_native(address, size, new);
        w.has_written(address, size);
        check(location, Kind::AtomicWrite, now, Accessed { order, read: Some(old), written: Some(new) });
        old
    }
}

pub unsafe fn update(address: usize, size: usize, order: Order, change: impl Fn(u128) -> Update) -> u128 {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        let old = w.engine.rmw(w.current, location, order, &mut w.scheduler, &change);
        let mut kind = Kind::AtomicRead;
        let mut accessed = Accessed { order, read: Some(old), written: None };
        match change(old) {
            Update::Write(new) => {
                w.changed();
                write_native(address, size, new);
                w.has_written(address, size);
                kind = Kind::AtomicWrite;
                accessed.written = Some(new);
            }
            Update::Fail(failure) => accessed.order = failure,
        }
        check(location, kind, now, accessed);
        if w.systematic && kind == Kind::AtomicRead {
            w.has_read(address);
        }
        old
    }
}

pub fn order(order: i32) -> Order {
    match order & 0xff {
        0 => Order::Relaxed,
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// The order of an access of the running thread.
#[inline(always)]
fn effective(number: i32) -> Order {
    // SAFETY: one kernel thread.
    if unsafe { (*HOT.get()).orders } { order(number) } else { Order::Relaxed }
}

/// Whether accesses are tracked; completes a volatile access first.
#[inline(always)]
pub fn tracked() -> bool {
    // SAFETY: one kernel thread.
    unsafe {
        match (*HOT.get()).state {
            IDLE => false,
            PENDING => {
                crate::plain::complete_pending();
                true
            }
            _ => true,
        }
    }
}

/// An atomic access as others are concerned by it.
#[inline(always)]
pub fn access(address: usize, size: usize, writes: bool, order: Order) -> Op {
    Op::Access { address, size, writes, sc: order == Order::SeqCst }
}

#[inline(always)]
unsafe fn any_load(address: usize, size: usize, memory_order: i32) -> u128 {
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            return read_native(address, size);
        }
        let pc = caller();
        let order = effective(memory_order);
        visible_as(Step::Other, access(address, size, false, order));
        *crate::call::CALLER.get() = pc;
        load(address, size, order)
    }
}

#[inline(always)]
unsafe fn any_store(address: usize, size: usize, value: u128, memory_order: i32) {
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            return write_native(address, size, value);
        }
        let pc = caller();
        let order = effective(memory_order);
        let step = if order == Order::SeqCst { Step::Other } else { Step::Store };
        visible_as(step, access(address, size, true, order));
        *crate::call::CALLER.get() = pc;
        store(address, size, order, value);
    }
}

#[inline(always)]
unsafe fn any_update(address: usize, size: usize, memory_order: i32, new: impl Fn(u128) -> u128) -> u128 {
    let mask = if size == 16 { u128::MAX } else { (1 << (size * 8)) - 1 };
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            let old = read_native(address, size);
            write_native(address, size, new(old) & mask);
            return old;
        }
        let pc = caller();
        let order = effective(memory_order);
        visible_as(Step::Other, access(address, size, true, order));
        *crate::call::CALLER.get() = pc;
        change(address, size, order, |old| new(old) & mask)
    }
}

/// A weak compare-and-swap fails spuriously once in so many times.
const SPURIOUS: usize = 8;

/// Returns the value read and whether it was replaced.
unsafe fn any_cas(
    address: usize,
    size: usize,
    expected: u128,
    desired: u128,
    orders: (i32, i32),
    weak: bool,
) -> (u128, bool) {
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            let old = read_native(address, size);
            if old == expected {
                write_native(address, size, desired);
            }
            return (old, old == expected);
        }
        let pc = caller();
        let (success, failure) = (effective(orders.0), effective(orders.1));
        let strict = if failure == Order::SeqCst { failure } else { success };
        visible_as(Step::Other, access(address, size, true, strict));
        *crate::call::CALLER.get() = pc;
        let spurious = weak && world().scheduler.rarely(SPURIOUS);
        let old = update(address, size, success, |old| {
            if old == expected && !spurious { Update::Write(desired) } else { Update::Fail(failure) }
        });
        (old, old == expected && !spurious)
    }
}

unsafe extern "C" fn thread_fence(memory_order: i32) {
    if !tracked() {
        return;
    }
    let order = effective(memory_order);
    visible_as(Step::Other, if order == Order::SeqCst { Op::Fence } else { Op::Local });
    // SAFETY: running.
    unsafe {
        let w = world();
        if order != Order::Relaxed {
            trace::fence(w, order);
            w.engine.fence(w.current, order);
            w.refresh();
        }
    }
}

unsafe extern "C" fn signal_fence(_memory_order: i32) {}

entry! { __tsan_atomic_thread_fence => thread_fence; __tsan_atomic_signal_fence => signal_fence; }

macro_rules! atomics {
    ($($bits:ident $ty:ty, $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident $strong:ident $weak:ident $val:ident;)*) => {$(
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        pub mod $bits {
            use super::*;
            const SIZE: usize = size_of::<$ty>();
            pub type T = $ty;
            pub unsafe extern "C" fn load(a: usize, mo: i32) -> T { unsafe { any_load(a, SIZE, mo) as T } }
            pub unsafe extern "C" fn store(a: usize, v: T, mo: i32) { unsafe { any_store(a, SIZE, v as u128, mo) } }
            pub unsafe extern "C" fn exchange(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |_| v as u128) as T } }
            pub unsafe extern "C" fn add(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| (o as T).wrapping_add(v) as u128) as T } }
            pub unsafe extern "C" fn sub(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| (o as T).wrapping_sub(v) as u128) as T } }
            pub unsafe extern "C" fn and(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| o & v as u128) as T } }
            pub unsafe extern "C" fn or(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| o | v as u128) as T } }
            pub unsafe extern "C" fn xor(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| o ^ v as u128) as T } }
            pub unsafe extern "C" fn nand(a: usize, v: T, mo: i32) -> T { unsafe { any_update(a, SIZE, mo, |o| !(o & v as u128)) as T } }
            unsafe fn exchange_if(a: usize, e: *mut T, v: T, mo: i32, fail: i32, weak: bool) -> i32 {
                // SAFETY: `e` is the caller's expected value; the rest is passed on.
                unsafe {
                    let (old, done) = any_cas(a, SIZE, e.read_unaligned() as u128, v as u128, (mo, fail), weak);
                    if !done {
                        e.write_unaligned(old as T);
                    }
                    i32::from(done)
                }
            }
            pub unsafe extern "C" fn strong(a: usize, e: *mut T, v: T, mo: i32, fail: i32) -> i32 { unsafe { exchange_if(a, e, v, mo, fail, false) } }
            pub unsafe extern "C" fn weak(a: usize, e: *mut T, v: T, mo: i32, fail: i32) -> i32 { unsafe { exchange_if(a, e, v, mo, fail, true) } }
            pub unsafe extern "C" fn val(a: usize, e: T, v: T, mo: i32, fail: i32) -> T { unsafe { any_cas(a, SIZE, e as u128, v as u128, (mo, fail), false).0 as T } }
        }
        entry! {
            $load => $bits::load; $store => $bits::store; $exchange => $bits::exchange; $add => $bits::add;
            $sub => $bits::sub; $and => $bits::and; $or => $bits::or; $xor => $bits::xor; $nand => $bits::nand;
            $strong => $bits::strong; $weak => $bits::weak; $val => $bits::val;
        }
    )*};
}

atomics! {
    bits8 u8, __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val;
    bits16 u16, __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak __tsan_atomic16_compare_exchange_val;
    bits32 u32, __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak __tsan_atomic32_compare_exchange_val;
    bits64 u64, __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak __tsan_atomic64_compare_exchange_val;
    bits128 u128, __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange __tsan_atomic128_fetch_add __tsan_atomic128_fetch_sub __tsan_atomic128_fetch_and __tsan_atomic128_fetch_or __tsan_atomic128_fetch_xor __tsan_atomic128_fetch_nand __tsan_atomic128_compare_exchange_strong __tsan_atomic128_compare_exchange_weak __tsan_atomic128_compare_exchange_val;
}
