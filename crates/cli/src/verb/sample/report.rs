//! What `porf sample` found, as text and as JSON (docs/report-format.md).

use super::symbols::{Frame, Symbols};
use porf_sample::protocol::{Finding, HASH_SLOTS, Shared, Stack, isolation, kind};
use porf_verdict::{Coverage, Limit, SourceLocation, Verdict, Violation, ViolationKind};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub struct Summary {
    verdict: Verdict,
    executions: u64,
    asked: u64,
    violating: u64,
    distinct: u64,
    events: u64,
    cut_off: u64,
    threads: u32,
    isolation: &'static str,
    single_threaded: bool,
    snapshot_bytes: u64,
    peak_stores: u64,
    elapsed: Duration,
    findings: Vec<Described>,
    dropped: u32,
    interrupted: bool,
    seed: u64,
    status: ExitStatus,
}

struct Described {
    kind: ViolationKind,
    title: String,
    message: String,
    count: u64,
    seed: u64,
    address: u64,
    size: u32,
    stacks: Vec<(String, Vec<Frame>)>,
}

impl Summary {
    pub fn new(
        shared: &Shared,
        seed: u64,
        asked: u64,
        elapsed: Duration,
        interrupted: bool,
        status: ExitStatus,
    ) -> Summary {
        let progress = &shared.progress;
        let text = String::from_utf8_lossy(&shared.maps[..shared.maps_length as usize]);
        let mut symbols = Symbols::new(&text);
        let count = progress.finding_count.load(Ordering::Acquire) as usize;
        let mut findings: Vec<Described> =
            shared.findings[..count].iter().map(|finding| describe(finding, &mut symbols)).collect();
        // The same lines by different instructions are one finding to people.
        merge(&mut findings);
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.count));
        let executions = progress.ended.load(Ordering::Acquire);
        let single_threaded = progress.single_threaded.load(Ordering::Relaxed) != 0;
        let cut_off = progress.cut_off.load(Ordering::Relaxed);
        let failed = single_threaded && !status.success();
        let verdict = match findings.first() {
            Some(finding) => Verdict::Violated(Box::new(finding.violation())),
            None if failed => Verdict::Inconclusive(Limit::Other(format!("the program ended with {status}"))),
            None if interrupted => Verdict::Inconclusive(Limit::Interrupted),
            None if executions == 0 || (executions < asked && !single_threaded) => {
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
            violating: progress.violating.load(Ordering::Relaxed),
            distinct: progress.distinct.load(Ordering::Relaxed),
            events: progress.events.load(Ordering::Relaxed),
            cut_off,
            threads: progress.max_threads.load(Ordering::Relaxed),
            isolation: match progress.isolation.load(Ordering::Relaxed) {
                isolation::IN_PROCESS => "in-process",
                isolation::FORK => "fork",
                isolation::RESTART => "restart",
                _ => "none",
            },
            single_threaded,
            snapshot_bytes: progress.snapshot_bytes.load(Ordering::Relaxed),
            peak_stores: progress.peak_stores.load(Ordering::Relaxed),
            elapsed,
            findings,
            dropped: progress.dropped.load(Ordering::Relaxed),
            interrupted,
            seed,
            status,
        }
    }

    pub fn exit_code(&self) -> u8 {
        if self.interrupted { 130 } else { self.verdict.exit_code() }
    }

    pub fn first_seed(&self) -> Option<u64> {
        self.findings.iter().map(|finding| finding.seed).min()
    }

    pub fn text(&self, program: &[OsString], colored: bool) -> String {
        let (bold, red, green, dim, end) = if colored {
            ("\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m")
        } else {
            ("", "", "", "", "")
        };
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments| {
            let _ = writeln!(out, "{text}");
        };
        for finding in &self.findings {
            line(format_args!("{bold}{red}{}{end}{bold}{}{end}", finding.title, colon(&finding.message)));
            let rate = 100.0 * finding.count as f64 / self.executions.max(1) as f64;
            line(format_args!(
                "  in {} of {} executions ({rate:.1} %), first with --seed {}",
                finding.count, self.executions, finding.seed
            ));
            for (title, frames) in &finding.stacks {
                line(format_args!("  {title}"));
                for frame in frames {
                    let place = place(frame).map_or(String::new(), |place| format!(" {dim}{place}{end}"));
                    line(format_args!("    {}{place}", frame.function));
                }
            }
            line(format_args!(""));
        }
        if self.dropped > 0 {
            line(format_args!("more findings than fit the table were dropped"));
        }
        let word = match self.verdict {
            Verdict::Safe(_) => format!("{green}no finding{end}"),
            Verdict::Violated(_) => format!("{red}{} finding(s){end}", self.findings.len()),
            Verdict::Inconclusive(ref limit) => format!("inconclusive: {limit}"),
        };
        line(format_args!(
            "{}: {word} in {} executions ({}{} distinct by reads-from), {} events, {} threads, seed {}, {:.2} s, {}",
            program[0].display(),
            self.executions,
            if self.is_lower_bound() { "at least " } else { "" },
            self.distinct,
            self.events,
            self.threads.max(1),
            self.seed,
            self.elapsed.as_secs_f64(),
            self.isolation,
        ));
        if self.cut_off > 0 {
            line(format_args!("{} executions were cut off by --max-events", self.cut_off));
        }
        if self.single_threaded {
            line(format_args!(
                "the program created no thread: it ran once, unsampled, and ended with {}",
                self.status
            ));
        }
        out
    }

    pub fn json(&self, program: &[OsString]) -> Value {
        let findings: Vec<Value> =
            self.findings.iter().map(|finding| finding.json(self.executions)).collect();
        json!({
            "schema": 1,
            "command": "sample",
            "program": program.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
            "verdict": self.verdict.word(),
            "coverage": {"kind": "sampled", "executions": self.executions, "seed": self.seed},
            "executions": self.executions,
            "asked": self.asked,
            "violating": self.violating,
            "distinct": self.distinct,
            "distinct_is_lower_bound": self.is_lower_bound(),
            "events": self.events,
            "cut_off": self.cut_off,
            "threads": self.threads.max(1),
            "isolation": self.isolation,
            "peak_stores": self.peak_stores,
            "snapshot_bytes": self.snapshot_bytes,
            "peak_memory_bytes": peak_memory(),
            "seconds": self.elapsed.as_secs_f64(),
            "interrupted": self.interrupted,
            "findings": findings,
        })
    }

    fn is_lower_bound(&self) -> bool {
        self.distinct as usize >= HASH_SLOTS / 4 * 3
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

impl Described {
    fn location(&self) -> Option<SourceLocation> {
        self.stacks.iter().flat_map(|(_, frames)| frames).find_map(|frame| {
            let file = frame.file.clone()?;
            Some(SourceLocation { file, line: frame.line, column: frame.column })
        })
    }

    fn violation(&self) -> Violation {
        Violation {
            kind: self.kind,
            message: format!("{}{}", self.title, colon(&self.message)),
            location: self.location(),
            related: Vec::new(),
        }
    }

    fn json(&self, executions: u64) -> Value {
        let frame = |frame: &Frame| json!({"function": frame.function, "file": frame.file, "line": frame.line, "column": frame.column});
        let stacks: Vec<Value> = self
            .stacks
            .iter()
            .map(|(title, frames)| json!({"what": title, "frames": frames.iter().map(frame).collect::<Vec<_>>()}))
            .collect();
        json!({
            "kind": self.kind.word(),
            "title": self.title,
            "message": self.message,
            "location": self.location().map(|l| json!({"file": l.file, "line": l.line, "column": l.column})),
            "count": self.count,
            "rate": self.count as f64 / executions.max(1) as f64,
            "first_seed": self.seed,
            "address": format!("{:#x}", self.address),
            "size": self.size,
            "stacks": stacks,
        })
    }
}

fn describe(finding: &Finding, symbols: &mut Symbols) -> Described {
    let (violation, title) = match finding.kind {
        kind::RACE => (ViolationKind::Race, "data race"),
        kind::ASSERTION => (ViolationKind::Assertion, "assertion failure"),
        kind::ABORT => (ViolationKind::Panic, "abort"),
        kind::DEADLOCK => (ViolationKind::Deadlock, "deadlock"),
        kind::USE_AFTER_FREE => (ViolationKind::Memory, "use after free"),
        kind::DOUBLE_FREE => (ViolationKind::Memory, "double free"),
        kind::INVALID_FREE => (ViolationKind::Memory, "invalid free"),
        kind::CRASH => (ViolationKind::Trap, "crash"),
        kind::HANG => (ViolationKind::Liveness, "hang"),
        kind::LIVELOCK => (ViolationKind::Liveness, "livelock"),
        kind::LOCK => (ViolationKind::Lock, "misuse of a lock"),
        kind::EXIT => (ViolationKind::Assertion, "failure"),
        _ => (ViolationKind::Trap, "finding"),
    };
    let message = finding.message.split(|&byte| byte == 0).next().unwrap_or_default();
    let message = String::from_utf8_lossy(message).into_owned();
    let message = if message == title { String::new() } else { message };
    let stacks = finding.stacks[..finding.stack_count as usize]
        .iter()
        .enumerate()
        .map(|(index, stack)| (stack_title(finding, index, stack), frames(stack, symbols)))
        .collect();
    Described {
        kind: violation,
        title: title.to_string(),
        message,
        count: finding.count,
        seed: finding.first_seed,
        address: finding.address,
        size: finding.size,
        stacks,
    }
}

fn frames(stack: &Stack, symbols: &mut Symbols) -> Vec<Frame> {
    let frames = stack.frames[..stack.length as usize].iter().flat_map(|&address| symbols.frames(address));
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

fn stack_title(finding: &Finding, index: usize, stack: &Stack) -> String {
    let access = match stack.access {
        0 => "read",
        1 => "write",
        2 => "free",
        3 => "atomic read",
        4 => "atomic write",
        _ => return format!("T{}", stack.thread),
    };
    if index == 0 {
        return format!("{access} of {} bytes at {:#x} by T{}", finding.size, finding.address, stack.thread);
    }
    format!("earlier {access} by T{}", stack.thread)
}

/// Adds up findings whose stacks begin at the same lines.
fn merge(findings: &mut Vec<Described>) {
    let key = |finding: &Described| {
        let mut tops: Vec<String> = finding
            .stacks
            .iter()
            .map(|(_, frames)| {
                frames.first().map_or(String::new(), |frame| {
                    format!("{}{:?}{}", frame.function, frame.file, frame.line)
                })
            })
            .collect();
        tops.sort();
        (finding.kind, finding.message.clone(), tops)
    };
    let mut merged: Vec<Described> = Vec::new();
    for finding in findings.drain(..) {
        match merged.iter_mut().find(|known| key(known) == key(&finding)) {
            // Executions may overlap: the larger count is certain, the sum is not.
            Some(known) => known.count = known.count.max(finding.count),
            None => merged.push(finding),
        }
    }
    *findings = merged;
}

fn place(frame: &Frame) -> Option<String> {
    let file = frame.file.as_ref()?;
    Some(if frame.line == 0 { file.clone() } else { format!("{file}:{}", frame.line) })
}

fn colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
