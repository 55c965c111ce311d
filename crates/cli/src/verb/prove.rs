//! `porf prove`: is this array system safe for any number of processes?

use crate::guard::Guard;
use crate::interrupt;
use crate::options::{Format, Options};
use clap::ValueEnum;
use porf_param::certificate::{self, Certificate, Confirmed, Refusal, Solver};
use porf_param::explore::{Limits, explore_while};
use porf_param::program::Threads;
use porf_param::system::System;
use porf_param::{Approximation, Memory, ProofAnswer, Request, Warning};
use porf_report::diagnostic;
use porf_report::junit::{self, Case};
use porf_report::prove::{self as report, Checked, Explored, Fences, Proof, Subject};
use porf_verdict::{Diagnostic, Verdict};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Prove or refute the safety of an array system for any number of processes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The system, in Cubicle's language
    #[arg(value_name = "FILE.cub", required_unless_present = "from")]
    file: Option<PathBuf>,
    /// Make the system from a program: its threads are the processes
    #[arg(long, value_name = "PROGRAM.c", conflicts_with = "file")]
    from: Option<PathBuf>,
    /// With --from: which threads there are. `*`: any number of each function that main gives to several threads.
    /// `reader=*`: also any number of this function. `main`: the threads that main creates
    #[arg(long, value_name = "*|NAME=*|main", requires = "from", default_value = "*", value_parser = threads)]
    threads: Threads,
    /// With --from: write the system to this file
    #[arg(long, value_name = "FILE.cub", requires = "from")]
    system: Option<PathBuf>,
    /// The memory model of the system's weak variables [default: tso, or sc if nothing is weak]
    #[arg(long, short, value_enum)]
    model: Option<ModelArg>,
    /// Write the invariant of a safe system to this file, with as few cubes as possible, after checking it
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Check a certificate of the system with SMT solvers instead of proving
    #[arg(long, value_name = "CERTIFICATE", conflicts_with = "certificate")]
    check: Option<PathBuf>,
    /// An SMT solver: a command that reads SMT-LIB from its standard input; may be given several times
    /// [default: z3 and cvc5, where they are installed]
    #[arg(long = "solver", value_name = "COMMAND")]
    solvers: Vec<String>,
    /// With --check: write the solvers' input to this file
    #[arg(long, value_name = "FILE", requires = "check")]
    smt: Option<PathBuf>,
    /// Guess invariants from small instances
    #[arg(long, value_enum, default_value_t = ApproximateArg::Auto)]
    approximate: ApproximateArg,
    /// Guess invariants from the instance with this many processes (from at most 300,000 of its states)
    #[arg(long, value_name = "PROCESSES", value_parser = clap::value_parser!(u8).range(1..=8))]
    brab: Option<u8>,
    /// Go straight to the proof, without exploring a small instance first
    #[arg(long)]
    no_explore: bool,
    /// Explore the instance with this many processes and nothing else
    #[arg(long, value_name = "PROCESSES", value_parser = clap::value_parser!(u8).range(1..=8))]
    instance: Option<u8>,
    /// Show the invariant of a safe system
    #[arg(long)]
    invariant: bool,
    /// Find the smallest sets of fences and locked steps that make the system safe, and the superfluous ones
    #[arg(long, conflicts_with_all = ["check", "instance", "certificate", "sarif", "html"])]
    fences: bool,
    /// Write a reachable unsafe state as SARIF
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "instance"])]
    sarif: Option<PathBuf>,
    /// Write the result as JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "instance"])]
    junit: Option<PathBuf>,
    /// Write the run or the invariant as a page for a browser
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "instance"])]
    html: Option<PathBuf>,
    /// Threads that compute pre-images
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Stop after this many cubes
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    max_nodes: usize,
    /// Stop after this many steps of work; unlike seconds, steps are the same on every machine
    #[arg(long, value_name = "STEPS", default_value_t = porf_param::prove::MAX_WORK)]
    max_work: u64,
    /// Stop after this many seconds of processor time
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    budget: u64,
    /// With --from: arguments for clang
    #[arg(last = true, requires = "from")]
    flags: Vec<String>,
}

fn threads(word: &str) -> Result<Threads, String> {
    match word {
        "*" => Ok(Threads::Any(Vec::new())),
        "main" => Ok(Threads::Main),
        _ => {
            let names = word.split(',').map(|one| one.strip_suffix("=*").map(str::to_owned));
            names
                .collect::<Option<_>>()
                .map(Threads::Any)
                .ok_or_else(|| "threads are `*`, `NAME=*` or `main`".to_owned())
        }
    }
}

