//! `porf verify FILE`: every execution of a program, and what goes wrong in one.

mod cluster;
mod progress;

use crate::guard::Guard;
use crate::options::{Format, ModelName, Options, width};
use clap::ValueEnum;
use cluster::Cluster;
use porf::{
    Answer, Budget, Checkpoint, Domain, Equivalence, Error, Input, LoadOptions, MemoryLimit, Model,
    Reduction, Reductions, Request, Schedule, Volatile,
};
use porf_report::junit::{self, Case};
use porf_report::verify as render;
use porf_verdict::{Checks, ViolationKind};
use progress::Bar;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Check every execution of a C, C++ or Rust program
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  porf verify queue.c
  porf verify stack.rs
  porf verify --build make tests/queue.c
  porf verify --model tso --unroll 3 lock.c -- -DTHREADS=3 -Iinclude
  porf verify --explain --html bug.html queue.c
  porf verify --format json --witness bug.json a.c b.c
  porf replay bug.json

Exit code: 0 safe, 1 violated, 2 bad input or usage, 3 inconclusive, 130 interrupted.")]
pub struct Args {
    /// Source files (.c .cpp .i .ii, or one .rs) or LLVM bitcode (.bc .ll), linked into one program; a
    /// compile_commands.json, alone or with the source that has main; or one program in Porf's own text form
    /// (.porf), or one litmus test (.litmus)
    #[arg(required_unless_present = "build")]
    files: Vec<PathBuf>,
    /// Run this command in a shell, and verify the program whose sources it compiles
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// The memory model: see `porf models` [default: rc11 for C, c20 for C++ and Rust, or the model that a
    /// litmus test is meant for]
    #[arg(long, value_parser = ModelName, hide_possible_values = true)]
    model: Option<Model>,
    /// Only count the executions that --model allows and this model forbids, and show one of them
    #[arg(
        long,
        value_name = "MODEL",
        value_parser = ModelName,
        hide_possible_values = true,
        conflicts_with_all = ["estimate", "checkpoint", "witness", "dot", "sarif", "junit"]
    )]
    against: Option<Model>,
    /// When two executions count as the same: if they agree on rf and co (mo), on rf alone (rf), or on what
    /// threads read and on final memory (values: an experiment, for sc only)
    #[arg(long, value_enum, default_value_t = EquivalenceName::Mo)]
    equivalence: EquivalenceName,
    /// Cut off executions in which a loop runs more than N times; the answer then covers N iterations only
    #[arg(long, value_name = "N")]
    unroll: Option<u32>,
    /// How many workers search at the same time
    #[arg(long, short, default_value_t = 1, value_name = "N")]
    jobs: usize,
    /// Stop after this many executions, or this long (10s, 5m)
    #[arg(long)]
    budget: Option<Budget>,
    /// Stop when the process has this much memory (512M, 4G) [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<MemoryLimit>,
    /// Save the rest of the search in this file, and continue from the file if it exists
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    checkpoint_interval: u64,
    /// Only estimate the number of executions
    #[arg(long)]
    estimate: bool,
    /// Report every violation (kind and place), each with the shortest execution that shows it
    #[arg(long)]
    all: bool,
    /// What to look for: assertion, race, memory, deadlock, liveness, lock, trap, panic, leak (default: all but leak)
    #[arg(long, value_delimiter = ',', value_name = "KIND", value_parser = kind)]
    check: Vec<ViolationKind>,
    /// Do not look for orderings that repair a wrong program
    #[arg(long)]
    no_hints: bool,
    /// Say why the model allows the execution that shows a violation, and which axiom forbids it after the repair
    #[arg(long)]
    explain: bool,
    /// Also look for memory that is never freed
    #[arg(long)]
    leaks: bool,
    /// Let a weak compare-and-swap fail without a reason; a loop around one then needs --unroll
    #[arg(long)]
    spurious: bool,
    /// Report an overflow of a signed number as an error (a trap)
    #[arg(long)]
    overflow: bool,
    /// How to treat volatile accesses: as ordinary ones that may race (as in the standards), or as atomics
    #[arg(long, value_enum, default_value_t = VolatileName::Plain)]
    volatile: VolatileName,
    /// Values of input to try: LO..HI or A,B,C (default: those that the program tells apart)
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    nondet: Option<Domain>,
    /// A text to try where the program reads text (default: those that it compares with, and some usual ones);
    /// may be given several times
    #[arg(long = "text", value_name = "TEXT", allow_hyphen_values = true)]
    texts: Vec<String>,
    /// Leave out calls of these functions if nobody defines them: they return any value and do nothing else. `*`
    /// stands for any text
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    stub: Vec<String>,
    /// The function that the first thread runs; a C++ function is named as in the source, with or without
    /// its namespaces
    #[arg(long, default_value = "main")]
    entry: String,
    /// An argument of main; may be given several times
    #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// Give main up to N more arguments of any text
    #[arg(long, value_name = "N", default_value_t = 0)]
    any_args: u32,
    /// The clang to use
    #[arg(long)]
    clang: Option<String>,
    /// Write a violation as a file for `porf replay` (with --all, further ones as FILE-2 and so on)
    #[arg(long)]
    witness: Option<PathBuf>,
    /// Write a violation as a graph for Graphviz
    #[arg(long)]
    dot: Option<PathBuf>,
    /// Write the result as a page for a browser
    #[arg(long)]
    html: Option<PathBuf>,
    /// How Rust's standard library runs: with shorter ways to wait, or as it is compiled
    #[arg(long, value_enum, default_value_t = StdName::Short)]
    std: StdName,
    /// Write the result as SARIF
    #[arg(long)]
    sarif: Option<PathBuf>,
    /// Write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Up to rf with seq_cst: how hard to look for an order of the writes
    #[arg(long, hide = true)]
    branches: Option<u32>,
    /// Switch off a reduction, and visit the executions that it leaves out: retries, own-nodes, net-effect, flags,
    /// counters, own-variables, barriers, locks, symmetry, awaits, or all
    #[arg(long, value_delimiter = ',', value_name = "NAME", value_parser = no_reduce)]
    no_reduce: Vec<NoReduce>,
    /// Which thread moves first where several can: the result is the same, the way there is not
    #[arg(long, value_enum, default_value_t = ScheduleName::Left, hide = true)]
    schedule: ScheduleName,
    /// The search is done by workers elsewhere: the descriptors to hear from them and to speak to them
    #[arg(long, hide = true, value_name = "IN,OUT", value_parser = cluster::descriptors, conflicts_with = "jobs")]
    cluster: Option<(i32, i32)>,
    /// Arguments for clang, or for rustc
    #[arg(last = true)]
    flags: Vec<String>,
}

