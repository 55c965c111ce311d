//! `porf verify FILE`: every execution of a program, and what goes wrong in one.

mod drive;

use crate::options::{Format, Options};
use clap::ValueEnum;
use porf_event::ThreadId;
use porf_explore::{
    Equivalence, Error, Execution, Model, Schedule, Statistics, Stuck, Visit, Waiting, explore,
};
use porf_frontend_llvm as llvm;
use porf_graph::Ev;
use porf_interp::{Fault, FaultKind};
use porf_ir::{Program, Split};
use porf_report::trace::{Trace, stack};
use porf_report::verify::{Answer, Related, Shown, dot, html, json, sarif, source, text, witness};
use porf_verdict::{Coverage, Limit, Verdict, Violation, ViolationKind};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

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
    /// Porf's own text form (.porf)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The memory model
    #[arg(long, default_value = "rc11")]
    model: String,
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
    match verify(args) {
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Ok(answer) => show(args, options, &answer),
    }
}

fn verify(args: &Args) -> Result<Answer, String> {
    let model: Model = args.model.parse()?;
    let start = Instant::now();
    let mut program = load(args)?;
    let frontend = start.elapsed();
    let mut equivalence = args.equivalence.into();
    let mut cuts = drive::cuts(args.checkpoint.as_deref());
    cuts.iter().for_each(|splits| program.split(splits));
    loop {
        match search(args, &program, &cuts, model, equivalence, frontend) {
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
    cuts: &[Vec<Split>],
    model: Model,
    equivalence: Equivalence,
    frontend: Duration,
) -> Result<Answer, Failure> {
    let budget = Budget::parse(args.budget.as_deref())?;
    let mut search = Search {
        program,
        all: args.all,
        leaks: args.leaks,
        budget,
        executions: 0,
        bounded: false,
        found: None,
        stopped: None,
        unsupported: None,
    };
    let schedule = match args.schedule {
        ScheduleName::Left => Schedule::LeftToRight,
        ScheduleName::Right => Schedule::RightToLeft,
        ScheduleName::Fewest => Schedule::Fewest,
    };
    let explore_options = porf_explore::Options { unroll: args.unroll, schedule, branches: args.branches };
    let start = Instant::now();
    let statistics = if args.jobs <= 1 && args.checkpoint.is_none() && !std::io::stderr().is_terminal() {
        let mut visitor = |visit: Visit<'_, '_>| search.visit(visit);
        explore(program, model, equivalence, &explore_options, &mut visitor)?
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
        drive::drive(&plan, &mut search)?
    };
    let elapsed = start.elapsed();
    if let (None, Some(message)) = (&search.found, &search.unsupported) {
        return Err(Failure::Other(message.clone()));
    }
    let mut answer = answer(args, &search, statistics, model, equivalence, frontend, elapsed);
    answer.cuts = cuts.to_vec();
    Ok(answer)
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

fn load(args: &Args) -> Result<Program, String> {
    if let [file] = args.files.as_slice()
        && file.extension().is_some_and(|extension| extension == "porf")
    {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut program = porf_ir::parse(&text).map_err(|error| format!("{}:{error}", file.display()))?;
        program.name = file.display().to_string();
        return Ok(program);
    }
    if let Some(file) = args.files.iter().find(|file| !llvm::is_supported(file)) {
        return Err(format!(
            "{}: not a file of a kind that verify knows (.c .cpp .bc .ll, or a single .porf)",
            file.display()
        ));
    }
    let front =
        llvm::Options { flags: args.flags.clone(), clang: args.clang.clone(), entry: args.entry.clone() };
    llvm::load(&args.files, &front).map_err(|error| error.to_string())
}

/// How many executions to expect.
fn estimate(args: &Args, options: &Options) -> Result<(), String> {
    let model: Model = args.model.parse()?;
    let mut program = load(args)?;
    let settings = porf_explore::Options { unroll: args.unroll, ..Default::default() };
    let (mean, error) = loop {
        match porf_explore::estimate(&program, model, args.equivalence.into(), &settings, 10_000) {
            Err(Error::Mixed(splits)) => program.split(&splits),
            result => break result.map_err(|error| error.to_string())?,
        }
    };
    match options.format {
        Format::Text => println!("about {mean:.0} executions (standard error {error:.0})"),
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
    frontend: Duration,
    elapsed: Duration,
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
        model: model.to_string(),
        equivalence: equivalence.to_string(),
        verdict,
        executions: statistics.executions,
        blocked: statistics.blocked,
        events: statistics.events,
        frontend_seconds: frontend.as_secs_f64(),
        explore_seconds: elapsed.as_secs_f64(),
        violation: search.found.as_ref().map(|found| found.shown.clone()),
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

/// What an exploration has brought so far.
struct Search<'p> {
    program: &'p Program,
    all: bool,
    leaks: bool,
    budget: Budget,
    executions: u64,
    /// Whether a loop reached the bound.
    bounded: bool,
    found: Option<Found>,
    stopped: Option<Limit>,
    unsupported: Option<String>,
}

struct Found {
    violation: Violation,
    shown: Shown,
}

impl Search<'_> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        match visit {
            Visit::Complete(execution) => {
                if self.leaks
                    && let Some(leak) = leak(execution)
                {
                    let message = "memory that is allocated here is never freed".to_string();
                    self.event(execution, ViolationKind::Memory, message, leak, None)?;
                }
                self.count(1)
            }
            Visit::Blocked(execution) => {
                let threads = 0..execution.graph.threads().len();
                let reason = |at: usize| execution.block(ThreadId(at as u16));
                self.bounded |=
                    threads.into_iter().any(|at| reason(at) == Some(porf_event::BlockReason::Bound));
                if let Some(stuck) = execution.stuck() {
                    self.stuck(execution, &stuck)?;
                }
                self.count(1)
            }
            Visit::Fault(execution, fault) => self.fault(execution, fault),
            Visit::Memory(execution, fault, event, other) => {
                let related = other.is_some().then(|| (related_word(fault.kind), other));
                self.event(execution, kind(fault.kind), fault.message.clone(), event, related)
            }
            Visit::Race(execution, first, second) => {
                let what = |event: Ev| match execution.graph.event(event).label.is_read() {
                    true => "read",
                    false => "write",
                };
                let (one, two) = (what(second), what(first));
                let message =
                    format!("data race on {{}}: this {one} and a {two} of another thread are not ordered");
                let label = if two == "read" { "the read" } else { "the write" };
                self.event(execution, ViolationKind::Race, message, second, Some((label, first)))
            }
        }
    }

    fn count(&mut self, executions: u64) -> ControlFlow<()> {
        self.executions += executions;
        match self.budget.spent(self.executions, executions) {
            Some(limit) => {
                self.stopped = Some(limit);
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn fault(&mut self, execution: &Execution<'_, '_>, fault: &Fault) -> ControlFlow<()> {
        let calls = stack(self.program, &fault.stack);
        if fault.kind.is_limit() {
            let place = source(&calls).map_or(String::new(), |frame| format!("{}: ", frame.location));
            let message = format!("{place}{}", fault.message);
            if fault.kind == FaultKind::Unsupported {
                self.unsupported = Some(message);
            } else {
                self.stopped = Some(Limit::Other(message));
            }
            return ControlFlow::Break(());
        }
        // The thread that is wrong, and what led it there.
        let threads = 0..execution.graph.threads().len();
        let last = |at: usize| execution.graph.thread_end(ThreadId(at as u16));
        let wanted: Vec<Ev> = threads
            .filter(|at| execution.block(ThreadId(*at as u16)) == Some(porf_event::BlockReason::Fault))
            .filter_map(last)
            .collect();
        let trace = Trace::prefix(self.program, execution.graph, &wanted);
        self.keep(kind(fault.kind), fault.message.clone(), calls, Vec::new(), trace, Vec::new())
    }

    /// A violation at an event, and the event that it is one because of. `{}` in the message stands for
    /// the location.
    fn event(
        &mut self,
        execution: &Execution<'_, '_>,
        kind: ViolationKind,
        message: String,
        event: Ev,
        other: Option<(&str, Ev)>,
    ) -> ControlFlow<()> {
        let wanted: Vec<Ev> = std::iter::once(event).chain(other.map(|(_, other)| other)).collect();
        let trace = Trace::prefix(self.program, execution.graph, &wanted);
        let stack_of = |event: Ev| {
            let id = execution.graph.event(event).id;
            trace.event(id).map_or(Vec::new(), |event| event.stack.clone())
        };
        let related = other
            .map(|(message, other)| Related { message: message.to_string(), stack: stack_of(other) })
            .into_iter()
            .collect();
        let marked = wanted.iter().map(|event| execution.graph.event(*event).id).collect();
        let calls = stack_of(event);
        let location = trace.event(execution.graph.event(event).id).map_or("", |event| &event.location);
        let message = message.replace("{}", location);
        self.keep(kind, message, calls, related, trace, marked)
    }

    fn stuck(&mut self, execution: &Execution<'_, '_>, stuck: &Stuck) -> ControlFlow<()> {
        let loops = stuck.threads.iter().all(|(_, waiting, _)| *waiting != Waiting::Lock);
        let (kind, message) = match loops {
            true => (ViolationKind::Liveness, "a loop that waits for another thread never ends"),
            false => (ViolationKind::Deadlock, "deadlock: no thread can go on"),
        };
        let trace = Trace::of(self.program, execution.graph, &|_| true);
        let mut places = Vec::new();
        for (thread, waiting, _) in &stuck.threads {
            let what = match waiting {
                Waiting::Lock => "waits here",
                Waiting::Loop => "loops here",
                Waiting::Join => "waits here for a thread to end",
            };
            let calls = stack(self.program, &execution.state(*thread).stack(self.program));
            let order = *waiting == Waiting::Join;
            places.push((order, Related { message: format!("{thread} {what}"), stack: calls }));
        }
        places.sort_by_key(|(order, _)| *order);
        let mut places = places.into_iter().map(|(_, related)| related);
        let calls = places.next().map_or(Vec::new(), |first| first.stack);
        let marked = stuck
            .threads
            .iter()
            .filter_map(|(_, _, event)| event.map(|event| execution.graph.event(event).id))
            .collect();
        self.keep(kind, message.to_string(), calls, places.collect(), trace, marked)
    }

    /// Keeps a violation if it is the first or shorter than the one before.
    fn keep(
        &mut self,
        kind: ViolationKind,
        message: String,
        stack: Vec<porf_report::trace::StackFrame>,
        related: Vec<Related>,
        trace: Trace,
        marked: Vec<porf_event::EventId>,
    ) -> ControlFlow<()> {
        let size = |trace: &Trace| (trace.threads.len(), trace.events.len());
        if self.found.as_ref().is_none_or(|found| size(&trace) < size(&found.shown.trace)) {
            let location = source(&stack).map(|frame| frame.location.clone());
            let others = related
                .iter()
                .filter_map(|one| {
                    source(&one.stack).map(|frame| (one.message.clone(), frame.location.clone()))
                })
                .collect();
            self.found = Some(Found {
                violation: Violation { kind, message, location, related: others },
                shown: Shown { stack, related, trace, marked },
            });
        }
        if self.all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// An allocation on the heap that has no free.
fn leak(execution: &Execution<'_, '_>) -> Option<Ev> {
    use porf_event::Label;
    use porf_ir::{Region, layout};
    let graph = execution.graph;
    graph.all().find(|event| match graph.event(*event).label {
        Label::Alloc { location, .. } => {
            matches!(Region::of(location.0), Some(Region::Heap | Region::Zeroed))
                && !graph.all().any(|other| match graph.event(other).label {
                    Label::Free { location: freed } => {
                        layout::allocation(freed.0) == layout::allocation(location.0)
                    }
                    _ => false,
                })
        }
        _ => false,
    })
}

fn kind(fault: FaultKind) -> ViolationKind {
    match fault {
        FaultKind::Assertion => ViolationKind::Assertion,
        FaultKind::Lock => ViolationKind::Lock,
        FaultKind::BadAddress
        | FaultKind::NullPointer
        | FaultKind::OutOfBounds
        | FaultKind::UseAfterFree
        | FaultKind::Uninitialised
        | FaultKind::BadFree => ViolationKind::Memory,
        _ => ViolationKind::Trap,
    }
}

fn related_word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::UseAfterFree => "the other side",
        FaultKind::BadFree => "freed first here",
        _ => "allocated here",
    }
}

/// How much work is allowed.
#[derive(Clone, Copy, Debug)]
struct Budget {
    executions: u64,
    seconds: Option<u64>,
    start: Instant,
}

impl Budget {
    fn parse(text: Option<&str>) -> Result<Budget, String> {
        let mut budget = Budget { executions: u64::MAX, seconds: None, start: Instant::now() };
        let Some(text) = text else { return Ok(budget) };
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let value: u64 =
            number.parse().map_err(|_| format!("--budget {text}: a number of executions, or 10s, 5m, 1h"))?;
        match &text[number.len()..] {
            "" => budget.executions = value,
            "s" => budget.seconds = Some(value),
            "m" => budget.seconds = Some(60 * value),
            "h" => budget.seconds = Some(3600 * value),
            unit => return Err(format!("--budget {text}: no unit {unit}")),
        }
        Ok(budget)
    }

    /// Whether it is used up, now that `new` more executions were seen.
    fn spent(&self, executions: u64, new: u64) -> Option<Limit> {
        if executions >= self.executions {
            return Some(Limit::Executions { limit: self.executions });
        }
        let seconds = self.seconds?;
        // The clock is not looked at for every execution.
        ((new > 1 || executions.is_multiple_of(64)) && self.start.elapsed().as_secs() >= seconds)
            .then_some(Limit::Time { seconds })
    }
}

/// Columns of the terminal.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(if std::io::stdout().is_terminal() { 100 } else { 120 })
}