impl Args {
    /// What the answer is about.
    fn subject(&self) -> &Path {
        self.from.as_deref().or(self.file.as_deref()).unwrap_or(Path::new(""))
    }
}

const EXAMPLES: &str = "Examples:
  porf prove corpus/prove/naive-mutex.cub
  porf prove corpus/prove/peterson.cub --model pso
  porf prove german.cub --certificate german.cert
  porf prove german.cub --check german.cert
  porf prove ticket.cub --instance 3
  porf prove corpus/prove/peterson-nofence.cub --fences
  porf prove --from corpus/programs/ttaslock.c --model tso
  porf prove --from corpus/programs/peterson.c --threads main -- -DBUG_NO_FENCE

Exit code: 0 safe for every number of processes, 1 an unsafe state is reachable, 2 the system or the
certificate is wrong, 3 inconclusive, 130 interrupted.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelArg {
    Sc,
    Tso,
    Pso,
    Ra,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ApproximateArg {
    /// Both the exact search and guessing, in turns
    Auto,
    /// Only guessing
    Always,
    /// Only the exact search
    Never,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    match answer(args, options) {
        Ok(code) => code,
        Err(error) => error.show(args, options),
    }
}

/// What went wrong before there was an answer.
struct Failure {
    wrong: Diagnostic,
    /// The text of the system, if it is to blame.
    source: Option<String>,
}

impl Failure {
    fn show(&self, args: &Args, options: &Options) -> ExitCode {
        let file = args.subject().display().to_string();
        match (options.format, &self.source) {
            (Format::Json, _) => print(&report::error_json(&file, &self.wrong)),
            (Format::Text, Some(source)) => {
                let wrong = self.wrong.clone().in_file(&file);
                eprint!("{}", diagnostic::text(&wrong, Some(source), options.paint()));
            }
            (Format::Text, None) => eprintln!("porf prove: {}", self.wrong),
        }
        ExitCode::from(2)
    }

    /// In the text of the system.
    fn text(wrong: Diagnostic, source: &str) -> Failure {
        Failure { wrong, source: Some(source.to_owned()) }
    }

    fn other(message: impl Into<String>) -> Failure {
        Failure { wrong: Diagnostic::about("", message), source: None }
    }

    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        move |error| Failure::other(format!("{}: {error}", path.display()))
    }
}

fn answer(args: &Args, options: &Options) -> Result<ExitCode, Failure> {
    let source = std::fs::read_to_string(args.subject()).map_err(Failure::file(args.subject()))?;
    let (system, assumptions) = match &args.from {
        Some(path) => program(args, path, options)?,
        None => (porf_param::load(&source).map_err(|wrong| Failure::text(wrong, &source))?, Vec::new()),
    };
    let memory = match args.model {
        Some(ModelArg::Sc) => Memory::Sc,
        Some(ModelArg::Tso) => Memory::Tso,
        Some(ModelArg::Pso) => Memory::Pso,
        Some(ModelArg::Ra) => Memory::Ra,
        None if system.has_weak() => Memory::Tso,
        None => Memory::Sc,
    };
    if args.from.is_some() && !matches!(memory, Memory::Sc | Memory::Tso) {
        let why = format!("a program runs on sc or tso: {} has no mapping of C's orderings", memory.word());
        return Err(Failure::other(why));
    }
    let file = args.subject().display().to_string();
    let subject = Subject { file: &file, source: &source, system: &system, program: args.from.is_some() };
    match (&args.check, args.instance) {
        (Some(path), _) => check(args, path, subject, memory, options),
        (None, Some(processes)) => instance(args, subject, memory, processes, options),
        (None, None) if args.fences => fences(args, subject, memory, options),
        (None, None) => prove(args, subject, memory, &assumptions, options),
    }
}

/// What the options ask of the prover.
fn request(args: &Args, memory: Memory) -> Request<'static> {
    Request {
        memory,
        approximation: match args.approximate {
            ApproximateArg::Auto => Approximation::Auto,
            ApproximateArg::Always => Approximation::Always,
            ApproximateArg::Never => Approximation::Never,
        },
        brab: args.brab,
        jobs: args.jobs.max(1),
        max_nodes: args.max_nodes,
        max_work: args.max_work,
        max_seconds: args.budget,
        explore_first: !args.no_explore,
        certifiable: args.certificate.is_some(),
        interrupt: Some(interrupt::flag()),
    }
}

