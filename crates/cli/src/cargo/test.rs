//! Explores tests, and says what libtest would say of each.

use super::FAILED;
use super::build::{Built, Selection, build};
use super::settings::Given;
use clap::ValueEnum;
use porf::{Answer, Code, Error, Input, LoadOptions, Origin, Request, ShouldPanic, Test};
use porf_report::Paint;
use porf_report::verify as render;
use porf_verdict::{Verdict, ViolationKind};
use serde_json::json;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Explore each test of the crate
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo porf test
  cargo porf test queue:: --lib -- --unroll 3 --budget 5m
  RUSTFLAGS=\"--cfg loom\" cargo porf test --test loom")]
pub struct Args {
    #[command(flatten)]
    tests: Tests,
    /// How many tests are explored at the same time
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    jobs: usize,
    #[command(flatten)]
    given: Given,
}

/// Which tests are run, and how their results are printed.
#[derive(clap::Args)]
pub(super) struct Tests {
    /// Only tests whose name contains this
    filter: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// Run ignored tests, too
    #[arg(long)]
    pub include_ignored: bool,
    /// Only the test whose name is exactly the filter
    #[arg(long)]
    exact: bool,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Explore a binary or an example of the crate
#[derive(clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    selection: Selection,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    given: Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// What is said of a test.
enum Outcome {
    Ok(u64),
    /// A model that should panic does.
    Panics,
    /// Why, and the whole report.
    Failed(String),
    /// Why there is no verdict.
    Inconclusive(String),
}

/// A test that is ready to be explored.
struct Ready<'a> {
    test: &'a Test,
    input: Result<Input, Error>,
    /// How long it took to translate it.
    seconds: f64,
    request: Request<'static>,
}

/// Of all targets.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    inconclusive: usize,
    ignored: usize,
}

pub fn run(args: &Args) -> Result<ExitCode, Error> {
    args.tests.each_target(|built| target(args, built))
}

impl Tests {
    /// Builds tests and goes through them as cargo test does: the library, binaries, then integration tests and
    /// examples. `is_bad` tells whether one of a target's tests is not right.
    pub(super) fn each_target(
        &self,
        mut is_bad: impl FnMut(&Built) -> Result<bool, Error>,
    ) -> Result<ExitCode, Error> {
        let mut built = match build("test", &self.selection)? {
            Ok(built) => built,
            Err(code) => return Ok(code),
        };
        built.sort_by_key(|one| (one.order, one.name.clone()));
        let mut bad = false;
        for one in &built {
            bad |= is_bad(one)?;
        }
        Ok(if bad { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
    }

    /// Whether the user asked for the test of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        match &self.filter {
            Some(filter) if self.exact => name == filter,
            Some(filter) => name.contains(filter),
            None => true,
        }
    }
}

/// The tests of one target; whether one of them is not right.
fn target(args: &Args, built: &Built) -> Result<bool, Error> {
    let start = Instant::now();
    let text = args.tests.format == Format::Text;
    let mut code = read(&built.bitcode, &args.given)?;
    let tests = code.tests().map_err(|error| Error::Input(error.to_string()))?;
    let chosen: Vec<&Test> = tests.iter().filter(|test| args.tests.has(&test.name)).collect();
    let (run, skipped): (Vec<&Test>, Vec<&Test>) =
        chosen.iter().partition(|test| args.tests.include_ignored || !test.ignored);
    if text {
        announce(built, chosen.len());
    }
    let mut counts = Counts { ignored: skipped.len(), ..Counts::default() };
    skipped.iter().for_each(|test| say(args, built, test, "ignored", Err(None)));
    let entries: Vec<String> = run.iter().map(|test| test.entry.clone()).collect();
    let mut failures = Vec::new();
    if !run.is_empty() {
        code.prepare(&entries).map_err(|error| Error::Input(error.to_string()))?;
        failures = explore(args, built, &code, &run, &mut counts)?;
    }
    if text {
        let out = tests.len() - chosen.len();
        summary(&failures, &counts, out, start.elapsed().as_secs_f64());
    }
    Ok(counts.failed + counts.inconclusive > 0)
}

/// What libtest says before it runs so many tests.
pub fn announce(built: &Built, count: usize) {
    println!("     Running {} ({})\n", built.title, built.name);
    println!("running {count} test{}", if count == 1 { "" } else { "s" });
}

