//! What was found: records in the memory shared with the command line.
//!
//! A finding is known by a key made of program counters, so the same race in another execution, or at
//! another address, only counts. The earlier access of a race is known by its program counter; its call
//! stack is collected by running the execution once more ([`Watch`]): executions are functions of their
//! seed, so the access happens again, with its stack at hand.

use crate::call;
use crate::modules::stable;
use crate::plain::long_pc;
use crate::world::{State, World};
use porf_event::ThreadId;
use porf_sample::protocol::{
    ALLOCATION, Finding, FindingKind, MAX_FINDINGS, MAX_FRAMES, MAX_STACKS, Minimised, NO_ACCESS,
    descriptor_at,
};
use porf_sample::race::{Conflict, Kind};
use std::sync::atomic::Ordering;

/// An earlier access whose stack is wanted.
#[derive(Clone, Copy)]
pub struct Watch {
    pub finding: usize,
    pub thread: ThreadId,
    pub clock: u32,
    pub address: usize,
    pub size: usize,
    pub kind: Kind,
    /// Where it was, as the race detector has it: of the accesses in one epoch it keeps the last.
    pub pc: u32,
}

/// A race, or a use of freed memory.
#[cold]
pub fn conflict(w: &mut World, address: usize, size: usize, access: Kind, pc: usize, earlier: Conflict) {
    let what = if earlier.kind == Kind::Free { FindingKind::UseAfterFree } else { FindingKind::Race };
    if what == FindingKind::Race
        && w.benign.iter().any(|range| address < range.end && range.start < address + size)
    {
        return;
    }
    let earlier_pc = long_pc(earlier.pc);
    let mut pcs = [stable(pc), stable(earlier_pc)];
    pcs.sort_unstable();
    let key = hash(what, &pcs);
    let message = descriptor_at(address as u64).map(|fd| format!("on descriptor {fd}"));
    let Some(index) = record(w, what, key, &message.unwrap_or_default()) else { return };
    let thread = w.current;
    let finding = &mut w.shared_mut().findings[index];
    finding.address = address as u64;
    finding.size = size as u32;
    add_stack(w, index, thread, pc, access as u32);
    let finding = &mut w.shared_mut().findings[index];
    let second = finding.stack_count as usize;
    add_frames(finding, second, earlier.thread, earlier.kind as u32, &[earlier_pc]);
    finding.stacks[second].clock = earlier.clock;
    told(w, index);
}

/// Every thread waits for another.
pub fn deadlock(w: &mut World) {
    let mut tops: Vec<u64> = Vec::new();
    let blocked: Vec<ThreadId> =
        w.threads().filter(|&thread| w.fibers[thread.as_usize()].state == State::Blocked).collect();
    for &thread in &blocked {
        let mut top = 0;
        call::stack_of(w, thread, 0, |pc| top = if top == 0 { pc } else { top });
        tops.push(stable(top));
    }
    tops.sort_unstable();
    let mut message = String::from("every thread waits:");
    for &thread in &blocked {
        message.push_str(&format!(" {thread} {}", w.fibers[thread.as_usize()].waiting));
        message.push(if Some(&thread) == blocked.last() { '.' } else { ',' });
    }
    let Some(index) = record(w, FindingKind::Deadlock, hash(FindingKind::Deadlock, &tops), &message) else {
        return;
    };
    for &thread in blocked.iter().take(MAX_STACKS) {
        add_stack(w, index, thread, 0, NO_ACCESS);
    }
}

/// Threads run, but none of them changes anything.
pub fn livelock(w: &mut World) {
    let live: Vec<ThreadId> =
        w.threads().filter(|&thread| w.fibers[thread.as_usize()].state != State::Finished).collect();
    let mut tops: Vec<u64> = Vec::new();
    for &thread in &live {
        let mut top = 0;
        call::stack_of(w, thread, 0, |pc| top = if top == 0 { pc } else { top });
        tops.push(stable(top));
    }
    tops.sort_unstable();
    let message = "threads run, but for a million steps none stores anything";
    let Some(index) = record(w, FindingKind::Livelock, hash(FindingKind::Livelock, &tops), message) else {
        return;
    };
    for &thread in live.iter().take(MAX_STACKS) {
        add_stack(w, index, thread, 0, NO_ACCESS);
    }
}

