//! `porf prove`: is this array system safe for any number of processes?

use crate::interrupt;
use crate::options::{Format, Options};
use clap::ValueEnum;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};
use porf_param::explore::Instance;
use porf_param::syntax::Diagnostic;
use porf_param::system::System;
use porf_param::{Answer, Approximation, Model, Request, certificate, describe};
use porf_verdict::{Limit, Verdict};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Prove or refute the safety of an array system for any number of processes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The system, in Cubicle's language
    #[arg(value_name = "FILE.cub")]
    file: PathBuf,
    /// The memory under the system's weak variables
    #[arg(long, short, value_enum, default_value_t = ModelArg::Tso)]
    model: ModelArg,
    /// Write the invariant of a safe system to this file
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Check a certificate of the system with an SMT solver instead of proving
    #[arg(long, value_name = "CERTIFICATE", conflicts_with = "certificate")]
    check: Option<PathBuf>,
    /// The SMT solver for --check: a command that reads SMT-LIB from its standard input
    #[arg(long, value_name = "COMMAND", default_value = "z3 -in -smt2")]
    solver: String,
    /// With --check: write the solver's input here
    #[arg(long, value_name = "FILE", requires = "check")]
    smt: Option<PathBuf>,
    /// Guess invariants from small instances
    #[arg(long, value_enum, default_value_t = ApproximateArg::Auto)]
    approximate: ApproximateArg,
    /// Guess them from the instance with this many processes (as far as 300,000 states)
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
    /// Threads that compute pre-images
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Stop after so many cubes
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    max_nodes: usize,
    /// Stop after so many steps of work: unlike seconds, the same on every machine
    #[arg(long, value_name = "STEPS", default_value_t = porf_param::prove::MAX_WORK)]
    max_work: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    budget: u64,
}

const EXAMPLES: &str = "Examples:
  porf prove corpus/prove/naive-mutex.cub
  porf prove corpus/prove/peterson.cub --model pso
  porf prove german.cub --certificate german.cert
  porf prove german.cub --check german.cert
  porf prove ticket.cub --instance 3