/// Explores tests, several at the same time, while the next are translated; those that fail, with their reports.
fn explore(
    args: &Args,
    built: &Built,
    code: &Code,
    tests: &[&Test],
    counts: &mut Counts,
) -> Result<Vec<(String, String)>, Error> {
    let failures = Mutex::new((Vec::new(), counts));
    let (send, receive) = sync_channel::<Ready<'_>>(1);
    let receive = Arc::new(Mutex::new(receive));
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            let (receive, failures) = (Arc::clone(&receive), &failures);
            scope.spawn(move || {
                let next = || receive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv().ok();
                while let Some(one) = next() {
                    let (outcome, answer) = outcome(&one);
                    let mut failures = failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let (failed, counts) = &mut *failures;
                    let word = match &outcome {
                        Outcome::Ok(1) => "ok (1 execution)".to_string(),
                        Outcome::Ok(executions) => format!("ok ({executions} executions)"),
                        Outcome::Panics => "ok (as it should panic)".to_string(),
                        Outcome::Failed(_) => "FAILED".to_string(),
                        Outcome::Inconclusive(why) => format!("inconclusive: {why}"),
                    };
                    let error = match &outcome {
                        Outcome::Failed(error) if answer.is_none() => Some(error.as_str()),
                        _ => None,
                    };
                    say(args, built, one.test, &word, answer.as_ref().ok_or(error));
                    match outcome {
                        Outcome::Ok(_) | Outcome::Panics => counts.passed += 1,
                        Outcome::Inconclusive(_) => counts.inconclusive += 1,
                        Outcome::Failed(report) => {
                            counts.failed += 1;
                            failed.push((one.test.name.clone(), report));
                        }
                    }
                }
            });
        }
        // Those that receive have it now: if they are gone, nothing can be sent.
        drop(receive);
        let translated = tests.iter().try_for_each(|test| {
            // It can only fail if all that receive have panicked.
            let _ = send.send(ready(args, built, code, test)?);
            Ok::<(), Error>(())
        });
        drop(send);
        translated
    })?;
    let (mut failed, _) = failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failed.sort();
    Ok(failed)
}

/// Translates a test.
fn ready<'a>(args: &Args, built: &Built, code: &Code, test: &'a Test) -> Result<Ready<'a>, Error> {
    let start = Instant::now();
    let input = Input::of_code(code, &test.entry, origin(built, &test.name, &args.given));
    let seconds = start.elapsed().as_secs_f64();
    let request = built.settings.request(&test.name, test.settings.as_deref(), &args.given)?;
    Ok(Ready { test, input, seconds, request })
}

/// What all executions of a test say of it.
fn outcome(ready: &Ready<'_>) -> (Outcome, Option<Answer>) {
    let should_panic = ready.test.should_panic != ShouldPanic::No;
    let is_model = ready.input.as_ref().is_ok_and(explores_a_model);
    // Of a model, one execution that panics is enough.
    let panics = should_panic && !is_model;
    let explored = ready.input.as_ref().map_err(|error| error.to_string()).and_then(|input| {
        let request = Request { all: panics, ..ready.request };
        porf::verify(input, &request).map_err(|error| error.to_string())
    });
    let answer = match explored {
        Ok(mut answer) => {
            answer.seconds.frontend = ready.seconds;
            answer
        }
        Err(error) => return (Outcome::Failed(format!("error: {error}\n")), None),
    };
    let outcome = match (&answer.verdict, &ready.test.should_panic) {
        (Verdict::Inconclusive(limit), _) => Outcome::Inconclusive(limit.to_string()),
        // loom and Shuttle panic for whatever they find.
        (Verdict::Violated(violation), expected)
            if should_panic
                && is_model
                && (violation.kind != ViolationKind::Panic || says(&violation.message, expected)) =>
        {
            Outcome::Panics
        }
        (Verdict::Safe(_), ShouldPanic::No) => Outcome::Ok(answer.executions),
        (Verdict::Safe(_), _) => Outcome::Failed("note: test did not panic as expected\n".to_string()),
        (Verdict::Violated(violation), expected) if panics && violation.kind == ViolationKind::Panic => {
            if !says(&violation.message, expected) {
                let report = report(&answer);
                Outcome::Failed(format!("{report}note: the panic does not say what was expected\n"))
            } else if answer.executions > 0 {
                let count = answer.executions;
                Outcome::Failed(format!("note: test did not panic as expected in {count} executions\n"))
            } else if let Some(limit) = &answer.unfinished {
                Outcome::Inconclusive(limit.to_string())
            } else {
                Outcome::Ok(1)
            }
        }
        (Verdict::Violated(_), _) => Outcome::Failed(report(&answer)),
    };
    (outcome, Some(answer))
}