/// Locks are taken in orders that may deadlock: the calls by which each thread took the second of its two.
#[cold]
pub fn inversion(w: &mut World, stacks: &[(ThreadId, Vec<usize>)]) {
    let mut tops: Vec<u64> =
        stacks.iter().map(|(_, frames)| stable(frames.first().copied().unwrap_or(0))).collect();
    tops.sort_unstable();
    let is_one = stacks.iter().all(|(thread, _)| *thread == stacks[0].0);
    let message = if is_one {
        "one thread takes locks in different orders; two that do so may wait for each other".to_string()
    } else {
        format!("a deadlock is possible: {} threads take the same locks in different orders", stacks.len())
    };
    let Some(index) = record(w, FindingKind::Order, hash(FindingKind::Order, &tops), &message) else {
        return;
    };
    for (place, (thread, frames)) in stacks.iter().take(MAX_STACKS).enumerate() {
        add_frames(&mut w.shared_mut().findings[index], place, *thread, NO_ACCESS, frames);
    }
    told(w, index);
}

/// A thread has ended, and nobody joined or detached it before the end of the program.
#[cold]
pub fn leak(w: &mut World, thread: ThreadId) {
    let frames = std::mem::take(&mut w.fibers[thread.as_usize()].created);
    let tops: Vec<u64> = frames.iter().take(3).map(|&pc| stable(pc)).collect();
    let message = "the thread has ended, but nobody joins or detaches it";
    if let Some(index) = record(w, FindingKind::Leak, hash(FindingKind::Leak, &tops), message) {
        add_frames(&mut w.shared_mut().findings[index], 0, thread, NO_ACCESS, &frames);
        told(w, index);
    }
    w.fibers[thread.as_usize()].created = frames;
}

/// A finding is complete.
fn told(w: &World, index: usize) {
    crate::report::tell(&w.shared().findings[index]);
    if !crate::process::is_sampling() {
        crate::standalone::found();
    }
}

/// Something the running thread did or suffered.
#[cold]
pub fn event(w: &mut World, what: FindingKind, pc: usize, message: &str) {
    let mut frames = [0u64; 3];
    let mut depth = 0;
    call::stack_of(w, w.current, pc, |pc| {
        if depth < frames.len() {
            frames[depth] = stable(pc);
        }
        depth += 1;
    });
    let key = if what == FindingKind::Assertion { hash_text(message) } else { hash(what, &frames) };
    let Some(index) = record(w, what, key, message) else { return };
    let thread = w.current;
    add_stack(w, index, thread, pc, NO_ACCESS);
    told(w, index);
}

/// In an execution run again: is this one of the accesses looked for?
#[cold]
pub fn watched(w: &mut World, address: usize, size: usize, access: Kind, pc: usize, clock: u32) {
    let thread = w.current;
    let mut place = 0;
    while let Some(&watch) = w.watches.get(place) {
        place += 1;
        let overlaps = address < watch.address + watch.size && watch.address < address + size;
        if thread != watch.thread || clock != watch.clock || !overlaps || access != watch.kind {
            continue;
        }
        let (frames, depth) = frames(w, thread, pc);
        let finding = &mut w.shared_mut().findings[watch.finding];
        let stack = &mut finding.stacks[1];
        for (to, from) in stack.frames.iter_mut().zip(&frames[..depth]) {
            *to = *from as u64;
        }
        stack.length = depth as u32;
        // The thread may have done the like elsewhere in the same epoch: then the watch goes on.
        if depth > 0 && watch.pc == frames[0] as u32 {
            finding.complete = 1;
            place -= 1;
            w.watches.swap_remove(place);
        }
    }
}

/// In an execution run again: memory is allocated. Whoever looks for an access to it wants to know by whom.
#[cold]
pub fn allocated(w: &mut World, block: usize, size: usize, pc: usize) {
    const PLACE: usize = 2;
    let thread = w.current;
    for place in 0..w.watches.len() {
        let Watch { finding, address, .. } = w.watches[place];
        if (block..block + size).contains(&address) {
            let (frames, depth) = frames(w, thread, pc);
            let finding = &mut w.shared_mut().findings[finding];
            add_frames(finding, PLACE, thread, ALLOCATION, &frames[..depth]);
            finding.stacks[PLACE].clock = size as u32;
        }
    }
}