Exit code: 0 safe for every number of processes, 1 an unsafe state is reachable, 2 the system or the
certificate is wrong, 3 inconclusive, 130 interrupted.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelArg {
    Sc,
    Tso,
    Pso,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ApproximateArg {
    /// When the plain search has become expensive
    Auto,
    Always,
    Never,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    let source = match std::fs::read_to_string(&args.file) {
        Ok(source) => source,
        Err(error) => return fail(&format!("{}: {error}", args.file.display())),
    };
    let system = match porf_param::load(&source) {
        Ok(system) => system,
        Err(diagnostic) => return wrong(&args.file, &source, &diagnostic, options),
    };
    let model = match args.model {
        ModelArg::Sc => Model::Sc,
        ModelArg::Tso => Model::Tso,
        ModelArg::Pso => Model::Pso,
    };
    if let Some(path) = &args.check {
        return check(args, path, &source, &system, options);
    }
    if let Some(processes) = args.instance {
        return instance(args, &source, &system, model, processes, options);
    }
    let request = Request {
        model,
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
        interrupt: Some(interrupt::flag()),
    };
    interrupt::watch();
    let start = Instant::now();
    let answer = match porf_param::prove(&system, request) {
        Ok(answer) => answer,
        Err(diagnostic) => return wrong(&args.file, &source, &diagnostic, options),
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut saved = None;
    if let (Verdict::Safe(_), Some(path)) = (&answer.verdict, &args.certificate) {
        let text = certificate::write(
            &system,
            &certificate::Certificate { model, order: answer.order, cubes: answer.invariant.clone() },
        );
        if let Err(error) = std::fs::write(path, text) {
            return fail(&format!("{}: {error}", path.display()));
        }
        saved = Some(path.as_path());
    }
    let report = Report { args, system: &system, model, answer: &answer, seconds, saved };
    let text = match options.format {
        Format::Json => report.json(),
        Format::Text => report.text(&Paint(options.colored())),
    };
    print(&text);
    match answer.verdict {
        Verdict::Inconclusive(Limit::Interrupted) => ExitCode::from(130),
        _ => ExitCode::from(answer.verdict.exit_code()),
    }
}

struct Report<'a> {
    args: &'a Args,
    system: &'a System,
    model: Model,
    answer: &'a Answer,
    seconds: f64,
    saved: Option<&'a Path>,
}

impl Report<'_> {
    fn text(&self, paint: &Paint) -> String {
        let (answer, file) = (self.answer, self.args.file.display());
        let statistics = &answer.statistics;
        let mut text = match &answer.verdict {
            Verdict::Safe(coverage) => {
                format!("{} {file} under {}: {coverage}\n", paint.green("safe"), self.model.word())
            }
            Verdict::Violated(violation) => {
                format!("{} {file} under {}: {}\n", paint.red("unsafe"), self.model.word(), violation.message)
            }
            Verdict::Inconclusive(limit) => {
                format!("{} {file} under {}: {limit}\n", paint.yellow("inconclusive"), self.model.word())
            }
        };
        if let Some((trace, property)) = &answer.trace {
            let instance = Instance::new(self.system, self.model, trace.processes);
            text.push_str(&trace_text(&instance, trace, *property, paint));
        }
        if let Some(steps) = &answer.spurious {
            text.push_str("\nThe steps that do not replay:\n");
            for (index, procs) in steps {
                let procs: Vec<String> = procs.iter().map(|p| format!("#{}", p + 1)).collect();
                text.push_str(&format!("  {} ({})\n", self.system.transitions[*index].name, procs.join(" ")));
            }
        }
        if self.args.invariant && !answer.invariant.is_empty() {
            text.push_str("\nNever reached:\n");
            for cube in &answer.invariant {
                text.push_str(&format!("  {}\n", describe::cube(self.system, cube)));
            }
        }
        if let Some(path) = self.saved {
            text.push_str(&format!("certificate: {}\n", path.display()));
        }
        if statistics.dropped_lemmas > 0 {
            text.push_str(&format!(
                "warning: {} stated invariants are not invariant and were not used\n",
                statistics.dropped_lemmas
            ));
        }
        text.push_str(&paint.dim(&format!(
            "{} nodes, {} candidates, {} restarts, {} states explored, {:.3} s\n",
            statistics.nodes, statistics.candidates, statistics.restarts, answer.explored, self.seconds
        )));
        text
    }

    fn json(&self) -> String {
        let answer = self.answer;
        let statistics = &answer.statistics;
        let mut object = serde_json::json!({
            "schema": 1,
            "command": "prove",
            "file": self.args.file.display().to_string(),
            "model": self.model.word(),
            "verdict": answer.verdict.word(),
            "nodes": statistics.nodes,
            "candidates": statistics.candidates,
            "restarts": statistics.restarts,
            "explored_states": answer.explored,
            "work": statistics.work,
            "seconds": self.seconds,
        });
        match &answer.verdict {
            Verdict::Safe(_) => {
                let cubes: Vec<String> =
                    answer.invariant.iter().map(|cube| describe::cube(self.system, cube)).collect();
                object["coverage"] = serde_json::json!({ "kind": "all_instances", "cubes": cubes.len() });
                object["never"] = cubes.into();
                if let Some(path) = self.saved {
                    object["certificate"] = path.display().to_string().into();
                }
            }
            Verdict::Violated(violation) => {
                object["violation"] =
                    serde_json::json!({ "kind": violation.kind.word(), "message": violation.message });
            }
            Verdict::Inconclusive(limit) => object["limit"] = limit.to_string().into(),
        }
        if let Some((trace, property)) = &answer.trace {
            let instance = Instance::new(self.system, self.model, trace.processes);
            object["trace"] = trace_json(&instance, trace, *property);
        }
        format!("{object}\n")
    }
}

fn trace_text(
    instance: &Instance<'_>,
    trace: &porf_param::explore::Trace,
    property: usize,
    paint: &Paint,
) -> String {
    let steps = describe::steps(instance, trace);
    let name = |step: &describe::StepView| {
        let procs: Vec<String> = step.processes.iter().map(|p| format!("#{}", p + 1)).collect();
        format!("{} {}", procs.join(" "), step.action)
    };
    let width = steps.iter().map(|step| name(step).len()).max().unwrap_or(0);
    let mut text = format!("\n  start  {}\n", describe::state(instance, &trace.initial).join(", "));
    for (i, step) in steps.iter().enumerate() {
        let title = format!("{:width$}", name(step));
        let title = if step.action == "commit" { paint.dim(&title) } else { paint.bold(&title) };
        let mut parts = Vec::new();
        if !step.reads.is_empty() {
            parts.push(format!("reads {}", step.reads.join(", ")));
        }
        if !step.effects.is_empty() {
            parts.push(step.effects.join(", "));
        }
        text.push_str(&format!("  {:>5}  {title}  {}\n", i + 1, parts.join("; ")));
        if !step.buffers.is_empty() {
            text.push_str(&format!(
                "         {:width$}  {}\n",
                "",
                paint.dim(&format!("pending {}", step.buffers.join("  ")))
            ));
        }
    }
    let last = trace.steps.last().map_or(&trace.initial, |(_, state)| state);
    let set = &instance.system.unsafes[property];
    let name = set.name.as_deref().map_or(String::new(), |name| format!(" {name}"));
    text.push_str(&format!(
        "  {}{name}  {}\n\n",
        paint.red("unsafe"),
        describe::state(instance, last).join(", ")
    ));
    text
}