/// `--fences`: which barriers make the system safe.
fn fences(args: &Args, subject: Subject<'_>, memory: Memory, options: &Options) -> Result<ExitCode, Failure> {
    interrupt::watch();
    let start = Instant::now();
    let advice = porf_param::fences::advise(subject.system, request(args, memory))
        .map_err(|wrong| Failure::text(wrong, subject.source))?;
    let fences = Fences { subject, advice: &advice, seconds: start.elapsed().as_secs_f64() };
    print(&match options.format {
        Format::Json => report::fences_json(&fences),
        Format::Text => report::fences_text(&fences, options.paint()),
    });
    Ok(ExitCode::from(advice.as_written.verdict.exit_code()))
}

/// The system of a program, and what it leaves out.
fn program(args: &Args, path: &Path, options: &Options) -> Result<(System, Vec<String>), Failure> {
    let file = path.display().to_string();
    let _guard = Guard::new("prove", &file, options.format);
    let load = porf_frontend_llvm::Options { flags: args.flags.clone(), ..Default::default() };
    let program = porf_frontend_llvm::load(&[path.to_owned()], &load)
        .map_err(|error| Failure::other(error.to_string()))?;
    let translated = porf_param::program::translate(&program, &args.threads)
        .map_err(|wrong| Failure { wrong, source: None })?;
    if let Some(path) = &args.system {
        std::fs::write(path, &translated.text).map_err(Failure::file(path))?;
    }
    Ok((translated.system, translated.assumptions))
}

fn prove(
    args: &Args,
    subject: Subject<'_>,
    memory: Memory,
    assumptions: &[String],
    options: &Options,
) -> Result<ExitCode, Failure> {
    if memory == Memory::Ra && args.certificate.is_some() && subject.system.has_weak() {
        return Err(Failure::other("there are no certificates under release–acquire (docs/limits.md)"));
    }
    let request = request(args, memory);
    interrupt::watch();
    let start = Instant::now();
    let mut answer =
        porf_param::prove(subject.system, request).map_err(|wrong| Failure::text(wrong, subject.source))?;
    let seconds = start.elapsed().as_secs_f64();
    if subject.program {
        // A step that a thread never takes is a value that a variable never has there: not the program's mistake.
        answer.warnings.retain(|warning| !matches!(warning, Warning::NeverHappens { .. }));
        answer.warnings.extend(assumptions.iter().cloned().map(|message| Warning::OfProgram { message }));
    }
    let saved = match (&answer.verdict, &args.certificate) {
        (Verdict::Safe(_), Some(path)) => Some((path, save(args, path, subject, memory, &answer)?)),
        _ => None,
    };
    let path = saved.as_ref().map(|(path, _)| path.display().to_string()).unwrap_or_default();
    let certificate =
        saved.as_ref().map(|(_, (certificate, confirmed))| (path.as_str(), certificate, confirmed));
    let proof = Proof { subject, answer: &answer, invariant: args.invariant, certificate, seconds };
    print(&match options.format {
        Format::Json => report::proof_json(&proof),
        Format::Text => report::proof_text(&proof, options.paint()),
    });
    if let Some(path) = &args.sarif {
        std::fs::write(path, report::proof_sarif(&proof)).map_err(Failure::file(path))?;
    }
    if let Some(path) = &args.html {
        std::fs::write(path, report::proof_html(&proof)).map_err(Failure::file(path))?;
    }
    if let Some(path) = &args.junit {
        let case = Case::of_verdict(memory.word(), subject.file, subject.file, &answer.verdict);
        let report = junit::junit("porf prove", &[case], seconds);
        std::fs::write(path, report).map_err(Failure::file(path))?;
    }
    Ok(ExitCode::from(answer.verdict.exit_code()))
}

