//! The program's heap: deterministic, so that an execution is a function of its seed, and slow to reuse
//! memory, so that a use after free is seen.
//!
//! Size classes over one reserved region at a fixed address. Every block has a 16-byte header. Freed
//! blocks wait in a queue of up to [`QUARANTINE`] bytes before they are given out again; their shadow is
//! marked freed. All bookkeeping is rolled back with the program.

use crate::allocation::{self, Allocation};
use crate::call::caller;
use crate::finding;
use crate::hooks;
use crate::interpose;
use crate::plain;
use crate::shadow;
use crate::sys::{self, Global};
use crate::world::{self, is_running};
use porf_sample::protocol::FindingKind;
use porf_sample::race::Kind;

pub const START: usize = 0x6000_0000_0000;
const RESERVED: usize = 1 << 37;
const QUARANTINE: usize = 8 << 20;
/// Beyond this, only the beginning of a freed block is marked; what was known of the rest is forgotten at once.
const MARKED: usize = 1 << 16;

#[repr(C)]
struct Header {
    /// Bytes the program may use; the distance back to the true header for [`ALIGNED`].
    size: u64,
    state: u32,
    /// The next free or quarantined block, in units of 16 bytes from the start; of a block that the program has, by whom
    /// it was allocated ([`crate::allocation`]).
    next: u32,
}

const LIVE: u32 = 0x11fe_11fe;
const FREED: u32 = 0xdead_0ff5;
const ALIGNED: u32 = 0xa119_a119;
const HEADER: usize = size_of::<Header>();
pub const CLASSES: usize = 64 + 4 * 34;

struct Heap {
    /// First address never given out.
    next: usize,
    free: [u32; CLASSES],
    oldest: u32,
    newest: u32,
    waiting: usize,
}

static HEAP: Global<Heap> =
    Global::new(Heap { next: 0, free: [0; CLASSES], oldest: 0, newest: 0, waiting: 0 });

/// The part of the region in use.
pub fn used() -> std::ops::Range<usize> {
    // SAFETY: one kernel thread.
    let next = unsafe { (*HEAP.get()).next };
    START..next.max(START)
}

/// Class and usable size for a request.
pub fn class(size: usize) -> (usize, usize) {
    if size <= 1024 {
        let index = size.max(1).div_ceil(16);
        return (index - 1, index * 16);
    }
    // Four classes per power of two.
    let power = usize::BITS as usize - 1 - (size - 1).leading_zeros() as usize;
    let quarter = 1usize << (power - 2);
    let steps = (size - (1 << power)).div_ceil(quarter);
    (64 + (power - 10) * 4 + steps, (1 << power) + steps * quarter)
}

unsafe fn header(block: usize) -> *mut Header {
    (block - HEADER) as *mut Header
}

unsafe fn at(index: u32) -> usize {
    START + index as usize * 16
}

/// Allocates `size` bytes; 0 if there is no room.
pub unsafe fn allocate(size: usize) -> usize {
    // SAFETY: one kernel thread; blocks are disjoint.
    unsafe {
        let heap = &mut *HEAP.get();
        if heap.next == 0 {
            if sys::map_at(START, RESERVED).is_none() {
                sys::fail("porf: the place of the program's heap is taken\n");
            }
            heap.next = START + 16;
        }
        if size > RESERVED / 2 {
            return 0;
        }
        let (class, room) = class(size);
        let reused = heap.free[class];
        let block = if reused != 0 {
            let block = at(reused);
            heap.free[class] = (*header(block)).next;
            block
        } else {
            let block = heap.next + HEADER;
            if block + room > START + RESERVED {
                return 0;
            }
            heap.next = block + room;
            block
        };
        let by = if world::is_initialised() { allocation::note(world::world(), caller()) } else { 0 };
        *header(block) = Header { size: size as u64, state: LIVE, next: by };
        if is_running() {
            if reused != 0 {
                forget(block, room.min(MARKED));
            }
            if world::world().attentive {
                finding::allocated(world::world(), block, size, caller());
            }
            // As in ThreadSanitizer, to allocate is to write: who gets hold of the memory without
            // synchronisation races with its allocation.
            if world::world().is_called_by_program() && !world::is_ignoring() {
                plain::range(block, size.min(MARKED), Kind::Write, caller());
            }
        }
        block
    }
}

/// The memory is new: what was done to it before is over.
pub fn forget(start: usize, length: usize) {
    if length > MARKED {
        shadow::discard(start, length, forget_each);
    } else {
        forget_each(start, length);
    }
}

fn forget_each(start: usize, length: usize) {
    crate::atomic::forget(start, length);
    shadow::for_each(start, length, |cell, _| {
        // SAFETY: a cell of the shadow.
        unsafe {
            let sync = world::world().detector.forget(&mut *cell);
            world::world().free_sync(sync);
        }
    });
}

