//! Constructs that the threads of a team share: loops whose iterations are handed out, ordered loops, sections and
//! single regions. Threads meet them in the same order, so a construct is known by its number.

use super::{Region, barrier, me, parallel, team, wait_in_team, wake_team, wanted};
use crate::interpose;
use crate::sys::Global;
use crate::world::{Step, visible, world};
use porf_sample::View;

/// A loop, the sections or a single region that a team shares.
pub struct Share {
    next: i64,
    end: i64,
    step: i64,
    chunk: i64,
    guided: bool,
    /// Parts handed out, and the part whose ordered iterations may run.
    pieces: u64,
    turn: u64,
    /// What the ordered iterations so far had seen.
    view: View,
    taken: bool,
    copied: usize,
}

impl Share {
    pub fn of_loop(start: i64, end: i64, step: i64, chunk: i64, guided: bool) -> Share {
        Share {
            next: start,
            end,
            step,
            chunk: chunk.max(1),
            guided,
            pieces: 0,
            turn: 1,
            view: View::default(),
            taken: false,
            copied: 0,
        }
    }

    /// The next iterations, from and to.
    pub fn next(&mut self, threads: u32) -> Option<(i64, i64)> {
        let left = (self.end - self.next + self.step - self.step.signum()) / self.step;
        if left <= 0 {
            return None;
        }
        let share = if self.guided { (left + i64::from(threads) - 1) / i64::from(threads) } else { 0 };
        let count = self.chunk.max(share).min(left);
        let from = self.next;
        self.pieces += 1;
        self.next += count * self.step;
        let to = if count == left { self.end } else { self.next };
        Some((from, to))
    }
}

/// The construct that the thread meets; the first one makes it.
fn meet(share: impl FnOnce() -> Share) -> Option<&'static mut Share> {
    visible(Step::Other);
    let member = me();
    let place = member.shares;
    member.shares += 1;
    let team = team()?;
    if place == team.shares.len() {
        team.shares.push(share());
    }
    team.shares.get_mut(place)
}

/// The construct that the thread is in.
fn share() -> Option<&'static mut Share> {
    let place = me().shares.checked_sub(1)?;
    team()?.shares.get_mut(place)
}

/// Outside of any team a loop has one piece: all of it.
unsafe fn hand_out(from: *mut i64, to: *mut i64, piece: Option<(i64, i64)>) -> bool {
    if let Some((start, end)) = piece {
        // SAFETY: the compiler's variables.
        unsafe { (*from, *to) = (start, end) };
    }
    piece.is_some()
}

unsafe fn start(
    start: i64,
    end: i64,
    step: i64,
    chunk: i64,
    guided: bool,
    from: *mut i64,
    to: *mut i64,
) -> bool {
    let empty = if step > 0 { start >= end } else { start <= end };
    if team().is_none() {
        // SAFETY: the compiler's variables.
        return unsafe { hand_out(from, to, (!empty).then_some((start, end))) };
    }
    meet(|| Share::of_loop(start, end, step, chunk, guided));
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { next(from, to) }
}

unsafe extern "C" fn next(from: *mut i64, to: *mut i64) -> bool {
    let Some(size) = team().map(|team| team.size) else { return false };
    visible(Step::Other);
    let piece = share().and_then(|share| share.next(size).inspect(|_| me().piece = share.pieces));
    // SAFETY: the compiler's variables.
    unsafe { hand_out(from, to, piece) }
}

unsafe extern "C" fn next_in_order(from: *mut i64, to: *mut i64) -> bool {
    if team().is_none() {
        return false;
    }
    // The turn passes on, whether the part had ordered iterations or not.
    wait_for_turn();
    if let Some(share) = share() {
        share.turn += 1;
        wake_team();
    }
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { next(from, to) }
}

fn wait_for_turn() {
    let piece = me().piece;
    while share().is_some_and(|share| share.turn != piece) {
        wait_in_team("for its turn in an ordered loop");
    }
}