/// Fills `watches` with the races whose earlier stacks are missing and that one execution shows: its seed.
pub fn incomplete(w: &mut World) -> Option<u64> {
    w.watches.clear();
    let count = w.shared().progress.finding_count.load(Ordering::Relaxed) as usize;
    let mut seed = None;
    for index in 0..count {
        let finding = &w.shared().findings[index];
        let is_pair = {
            let kind = FindingKind::from_number(finding.kind);
            let races = matches!(kind, Some(FindingKind::Race | FindingKind::UseAfterFree));
            races && finding.stack_count == 2
        };
        if !is_pair || finding.complete != 0 || *seed.get_or_insert(finding.first_seed) != finding.first_seed
        {
            continue;
        }
        let earlier = &finding.stacks[1];
        let watch = Watch {
            finding: index,
            thread: earlier.thread,
            clock: earlier.clock,
            address: finding.address as usize,
            size: finding.size as usize,
            kind: Kind::from_number(earlier.access),
            pc: earlier.frames[0] as u32,
        };
        w.watches.push(watch);
    }
    seed
}

/// Counts a finding; its index if it is new and its stacks are wanted.
fn record(w: &mut World, what: FindingKind, key: u64, message: &str) -> Option<usize> {
    if w.is_trial {
        crate::minimise::seen(w, key);
        return None;
    }
    if !w.watches.is_empty() || w.replaying() {
        return None;
    }
    let (execution, seed) = (w.execution + 1, w.seed);
    let shared = w.shared_mut();
    if shared.progress.last_violating.swap(execution, Ordering::Relaxed) != execution {
        shared.progress.violating.fetch_add(1, Ordering::Relaxed);
    }
    let count = shared.progress.finding_count.load(Ordering::Relaxed) as usize;
    if let Some(known) = shared.findings[..count].iter_mut().find(|finding| finding.key == key) {
        if known.last_execution != execution {
            known.last_execution = execution;
            known.count += 1;
        }
        return None;
    }
    if count == MAX_FINDINGS {
        shared.progress.dropped.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let finding = &mut shared.findings[count];
    finding.kind = what as u32;
    finding.key = key;
    finding.count = 1;
    finding.first_seed = seed;
    finding.last_execution = execution;
    finding.traced = shared.traced;
    finding.stack_count = 0;
    // What happens before there are threads depends on no decision.
    finding.minimised = if crate::world::is_running() { Minimised::No } else { Minimised::Not } as u32;
    let length = message.len().min(finding.message.len() - 1);
    finding.message[..length].copy_from_slice(&message.as_bytes()[..length]);
    finding.message[length] = 0;
    shared.progress.finding_count.store(count as u32 + 1, Ordering::Release);
    if !crate::process::is_sampling() {
        return Some(count);
    }
    // Libraries may have been loaded since.
    crate::repeat::note_maps();
    Some(count)
}

/// The innermost frames of a thread, and how many there are.
pub fn frames(w: &World, thread: ThreadId, pc: usize) -> ([usize; MAX_FRAMES], usize) {
    let mut frames = [0usize; MAX_FRAMES];
    let depth = call::innermost(w, thread, pc, &mut frames);
    (frames, depth)
}

fn add_stack(w: &mut World, index: usize, thread: ThreadId, pc: usize, access: u32) {
    let (frames, depth) = frames(w, thread, pc);
    let finding = &mut w.shared_mut().findings[index];
    let place = finding.stack_count as usize;
    add_frames(finding, place, thread, access, &frames[..depth]);
}

fn add_frames(finding: &mut Finding, place: usize, thread: ThreadId, access: u32, frames: &[usize]) {
    let stack = &mut finding.stacks[place];
    stack.thread = thread;
    stack.access = access;
    stack.length = frames.len() as u32;
    for (to, from) in stack.frames.iter_mut().zip(frames) {
        *to = *from as u64;
    }
    finding.stack_count = place as u32 + 1;
}

fn hash(what: FindingKind, parts: &[u64]) -> u64 {
    let mix = |hash: u64, part: u64| (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    parts.iter().fold(mix(1, what as u64), |hash, &part| mix(hash, part)) | 1
}

fn hash_text(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        | 1
}
