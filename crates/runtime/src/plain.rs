//! Plain and volatile accesses.
//!
//! A plain access is checked for races and otherwise runs as it is. A volatile access is an atomic one
//! whose native part comes after the callback: a load finds the chosen value put into memory, a store's
//! value is picked up at the next callback ([`Pending`]).

use crate::atomic;
use crate::call::caller;
use crate::entry;
use crate::finding;
use crate::shadow;
use crate::trace::{self, Accessed};
use crate::world::{HOT, IDLE, IGNORING, PATIENCE, PENDING, RUNNING, Step, give_way, visible_as, world};
use porf_sample::Order;
use porf_sample::protocol::Did;
use porf_sample::race::{Access, Cell, Kind};
use std::sync::atomic::Ordering;

/// What a volatile access left to do.
#[derive(Default, Clone, Copy)]
pub enum Pending {
    #[default]
    Nothing,
    /// Memory was changed for a load: put this back.
    Restore { address: usize, size: usize, value: u128 },
    /// A store is happening: take its value.
    Take { address: usize, size: usize, pc: usize },
}

/// A program counter in 32 bits: relative to this library's code, which every program has nearby.
#[inline(always)]
pub fn short_pc(pc: usize) -> u32 {
    pc.wrapping_sub(short_pc as *const () as usize) as u32
}

/// The program counter that [`short_pc`] shortened.
pub fn long_pc(pc: u32) -> usize {
    let base = short_pc as *const () as usize;
    crate::modules::complete(base, pc).unwrap_or_else(|| base.wrapping_add(pc as i32 as isize as usize))
}

#[inline(always)]
unsafe fn access<const SIZE: usize, const WRITE: bool>(address: usize) {
    // SAFETY: one kernel thread; cells exist for every address.
    unsafe {
        let hot = &mut *HOT.get();
        if hot.state != RUNNING {
            if hot.state == PENDING {
                complete_pending();
            }
            if (*HOT.get()).state != RUNNING {
                return;
            }
        }
        hot.patience -= 1;
        if hot.patience == 0 {
            lose_patience();
        }
        match SIZE {
            1 | 2 | 4 if (address & 3) + SIZE <= 4 => {
                let mask = (((1u16 << SIZE) - 1) << (address & 3)) as u8;
                cells::<1, SIZE, WRITE>(shadow::cell(address), address, mask);
            }
            8 if address & 7 == 0 => cells::<2, SIZE, WRITE>(shadow::cell(address), address, 15),
            _ => range(address, SIZE, if WRITE { Kind::Write } else { Kind::Read }, caller()),
        }
    }
}

/// A call into libc takes as long as so many plain accesses: a loop of nothing but such calls must let others run too.
#[inline]
pub fn takes_time(accesses: u32) {
    // SAFETY: one kernel thread.
    let hot = unsafe { &mut *HOT.get() };
    if hot.state == RUNNING {
        hot.patience = hot.patience.saturating_sub(accesses).max(1);
        // Inside of libc, a lock of libc may be held.
        // SAFETY: running.
        if hot.patience == 1 && unsafe { world() }.is_called_by_program() {
            lose_patience();
        }
    }
}

/// The thread may be waiting for another to write what it reads: that one must run.
#[cold]
fn lose_patience() {
    /// So many plain accesses take as long as a visible operation.
    const SHARE: u64 = 100;
    let pc = caller();
    // SAFETY: running.
    let w = unsafe { world() };
    w.time += (w.tick << w.haste) * u64::from(PATIENCE) / SHARE;
    w.shared().progress.heartbeat.fetch_add(1, Ordering::Relaxed);
    give_way();
    // SAFETY: one kernel thread.
    unsafe { *crate::call::CALLER.get() = pc };
}

/// An access to the bytes `mask` of each of `COUNT` cells: quick where the cells are simple.
#[inline(always)]
unsafe fn cells<const COUNT: usize, const SIZE: usize, const WRITE: bool>(
    first: *mut Cell,
    address: usize,
    mask: u8,
) {
    // SAFETY: one kernel thread; the cells of the access.
    unsafe {
        let hot = &*HOT.get();
        let w = world();
        let (thread, now) = (hot.thread, hot.now);
        let kind = if WRITE { Kind::Write } else { Kind::Read };
        let access =
            Access { thread, clock: w.engine.clock(thread), now, pc: short_pc(caller()), mask, kind };
        if !w.detector.access_at_once(&*first.cast::<[Cell; COUNT]>(), &access, !w.attentive) {
            cells_slowly(std::slice::from_raw_parts_mut(first, COUNT), (address, SIZE), mask, kind);
        }
    }
}