/// How much is tried to find out which orderings repair a program.
const HINTS: Budget = Budget { executions: Some(20_000), time: Some(Duration::from_secs(3)), memory: None };

#[derive(Clone, Copy, ValueEnum)]
enum EquivalenceName {
    Mo,
    Rf,
    Values,
}

/// What stands for Rust's standard library.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StdName {
    /// Porf's own versions replace some functions, for example those that spin before they wait
    Short,
    /// As it is compiled, with more executions
    Real,
}

#[derive(Clone, Copy, ValueEnum)]
enum VolatileName {
    Plain,
    Relaxed,
    Acqrel,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScheduleName {
    Left,
    Right,
    Fewest,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    crate::interrupt::watch();
    match answer(args, options) {
        Ok(code) => code,
        Err(error) => options.fail("verify", args.files.first().and_then(|file| file.to_str()), &error),
    }
}

fn answer(args: &Args, options: &Options) -> Result<ExitCode, Error> {
    let start = Instant::now();
    let input = load(args, options)?;
    let frontend = start.elapsed();
    let bar = Bar::default();
    let cluster = args.cluster.map(Cluster::new);
    let mut request = request(args, &input, &bar);
    if let Some(cluster) = &cluster {
        request.remote = Some(cluster);
        // What the workers on a machine may have together is decided there.
        request.budget.memory = args.max_memory;
    }
    if args.estimate {
        let estimate = porf::estimate(&input, &request)?;
        match options.format {
            Format::Json => println!("{}", render::estimate_json(&estimate)),
            Format::Text => print!("{}", render::estimate_text(&estimate)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(against) = args.against {
        let difference = porf::against(&input, &request, against)?;
        let model = request.model;
        if let Some(path) = &args.html {
            let page = render::difference_html(&input.origin, model, against, &difference, &read);
            write(path, &page)?;
        }
        match options.format {
            Format::Json => {
                println!("{}", render::difference_json(&input.origin, model, against, &difference))
            }
            Format::Text => {
                print!("{}", render::difference_text(model, against, &difference, options.paint(), width()))
            }
        }
        return Ok(ExitCode::from(match &difference.limit {
            Some(limit) => limit.exit_code(),
            None => u8::from(difference.forbidden > 0),
        }));
    }
    let mut answer = porf::verify(&input, &request)?;
    answer.seconds.frontend = frontend.as_secs_f64();
    if !args.no_hints {
        // A hint that cannot be found is no error.
        let budget = Budget { memory: request.budget.memory, ..HINTS };
        let hints = Request { budget, remote: None, ..request };
        answer.repair = porf::repair(&input, &hints, &answer).unwrap_or(None);
    }
    answer.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    if args.explain {
        answer.explain();
    }
    let text = match options.format {
        Format::Json => String::new(),
        Format::Text => render::text(&answer, options.paint(), width(), &read),
    };
    // Files and JSON say why, whether people asked or not.
    if !args.explain && (options.format == Format::Json || args.html.is_some() || args.witness.is_some()) {
        answer.explain();
    }
    write_files(args, &answer)?;
    match options.format {
        Format::Json => println!("{}", render::json(&answer)),
        Format::Text => print!("{text}"),
    }
    Ok(ExitCode::from(answer.verdict.exit_code()))
}

fn load(args: &Args, options: &Options) -> Result<Input, Error> {
    let mut files = args.files.clone();
    if let Some(command) = &args.build {
        let list =
            super::cc::collect::build(command).map_err(|error| Error::Input(format!("--build: {error}")))?;
        files.insert(0, list);
    }
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let _guard = Guard::new("verify", &names.join(", "), options.format);
    let options = LoadOptions {
        flags: args.flags.clone(),
        clang: args.clang.clone(),
        entry: args.entry.clone(),
        arguments: args.arguments.clone(),
        any_arguments: args.any_args,
        texts: args.texts.clone(),
        stubs: args.stub.clone(),
        spurious: args.spurious,
        inputs: args.nondet.clone(),
        overflow: args.overflow,
        volatile: match args.volatile {
            VolatileName::Plain => Volatile::Plain,
            VolatileName::Relaxed => Volatile::Relaxed,
            VolatileName::Acqrel => Volatile::AcqRel,
        },
        is_rust: false,
        real_std: args.std == StdName::Real,
        leaks: checks(args).has(ViolationKind::Leak),
    };
    Input::load(&files, &options)
}

fn request<'a>(args: &'a Args, input: &Input, bar: &'a Bar) -> Request<'a> {
    let checkpoint = args.checkpoint.as_deref();
    Request {
        equivalence: args.equivalence.into(),
        unroll: args.unroll,
        jobs: args.jobs,
        budget: Budget {
            memory: args.max_memory.or_else(MemoryLimit::half),
            ..args.budget.unwrap_or_default()
        },
        checkpoint: checkpoint
            .map(|path| Checkpoint { path, interval: Duration::from_secs(args.checkpoint_interval) }),
        all: args.all,
        checks: checks(args),
        schedule: match args.schedule {
            ScheduleName::Left => Schedule::LeftToRight,
            ScheduleName::Right => Schedule::RightToLeft,
            ScheduleName::Fewest => Schedule::Fewest,
        },
        branches: args.branches,
        reductions: reductions(args),
        interrupt: Some(crate::interrupt::flag()),
        progress: if std::io::stderr().is_terminal() { Some(bar) } else { None },
        ..Request::new(args.model.unwrap_or(input.model))
    }
}

/// What `porf verify` can look for.
fn kinds() -> impl Iterator<Item = ViolationKind> {
    ViolationKind::ALL.into_iter().filter(|kind| *kind != ViolationKind::Unsafe)
}

fn kind(word: &str) -> Result<ViolationKind, String> {
    let words = || kinds().map(ViolationKind::word).collect::<Vec<_>>().join(", ");
    kinds().find(|kind| kind.word() == word).ok_or_else(|| format!("one of {}", words()))
}

/// What `--no-reduce` names.
#[derive(Clone, Copy)]
enum NoReduce {
    One(Reduction),
    All,
}

fn no_reduce(word: &str) -> Result<NoReduce, String> {
    match word {
        "all" => Ok(NoReduce::All),
        _ => word.parse().map(NoReduce::One).map_err(|names| format!("{names}, all")),
    }
}

fn reductions(args: &Args) -> Reductions {
    args.no_reduce.iter().fold(Reductions::default(), |set, no| match no {
        NoReduce::One(reduction) => set.without(*reduction),
        NoReduce::All => Reductions::NONE,
    })
}

fn checks(args: &Args) -> Checks {
    let asked = match args.check.as_slice() {
        [] => Checks::default(),
        kinds => kinds.iter().fold(Checks::NONE, |checks, kind| checks.with(*kind)),
    };
    if args.leaks { asked.with(ViolationKind::Leak) } else { asked }
}

impl From<EquivalenceName> for Equivalence {
    fn from(name: EquivalenceName) -> Equivalence {
        match name {
            EquivalenceName::Mo => Equivalence::Mo,
            EquivalenceName::Rf => Equivalence::Rf,
            EquivalenceName::Values => Equivalence::Values,
        }
    }
}

/// The files that the user asked for.
fn write_files(args: &Args, answer: &Answer) -> Result<(), Error> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (at, found) in answer.found.iter().enumerate() {
        if let (Some(path), Some(witness)) = (&args.witness, render::witness(answer, found)) {
            files.push((numbered(path, at), format!("{witness:#}\n")));
        }
        if let (Some(path), Some(graph)) = (&args.dot, render::dot(found)) {
            files.push((numbered(path, at), graph));
        }
    }
    if let Some(path) = &args.html {
        files.push((path.clone(), render::html(answer, &read)));
    }
    if let Some(path) = &args.sarif {
        files.push((path.clone(), format!("{:#}\n", render::sarif(answer))));
    }
    if let Some(path) = &args.junit {
        let names = answer.origin.files.join(" ");
        let file = answer.origin.files.first().map_or("", String::as_str);
        let case = Case::of_verdict(answer.model.name(), &names, file, &answer.verdict);
        let seconds = answer.seconds.frontend + answer.seconds.explore;
        files.push((path.clone(), junit::junit("porf verify", &[case], seconds)));
    }
    files.iter().try_for_each(|(path, contents)| write(path, contents))
}

pub(super) fn write(path: &Path, contents: &str) -> Result<(), Error> {
    std::fs::write(path, contents).map_err(|error| Error::Input(format!("{}: {error}", path.display())))
}

/// The file of a further violation: `bug.json`, `bug-2.json`, …
fn numbered(path: &Path, at: usize) -> PathBuf {
    if at == 0 {
        return path.to_path_buf();
    }
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{}", at + 1));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

pub(super) fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}
