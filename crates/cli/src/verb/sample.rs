//! `porf sample -- ./program args`: runs a program built by `porf cc` again and again.
//!
//! The program does the work itself, through the runtime it was linked with; this side gives it the
//! options in shared memory, watches that it makes progress, and turns what it found into a report.

mod cause;
mod channel;
mod leftover;
mod merged;
mod report;
mod symbols;
mod trace;

use crate::interrupt;
use crate::options::{Format, Options};
use channel::Channel;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use porf_report::junit::{self, Case};
use porf_report::sample::{Finding, Summary};
use porf_sample::protocol;
use porf_sample::scheduler::Share;
use porf_sample::scheduler::script::Decision;
use porf_sample::suppress::{Settings, Suppressions};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Run a program built by `porf cc` under a controlled scheduler, again and again
///
/// Every atomic load may return any store that the C11 memory model allows. Data races, assertion
/// failures, deadlocks, uses of freed memory, crashes and hangs are reported with the seed that shows them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  porf cc -O2 queue.c -o queue && porf sample -- ./queue
  porf sample --executions 100000 --scheduler pct -- ./queue 4
  porf sample --systematic 100000 -- ./small                       every execution
  porf sample --seed 17 --executions 1 --output all -- ./queue     one execution again

Exit code: 0 no finding, 1 a finding, 2 bad input or usage, 3 inconclusive, 130 interrupted.")]
pub struct Args {
    /// How many executions (1000 unless --until is given)
    #[arg(long, short = 'n')]
    executions: Option<u64>,
    /// Run all executions of a small program, one after the other, but at most this many. There are no random choices
    #[arg(long, value_name = "EXECUTIONS", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["executions", "until", "seed", "scheduler", "depth"])]
    systematic: Option<u64>,
    /// Start no execution after this time: 90, 90s, 15m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    until: Option<Duration>,
    /// The seed of the first execution; each further one has the next number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Make each finding smaller before it is shown, with at most this many runs: fewer context switches, fewer reads of
    /// older stores. 0 shows the first execution that had the finding
    #[arg(long, value_name = "RUNS", default_value_t = 200)]
    minimise: u32,
    /// How threads and stores are chosen
    #[arg(long, value_enum, default_value_t = SchedulerName::Mixed)]
    scheduler: SchedulerName,
    /// Number of ordering constraints that the PCT scheduler aims at
    #[arg(long, default_value_t = 3)]
    depth: u32,
    /// Which release sequences: those of C++20 (and C23, Rust), or of C11, where a thread's later stores to
    /// the same location belong to them
    #[arg(long, value_enum, default_value_t = ModelName::C20)]
    model: ModelName,
    /// How to treat volatile accesses
    #[arg(long, value_enum, default_value_t = Volatile::Relaxed)]
    volatile: Volatile,
    /// Whose orders of taking locks can make a deadlock
    #[arg(long, value_enum, default_value_t = LockOrder::Threads)]
    lock_order: LockOrder,
    /// Keep at most this many stores per location; 0 keeps all that a load may still return
    #[arg(long, value_name = "STORES", default_value_t = protocol::DEFAULT_WINDOW)]
    memory: u64,
    /// Cut off an execution after this many visible events
    #[arg(long, default_value_t = 2_000_000)]
    max_events: u64,
    /// Virtual nanoseconds that a visible event takes; with more, programs that run for a fixed time end sooner
    #[arg(long, value_name = "NANOSECONDS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    tick: u64,
    /// How the program is brought back to its start
    #[arg(long, value_enum, default_value_t = Isolation::Auto)]
    isolation: Isolation,
    /// Which executions' output to show
    #[arg(long, value_enum, default_value_t = Output::None)]
    output: Output,
    /// Stop after the first execution that finds something
    #[arg(long)]
    first: bool,
    /// Time without progress after which the program counts as hung, in processor time: 0.5, 10s, 5m
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration)]
    timeout: Duration,
    /// Leave out the findings that this file names, in ThreadSanitizer's format (`race:function`)
    #[arg(long, value_name = "FILE")]
    suppressions: Option<std::path::PathBuf>,
    /// Write the first finding to a file, with which `porf replay` runs it again
    #[arg(long, value_name = "FILE")]
    witness: Option<std::path::PathBuf>,
    /// Write the findings as SARIF
    #[arg(long, value_name = "FILE")]
    sarif: Option<std::path::PathBuf>,
    /// Write the findings as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<std::path::PathBuf>,
    /// Write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<std::path::PathBuf>,
    /// Run nothing: add up these reports, in JSON, one in each line
    #[arg(long, value_name = "FILE", hide = true)]
    reports: Option<std::path::PathBuf>,
    /// The decisions of the one execution to run
    #[arg(skip)]
    decisions: Option<Vec<Decision>>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SchedulerName {
    /// Threads and stores at random
    Random = Share::Random as isize,
    /// Priorities of threads, few weak loads
    Pct = Share::Pct as isize,
    /// Mostly random, pct in one execution of thirty-two
    Mixed = Share::Both as isize,
    /// The ways that have shown most new behaviour and findings so far
    Learning = Share::Learning as isize,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModelName {
    C20,
    Rc11,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Volatile {
    /// Relaxed atomics
    Relaxed,
    /// Acquire loads and release stores
    Acqrel,
    /// Plain accesses, which race, as ThreadSanitizer takes them
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LockOrder {
    /// Those of different threads
    Threads,
    /// Those of one thread too, as ThreadSanitizer takes them
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Isolation {
    /// The cheapest that fits the program
    Auto = protocol::Isolation::Automatic as isize,
    /// Memory is copied back
    InProcess = protocol::Isolation::InProcess as isize,
    /// A child process each
    Fork = protocol::Isolation::Fork as isize,
    /// The program is started anew for each
    Restart = protocol::Isolation::Restart as isize,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    None,
    First,
    All,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    match sample(args, options) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let program = args.program[0].to_str();
            options.fail("sample", program, &porf::Error::Input(error.to_string()))
        }
    }
}

fn sample(args: &Args, options: &Options) -> std::io::Result<u8> {
    interrupt::watch();
    if let Some(path) = &args.reports {
        return show(args, options, merged::summary(path, args.seed, args.executions())?);
    }
    let start = Instant::now();
    let mut suppressions = args.suppressions()?;
    let mut run = Run::new(args, args.protocol())?;
    if !interrupt::requested() && run.depends_on_the_past(args)? {
        // What is left outside the process by one execution changes the next: a process for each, then.
        let isolation = protocol::Isolation::Restart as u32;
        run = Run::new(args, protocol::Options { isolation, ..args.protocol() })?;
    }
    if !interrupt::requested()
        && let Some(early) = run.without_threads(args)?
    {
        run = early;
    }
    let interrupted = interrupt::requested();
    let shared = run.channel.shared();
    let own = String::from_utf8_lossy(&shared.suppressions[..shared.suppressions_length as usize]);
    suppressions
        .add(&own)
        .map_err(|error| std::io::Error::other(format!("__tsan_default_suppressions, {error}")))?;
    let asked = report::Asked { seed: args.seed, executions: args.executions(), suppressions: &suppressions };
    let summary = report::summary(shared, &asked, start.elapsed(), interrupted, run.status);
    show(args, options, summary)
}

/// Prints and writes what was asked for; the exit code.
fn show(args: &Args, options: &Options, mut summary: Summary) -> std::io::Result<u8> {
    let program: Vec<String> = args.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match options.format {
        Format::Json => println!("{}", summary.json(&program)),
        Format::Text => print!("{}", summary.text(&program, options.paint())),
    }
    if let (Some(path), Some(first)) = (&args.witness, summary.first()) {
        let witness = args.witness(first);
        std::fs::write(path, format!("{witness}\n"))?;
    }
    if let Some(path) = &args.sarif {
        std::fs::write(path, format!("{:#}\n", summary.sarif()))?;
    }
    if let Some(path) = &args.junit {
        let case = Case::of_verdict("sample", &program.join(" "), &program[0], &summary.verdict);
        std::fs::write(path, junit::junit("porf sample", &[case], summary.elapsed.as_secs_f64()))?;
    }
    if let Some(path) = &args.html {
        trace_findings(args, &mut summary)?;
        std::fs::write(path, summary.html(&program, &super::verify::read))?;
    }
    Ok(summary.exit_code())
}

/// Runs the executions that show the first findings once more, for their events.
fn trace_findings(args: &Args, summary: &mut Summary) -> std::io::Result<()> {
    const TRACED: usize = 16;
    for finding in summary.findings.iter_mut().take(TRACED) {
        if interrupt::requested() {
            break;
        }
        let decisions = finding.minimised.map(|_| finding.decisions.iter().map(decision).collect::<Vec<_>>());
        if args.systematic.is_some() && decisions.is_none() {
            continue;
        }
        let one = protocol::Options {
            executions: 1,
            seed: finding.seed,
            output: 0,
            trace: 1,
            minimise: 0,
            scripted: u32::from(decisions.is_some()),
            ..args.protocol()
        };
        let again = Run::following(args, one, &decisions.unwrap_or_default())?;
        let shared = again.channel.shared();
        let all = Suppressions::default();
        let asked = report::Asked { seed: finding.seed, executions: 1, suppressions: &all };
        let found = report::summary(shared, &asked, Duration::ZERO, false, again.status).findings;
        let same = found.into_iter().find(|found| cause::is_same(found, finding));
        finding.trace = same.map_or(Vec::new(), |found| found.trace);
    }
    Ok(())
}

/// All executions that were asked for, or one of them.
struct Run {
    channel: Channel,
    status: ExitStatus,
}

impl Run {
    fn new(args: &Args, options: protocol::Options) -> std::io::Result<Run> {
        Run::following(args, options, args.decisions.as_deref().unwrap_or_default())
    }

    /// The same, where the execution follows some decisions.
    fn following(args: &Args, options: protocol::Options, decisions: &[Decision]) -> std::io::Result<Run> {
        let start = Instant::now();
        let mut channel = Channel::new(options)?;
        channel.follow(decisions);
        let mut fruitless = 0;
        let status = loop {
            let progress = &channel.shared().progress;
            let sign = || {
                let counters = [&progress.ended, &progress.pct_steps, &progress.repeats, &progress.heartbeat];
                (counters.map(|counter| counter.load(Ordering::Relaxed)), channel.complete_findings())
            };
            let before = sign();
            progress.process.store(0, Ordering::Relaxed);
            leftover::adopt();
            let mut child = spawn(args, &channel)?;
            let status = watch(args, &channel, &mut child, start);
            leftover::end();
            let status = status?;
            if progress.attached.load(Ordering::Acquire) == 0 {
                return Err(std::io::Error::other(format!(
                    "{} was not built by `porf cc` or `porf c++` ({status})",
                    args.program[0].display()
                )));
            }
            // A process that is killed says nothing: the next does not wait for it.
            fruitless = if sign() == before { fruitless + 1 } else { 0 };
            let restarts = progress.isolation.load(Ordering::Relaxed) == protocol::Isolation::Restart as u32;
            let done = progress.done.load(Ordering::Acquire) != 0;
            if !restarts || done || fruitless == 3 || interrupt::requested() {
                break status;
            }
        };
        Ok(Run { channel, status })
    }

    /// A program that creates no thread was not looked at, and had no finding: it runs once more, watched from its
    /// beginning. The run, if it misuses memory or locks.
    fn without_threads(&self, args: &Args) -> std::io::Result<Option<Run>> {
        let progress = &self.channel.shared().progress;
        let is_alone = progress.single_threaded.load(Ordering::Relaxed) != 0;
        if !is_alone || !self.status.success() || !self.channel.findings().is_empty() {
            return Ok(None);
        }
        let one = protocol::Options { executions: 1, output: 0, minimise: 0, early: 1, ..args.protocol() };
        let early = Run::new(args, one)?;
        let misuses = early.channel.findings().iter().any(|finding| {
            use protocol::FindingKind::*;
            let kind = protocol::FindingKind::from_number(finding.kind);
            matches!(kind, Some(UseAfterFree | DoubleFree | InvalidFree | Lock | Order | Signal))
        });
        Ok(misuses.then_some(early))
    }

    /// Whether a finding of a later execution does not show when a fresh process runs it. (The first
    /// execution of a process is fresh.)
    fn depends_on_the_past(&self, args: &Args) -> std::io::Result<bool> {
        const TRIED: usize = 4;
        let shared = self.channel.shared();
        let restarts =
            shared.progress.isolation.load(Ordering::Relaxed) == protocol::Isolation::Restart as u32;
        if restarts || args.systematic.is_some() || args.decisions.is_some() {
            return Ok(false);
        }
        let later = self.channel.findings().iter().filter(|finding| finding.first_seed != args.seed);
        for finding in later.take(TRIED) {
            let one = protocol::Options {
                executions: 1,
                seed: finding.first_seed,
                output: 0,
                minimise: 0,
                ..args.protocol()
            };
            let fresh = Run::new(args, one)?;
            if !fresh.channel.findings().iter().any(|found| found.key == finding.key) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A time as the user writes it, with a unit or in seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let seconds = match unit {
        "h" => 3600.0,
        "m" => 60.0,
        _ => 1.0,
    };
    let number: f64 = number.parse().map_err(|_| format!("{text} is not a time"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

impl Args {
    fn executions(&self) -> u64 {
        self.systematic.or(self.executions).unwrap_or(if self.until.is_some() { u64::MAX } else { 1000 })
    }

    /// What is not to be told: by the file, by the options of the environment and by the file that they name.
    fn suppressions(&self) -> std::io::Result<Suppressions> {
        let mut settings = Settings::default();
        let given = std::env::var("PORF_OPTIONS").or_else(|_| std::env::var("TSAN_OPTIONS"));
        settings.read(&given.unwrap_or_default());
        let mut suppressions = Suppressions::default();
        let named = settings.suppressions.as_ref().map(std::path::PathBuf::from);
        for path in self.suppressions.iter().chain(&named) {
            let fail = |error: String| std::io::Error::other(format!("{}: {error}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
            suppressions.add(&text).map_err(fail)?;
        }
        suppressions.add_options(&settings);
        Ok(suppressions)
    }

    fn protocol(&self) -> protocol::Options {
        protocol::Options {
            executions: self.executions(),
            seed: self.seed,
            scheduler: self.share() as u32,
            pct_depth: self.depth,
            volatile: self.volatile as u32,
            c11: u32::from(self.model == ModelName::Rc11),
            isolation: self.isolation as u32,
            // All that may be read, where all executions are wanted.
            window: if self.systematic.is_some() { 0 } else { self.memory },
            max_steps: self.max_events,
            tick: self.tick,
            output: self.output as u32,
            stop_at_first: u32::from(self.first),
            trace: 0,
            minimise: if self.decisions.is_some() { 0 } else { self.minimise },
            scripted: u32::from(self.decisions.is_some()),
            early: 0,
            any_order: self.lock_order as u32,
        }
    }

    fn share(&self) -> Share {
        if self.systematic.is_some() { Share::Systematic } else { Share::from_number(self.scheduler as u32) }
    }

    /// What `porf replay` needs to run the smallest execution with this finding, or else the first.
    fn witness(&self, finding: &Finding) -> Value {
        let name = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_string());
        let program: Vec<_> = self.program.iter().map(|word| word.to_string_lossy()).collect();
        json!({
            "schema": 1, "kind": "witness", "command": "sample", "seed": finding.seed, "program": program,
            "decisions": finding.minimised.map(|_| &finding.decisions),
            "scheduler": name(self.scheduler.to_possible_value()), "depth": self.depth,
            "model": name(self.model.to_possible_value()),
            "volatile": name(self.volatile.to_possible_value()), "memory": self.memory,
            "lock_order": name(self.lock_order.to_possible_value()),
            "max_events": self.max_events, "tick": self.tick, "timeout": self.timeout.as_secs_f64(),
        })
    }

    /// The one execution that a witness tells of, with its output shown.
    pub fn from_witness(witness: &Value) -> Result<Args, String> {
        let number = |name: &str| witness[name].as_u64().ok_or(format!("the witness has no {name}"));
        let word = |name: &str| witness[name].as_str().ok_or(format!("the witness has no {name}"));
        let program = witness["program"].as_array().into_iter().flatten();
        let program: Vec<OsString> = program.filter_map(|word| word.as_str().map(OsString::from)).collect();
        if program.is_empty() {
            return Err("the witness names no program".to_string());
        }
        Ok(Args {
            executions: Some(1),
            systematic: None,
            minimise: 0,
            decisions: decisions(&witness["decisions"])?,
            until: None,
            seed: number("seed")?,
            scheduler: SchedulerName::from_str(word("scheduler")?, false)?,
            depth: u32::try_from(number("depth")?).map_err(|error| error.to_string())?,
            model: ModelName::from_str(witness["model"].as_str().unwrap_or("c20"), false)?,
            volatile: Volatile::from_str(word("volatile")?, false)?,
            lock_order: LockOrder::from_str(witness["lock_order"].as_str().unwrap_or("threads"), false)?,
            memory: witness["memory"].as_u64().unwrap_or(0),
            max_events: number("max_events")?,
            tick: witness["tick"].as_u64().unwrap_or(100),
            isolation: Isolation::Auto,
            output: Output::All,
            first: false,
            timeout: Duration::try_from_secs_f64(
                witness["timeout"].as_f64().ok_or("the witness has no timeout")?,
            )
            .map_err(|error| error.to_string())?,
            suppressions: None,
            witness: None,
            sarif: None,
            html: None,
            junit: None,
            reports: None,
            program,
        })
    }
}

/// The decisions of a witness; None if it has none.
fn decisions(value: &Value) -> Result<Option<Vec<Decision>>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let list: Vec<[u32; 5]> =
        serde_json::from_value(value.clone()).map_err(|error| format!("decisions: {error}"))?;
    Ok(Some(list.iter().map(decision).collect()))
}

fn decision(&[thread, sort, number, repeat, value]: &[u32; 5]) -> Decision {
    Decision { thread: thread as u16, sort: sort as u16, number, repeat, value }
}

fn spawn(args: &Args, channel: &Channel) -> std::io::Result<Child> {
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    command.env(protocol::DESCRIPTOR_VARIABLE, channel.descriptor().to_string());
    // SAFETY: system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            // Whatever ends us ends the program.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // The same addresses in every run: an execution is a function of its seed.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        });
    }
    command
        .spawn()
        .map_err(|error| std::io::Error::other(format!("cannot run {}: {error}", args.program[0].display())))
}

/// Waits for the end, shows progress, and asks a silent program where it hangs.
fn watch(args: &Args, channel: &Channel, child: &mut Child, start: Instant) -> std::io::Result<ExitStatus> {
    let progress = &channel.shared().progress;
    let bar = progress_bar(args.executions());
    let mut last_sign = (0, 0);
    let mut since = Instant::now();
    let mut asked = 0;
    let mut used_before = Duration::ZERO;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            bar.finish_and_clear();
            return Ok(status);
        }
        if interrupt::requested() {
            child.kill()?;
        }
        if args.until.is_some_and(|until| start.elapsed() > until) {
            progress.stop.store(1, Ordering::Relaxed);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
        let ended = progress.ended.load(Ordering::Relaxed);
        bar.set_position(ended);
        let sign = (ended, progress.heartbeat.load(Ordering::Relaxed));
        if sign != last_sign {
            (last_sign, since, asked) = (sign, Instant::now(), 0);
            used_before = processor_time(running(progress, child)).unwrap_or_default();
        }
        let process = running(progress, child);
        let patience = args.timeout;
        if since.elapsed() > patience {
            // A busy process has the time it was promised, whatever else the machine does.
            let used = processor_time(process).unwrap_or(Duration::MAX).saturating_sub(used_before);
            let starves = is_runnable(process);
            let busy = starves || used > since.elapsed() / 50;
            if busy && used < patience && (starves || since.elapsed() < 20 * patience) {
                continue;
            }
            if progress.process.load(Ordering::Relaxed) == 0 && busy {
                // Before its first thread nobody counts the program's steps.
                (since, used_before) = (Instant::now(), used_before + used);
                continue;
            }
            // The first time the runtime answers and goes on; if it cannot, the program is ended.
            let signal = if asked == 0 { protocol::HANG_SIGNAL } else { libc::SIGKILL };
            // SAFETY: a process of ours.
            unsafe { libc::kill(process, signal) };
            asked += 1;
            since = Instant::now();
        }
    }
}

/// The process that runs the program now: of those that run executions the last, before them the one started.
fn running(progress: &protocol::Progress, child: &Child) -> i32 {
    match progress.process.load(Ordering::Relaxed) {
        0 => child.id() as i32,
        process => process as i32,
    }
}

/// Whether a process could run and only waits for a processor.
fn is_runnable(process: i32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('R'))
}

/// Processor time that a process has used.
fn processor_time(process: i32) -> Option<Duration> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fill in locals.
    let known = unsafe {
        libc::clock_getcpuclockid(process, &mut clock) == 0 && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

fn progress_bar(total: u64) -> indicatif::ProgressBar {
    use std::io::IsTerminal;
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let style =
        indicatif::ProgressStyle::with_template("{bar:30} {pos}/{len} executions, {per_sec}, {eta} left");
    indicatif::ProgressBar::new(total)
        .with_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()))
}