/// The same where more is to be done.
#[inline(never)]
fn cells_slowly(cells: &mut [Cell], (address, size): (usize, usize), mask: u8, kind: Kind) {
    // SAFETY: running.
    let w = unsafe { world() };
    let (thread, now) = (w.current, w.engine.now(w.current));
    let writes = kind == Kind::Write;
    if cells.iter().all(|cell| w.detector.is_repeated(cell, thread, now, mask, writes)) {
        return;
    }
    let pc = caller();
    if !w.attentive {
        let access = Access { thread, clock: w.engine.clock(thread), now, pc: short_pc(pc), mask, kind };
        if w.detector.access_quickly(cells, &access) {
            return;
        }
        // What was recorded of the first cell is recorded once more below.
    }
    range(address, size, kind, pc);
}

/// An access of more bytes takes long enough that whoever watches for progress wants to hear of it.
const LARGE: usize = 1 << 20;

/// Checks and records an access to some bytes.
#[inline(never)]
pub fn range(address: usize, size: usize, kind: Kind, pc: usize) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let thread = w.current;
    let mut found = None;
    let mut overwrites = false;
    let clock = w.engine.clock(thread);
    let now = clock.get(thread);
    let pc_short = short_pc(pc);
    if size >= LARGE {
        // Parts, each a sign of life.
        let half = (size / 2).next_multiple_of(8);
        range(address, half, kind, pc);
        return range(address + half, size - half, kind, pc);
    }
    if size >= LARGE / 2 {
        w.shared().progress.heartbeat.fetch_add(1, Ordering::Relaxed);
    }
    shadow::for_each_row(address, size, |cells, mask| {
        let access = Access { thread, clock, now, pc: pc_short, mask, kind };
        // The value of a write is not there yet: the next atomic access takes it from memory.
        let (conflict, overwritten) = w.detector.access(cells, &access);
        found = found.or(conflict);
        overwrites |= overwritten;
    });
    if w.attentive {
        finding::watched(w, address, size, kind, pc, w.engine.now(thread));
    }
    if w.tracing {
        let did = match kind {
            Kind::Write => Did::Write,
            Kind::Free => Did::Free,
            _ => Did::Read,
        };
        trace::plain(w, (address, size), did);
    }
    if overwrites {
        // A clock of its own for the store, see `Store::clock`.
        w.engine.tick(thread);
        w.refresh();
    }
    if let Some(conflict) = found {
        finding::conflict(w, address, size, kind, pc, conflict);
    }
}

/// Checks an access to some bytes of one cell against earlier ones, without recording it.
pub fn look(address: usize, size: usize, kind: Kind) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let (thread, pc) = (w.current, caller());
    let mut found = None;
    shadow::for_each(address, size, |cell, mask| {
        let clock = w.engine.clock(thread);
        let access = Access { thread, clock, now: clock.get(thread), pc: short_pc(pc), mask, kind };
        // SAFETY: a cell of the shadow; nobody else has a reference.
        found = found.or_else(|| w.detector.check_atomic(unsafe { &*cell }, &access));
    });
    if let Some(conflict) = found {
        finding::conflict(w, address, size, kind, pc, conflict);
    }
}

/// What volatile accesses are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Volatile {
    Relaxed,
    AcqRel,
    Plain,
}

impl Volatile {
    /// The one with this number in the shared memory.
    pub fn from_number(number: u32) -> Volatile {
        match number {
            1 => Volatile::AcqRel,
            2 => Volatile::Plain,
            _ => Volatile::Relaxed,
        }
    }
}

/// Finishes the volatile access before this callback.
#[cold]
pub unsafe fn complete_pending() {
    // SAFETY: called while running.
    unsafe {
        let w = world();
        (*HOT.get()).state = if w.fiber().ignoring > 0 { IGNORING } else { RUNNING };
        match std::mem::take(&mut w.pending) {
            Pending::Nothing => {}
            Pending::Restore { address, size, value } => atomic::write_native(address, size, value),
            Pending::Take { address, size, pc } => {
                let next = std::mem::replace(&mut *crate::call::CALLER.get(), pc);
                let order = if w.volatile == Volatile::AcqRel { Order::Release } else { Order::Relaxed };
                let value = atomic::read_native(address, size);
                let location = atomic::location_for_pending_store(address, size);
                let now = w.engine.now(w.current);
                w.changed();
                w.engine.store(w.current, location, order, value);
                w.has_written(address, size);
                let accessed = Accessed { order, read: None, written: Some(value) };
                atomic::check(location, Kind::AtomicWrite, now, accessed);
                *crate::call::CALLER.get() = next;
            }
        }
    }
}