/// The memory was freed: what was known of objects in it can go, not that it was freed.
fn retire(start: usize, length: usize) {
    crate::atomic::forget(start, length);
    shadow::for_each(start, length, |cell, mask| {
        if mask == 15 {
            // SAFETY: a cell of the shadow; running.
            unsafe {
                let sync = world::world().detector.retire(&mut *cell);
                world::world().free_sync(sync);
            }
        }
    });
}

/// Also before there are threads.
fn misused(kind: FindingKind, message: &str) {
    if world::is_initialised() {
        // SAFETY: initialised.
        let w = unsafe { world::world() };
        w.has_first_fiber();
        finding::event(w, kind, caller(), message);
    }
}

unsafe fn release(block: usize) {
    // SAFETY: one kernel thread; the block is checked before it is trusted.
    unsafe {
        if block == 0 {
            return;
        }
        let heap = &mut *HEAP.get();
        let inside = block > START && block < heap.next && block.is_multiple_of(16);
        let mut block = block;
        if inside && (*header(block)).state == ALIGNED {
            block -= (*header(block)).size as usize;
        }
        if !inside || !matches!((*header(block)).state, LIVE | FREED) {
            misused(FindingKind::InvalidFree, "free of memory that malloc did not return");
            return;
        }
        let head = header(block);
        if (*head).state == FREED {
            misused(FindingKind::DoubleFree, "double free");
            return;
        }
        let size = (*head).size as usize;
        if is_running() {
            let marked = size.clamp(1, MARKED);
            if world::world().is_called_by_program() && !world::is_ignoring() {
                plain::range(block, marked, Kind::Free, caller());
                retire(block, marked);
            } else {
                forget(block, marked);
            }
            forget(block + marked, size.saturating_sub(marked));
        }
        (*head).state = FREED;
        (*head).next = 0;
        let index = ((block - START) / 16) as u32;
        if heap.newest != 0 {
            (*header(at(heap.newest))).next = index;
        } else {
            heap.oldest = index;
        }
        heap.newest = index;
        heap.waiting += size + HEADER;
        while heap.waiting > QUARANTINE {
            let oldest = header(at(heap.oldest));
            let index = heap.oldest;
            heap.oldest = (*oldest).next;
            if heap.oldest == 0 {
                heap.newest = 0;
            }
            heap.waiting -= (*oldest).size as usize + HEADER;
            let (class, _) = class((*oldest).size as usize);
            (*oldest).next = heap.free[class];
            heap.free[class] = index;
        }
    }
}

/// Frees a block on behalf of nobody in particular.
pub unsafe fn free_quietly(block: usize) {
    // SAFETY: one kernel thread; no code of a program has this address.
    unsafe {
        let pc = std::mem::replace(&mut *crate::call::CALLER.get(), 0);
        release(block);
        *crate::call::CALLER.get() = pc;
    }
}

unsafe fn aligned(alignment: usize, size: usize) -> usize {
    // SAFETY: writes a second header inside the block.
    unsafe {
        if alignment <= 16 {
            return allocate(size);
        }
        let block = allocate(size + alignment);
        if block == 0 {
            return 0;
        }
        let user = (block + 16).next_multiple_of(alignment);
        *header(user) = Header { size: (user - block) as u64, state: ALIGNED, next: 0 };
        user
    }
}

unsafe fn usable(block: usize) -> usize {
    // SAFETY: the caller passes a live block.
    unsafe {
        let head = &*header(block);
        if head.state == ALIGNED {
            let distance = head.size as usize;
            return (*header(block - distance)).size as usize - distance;
        }
        head.size as usize
    }
}

/// The bytes of a block that the program has; None if it has no such block.
pub fn live(block: usize) -> Option<usize> {
    let (start, size) = block_at(block)?;
    (start == block).then_some(size)
}

/// The block that an address lies in, if the program has it: beginning and size. Goes through all blocks.
pub fn block_at(address: usize) -> Option<(usize, usize)> {
    allocated_at(address).map(|(start, size, _)| (start, size))
}

/// By whom the block was allocated that an address lies in.
pub fn allocation_at(address: usize) -> Option<&'static Allocation> {
    let (.., number) = allocated_at(address)?;
    // SAFETY: nothing is allocated, and no number given, before that.
    world::is_initialised().then(|| unsafe { world::world() }.allocations.get(number)).flatten()
}

/// [`block_at`], and the number of the allocation.
fn allocated_at(address: usize) -> Option<(usize, usize, u32)> {
    let all = used();
    let mut block = START + 16 + HEADER;
    if !all.contains(&address) {
        return None;
    }
    while block < all.end {
        // SAFETY: blocks lie one behind the other, each with its header.
        let head = unsafe { &*header(block) };
        let (_, room) = class(head.size as usize);
        if (block..block + room).contains(&address) {
            let size = head.size as usize;
            // SAFETY: an aligned block has a second header, inside of the first.
            let inner = unsafe { (block + 16..block + size).step_by(16).find(|&at| is_inner(at, block)) };
            let start = inner.unwrap_or(block);
            let is_inside = (start..block + size.max(1)).contains(&address);
            return (head.state == LIVE && is_inside).then_some((start, size - (start - block), head.next));
        }
        block += room + HEADER;
    }
    None
}

