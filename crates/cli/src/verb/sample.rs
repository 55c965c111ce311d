//! `porf sample -- ./program args`: runs a program built by `porf cc` again and again.
//!
//! The program does the work itself, through the runtime it was linked with; this side gives it the
//! options in shared memory, watches that it makes progress, and turns what it found into a report.

mod channel;
mod report;
mod symbols;

use crate::interrupt;
use crate::options::{Format, Options};
use channel::Channel;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use porf_sample::protocol;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode};
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
  porf sample --seed 17 --executions 1 --output all -- ./queue     one execution again")]
pub struct Args {
    /// How many executions
    #[arg(long, short = 'n', default_value_t = 1000)]
    executions: u64,
    /// The seed of the first execution; the next have the next numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Who chooses threads and stores
    #[arg(long, value_enum, default_value_t = SchedulerName::Random)]
    scheduler: SchedulerName,
    /// Number of ordering constraints that the PCT scheduler aims at
    #[arg(long, default_value_t = 3)]
    depth: u32,
    /// What volatile accesses are
    #[arg(long, value_enum, default_value_t = Volatile::Relaxed)]
    volatile: Volatile,
    /// Keep at most so many stores per location (bounds memory; some weak behaviours are lost)
    #[arg(long, value_name = "STORES")]
    memory: Option<u64>,
    /// Cut an execution off after so many visible events
    #[arg(long, default_value_t = 2_000_000)]
    max_events: u64,
    /// Virtual nanoseconds that a visible event takes: more make programs that run for a time end sooner
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
    /// Seconds without progress after which the program counts as hung
    #[arg(long, default_value_t = 10)]
    timeout: u64,
    /// Write seed and options of the first finding, for `porf replay` to run it again
    #[arg(long, value_name = "FILE")]
    witness: Option<std::path::PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SchedulerName {
    Random,
    Pct,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Volatile {
    Relaxed,
    Acqrel,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Isolation {
    Auto,
    InProcess,
    Fork,
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
            eprintln!("porf sample: {error}");
            ExitCode::from(2)
        }
    }
}

fn sample(args: &Args, options: &Options) -> std::io::Result<u8> {
    let channel = Channel::new(protocol::Options {
        executions: args.executions,
        seed: args.seed,
        scheduler: u32::from(args.scheduler == SchedulerName::Pct),
        pct_depth: args.depth,
        volatile_acqrel: u32::from(args.volatile == Volatile::Acqrel),
        isolation: args.isolation as u32,
        window: args.memory.unwrap_or(0),
        max_steps: args.max_events,
        tick: args.tick,
        output: args.output as u32,
        stop_at_first: u32::from(args.first),
    })?;
    interrupt::watch();
    let start = Instant::now();
    let mut child = spawn(args, &channel)?;
    let status = watch(args, &channel, &mut child)?;
    let shared = channel.shared();
    if shared.progress.attached.load(Ordering::Acquire) == 0 {
        return Err(std::io::Error::other(format!(
            "{} was not built by `porf cc` or `porf c++` ({status})",
            args.program[0].display()
        )));
    }
    let interrupted = interrupt::requested();
    let summary =
        report::Summary::new(shared, args.seed, args.executions, start.elapsed(), interrupted, status);
    match options.format {
        Format::Json => println!("{}", summary.json(&args.program)),
        Format::Text => print!("{}", summary.text(&args.program, options.colored())),
    }
    if let (Some(path), Some(seed)) = (&args.witness, summary.first_seed()) {
        let witness = args.witness(seed);
        std::fs::write(path, format!("{witness}\n"))?;
    }
    Ok(summary.exit_code())
}

impl Args {
    /// What `porf replay` needs to run the execution with this seed again.
    fn witness(&self, seed: u64) -> Value {
        let name = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_string());
        let program: Vec<_> = self.program.iter().map(|word| word.to_string_lossy()).collect();
        json!({
            "schema": 1, "kind": "witness", "command": "sample", "seed": seed, "program": program,
            "scheduler": name(self.scheduler.to_possible_value()), "depth": self.depth,
            "volatile": name(self.volatile.to_possible_value()), "memory": self.memory,
            "max_events": self.max_events, "tick": self.tick, "timeout": self.timeout,
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
            executions: 1,
            seed: number("seed")?,
            scheduler: SchedulerName::from_str(word("scheduler")?, false)?,
            depth: u32::try_from(number("depth")?).map_err(|error| error.to_string())?,
            volatile: Volatile::from_str(word("volatile")?, false)?,
            memory: witness["memory"].as_u64(),
            max_events: number("max_events")?,
            tick: witness["tick"].as_u64().unwrap_or(100),
            isolation: Isolation::Auto,
            output: Output::All,
            first: false,
            timeout: number("timeout")?,
            witness: None,
            program,
        })
    }
}

fn spawn(args: &Args, channel: &Channel) -> std::io::Result<Child> {
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    command.env(protocol::DESCRIPTOR_VARIABLE, channel.descriptor().to_string());
    // SAFETY: a system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
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
fn watch(args: &Args, channel: &Channel, child: &mut Child) -> std::io::Result<std::process::ExitStatus> {
    let progress = &channel.shared().progress;
    let bar = progress_bar(args.executions);
    let mut last_sign = (0, 0);
    let mut since = Instant::now();
    let mut asked = 0;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            bar.finish_and_clear();
            return Ok(status);
        }
        if interrupt::requested() {
            child.kill()?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
        let ended = progress.ended.load(Ordering::Relaxed);
        bar.set_position(ended);
        let sign = (ended, progress.heartbeat.load(Ordering::Relaxed));
        if sign != last_sign {
            (last_sign, since, asked) = (sign, Instant::now(), 0);
        }
        let begun = progress.begun.load(Ordering::Relaxed) > 0;
        if begun && since.elapsed() > Duration::from_secs(args.timeout) {
            let process = progress.process.load(Ordering::Relaxed) as i32;
            // The first time the runtime answers and goes on; if it cannot, the program is ended.
            let signal = if asked == 0 { protocol::HANG_SIGNAL } else { libc::SIGKILL };
            // SAFETY: a process of ours.
            unsafe { libc::kill(process, signal) };
            asked += 1;
            since = Instant::now();
        }
    }
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