fn trace_json(
    instance: &Instance<'_>,
    trace: &porf_param::explore::Trace,
    property: usize,
) -> serde_json::Value {
    let steps: Vec<serde_json::Value> = (describe::steps(instance, trace).iter().zip(&trace.steps))
        .map(|(step, (_, after))| {
            serde_json::json!({
                "action": step.action,
                "processes": step.processes.iter().map(|p| p + 1).collect::<Vec<_>>(),
                "reads": step.reads,
                "effects": step.effects,
                "buffers": step.buffers,
                "state": describe::state(instance, after),
            })
        })
        .collect();
    serde_json::json!({
        "processes": trace.processes,
        "unsafe": instance.system.unsafes[property].name,
        "unsafe_index": property,
        "initial": describe::state(instance, &trace.initial),
        "steps": steps,
    })
}

/// `--instance N`: the explorer alone.
fn instance(
    args: &Args,
    source: &str,
    system: &System,
    model: Model,
    processes: u8,
    options: &Options,
) -> ExitCode {
    if model != Model::Sc
        && system.has_weak()
        && let Some(diagnostic) = system.weak_errors.first()
    {
        return wrong(&args.file, source, diagnostic, options);
    }
    if let Some(most) = system.number_procs.filter(|most| processes > *most) {
        return fail(&format!("the system has at most {most} processes (number_procs), not {processes}"));
    }
    let limits = porf_param::explore::Limits { states: 1_000_000, buffer: 4, initial: 100_000 };
    let start = Instant::now();
    let go_on = || start.elapsed().as_secs() < args.budget;
    let exploration = porf_param::explore::explore_while(system, model, processes, limits, &go_on);
    let seconds = start.elapsed().as_secs_f64();
    let cut = exploration.cut;
    let reasons: Vec<&str> = [
        (cut.states, "too many states"),
        (cut.buffers, "store buffers longer than 4"),
        (cut.numbers, "numbers beyond those of the text"),
        (cut.initial, "too many initial states"),
        (cut.stopped, "the budget of time was used up"),
    ]
    .into_iter()
    .filter_map(|(happened, why)| happened.then_some(why))
    .collect();
    let (word, code) = match (&exploration.trace, reasons.is_empty()) {
        (Some(_), _) => ("violated", 1),
        (None, true) => ("safe", 0),
        (None, false) => ("inconclusive", 3),
    };
    let shown = Instance::new(system, model, processes);
    if options.format == Format::Json {
        let mut object = serde_json::json!({
            "schema": 1, "command": "prove", "file": args.file.display().to_string(), "model": model.word(),
            "instance": processes, "verdict": word, "states": exploration.states.len(), "seconds": seconds,
            "cut": reasons,
        });
        if let Some((trace, property)) = &exploration.trace {
            object["trace"] = trace_json(&shown, trace, *property);
        }
        print(&format!("{object}\n"));
    } else {
        let paint = Paint(options.colored());
        let states = exploration.states.len();
        let mut text = match word {
            "violated" => format!("{} {} under {}\n", paint.red("unsafe"), args.file.display(), model.word()),
            "safe" => format!(
                "{} {} under {} with {processes} processes\n",
                paint.green("safe"),
                args.file.display(),
                model.word()
            ),
            _ => format!(
                "{} {} under {}: nothing found, but {}\n",
                paint.yellow("inconclusive"),
                args.file.display(),
                model.word(),
                reasons.join(", ")
            ),
        };
        if let Some((trace, property)) = &exploration.trace {
            text.push_str(&trace_text(&shown, trace, *property, &paint));
        }
        text.push_str(&paint.dim(&format!("{states} states, {seconds:.3} s\n")));
        print(&text);
    }
    ExitCode::from(code)
}

