//! From the memory shared with the program to a report.

use super::cause;
use super::symbols::Symbols;
use super::trace;
use porf_report::sample::{Finding, Frame, Minimised, Summary, Systematic};
use porf_sample::protocol::{self, FindingKind, HASH_SLOTS, Isolation, Progress, Shared, Stack};
use porf_sample::race::Kind;
use porf_sample::scheduler::Share;
use porf_sample::scheduler::script::Decision;
use porf_sample::scheduler::systematic::SPINS;
use porf_sample::suppress::Suppressions;
use porf_verdict::{Coverage, Limit, Verdict, ViolationKind};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What the user asked for.
pub struct Asked<'a> {
    pub seed: u64,
    pub executions: u64,
    pub suppressions: &'a Suppressions,
}

pub fn summary(
    shared: &Shared,
    wishes: &Asked,
    elapsed: Duration,
    interrupted: bool,
    status: ExitStatus,
) -> Summary {
    let progress = &shared.progress;
    let Asked { seed, executions: asked, suppressions } = *wishes;
    let distinct = progress.distinct.load(Ordering::Relaxed);
    let text = String::from_utf8_lossy(&shared.maps[..shared.maps_length as usize]);
    let mut symbols = Symbols::new(&text);
    let count = progress.finding_count.load(Ordering::Acquire) as usize;
    let told = shared.findings[..count].iter().filter(|finding| is_told(finding, &mut symbols, suppressions));
    let told: Vec<&protocol::Finding> = told.collect();
    let mut violating = progress.violating.load(Ordering::Relaxed);
    if told.len() < count {
        // In how many of them a finding was that is told is not known; the most frequent one was in so many.
        violating = told.iter().map(|finding| finding.count).max().unwrap_or(0);
    }
    let mut findings = Vec::new();
    for finding in told {
        // Executions may overlap: the larger count is certain, the sum is not.
        cause::add(&mut findings, describe(shared, finding, &mut symbols), u64::max);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.count));
    let executions = progress.ended.load(Ordering::Acquire);
    let single_threaded = progress.single_threaded.load(Ordering::Relaxed) != 0;
    let cut_off = progress.cut_off.load(Ordering::Relaxed);
    let stopped = progress.stop.load(Ordering::Relaxed) != 0;
    let failed = single_threaded && !status.success();
    let flag = |flag: &AtomicU32| flag.load(Ordering::Relaxed) != 0;
    let systematic =
        (Share::from_number(shared.options.scheduler) == Share::Systematic).then(|| Systematic {
            complete: single_threaded
                || (flag(&progress.exhausted) && !flag(&progress.incomplete) && cut_off == 0),
            repeats: progress.repeats.load(Ordering::Relaxed),
            spins: flag(&progress.bounded).then_some(SPINS),
        });
    let verdict = match findings.first() {
        Some(finding) => Verdict::Violated(Box::new(finding.violation())),
        None if failed => Verdict::Inconclusive(Limit::Other(format!("the program ended with {status}"))),
        None if interrupted => Verdict::Inconclusive(Limit::Interrupted),
        None if let Some(systematic) = systematic => {
            systematic_verdict(progress, executions, asked, systematic)
        }
        None if executions == 0 || (executions < asked && !single_threaded && !stopped) => {
            Verdict::Inconclusive(Limit::Other(format!("the program ended early with {status}")))
        }
        None if cut_off == executions => {
            Verdict::Inconclusive(Limit::Other("every execution reached --max-events".to_string()))
        }
        None => Verdict::Safe(Coverage::Sampled { executions, seed }),
    };
    Summary {
        verdict,
        executions,
        asked,
        violating,
        distinct,
        once: progress.once.load(Ordering::Relaxed),
        events: progress.events.load(Ordering::Relaxed),
        cut_off,
        threads: progress.max_threads.load(Ordering::Relaxed),
        isolation: Isolation::from_number(progress.isolation.load(Ordering::Relaxed)).word(),
        single_threaded,
        snapshot_bytes: progress.snapshot_bytes.load(Ordering::Relaxed),
        peak_stores: progress.peak_stores.load(Ordering::Relaxed),
        elapsed,
        findings,
        dropped: progress.dropped.load(Ordering::Relaxed),
        interrupted,
        seed,
        status: status.to_string(),
        systematic,
        is_lower_bound: distinct as usize >= HASH_SLOTS / 4 * 3,
        peak_memory_bytes: peak_memory(),
    }
}

/// Resident memory of the largest process that ran executions.
fn peak_memory() -> u64 {
    // SAFETY: fills in a structure of ours.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage.ru_maxrss as u64 * 1024
    }
}