/// Whether an aligned block begins here, whose memory begins there.
unsafe fn is_inner(at: usize, block: usize) -> bool {
    // SAFETY: within a block.
    let head = unsafe { &*header(at) };
    head.state == ALIGNED && head.size as usize == at - block
}

fn or_errno(block: usize) -> usize {
    if block == 0 {
        sys::set_errno(libc::ENOMEM);
    }
    block
}

/// The heap is used: not by a handler that may have interrupted somebody who uses it?
fn interrupts(name: &str) {
    // SAFETY: running.
    if is_running() && unsafe { world::world() }.fiber().handlers > 0 {
        crate::signal::unsafe_call(name);
    }
}

/// Pairs of functions that want to be told of new blocks and of those that are freed.
static HOOKS: Global<[(Option<Malloc>, Option<Free>); 5]> = Global::new([(None, None); 5]);

pub type Malloc = extern "C" fn(usize, usize);
pub type Free = extern "C" fn(usize);

/// Installs such a pair; how many there are then, or 0 if there is no room.
pub fn install(hooks: (Option<Malloc>, Option<Free>)) -> i32 {
    // SAFETY: one kernel thread.
    let all = unsafe { &mut *HOOKS.get() };
    let Some(place) = all.iter().position(|pair| *pair == (None, None)) else { return 0 };
    all[place] = hooks;
    place as i32 + 1
}

/// A program that wants to know of its blocks is told of a new one.
fn announce(block: usize, size: usize) -> usize {
    if block != 0 {
        // SAFETY: one kernel thread.
        let installed = unsafe { *HOOKS.get() }.map(|(function, _)| function);
        hooks::malloc_hook().into_iter().chain(installed.into_iter().flatten()).for_each(|f| f(block, size));
    }
    block
}

/// An allocation takes as long as so many accesses of memory.
const ALLOCATION: u32 = 16;

unsafe extern "C" fn malloc_inner(size: usize) -> usize {
    plain::takes_time(ALLOCATION);
    interrupts("malloc");
    // SAFETY: the contract of this function is that of the one it calls.
    announce(or_errno(unsafe { allocate(size) }), size)
}

unsafe extern "C" fn free_inner(block: usize) {
    interrupts("free");
    if block != 0 {
        // SAFETY: one kernel thread.
        let installed = unsafe { *HOOKS.get() }.map(|(_, function)| function);
        hooks::free_hook().into_iter().chain(installed.into_iter().flatten()).for_each(|f| f(block));
    }
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { release(block) }
}

unsafe extern "C" fn calloc_inner(count: usize, size: usize) -> usize {
    let Some(total) = count.checked_mul(size) else { return or_errno(0) };
    // SAFETY: the block is that long.
    unsafe {
        let block = allocate(total);
        if block != 0 {
            std::ptr::write_bytes(block as *mut u8, 0, total);
        }
        announce(or_errno(block), total)
    }
}

unsafe extern "C" fn realloc_inner(block: usize, size: usize) -> usize {
    // SAFETY: copies what both blocks have.
    unsafe {
        if block == 0 {
            return or_errno(allocate(size));
        }
        if size == 0 {
            release(block);
            return 0;
        }
        let new = allocate(size);
        if new != 0 {
            let kept = usable(block).min(size);
            std::ptr::copy_nonoverlapping(block as *const u8, new as *mut u8, kept);
            release(block);
        }
        or_errno(new)
    }
}

unsafe extern "C" fn memalign_inner(alignment: usize, size: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    or_errno(unsafe { aligned(alignment.next_power_of_two(), size) })
}

unsafe extern "C" fn posix_memalign_inner(out: *mut usize, alignment: usize, size: usize) -> i32 {
    if !alignment.is_power_of_two() || alignment < 8 {
        return libc::EINVAL;
    }
    // SAFETY: `out` is the caller's.
    unsafe {
        let block = aligned(alignment, size);
        if block == 0 {
            return libc::ENOMEM;
        }
        *out = block;
    }
    0
}

unsafe extern "C" fn valloc_inner(size: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    or_errno(unsafe { aligned(4096, size) })
}

/// For `operator new`.
pub unsafe extern "C" fn new(size: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { malloc_inner(size) }
}

/// For `operator new` with an alignment.
pub unsafe extern "C" fn new_aligned(size: usize, alignment: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { memalign_inner(alignment, size) }
}

/// For `operator delete`; the sizes and alignments that some forms pass are known.
pub unsafe extern "C" fn delete(block: usize) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { free_inner(block) }
}

unsafe extern "C" fn usable_inner(block: usize) -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    if block == 0 { 0 } else { unsafe { usable(block) } }
}

interpose! {
    malloc => malloc_inner; free => free_inner; cfree => free_inner; calloc => calloc_inner; realloc => realloc_inner;
    memalign => memalign_inner; aligned_alloc => memalign_inner; posix_memalign => posix_memalign_inner;
    valloc => valloc_inner; malloc_usable_size => usable_inner;
}