/// A volatile access that counts as a plain one. Whoever makes many of them probably waits.
unsafe fn plain_volatile<const SIZE: usize, const WRITE: bool>(address: usize) {
    const SHARE: u32 = 100;
    // SAFETY: one kernel thread.
    unsafe {
        let patience = &mut (*HOT.get()).patience;
        *patience = patience.saturating_sub(SHARE).max(1);
        access::<SIZE, WRITE>(address);
    }
}

unsafe fn volatile_read<const SIZE: usize>(address: usize) {
    let size = SIZE;
    // SAFETY: called by the program about memory it is about to read.
    unsafe {
        let Some(()) = before_volatile() else { return };
        let pc = caller();
        if world().volatile == Volatile::Plain {
            return plain_volatile::<SIZE, false>(address);
        }
        visible_as(Step::Other, atomic::access(address, size, false, Order::Relaxed));
        *crate::call::CALLER.get() = pc;
        let order = if world().volatile == Volatile::AcqRel { Order::Acquire } else { Order::Relaxed };
        let memory = atomic::read_native(address, size);
        let value = atomic::load(address, size, order);
        if value != memory {
            atomic::write_native(address, size, value);
            world().pending = Pending::Restore { address, size, value: memory };
            (*HOT.get()).state = PENDING;
        }
    }
}

unsafe fn volatile_write<const SIZE: usize>(address: usize) {
    let size = SIZE;
    // SAFETY: called by the program about memory it is about to write.
    unsafe {
        let Some(()) = before_volatile() else { return };
        let pc = caller();
        if world().volatile == Volatile::Plain {
            return plain_volatile::<SIZE, true>(address);
        }
        visible_as(Step::Store, atomic::access(address, size, true, Order::Relaxed));
        atomic::locate(address, size);
        world().pending = Pending::Take { address, size, pc };
        (*HOT.get()).state = PENDING;
    }
}

unsafe fn before_volatile() -> Option<()> {
    // SAFETY: one kernel thread.
    unsafe {
        match (*HOT.get()).state {
            IDLE => return None,
            PENDING => complete_pending(),
            _ => {}
        }
    }
    Some(())
}

macro_rules! plain {
    ($($read:ident $write:ident $volatile_read:ident $volatile_write:ident $size:literal;)*) => {$(
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        unsafe extern "C" fn $read(address: usize) { unsafe { access::<$size, false>(address) } }
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        unsafe extern "C" fn $write(address: usize) { unsafe { access::<$size, true>(address) } }
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        unsafe extern "C" fn $volatile_read(address: usize) { unsafe { volatile_read::<$size>(address) } }
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        unsafe extern "C" fn $volatile_write(address: usize) { unsafe { volatile_write::<$size>(address) } }
    )*};
}

plain! {
    read1 write1 volatile_read1 volatile_write1 1;
    read2 write2 volatile_read2 volatile_write2 2;
    read4 write4 volatile_read4 volatile_write4 4;
    read8 write8 volatile_read8 volatile_write8 8;
    read16 write16 volatile_read16 volatile_write16 16;
}

macro_rules! read_write {
    ($($name:ident $size:literal;)*) => {$(
        #[allow(clippy::undocumented_unsafe_blocks, reason = "each passes its own contract on")]
        unsafe extern "C" fn $name(address: usize) { unsafe { access::<$size, false>(address); access::<$size, true>(address) } }
    )*};
}

read_write! { read_write1 1; read_write2 2; read_write4 4; read_write8 8; read_write16 16; }

unsafe extern "C" fn read_range(address: usize, size: usize) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { any_range(address, size, Kind::Read) }
}

unsafe extern "C" fn write_range(address: usize, size: usize) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { any_range(address, size, Kind::Write) }
}

/// An access of any size, by the program or on its behalf.
pub unsafe fn any_range(address: usize, size: usize, kind: Kind) {
    // SAFETY: one kernel thread.
    unsafe {
        if (*HOT.get()).state == PENDING {
            complete_pending();
        }
        if (*HOT.get()).state == RUNNING && size > 0 {
            range(address, size, kind, caller());
        }
    }
}

