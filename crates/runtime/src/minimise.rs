//! Runs that make a finding smaller: [`porf_sample::minimise`] says what to run, here it is run.
//!
//! They come right after the execution that shows a finding for the first time. Their number is bounded for each
//! finding by the user, and for all together by [`EVENTS`] and [`TIME`]. Where one execution takes longer than
//! [`LONG`], nothing is tried.

use crate::sys;
use crate::world::World;
use porf_sample::minimise::RECORD;
use porf_sample::protocol::{FindingKind, MAX_DECISIONS, Minimised};
use std::sync::atomic::Ordering;

/// Visible events of all runs together.
const EVENTS: u64 = 4_000_000;
/// Time of all runs together, in nanoseconds.
const TIME: u64 = 5_000_000_000;
/// An execution of so many nanoseconds is too long to be run often.
const LONG: u64 = 50_000_000;

/// Nanoseconds on the clock of the machine.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let clock = libc::CLOCK_MONOTONIC as usize;
    // SAFETY: fills in a local.
    unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, &raw mut time as usize, 0, 0, 0, 0]) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Executions begin.
pub fn begin(w: &mut World) {
    let started = &mut w.shared_mut().minimiser.started;
    if *started == 0 {
        *started = now();
    }
}

/// Prepares the next run, if there is something left to try: the seed of the execution that showed the finding.
pub fn next(w: &mut World) -> Option<u64> {
    let options = w.shared().options;
    if options.minimise == 0 {
        return None;
    }
    let shared = w.shared_mut();
    if shared.minimiser.finding != 0 {
        let minimiser = &mut shared.minimiser;
        let spent = minimiser.events > EVENTS || now() - minimiser.began > TIME;
        if !minimiser.judge() || minimiser.runs >= options.minimise || spent {
            settle(w);
        }
    }
    let shared = w.shared_mut();
    if shared.minimiser.finding == 0 {
        let count = shared.progress.finding_count.load(Ordering::Relaxed) as usize;
        let open = |index: &usize| shared.findings[*index].minimised == Minimised::No as u32;
        let index = (0..count).find(open)?;
        let ended = shared.progress.ended.load(Ordering::Relaxed).max(1);
        let minimiser = &mut shared.minimiser;
        let time = now();
        if minimiser.began == 0 {
            minimiser.began = time;
        }
        let kind = FindingKind::from_number(shared.findings[index].kind);
        let waits = matches!(kind, Some(FindingKind::Hang | FindingKind::Livelock));
        let spent = minimiser.events > EVENTS || time - minimiser.began > TIME;
        if waits || spent || (minimiser.began - minimiser.started) / ended > LONG {
            shared.findings[index].minimised = Minimised::Not as u32;
            return next(w);
        }
        minimiser.start(index);
    }
    let minimiser = &w.shared().minimiser;
    let seed = w.shared().findings[minimiser.finding as usize - 1].first_seed;
    if minimiser.phase == RECORD {
        w.scheduler.record();
    } else {
        let decisions = minimiser.trial().to_vec();
        w.scheduler.follow(&decisions);
    }
    w.is_trial = true;
    Some(seed)
}

/// A finding was seen in a try: is it the one?
pub fn seen(w: &mut World, key: u64) {
    let shared = w.shared_mut();
    let index = shared.minimiser.finding as usize - 1;
    if shared.findings[index].key == key && shared.minimiser.found == 0 {
        shared.minimiser.found = 1;
        w.scheduler.script.close();
    }
}

/// After a try, in the process that ran it.
pub fn account(w: &mut World) {
    let (steps, distance) = (w.steps, w.scheduler.script.distance());
    let made = w.scheduler.script.made().map(<[_]>::to_vec);
    let minimiser = &mut w.shared_mut().minimiser;
    minimiser.events += steps;
    minimiser.made_distance = distance;
    match made {
        Some(made) => {
            minimiser.made[..made.len()].copy_from_slice(&made);
            minimiser.made_length = made.len() as u32;
        }
        None => minimiser.overflows = 1,
    }
}

/// Nothing more is tried with the present finding.
fn settle(w: &mut World) {
    let shared = w.shared_mut();
    let minimiser = &mut shared.minimiser;
    let finding = &mut shared.findings[minimiser.finding as usize - 1];
    minimiser.finding = 0;
    let best = minimiser.best();
    finding.runs = minimiser.runs;
    if minimiser.phase == RECORD || best.len() > MAX_DECISIONS {
        finding.minimised = Minimised::Not as u32;
        return;
    }
    let how = if minimiser.minimal != 0 { Minimised::Minimal } else { Minimised::Partly };
    finding.minimised = how as u32;
    (finding.found_by, finding.least) = (minimiser.first, minimiser.distance);
    finding.decision_count = best.len() as u32;
    finding.decisions[..best.len()].copy_from_slice(best);
}