/// Writes the certificate, smallest first and checked before.
fn save(
    args: &Args,
    path: &Path,
    subject: Subject<'_>,
    memory: Memory,
    answer: &ProofAnswer,
) -> Result<(Certificate, Confirmed), Failure> {
    let solvers = solvers(args);
    let whole = certificate::of(memory, answer)
        .ok_or_else(|| Failure::other("the proof is in the order of coherence: it has no certificate"))?;
    let least = certificate::minimise(subject.system, memory, whole, &solvers[..solvers.len().min(1)]);
    let checked = least.and_then(|least| {
        // Through the text, as whoever reads the file will.
        let text = certificate::write(subject.system, &least);
        let read = certificate::read(subject.system, &text).map_err(Refusal::Certificate)?;
        let confirmed = certificate::check(subject.system, memory, &read, &solvers)?;
        Ok((text, least, confirmed))
    });
    let (text, least, confirmed) = checked.map_err(|refusal| match refusal {
        Refusal::System(wrong) => Failure::text(wrong, subject.source),
        Refusal::Solver(why) => Failure::other(format!("no certificate is written: {why}")),
        Refusal::Certificate(why) | Refusal::Obligation(why) => {
            Failure::other(format!("no certificate is written, because it is not confirmed: {why}"))
        }
    })?;
    std::fs::write(path, text).map_err(Failure::file(path))?;
    Ok((least, confirmed))
}

fn solvers(args: &Args) -> Vec<Solver> {
    match args.solvers.as_slice() {
        [] => Solver::installed(),
        commands => commands.iter().map(|command| Solver::new(command)).collect(),
    }
}

/// `--instance N`: the explorer alone.
fn instance(
    args: &Args,
    subject: Subject<'_>,
    memory: Memory,
    processes: u8,
    options: &Options,
) -> Result<ExitCode, Failure> {
    if let Some(diagnostic) = subject.system.refused_under(memory) {
        return Err(Failure::text(diagnostic.clone(), subject.source));
    }
    if let Some(most) = subject.system.number_procs.filter(|most| processes > *most) {
        let message = format!("the system has at most {most} processes (number_procs), not {processes}");
        return Err(Failure::other(message));
    }
    let limits = Limits { states: 1_000_000, buffer: 4, initial: 100_000, stop_at_unsafe: true };
    let start = Instant::now();
    let go_on = || start.elapsed().as_secs() < args.budget;
    let exploration = explore_while(subject.system, memory, processes, limits, &go_on);
    let seconds = start.elapsed().as_secs_f64();
    let explored = Explored { subject, memory, processes, exploration: &exploration, seconds };
    print(&match options.format {
        Format::Json => report::explored_json(&explored),
        Format::Text => report::explored_text(&explored, options.paint()),
    });
    Ok(ExitCode::from(match explored.word() {
        "violated" => 1,
        "safe" => 0,
        _ => 3,
    }))
}

/// `--check CERTIFICATE`: every obligation of the certificate goes to the solvers.
fn check(
    args: &Args,
    path: &Path,
    subject: Subject<'_>,
    memory: Memory,
    options: &Options,
) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
    let shown = path.display().to_string();
    let certificate = certificate::read(subject.system, &text)
        .map_err(|message| Failure::other(format!("{shown}: {message}")))?;
    let start = Instant::now();
    let obligations = certificate::obligations(subject.system, memory, &certificate);
    let obligations = obligations.map_err(|refusal| match refusal {
        Refusal::System(wrong) => Failure::text(wrong, subject.source),
        Refusal::Certificate(why) | Refusal::Obligation(why) | Refusal::Solver(why) => {
            Failure::other(format!("{shown}: {why}"))
        }
    })?;
    if let Some(path) = &args.smt {
        let script: Vec<String> = (obligations.iter())
            .map(|one| format!("; {}\n(push 1)\n{}(check-sat)\n(pop 1)\n", one.what, one.text))
            .collect();
        let script = format!("(set-logic ALL)\n{}", script.concat());
        std::fs::write(path, script).map_err(Failure::file(path))?;
    }
    let result = certificate::refute(&obligations, &solvers(args));
    if let Err(Refusal::Solver(why)) = &result {
        return Err(Failure::other(why.clone()));
    }
    let seconds = start.elapsed().as_secs_f64();
    let checked = Checked { subject, path: &shown, certificate: &certificate, result: &result, seconds };
    print(&match options.format {
        Format::Json => report::checked_json(&checked),
        Format::Text => report::checked_text(&checked, options.paint()),
    });
    Ok(ExitCode::from(if result.is_ok() { 0 } else { 2 }))
}

/// Writes to stdout; a reader that has gone away is no error.
fn print(text: &str) {
    drop(std::io::stdout().write_all(text.as_bytes()));
}