unsafe extern "C" fn vptr_update(slot: *mut usize, value: usize) {
    // A destructor that stores the vtable pointer already there changes nothing and races with nothing.
    // SAFETY: the object that is being constructed or destroyed.
    unsafe {
        if *slot != value {
            access::<8, true>(slot as usize);
        }
    }
}

unsafe extern "C" fn memory_copy(to: usize, from: usize, size: usize) -> usize {
    // SAFETY: the caller's ranges, as for `memmove`.
    unsafe {
        any_range(from, size, Kind::Read);
        any_range(to, size, Kind::Write);
        std::ptr::copy(from as *const u8, to as *mut u8, size);
    }
    to
}

unsafe extern "C" fn memory_set(to: usize, value: i32, size: usize) -> usize {
    // SAFETY: the caller's range, as for `memset`.
    unsafe {
        any_range(to, size, Kind::Write);
        std::ptr::write_bytes(to as *mut u8, value as u8, size);
    }
    to
}

macro_rules! with_place {
    ($($name:ident $inner:ident;)*) => {$(
        /// As the function without `_pc`, for code that says where it is.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(address: usize, pc: usize) {
            // SAFETY: one kernel thread; the contract of this function is that of the one it calls.
            unsafe {
                *crate::call::CALLER.get() = pc;
                $inner(address);
            }
        }
    )*};
}

with_place! {
    __tsan_read1_pc read1; __tsan_read2_pc read2; __tsan_read4_pc read4; __tsan_read8_pc read8; __tsan_read16_pc read16;
    __tsan_write1_pc write1; __tsan_write2_pc write2; __tsan_write4_pc write4; __tsan_write8_pc write8;
    __tsan_write16_pc write16;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(address: usize, size: usize, pc: usize) {
    // SAFETY: one kernel thread; the contract of this function is that of the one it calls.
    unsafe {
        *crate::call::CALLER.get() = pc;
        any_range(address, size, Kind::Read);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(address: usize, size: usize, pc: usize) {
    // SAFETY: one kernel thread; the contract of this function is that of the one it calls.
    unsafe {
        *crate::call::CALLER.get() = pc;
        any_range(address, size, Kind::Write);
    }
}

entry! {
    __tsan_read1 => read1; __tsan_read2 => read2; __tsan_read4 => read4; __tsan_read8 => read8; __tsan_read16 => read16;
    __tsan_write1 => write1; __tsan_write2 => write2; __tsan_write4 => write4; __tsan_write8 => write8; __tsan_write16 => write16;
    __tsan_unaligned_read2 => read2; __tsan_unaligned_read4 => read4; __tsan_unaligned_read8 => read8; __tsan_unaligned_read16 => read16;
    __tsan_unaligned_write2 => write2; __tsan_unaligned_write4 => write4; __tsan_unaligned_write8 => write8; __tsan_unaligned_write16 => write16;
    __tsan_read_write1 => read_write1; __tsan_read_write2 => read_write2; __tsan_read_write4 => read_write4; __tsan_read_write8 => read_write8; __tsan_read_write16 => read_write16;
    __tsan_unaligned_read_write2 => read_write2; __tsan_unaligned_read_write4 => read_write4; __tsan_unaligned_read_write8 => read_write8; __tsan_unaligned_read_write16 => read_write16;
    __tsan_volatile_read1 => volatile_read1; __tsan_volatile_read2 => volatile_read2; __tsan_volatile_read4 => volatile_read4; __tsan_volatile_read8 => volatile_read8; __tsan_volatile_read16 => volatile_read16;
    __tsan_volatile_write1 => volatile_write1; __tsan_volatile_write2 => volatile_write2; __tsan_volatile_write4 => volatile_write4; __tsan_volatile_write8 => volatile_write8; __tsan_volatile_write16 => volatile_write16;
    __tsan_unaligned_volatile_read2 => volatile_read2; __tsan_unaligned_volatile_read4 => volatile_read4; __tsan_unaligned_volatile_read8 => volatile_read8; __tsan_unaligned_volatile_read16 => volatile_read16;
    __tsan_unaligned_volatile_write2 => volatile_write2; __tsan_unaligned_volatile_write4 => volatile_write4; __tsan_unaligned_volatile_write8 => volatile_write8; __tsan_unaligned_volatile_write16 => volatile_write16;
    __tsan_read_range => read_range; __tsan_write_range => write_range;
    __tsan_vptr_update => vptr_update; __tsan_vptr_read => read8;
    __tsan_memcpy => memory_copy; __tsan_memmove => memory_copy; __tsan_memset => memory_set;
}