/// Whether the user wants to know of a finding.
fn is_told(finding: &protocol::Finding, symbols: &mut Symbols, suppressions: &Suppressions) -> bool {
    let Some(kind) = FindingKind::from_number(finding.kind) else { return true };
    if suppressions.is_empty() {
        return true;
    }
    let stacks = &finding.stacks[..finding.stack_count as usize];
    if !suppressions.allow_accesses(kind, stacks.iter().map(|stack| stack.access)) {
        return false;
    }
    let mut names: Vec<(String, bool)> =
        symbols.variable(finding.address).map(|(name, _)| (name, false)).into_iter().collect();
    for stack in stacks {
        for (depth, &address) in stack.frames[..stack.length as usize].iter().enumerate() {
            names.extend(symbols.file(address).map(|file| (file.to_string(), depth == 0)));
            for (inlined, frame) in symbols.frames(address).into_iter().enumerate() {
                let is_top = depth == 0 && inlined == 0;
                names.extend(frame.file.map(|file| (file, is_top)));
                names.push((frame.function, is_top));
            }
        }
    }
    let message = String::from_utf8_lossy(&finding.message);
    suppressions.allow(kind, &message, names.iter().map(|(name, is_top)| (name.as_str(), *is_top)))
}

fn describe(shared: &Shared, finding: &protocol::Finding, symbols: &mut Symbols) -> Finding {
    let kind = FindingKind::from_number(finding.kind);
    let violation = kind.map_or(ViolationKind::Trap, FindingKind::violation);
    let title = kind.map_or("finding", FindingKind::title);
    let message = finding.message.split(|&byte| byte == 0).next().unwrap_or_default();
    let message = String::from_utf8_lossy(message).into_owned();
    let message = if message == title { String::new() } else { message };
    let stacks = finding.stacks[..finding.stack_count as usize]
        .iter()
        .enumerate()
        .map(|(index, stack)| {
            (stack_title(finding, index, stack), frames(&stack.frames[..stack.length as usize], symbols))
        })
        .collect();
    Finding {
        kind: violation,
        title: title.to_string(),
        message,
        count: finding.count,
        seed: finding.first_seed,
        address: finding.address,
        size: finding.size,
        object: symbols.variable(finding.address).map(|(name, _)| name),
        stacks,
        elsewhere: Vec::new(),
        minimised: minimised(finding),
        decisions: finding.decisions[..finding.decision_count as usize].iter().map(numbers).collect(),
        trace: trace::around(shared, finding, symbols),
    }
}

fn minimised(finding: &protocol::Finding) -> Option<Minimised> {
    let minimal = finding.minimised == protocol::Minimised::Minimal as u32;
    (minimal || finding.minimised == protocol::Minimised::Partly as u32).then_some(Minimised {
        switches: finding.least.switches,
        weak_reads: finding.least.weak_reads,
        first_switches: finding.found_by.switches,
        first_weak_reads: finding.found_by.weak_reads,
        runs: finding.runs,
        minimal,
    })
}

fn numbers(decision: &Decision) -> [u32; 5] {
    let Decision { thread, sort, number, repeat, value } = *decision;
    [thread.into(), sort.into(), number, repeat, value]
}

/// What follows where nothing was found and all executions were to be run.
fn systematic_verdict(progress: &Progress, executions: u64, asked: u64, systematic: Systematic) -> Verdict {
    if systematic.complete {
        return Verdict::Safe(Coverage::Systematic { executions, spins: systematic.spins });
    }
    let begun = progress.begun.load(Ordering::Relaxed);
    if progress.exhausted.load(Ordering::Relaxed) == 0 && begun >= asked {
        return Verdict::Inconclusive(Limit::Executions { limit: asked });
    }
    let cut_off = progress.cut_off.load(Ordering::Relaxed);
    let why = match cut_off {
        0 => "executions were left out: too long, killed, or not the same when run again".to_string(),
        _ => format!("{cut_off} executions reached --max-events"),
    };
    Verdict::Inconclusive(Limit::Other(why))
}

/// The calls that return to some addresses, without those that say nothing.
pub fn frames(addresses: &[u64], symbols: &mut Symbols) -> Vec<Frame> {
    let frames = addresses.iter().flat_map(|&address| symbols.frames(address));
    // The runtime's own frames below a thread's function say nothing about the program.
    let mut frames: Vec<Frame> = frames.filter(|frame| !frame.function.contains("porf_runtime")).collect();
    // Nor do libraries without line numbers, unless that is where it happened.
    let mut index = 0;
    frames.retain(|frame| {
        index += 1;
        index == 1 || frame.file.is_some()
    });
    if let Some(main) = frames.iter().position(|frame| frame.function == "main") {
        frames.truncate(main + 1);
    }
    frames
}

fn stack_title(finding: &protocol::Finding, index: usize, stack: &Stack) -> String {
    if stack.access == protocol::NO_ACCESS {
        return format!("{}", stack.thread);
    }
    if stack.access == protocol::ALLOCATION {
        return format!("in {} bytes that {} has allocated", stack.clock, stack.thread);
    }
    if let Some(fd) = protocol::descriptor_at(finding.address) {
        let earlier = if index == 0 { "" } else { "earlier " };
        let what = if Kind::from_number(stack.access) == Kind::Read { "use" } else { "opening or closing" };
        return format!("{earlier}{what} of descriptor {fd} by {}", stack.thread);
    }
    let access = match Kind::from_number(stack.access) {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Free => "free",
        Kind::AtomicRead => "atomic read",
        Kind::AtomicWrite => "atomic write",
    };
    if index == 0 {
        return format!("{access} of {} bytes at {:#x} by {}", finding.size, finding.address, stack.thread);
    }
    format!("earlier {access} by {}", stack.thread)
}