/// `--check CERTIFICATE`: every obligation of the certificate goes to the solver.
fn check(args: &Args, path: &Path, source: &str, system: &System, options: &Options) -> ExitCode {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return fail(&format!("{}: {error}", path.display())),
    };
    let certificate = match certificate::read(system, &text) {
        Ok(certificate) => certificate,
        Err(message) => return fail(&format!("{}: {message}", path.display())),
    };
    let script = match certificate::smt(system, &certificate) {
        Ok(script) => script,
        Err(diagnostic) => return wrong(&args.file, source, &diagnostic, options),
    };
    if let Some(path) = &args.smt
        && let Err(error) = std::fs::write(path, &script.text)
    {
        return fail(&format!("{}: {error}", path.display()));
    }
    let start = Instant::now();
    let output = match solve(&args.solver, &script.text) {
        Ok(output) => output,
        Err(message) => return fail(&message),
    };
    let verdict = script.judge(&output);
    let seconds = start.elapsed().as_secs_f64();
    let model = certificate.model.word();
    let (word, why) = match &verdict {
        Ok(()) => ("confirmed", String::new()),
        Err(why) => ("rejected", why.clone()),
    };
    if options.format == Format::Json {
        let object = serde_json::json!({
            "schema": 1, "command": "prove", "check": path.display().to_string(),
            "file": args.file.display().to_string(), "model": model, "verdict": word, "reason": why,
            "cubes": certificate.cubes.len(), "obligations": script.obligations.len(), "seconds": seconds,
        });
        print(&format!("{object}\n"));
    } else {
        let paint = Paint(options.colored());
        let colored = if verdict.is_ok() { paint.green(word) } else { paint.red(word) };
        let reason = if why.is_empty() { String::new() } else { format!(": {why}") };
        print(&format!(
            "{colored} {} for {} under {model}{reason}\n{}",
            path.display(),
            args.file.display(),
            paint.dim(&format!(
                "{} cubes, {} obligations, {seconds:.3} s\n",
                certificate.cubes.len(),
                script.obligations.len()
            ))
        ));
    }
    ExitCode::from(if verdict.is_ok() { 0 } else { 2 })
}

fn solve(command: &str, input: &str) -> Result<String, String> {
    let mut words = command.split_whitespace();
    let program = words.next().ok_or("--solver is empty")?;
    let mut child = std::process::Command::new(program)
        .args(words)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .map_err(|error| {
            format!("the solver `{program}` does not start: {error} (install z3, or give --solver)")
        })?;
    let mut stdin = child.stdin.take().ok_or("the solver has no input")?;
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    // A solver that stops early closes its input; what it printed decides.
    drop(writer.join());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The diagnostic in the source, with its help.
fn wrong(file: &Path, source: &str, diagnostic: &Diagnostic, options: &Options) -> ExitCode {
    let (line, column) = diagnostic.line_column(source);
    if options.format == Format::Json {
        let object = serde_json::json!({
            "schema": 1, "command": "prove", "file": file.display().to_string(),
            "error": { "message": diagnostic.message, "help": diagnostic.help, "line": line, "column": column },
        });
        print(&format!("{object}\n"));
        return ExitCode::from(2);
    }
    let length = diagnostic.span.end.saturating_sub(diagnostic.span.start).max(1);
    let label = LabeledSpan::new(None, diagnostic.span.start as usize, length as usize);
    let mut shown = MietteDiagnostic::new(diagnostic.message.clone()).with_label(label);
    shown.help = diagnostic.help.clone();
    let report = miette::Report::new(shown)
        .with_source_code(NamedSource::new(file.display().to_string(), source.to_owned()));
    let theme = if options.colored() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    let mut text = String::new();
    if handler.render_report(&mut text, report.as_ref()).is_err() {
        text = format!("{}:{line}:{column}: {}\n", file.display(), diagnostic.message);
    }
    eprint!("{text}");
    ExitCode::from(2)
}

fn fail(message: &str) -> ExitCode {
    eprintln!("porf prove: {message}");
    ExitCode::from(2)
}

/// Writes to stdout; a reader that has gone away is no error.
fn print(text: &str) {
    drop(std::io::stdout().write_all(text.as_bytes()));
}

struct Paint(bool);

impl Paint {
    fn wrap(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    fn green(&self, text: &str) -> String {
        self.wrap("1;32", text)
    }
    fn red(&self, text: &str) -> String {
        self.wrap("1;31", text)
    }
    fn yellow(&self, text: &str) -> String {
        self.wrap("1;33", text)
    }
    fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }
    fn dim(&self, text: &str) -> String {
        self.wrap("2", text)
    }
}
