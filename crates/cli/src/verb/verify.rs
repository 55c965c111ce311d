//! `porf verify FILE`: every execution of a program, and what goes wrong in one.

mod against;
mod budget;
mod drive;
mod guard;
mod input;
pub mod machine;
mod search;

use crate::options::{Format, Options};
use budget::Budget;
use clap::ValueEnum;
use input::{Input, Question};
use porf_explore::{Equivalence, Error, Model, Schedule, Statistics, Visit, explore};
use porf_ir::{Program, Split};
use porf_report::verify::{Answer, Seconds, dot, html, json, sarif, text, witness};
use porf_verdict::{Coverage, Limit, Verdict};
use search::Search;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const DEFAULT_MODEL: &str = "rc11";

/// Check every execution of a C or C++ program
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  porf verify queue.c
  porf verify --model tso --unroll 3 lock.c -- -DTHREADS=3 -Iinclude
  porf verify --format json --witness bug.json a.c b.c
  porf replay bug.json")]
pub struct Args {
    /// Source files (.c .cpp) or LLVM bitcode (.bc .ll), linked into one program; or one program in
    /// Porf's own text form (.porf), or one litmus test (.litmus)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The memory model
    #[arg(long, default_value = DEFAULT_MODEL)]
    model: String,
    /// Only count the executions that the model allows and this one forbids, and show one
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["estimate", "checkpoint", "witness", "dot", "html", "sarif"])]
    against: Option<String>,
    /// When two executions count as the same: they agree on rf and co (mo), or on rf (rf)
    #[arg(long, value_enum, default_value_t = EquivalenceName::Mo)]
    equivalence: EquivalenceName,
    /// Give up on executions in which a loop runs more often than this
    #[arg(long)]
    unroll: Option<u32>,
    /// How many workers search at the same time
    #[arg(long, short, default_value_t = 1, value_name = "N")]
    jobs: usize,
    /// Stop after this many executions, or this long (10s, 5m)
    #[arg(long)]
    budget: Option<String>,
    /// Keep what is left to do in this file, and go on from it if it is there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    checkpoint_interval: u64,
    /// Only estimate the number of executions
    #[arg(long)]
    estimate: bool,
    /// Go on after the first violation and report the shortest
    #[arg(long)]
    all: bool,
    /// Memory that is never freed is a violation
    #[arg(long)]
    leaks: bool,
    /// A weak compare-and-swap may fail for no reason; loops around one need --unroll then
    #[arg(long)]
    spurious: bool,
    /// The function that the first thread runs
    #[arg(long, default_value = "main")]
    entry: String,
    /// The compiler to use
    #[arg(long)]
    clang: Option<String>,
    /// Write a violation as a file for `porf replay`
    #[arg(long)]
    witness: Option<PathBuf>,
    /// Write a violation as a graph for Graphviz
    #[arg(long)]
    dot: Option<PathBuf>,
    /// Write the result as a page for a browser
    #[arg(long)]
    html: Option<PathBuf>,
    /// Write the result as SARIF
    #[arg(long)]
    sarif: Option<PathBuf>,
    /// Up to rf with seq_cst: how hard to look for an order of the writes
    #[arg(long, hide = true)]
    branches: Option<u32>,
    /// Which thread moves first where several can: the result is the same, the way there is not
    #[arg(long, value_enum, default_value_t = ScheduleName::Left, hide = true)]
    schedule: ScheduleName,
    /// Arguments for clang
    #[arg(last = true)]
    flags: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EquivalenceName {
    Mo,
    Rf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScheduleName {
    Left,
    Right,
    Fewest,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    if args.estimate {
        return match estimate(args, options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
        };
    }
    if let Some(against) = &args.against {
        return against::run(args, against, options);
    }
    match verify(args) {
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Ok(answer) => show(args, options, &answer),
    }
}

fn verify(args: &Args) -> Result<Answer, String> {
    crate::interrupt::watch();
    let start = Instant::now();
    let Input { program, test, model: own } = input::load(args)?;
    let model = model(args, own)?;
    let mut program = machine::compile(program, model)?;
    let frontend = start.elapsed();
    let mut equivalence = args.equivalence.into();
    let mut cuts = drive::cuts(args.checkpoint.as_deref());
    cuts.iter().for_each(|splits| program.split(splits));
    loop {
        match search(args, &program, test.as_ref(), &cuts, model, equivalence, frontend) {
            Err(Failure::Explore(Error::Undecided)) => {
                eprintln!("warning: {}: searching up to mo instead", Error::Undecided);
                equivalence = Equivalence::Mo;
            }
            Err(Failure::Explore(Error::Mixed(splits))) => {
                program.split(&splits);
                cuts.push(splits);
            }
            result => return result.map_err(|failure| failure.to_string()),
        }
        // What was begun in another way is of no use.
        if let Some(path) = &args.checkpoint {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Searches a program whose accesses have been cut by `cuts`, one after the other.
fn search(
    args: &Args,
    program: &Program,
    question: Option<&Question>,
    cuts: &[Vec<Split>],
    model: Model,
    equivalence: Equivalence,
    frontend: Duration,
) -> Result<Answer, Failure> {
    let budget = Budget::parse(args.budget.as_deref())?;
    let mut search = Search::new(program, question, budget);
    search.all = args.all;
    search.leaks = args.leaks;
    let schedule = match args.schedule {
        ScheduleName::Left => Schedule::LeftToRight,
        ScheduleName::Right => Schedule::RightToLeft,
        ScheduleName::Fewest => Schedule::Fewest,
    };
    let explore_options = porf_explore::Options {
        unroll: args.unroll,
        schedule,
        branches: args.branches,
        ..Default::default()
    };
    let (start, cpu) = (Instant::now(), cpu_time());
    let explored = if args.jobs <= 1 && args.checkpoint.is_none() && !std::io::stderr().is_terminal() {
        let mut visitor = |visit: Visit<'_, '_>| search.visit(visit);
        explore(program, model, equivalence, &explore_options, &mut visitor).map_err(Failure::from)
    } else {
        let plan = drive::Plan {
            program,
            cuts,
            model,
            equivalence,
            options: explore_options,
            jobs: args.jobs,
            checkpoint: args.checkpoint.as_deref(),
            interval: Duration::from_secs(args.checkpoint_interval),
        };
        drive::drive(&plan, &mut search)
    };
    let statistics = match explored {
        Err(Failure::Explore(Error::Limit(message))) => {
            search.stopped = Some(Limit::Other(message));
            Statistics { executions: search.executions, ..Statistics::default() }
        }
        // What was found before the search came to something that it cannot do stays found.
        Err(Failure::Explore(Error::Unsupported(_))) if search.found.is_some() => {
            Statistics { executions: search.executions, ..Statistics::default() }
        }
        explored => explored?,
    };
    let seconds = Seconds {
        frontend: frontend.as_secs_f64(),
        explore: start.elapsed().as_secs_f64(),
        cpu: (cpu_time() - cpu).as_secs_f64(),
    };
    search.end();
    if let (None, Some(message)) = (&search.found, &search.unsupported) {
        return Err(Failure::Other(message.clone()));
    }
    let mut answer = answer(args, &search, statistics, model, equivalence, seconds);
    answer.cuts = cuts.to_vec();
    Ok(answer)
}

/// The model that is asked for, or the one that a litmus test is meant for.
fn model(args: &Args, own: Option<&str>) -> Result<Model, String> {
    match own {
        Some(own) if args.model == DEFAULT_MODEL => parse_model(own),
        _ => parse_model(&args.model),
    }
}

fn parse_model(name: &str) -> Result<Model, String> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Model::ALL.iter().map(|model| model.name()).collect();
        format!("no model '{name}' for programs: one of {} (cat files are for porf litmus)", known.join(", "))
    })
}

/// The time that all threads of this process have run so far.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec to write to; the clock is one that Linux always has.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The largest resident set of this process so far.
fn peak_bytes() -> u64 {
    // SAFETY: a `rusage` of zeros is one, and the call fills it.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}

/// Why a search came to no end.
enum Failure {
    Explore(Error),
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Explore(error)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Other(message)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Explore(error) => error.fmt(f),
            Failure::Other(message) => f.write_str(message),
        }
    }
}