/// Whether a panic says what is expected of it.
fn says(message: &str, expected: &ShouldPanic) -> bool {
    match expected {
        ShouldPanic::With(text) => message.contains(text.as_str()),
        _ => true,
    }
}

/// Whether a test calls what runs a model in our crates.
fn explores_a_model(input: &Input) -> bool {
    input.program.functions.iter().any(|function| function.name.contains("15porf_intrinsics5model"))
}

/// A line about a test, with its answer or the error that it ends with.
fn say(args: &Args, built: &Built, test: &Test, word: &str, answer: Result<&Answer, Option<&str>>) {
    match args.tests.format {
        Format::Text => println!("test {} ... {word}", test.name),
        Format::Json => {
            let outcome = word.split([' ', ':']).next().unwrap_or(word).to_lowercase();
            let mut line = json!({ "target": built.name, "test": test.name, "outcome": outcome });
            match answer {
                Ok(answer) => line["answer"] = render::json(answer),
                Err(error) => line["error"] = error.map(str::trim_end).into(),
            }
            println!("{line}");
        }
    }
}

fn summary(failures: &[(String, String)], counts: &Counts, filtered: usize, seconds: f64) {
    if !failures.is_empty() {
        println!("\nfailures:\n");
        for (name, report) in failures {
            println!("---- {name} ----\n{report}");
        }
        println!("\nfailures:");
        failures.iter().for_each(|(name, _)| println!("    {name}"));
    }
    let Counts { passed, failed, inconclusive, ignored } = counts;
    let word = if failed + inconclusive == 0 { "ok" } else { "FAILED" };
    let unknown = match inconclusive {
        0 => String::new(),
        count => format!("{count} inconclusive; "),
    };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {unknown}{ignored} ignored; {filtered} filtered \
         out; finished in {seconds:.2}s\n"
    );
}

pub fn verify(args: &VerifyArgs) -> Result<ExitCode, Error> {
    let built = match build("build", &args.selection)? {
        Ok(built) => built,
        Err(code) => return Ok(code),
    };
    let Selection { bin, example, .. } = &args.selection;
    let named: Vec<&String> = bin.iter().chain(example).collect();
    let mut wanted = built.iter().filter(|one| named.is_empty() || named.contains(&&one.name));
    let (Some(built), None) = (wanted.next(), wanted.next()) else {
        let names: Vec<&str> = built.iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        return Err(Error::Input(format!("which binary? name one with --bin or --example ({names})")));
    };
    let mut code = read(&built.bitcode, &args.given)?;
    let entry = code.main("main").map_err(|error| Error::Input(error.to_string()))?;
    code.prepare(std::slice::from_ref(&entry)).map_err(|error| Error::Input(error.to_string()))?;
    let input = Input::of_code(&code, &entry, origin(built, "main", &args.given))?;
    let answer = porf::verify(&input, &built.settings.request("main", None, &args.given)?)?;
    match args.format {
        Format::Text => print!("{}", report(&answer)),
        Format::Json => println!("{}", render::json(&answer)),
    }
    Ok(ExitCode::from(answer.verdict.exit_code()))
}

fn read(bitcode: &std::path::Path, given: &Given) -> Result<Code, Error> {
    Code::read(&[bitcode.to_path_buf()], &load_options(given))
        .map_err(|error| Error::Input(error.to_string()))
}

fn load_options(given: &Given) -> LoadOptions {
    LoadOptions { is_rust: true, real_std: given.real_std, leaks: given.leaks, ..LoadOptions::default() }
}

fn origin(built: &Built, entry: &str, given: &Given) -> Origin {
    let options = LoadOptions { entry: entry.to_string(), ..load_options(given) };
    Origin { files: vec![built.name.clone()], options }
}

fn report(answer: &Answer) -> String {
    let color = std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal();
    render::text(answer, Paint { color, ascii: false }, 120, &|file| std::fs::read_to_string(file).ok())
}