unsafe extern "C" fn ordered_start() {
    if team().is_some() {
        visible(Step::Other);
        wait_for_turn();
        // SAFETY: running.
        let w = unsafe { world() };
        if let Some(share) = share() {
            w.engine.acquire(w.current, &share.view);
            w.refresh();
        }
    }
}

unsafe extern "C" fn ordered_end() {
    if team().is_some() {
        // SAFETY: running.
        let w = unsafe { world() };
        if let Some(share) = share() {
            w.changed();
            w.engine.release(w.current, &mut share.view);
            w.refresh();
        }
    }
}

/// A static schedule whose parts the program asks for: as many equal ones as threads, unless it says how long.
unsafe extern "C" fn static_start(
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    from: *mut i64,
    to: *mut i64,
) -> bool {
    let total = (b - a + step - step.signum()) / step;
    let threads = team().map_or(1, |team| i64::from(team.size));
    let chunk = if chunk > 0 { chunk } else { (total.max(1) + threads - 1) / threads };
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { start(a, b, step, chunk, false, from, to) }
}

unsafe extern "C" fn dynamic_start(
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    from: *mut i64,
    to: *mut i64,
) -> bool {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { start(a, b, step, chunk, false, from, to) }
}

unsafe extern "C" fn guided_start(
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    from: *mut i64,
    to: *mut i64,
) -> bool {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { start(a, b, step, chunk, true, from, to) }
}

unsafe extern "C" fn runtime_start(a: i64, b: i64, step: i64, from: *mut i64, to: *mut i64) -> bool {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { start(a, b, step, 1, false, from, to) }
}

/// Unsigned loops: `up` is whether the step is positive. Bounds beyond the half are not handled apart.
unsafe extern "C" fn unsigned_start(
    _up: bool,
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    from: *mut i64,
    to: *mut i64,
) -> bool {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { start(a, b, step, chunk, false, from, to) }
}

unsafe extern "C" fn parallel_dynamic(
    region: Region,
    data: usize,
    threads: u32,
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    _flags: u32,
) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { parallel_loop(region, data, threads, Share::of_loop(a, b, step, chunk, false)) }
}

unsafe extern "C" fn parallel_guided(
    region: Region,
    data: usize,
    threads: u32,
    a: i64,
    b: i64,
    step: i64,
    chunk: i64,
    _flags: u32,
) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { parallel_loop(region, data, threads, Share::of_loop(a, b, step, chunk, true)) }
}

unsafe extern "C" fn parallel_runtime(
    region: Region,
    data: usize,
    threads: u32,
    a: i64,
    b: i64,
    step: i64,
    _flags: u32,
) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { parallel_loop(region, data, threads, Share::of_loop(a, b, step, 1, false)) }
}

/// A region that is a loop: its threads only ask for the next iterations, so they have met it already.
unsafe fn parallel_loop(region: Region, data: usize, threads: u32, share: Share) {
    // SAFETY: the contract of this function is that of the one it calls. A team of two at least: one that has a
    // loop must know it.
    unsafe { parallel(region, data, if threads == 0 { wanted().max(2) } else { threads }, Some(share)) }
}

unsafe extern "C" fn end_nowait() {}

unsafe extern "C" fn sections_start(count: u32) -> u32 {
    if team().is_none() {
        // SAFETY: one kernel thread.
        unsafe { *ALONE.get() = (1, count) };
        // SAFETY: as above.
        return unsafe { sections_next() };
    }
    meet(|| Share::of_loop(1, i64::from(count) + 1, 1, 1, false));
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { sections_next() }
}

/// The sections of a thread without a team: the next one, and how many there are.
static ALONE: Global<(u32, u32)> = Global::new((0, 0));

unsafe extern "C" fn sections_next() -> u32 {
    if team().is_none() {
        // SAFETY: one kernel thread.
        let (next, count) = unsafe { &mut *ALONE.get() };
        *next += 1;
        return if *next - 1 <= *count { *next - 1 } else { 0 };
    }
    let (mut from, mut to) = (0, 0);
    // SAFETY: locals.
    if unsafe { next(&mut from, &mut to) } { from as u32 } else { 0 }
}