/// How many executions to expect.
fn estimate(args: &Args, options: &Options) -> Result<(), String> {
    let Input { program, model: own, .. } = input::load(args)?;
    let model = model(args, own)?;
    let mut program = machine::compile(program, model)?;
    let settings = porf_explore::Options { unroll: args.unroll, ..Default::default() };
    let (mean, error) = loop {
        match porf_explore::estimate(&program, model, args.equivalence.into(), &settings, 10_000) {
            Err(Error::Mixed(splits)) => program.split(&splits),
            result => break result.map_err(|error| error.to_string())?,
        }
    };
    match options.format {
        Format::Text => {
            let plural = if mean.round() == 1.0 { "" } else { "s" };
            println!("about {mean:.0} execution{plural} (standard error {error:.0})");
        }
        Format::Json => println!(
            "{}",
            serde_json::json!({"schema": 1, "command": "verify", "estimate": mean, "standard_error": error})
        ),
    }
    Ok(())
}

impl From<EquivalenceName> for Equivalence {
    fn from(name: EquivalenceName) -> Equivalence {
        match name {
            EquivalenceName::Mo => Equivalence::Mo,
            EquivalenceName::Rf => Equivalence::Rf,
        }
    }
}

fn answer(
    args: &Args,
    search: &Search<'_>,
    statistics: Statistics,
    model: Model,
    equivalence: Equivalence,
    seconds: Seconds,
) -> Answer {
    let verdict = match (&search.found, &search.stopped) {
        (Some(found), _) => Verdict::Violated(Box::new(found.violation.clone())),
        (None, Some(limit)) => Verdict::Inconclusive(limit.clone()),
        (None, None) => Verdict::Safe(match args.unroll {
            Some(unroll) if search.bounded => Coverage::Bounded { unroll },
            _ => Coverage::Exhaustive,
        }),
    };
    Answer {
        files: args.files.iter().map(|file| file.display().to_string()).collect(),
        flags: args.flags.clone(),
        cuts: Vec::new(),
        entry: args.entry.clone(),
        spurious: args.spurious,
        model: model.to_string(),
        equivalence: equivalence.to_string(),
        verdict,
        executions: statistics.executions,
        blocked: statistics.blocked,
        events: statistics.events,
        seconds,
        peak_bytes: peak_bytes(),
        violation: search.found.as_ref().and_then(|found| found.shown.clone()),
    }
}

fn show(args: &Args, options: &Options, answer: &Answer) -> ExitCode {
    let mut files: Vec<(&PathBuf, String)> = Vec::new();
    if let (Some(path), Some(found)) = (&args.witness, witness(answer)) {
        files.push((path, format!("{found:#}\n")));
    }
    if let (Some(path), Some(graph)) = (&args.dot, dot(answer)) {
        files.push((path, graph));
    }
    let read = |file: &str| std::fs::read_to_string(file).ok();
    if let Some(path) = &args.html {
        files.push((path, html(answer, &read)));
    }
    if let Some(path) = &args.sarif {
        files.push((path, format!("{:#}\n", sarif(answer))));
    }
    for (path, contents) in files {
        if let Err(error) = std::fs::write(path, contents) {
            eprintln!("error: {}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    match options.format {
        Format::Json => println!("{}", json(answer)),
        Format::Text => print!("{}", text(answer, options.colored(), width(), &read)),
    }
    ExitCode::from(answer.verdict.exit_code())
}

/// Columns of the terminal.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(if std::io::stdout().is_terminal() { 100 } else { 120 })
}
