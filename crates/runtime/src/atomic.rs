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
use crate::shadow;
use crate::world::{HOT, IDLE, PENDING, Step, visible, world};
use porf_sample::engine::Update;
use porf_sample::race::{Access, Kind};
use porf_sample::scheduler::Scheduler;
use porf_sample::{LocationId, Order};

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

/// The location of an atomic access, brought up to date with what memory holds.
pub unsafe fn locate(address: usize, size: usize) -> LocationId {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let offset = address & 3;
    let first = shadow::cell(address);
    let mut overwritten = None;
    let mut foreign = false;
    shadow::for_each(address, size, |cell, mask| {
        // SAFETY: a cell of the shadow.
        let extension = w.detector.extend(unsafe { &mut *cell });
        overwritten = overwritten.or(extension.take_overwritten(mask));
        // Forget locations of other sizes that overlap this one.
        for (byte, known) in extension.locations.iter_mut().enumerate() {
            if *known == 0 || (cell == first && byte == offset) {
                continue;
            }
            let reaches = byte + usize::from(w.location_sizes[*known as usize - 1]);
            if mask >> byte != 0 && (mask & (1 << byte) != 0 || reaches > mask.trailing_zeros() as usize) {
                *known = 0;
                foreign = true;
            }
        }
    });
    // SAFETY: the program accesses these bytes; a cell of the shadow.
    let (memory, extension) = unsafe { (read_native(address, size), w.detector.extend(&mut *first)) };
    let known = extension.locations[offset];
    if known == 0 {
        let location = w.engine.new_location(memory);
        extension.locations[offset] = location.0 + 1;
        w.location_sizes.push(size as u8);
        return location;
    }
    let location = LocationId(known - 1);
    if usize::from(w.location_sizes[location.0 as usize]) != size || foreign {
        w.location_sizes[location.0 as usize] = size as u8;
        w.engine.restart_location(location, memory);
    } else if let Some((writer, clock)) = overwritten {
        w.engine.plain_store(location, writer, clock, memory);
    } else if w.engine.history(location).newest().value != memory {
        w.engine.restart_location(location, memory);
    }
    location
}

/// Checks an atomic access that took the clock `now` for races with plain ones. After the access: what it
/// synchronised with happens before it.
pub unsafe fn check(address: usize, size: usize, kind: Kind, now: u32) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let thread = w.current;
    let pc = caller();
    let mut found = None;
    shadow::for_each(address, size, |cell, mask| {
        // SAFETY: a cell of the shadow.
        let cell = unsafe { &mut *cell };
        let access = Access { thread, clock: w.engine.clock(thread), now, pc: short_pc(pc), mask, kind };
        if let Some(conflict) = w.detector.access(cell, access) {
            found.get_or_insert(conflict);
        }
    });
    if w.watch.is_some() {
        finding::watched(w, address, size, kind, pc, now);
    }
    w.refresh();
    if let Some(conflict) = found {
        finding::conflict(w, address, size, kind, pc, conflict);
    }
}

pub unsafe fn location_for_pending_store(address: usize, _size: usize) -> LocationId {
    // SAFETY: `prepare` made the location when the store was announced.
    unsafe {
        let w = world();
        let cell = &mut *shadow::cell(address);
        LocationId(w.detector.extend(cell).locations[address & 3] - 1)
    }
}

/// A load, its scheduling point already passed.
pub unsafe fn load(address: usize, size: usize, order: Order) -> u128 {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        let value = w.engine.load(w.current, location, order, &mut w.scheduler);
        check(address, size, Kind::AtomicRead, now);
        value
    }
}

pub unsafe fn store(address: usize, size: usize, order: Order, value: u128) {
    // SAFETY: called while running.
    unsafe {
        let location = locate(address, size);
        let w = world();
        let now = w.engine.now(w.current);
        w.changed();
        w.engine.store(w.current, location, order, value);
        write_native(address, size, value);
        check(address, size, Kind::AtomicWrite, now);
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
        if let Update::Write(new) = change(old) {
            w.changed();
            write_native(address, size, new);
            kind = Kind::AtomicWrite;
        }
        check(address, size, kind, now);
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

unsafe fn any_load(address: usize, size: usize, memory_order: i32) -> u128 {
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            return read_native(address, size);
        }
        let pc = caller();
        visible(Step::Other);
        *crate::call::CALLER.get() = pc;
        load(address, size, order(memory_order))
    }
}

unsafe fn any_store(address: usize, size: usize, value: u128, memory_order: i32) {
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            return write_native(address, size, value);
        }
        let pc = caller();
        let order = order(memory_order);
        visible(if order == Order::SeqCst { Step::Other } else { Step::Store });
        *crate::call::CALLER.get() = pc;
        store(address, size, order, value);
    }
}

unsafe fn any_update(address: usize, size: usize, memory_order: i32, change: impl Fn(u128) -> u128) -> u128 {
    let mask = if size == 16 { u128::MAX } else { (1 << (size * 8)) - 1 };
    // SAFETY: the program's own atomic access.
    unsafe {
        if !tracked() {
            let old = read_native(address, size);
            write_native(address, size, change(old) & mask);
            return old;
        }
        let pc = caller();
        visible(Step::Other);
        *crate::call::CALLER.get() = pc;
        update(address, size, order(memory_order), |old| Update::Write(change(old) & mask))
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
        visible(Step::Other);
        *crate::call::CALLER.get() = pc;
        let (success, failure) = (order(orders.0), order(orders.1));
        let spurious = weak && world().scheduler.choose(SPURIOUS) == 0;
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
    visible(Step::Other);
    // SAFETY: running.
    unsafe {
        let w = world();
        let order = order(memory_order);
        if order != Order::Relaxed {
            w.engine.fence(w.current, order);
            w.refresh();
        }
    }
}

unsafe extern "C" fn signal_fence(_memory_order: i32) {}

entry! { __tsan_atomic_thread_fence => thread_fence; __tsan_atomic_signal_fence => signal_fence; }

macro_rules! atomics {
    ($($bits:ident $ty:ty, $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident $strong:ident $weak:ident $val:ident;)*) => {$(
        mod $bits {
            use super::*;
            const SIZE: usize = size_of::<$ty>();
            type T = $ty;
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