unsafe extern "C" fn parallel_sections(region: Region, data: usize, threads: u32, count: u32, _flags: u32) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { parallel_loop(region, data, threads, Share::of_loop(1, i64::from(count) + 1, 1, 1, false)) }
}

unsafe extern "C" fn single_start() -> bool {
    if team().is_none() {
        return true;
    }
    meet(|| Share::of_loop(0, 0, 1, 1, false)).is_some_and(|share| !std::mem::replace(&mut share.taken, true))
}

unsafe extern "C" fn single_copy_start() -> usize {
    // SAFETY: the contract of this function is that of the one it calls.
    if unsafe { single_start() } {
        return 0;
    }
    // SAFETY: as above.
    unsafe { barrier() };
    share().map_or(0, |share| share.copied)
}

unsafe extern "C" fn single_copy_end(data: usize) {
    if let Some(share) = share() {
        share.copied = data;
        // SAFETY: running.
        unsafe { barrier() };
    }
}

interpose! {
    GOMP_loop_dynamic_start => dynamic_start; GOMP_loop_nonmonotonic_dynamic_start => dynamic_start;
    GOMP_loop_guided_start => guided_start; GOMP_loop_nonmonotonic_guided_start => guided_start;
    GOMP_loop_runtime_start => runtime_start; GOMP_loop_nonmonotonic_runtime_start => runtime_start;
    GOMP_loop_maybe_nonmonotonic_runtime_start => runtime_start; GOMP_loop_static_start => static_start;
    GOMP_loop_dynamic_next => next; GOMP_loop_nonmonotonic_dynamic_next => next; GOMP_loop_guided_next => next;
    GOMP_loop_nonmonotonic_guided_next => next; GOMP_loop_runtime_next => next;
    GOMP_loop_nonmonotonic_runtime_next => next; GOMP_loop_maybe_nonmonotonic_runtime_next => next;
    GOMP_loop_static_next => next; GOMP_loop_ordered_static_start => static_start;
    GOMP_loop_ordered_dynamic_start => dynamic_start; GOMP_loop_ordered_guided_start => guided_start;
    GOMP_loop_ordered_runtime_start => runtime_start; GOMP_loop_ordered_static_next => next_in_order;
    GOMP_loop_ordered_dynamic_next => next_in_order; GOMP_loop_ordered_guided_next => next_in_order;
    GOMP_loop_ordered_runtime_next => next_in_order; GOMP_loop_ull_dynamic_start => unsigned_start;
    GOMP_loop_ull_nonmonotonic_dynamic_start => unsigned_start; GOMP_loop_ull_guided_start => unsigned_start;
    GOMP_loop_ull_nonmonotonic_guided_start => unsigned_start; GOMP_loop_ull_dynamic_next => next;
    GOMP_loop_ull_nonmonotonic_dynamic_next => next; GOMP_loop_ull_guided_next => next;
    GOMP_loop_ull_nonmonotonic_guided_next => next; GOMP_loop_end_nowait => end_nowait;
    GOMP_parallel_loop_dynamic => parallel_dynamic; GOMP_parallel_loop_nonmonotonic_dynamic => parallel_dynamic;
    GOMP_parallel_loop_guided => parallel_guided; GOMP_parallel_loop_nonmonotonic_guided => parallel_guided;
    GOMP_parallel_loop_runtime => parallel_runtime; GOMP_parallel_loop_nonmonotonic_runtime => parallel_runtime;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime => parallel_runtime; GOMP_ordered_start => ordered_start;
    GOMP_ordered_end => ordered_end; GOMP_sections_start => sections_start; GOMP_sections_next => sections_next;
    GOMP_sections_end_nowait => end_nowait; GOMP_parallel_sections => parallel_sections;
    GOMP_single_start => single_start; GOMP_single_copy_start => single_copy_start;
    GOMP_single_copy_end => single_copy_end;
}
