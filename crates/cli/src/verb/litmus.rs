//! `porf litmus`: what do the models say about these tests?

mod answers;

use crate::options::{Format, Options, width};
use answers::Answers;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use porf::{Axioms, Engine, Error, TestAnswer, TestExecutions, difference};
use porf_frontend_litmus::{LitmusTest, Quantifier};
use porf_report::junit::{self, Case, Ended};
use porf_report::{Paint, diagnostic, litmus as render};
use porf_verdict::Diagnostic;
use rayon::prelude::*;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Run litmus tests (herd's format) under memory models
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Tests: files, folders (searched for *.litmus), or @lists of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// A model (see `porf models`) or the path of a cat file; several give a table.
    /// The default depends on the test: rc11 or lkmm for C, the architecture's own otherwise
    #[arg(long, short, value_name = "MODEL", value_delimiter = ',')]
    model: Vec<String>,
    /// Count the executions that --model allows and this model forbids, and show one of them
    #[arg(long, value_name = "MODEL")]
    against: Option<String>,
    /// What enumerates the executions
    #[arg(long, value_enum, default_value_t = EngineArg::Explore)]
    engine: EngineArg,
    /// How many tests run at the same time (default: one per core)
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// How many times a loop may run
    #[arg(long, value_name = "N", default_value_t = 2)]
    unroll: u32,
    /// Write the tests whose condition fails as SARIF
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    sarif: Option<PathBuf>,
    /// Write the tests as JUnit XML; a test fails if its `forall` or `~exists` does
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    junit: Option<PathBuf>,
    /// Say why: show an execution that ends as the condition asks, or the axioms that forbid it
    #[arg(long)]
    explain: bool,
    /// Write every execution of a test, and the forbidden ones that end as its condition asks, as a page for a browser; several tests
    /// make a folder of pages
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the final states of every test (default: only if there is a single one)
    #[arg(long)]
    states: bool,
    /// Only list the files, and the arguments that decide their answers
    #[arg(long, hide = true)]
    list: bool,
    /// Print the answers as plain data, a line for each file
    #[arg(long, hide = true)]
    raw: bool,
    /// Run nothing: take the answers from this file
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["against", "raw"])]
    answers: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  porf litmus SB.litmus
  porf litmus SB.litmus --model sc,tso,rc11
  porf litmus corpus/litmus/aarch64 --jobs 2
  porf litmus SB.litmus --model sc,rc11 --explain --html SB.html
  porf litmus LB.litmus --model imm --against rc11
  porf litmus @tests.txt --model my-model.cat --format json

Exit code: 1 if a `forall` or `~exists` condition fails, 2 if a test cannot be read or is not
supported, 0 otherwise. `exists` is a question: both answers are fine. With --against: 1 if there
is an execution that only the first model allows.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    /// Brute force over all candidate executions
    Oracle,
    /// The search, which visits each execution once; brute force where the search does not support the model
    Explore,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    let files = match collect(&args.paths) {
        Ok(files) => files,
        Err(error) => return fail(&error.to_string(), options),
    };
    if args.list {
        return list(args, &files);
    }
    let mut models = Vec::new();
    for name in &args.model {
        match Axioms::load(name) {
            Ok(model) => models.push(model),
            Err(error) => return refuse(&error, options),
        }
    }
    if let Some(against) = &args.against {
        let against = match Axioms::load(against) {
            Ok(model) => model,
            Err(error) => return refuse(&error, options),
        };
        return compare(args, &files, &models, &against, options);
    }
    if let Some(jobs) = args.jobs
        && let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global()
    {
        return fail(&error.to_string(), options);
    }
    let started = Instant::now();
    let progress = progress(files.len());
    let engine = match args.engine {
        EngineArg::Oracle => Engine::Oracle { unroll: args.unroll },
        EngineArg::Explore => Engine::Explore { unroll: args.unroll },
    };
    let one_by_one = args.explain || args.html.is_some();
    let run = |file: &PathBuf| {
        let tested = test(file, |test| ask(test, &models, engine, one_by_one));
        progress.inc(1);
        tested
    };
    let results: Vec<Tested> = match &args.answers {
        None => files.par_iter().map(run).collect(),
        Some(path) => match read_answers(path, &files) {
            Ok(results) => results,
            Err(message) => return fail(&message, options),
        },
    };
    progress.finish_and_clear();
    if args.raw {
        results.iter().for_each(|tested| println!("{}", answers::line(&tested.answers)));
        return ExitCode::SUCCESS;
    }
    let seconds = started.elapsed().as_secs_f64();
    match options.format {
        Format::Json => print_json(&results, args.explain),
        Format::Text => print_text(&results, &models, args, options.paint(), seconds),
    }
    if let Some(path) = &args.junit
        && let Err(error) = std::fs::write(path, junit::junit("porf litmus", &cases(&results), seconds))
    {
        return fail(&format!("{}: {error}", path.display()), options);
    }
    if let Some(path) = &args.html
        && let Err(error) = write_pages(path, &results)
    {
        return fail(&error, options);
    }
    if let Some(path) = &args.sarif
        && let Err(error) = std::fs::write(path, format!("{:#}\n", render::sarif(failed(&results))))
    {
        return fail(&format!("{}: {error}", path.display()), options);
    }
    exit_code(&results)
}

/// The tests whose `forall` or `~exists` does not hold, each with the model.
fn failed(results: &[Tested]) -> impl Iterator<Item = (&str, &LitmusTest, &str)> {
    results.iter().flat_map(|tested| {
        let test = tested.test.as_ref().ok();
        tested.answers.iter().filter_map(move |(model, answer)| {
            let (test, answer) = (test?, answer.as_ref().ok()?);
            let fails = !answer.outcome.ok && test.condition.quantifier != Quantifier::Exists;
            fails.then_some((tested.file.as_str(), test, model.as_str()))
        })
    })
}

/// One file, under every model asked for.
struct Tested {
    file: String,
    test: Result<LitmusTest, Diagnostic>,
    answers: Answers,
    /// For each answer, the executions one by one, if they were asked for.
    executions: Vec<Result<TestExecutions, Error>>,
}

type Asked = (Answers, Vec<Result<TestExecutions, Error>>);

fn test(file: &Path, answer: impl FnOnce(&LitmusTest) -> Asked) -> Tested {
    let name = file.display().to_string();
    let test = match std::fs::read(file) {
        Ok(bytes) => porf_frontend_litmus::parse(&name, &String::from_utf8_lossy(&bytes)),
        Err(error) => Err(Diagnostic::about(&name, error.to_string())),
    };
    let (answers, executions) = test.as_ref().map_or_else(|_| Asked::default(), answer);
    Tested { file: name, test, answers, executions }
}

impl Tested {
    /// The models that have an answer, with what else is known.
    fn answered(&self) -> Vec<(&str, &TestAnswer, &TestExecutions)> {
        let answers =
            self.answers.iter().filter_map(|(model, answer)| Some((model.as_str(), answer.as_ref().ok()?)));
        let all = answers.zip(&self.executions);
        all.filter_map(|((model, answer), executions)| Some((model, answer, executions.as_ref().ok()?)))
            .collect()
    }
}

/// The tests as continuous integration lists them.
fn cases(results: &[Tested]) -> Vec<Case> {
    let mut cases = Vec::new();
    for Tested { file, test, answers, .. } in results {
        let mut add = |class: &str, name: &str, ended| {
            cases.push(Case { class: class.to_string(), name: name.to_string(), file: file.clone(), ended })
        };
        let test = match test {
            Ok(test) => test,
            Err(wrong) => {
                add("", file, Ended::Error(wrong.to_string()));
                continue;
            }
        };
        for (model, answer) in answers {
            add(
                model,
                &test.name,
                match answer {
                    Err(error) => Ended::Error(error.to_string()),
                    Ok(answer) if !answer.outcome.ok && test.condition.quantifier != Quantifier::Exists => {
                        Ended::Failed(format!("the condition fails: {}", test.condition))
                    }
                    Ok(_) => Ended::Passed,
                },
            );
        }
    }
    cases
}

/// A page for a single test, or a folder with a page for each.
fn write_pages(path: &Path, results: &[Tested]) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
    if results.len() > 1 {
        std::fs::create_dir_all(path).map_err(wrong)?;
    }
    for tested in results {
        let Ok(test) = &tested.test else { continue };
        let page = render::html(test, &tested.answered());
        let file = match results.len() {
            1 => path.to_path_buf(),
            _ => path.join(format!("{}.html", test.name.replace('/', "-"))),
        };
        std::fs::write(file, page).map_err(wrong)?;
    }
    Ok(())
}

fn ask(test: &LitmusTest, models: &[Axioms], engine: Engine, one_by_one: bool) -> Asked {
    let own = if models.is_empty() { Some(Axioms::default_for(test)) } else { None };
    let (mut answers, mut executions) = Asked::default();
    for model in own.into_iter().chain(models) {
        let answer = porf::litmus(test, model, engine);
        if one_by_one && answer.is_ok() {
            let unroll = match engine {
                Engine::Oracle { unroll } | Engine::Explore { unroll } => unroll,
            };
            executions.push(porf::executions(test, model, unroll));
        }
        answers.push((model.name().to_string(), answer));
    }
    (answers, executions)
}

/// Reads answers that another process has found, a line for each file.
fn read_answers(path: &Path, files: &[PathBuf]) -> Result<Vec<Tested>, String> {
    let lines = answers::lines(path)?;
    if lines.len() != files.len() {
        return Err(format!("{} answers for {} files", lines.len(), files.len()));
    }
    let mut wrong = None;
    let tested = files.iter().zip(&lines).map(|(file, line)| {
        test(file, |test| {
            let answers = answers::read(line, test).unwrap_or_else(|message| {
                wrong.get_or_insert(message);
                Vec::new()
            });
            (answers, Vec::new())
        })
    });
    let tested = tested.collect();
    wrong.map_or(Ok(tested), Err)
}

/// Lists what another process needs to know to find the answers.
fn list(args: &Args, files: &[PathBuf]) -> ExitCode {
    let engine = args.engine.to_possible_value().map_or(String::new(), |value| value.get_name().to_string());
    let mut arguments = vec!["--engine".to_string(), engine, "--unroll".to_string(), args.unroll.to_string()];
    for model in &args.model {
        let path = std::fs::canonicalize(model).ok().filter(|path| path.is_file());
        arguments
            .extend(["--model".to_string(), path.map_or(model.clone(), |path| path.display().to_string())]);
    }
    println!("{}", serde_json::json!({"files": files, "arguments": arguments}));
    ExitCode::SUCCESS
}

/// What the model allows and `against` forbids, test by test.
fn compare(
    args: &Args,
    files: &[PathBuf],
    models: &[Axioms],
    against: &Axioms,
    options: &Options,
) -> ExitCode {
    let mut code = 0;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for file in files {
        let name = file.display().to_string();
        let text = match std::fs::read(file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => return fail(&format!("{name}: {error}"), options),
        };
        let test = match porf_frontend_litmus::parse(&name, &text) {
            Ok(test) => test,
            Err(wrong) => {
                match options.format {
                    Format::Json => drop(writeln!(out, "{}", render::json_error(&name, None, None, &wrong))),
                    Format::Text => eprint!("{}", diagnostic::text(&wrong, Some(&text), options.paint())),
                }
                code = 2;
                continue;
            }
        };
        let own = [Axioms::default_for(&test)];
        for model in if models.is_empty() { own.to_vec() } else { models.iter().collect() } {
            match difference(&test, model, against, args.unroll) {
                Ok(difference) => {
                    code = code.max(u8::from(difference.forbidden > 0));
                    let (model, against) = (model.name(), against.name());
                    if let Some(path) = &args.html {
                        let page = render::difference_html(&test, model, against, &difference);
                        if let Err(error) = std::fs::write(path, page) {
                            return fail(&format!("{}: {error}", path.display()), options);
                        }
                    }
                    let test = &test.name;
                    let _ = match options.format {
                        Format::Json => {
                            writeln!(out, "{}", render::difference_json(test, model, against, &difference))
                        }
                        Format::Text => {
                            let paint = options.paint();
                            write!(
                                out,
                                "{}",
                                render::difference_text(test, model, against, &difference, paint, width())
                            )
                        }
                    };
                }
                Err(message) => {
                    let wrong = Diagnostic::about(&name, message.to_string());
                    match options.format {
                        Format::Json => {
                            let object = render::json_error(&name, Some(&test), Some(model.name()), &wrong);
                            let _ = writeln!(out, "{object}");
                        }
                        Format::Text => eprintln!("{name}: {}: {message}", model.name()),
                    }
                    code = 2;
                }
            }
        }
    }
    ExitCode::from(code)
}

/// All files that the arguments name, folders searched in alphabetical order.
fn collect(paths: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        match path.strip_prefix('@') {
            Some(list) => {
                let text = std::fs::read_to_string(list).map_err(|error| format!("{list}: {error}"))?;
                let folder = Path::new(list).parent().unwrap_or(Path::new(""));
                for line in
                    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
                {
                    walk(&folder.join(line), &mut files)?;
                }
            }
            None => walk(Path::new(path), &mut files)?,
        }
    }
    match files.is_empty() {
        true => Err("no litmus tests found (files named *.litmus)".to_string()),
        false => Ok(files),
    }
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(format!("{}: no such file or folder", path.display()));
        }
        files.push(path.to_path_buf());
        return Ok(());
    }
    let read = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut entries = path.read_dir().map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let inner = entry.path();
        if inner.is_dir() || inner.extension().is_some_and(|extension| extension == "litmus") {
            walk(&inner, files)?;
        }
    }
    Ok(())
}

fn progress(tests: usize) -> ProgressBar {
    if tests < 20 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = match width() {
        0..70 => "{pos}/{len} tests",
        _ => "{bar:30} {pos}/{len} tests, {per_sec}, {eta} left",
    };
    ProgressBar::with_draw_target(Some(tests as u64), ProgressDrawTarget::stderr())
        .with_style(ProgressStyle::with_template(style).expect("a fixed template"))
}

fn print_json(results: &[Tested], explain: bool) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for tested in results {
        match &tested.test {
            Err(diagnostic) => {
                let _ = writeln!(out, "{}", render::json_error(&tested.file, None, None, diagnostic));
            }
            Ok(test) => {
                let mut executions = tested.executions.iter();
                for (model, answer) in &tested.answers {
                    let _ = match answer {
                        Ok(answer) => {
                            let mut object = render::json(&tested.file, test, model, answer);
                            if let (true, Some(Ok(executions))) = (explain, executions.next()) {
                                object["explanation"] = render::explanation_json(executions);
                            }
                            writeln!(out, "{object}")
                        }
                        Err(message) => {
                            let refusal = Diagnostic::about(&tested.file, message.to_string());
                            writeln!(
                                out,
                                "{}",
                                render::json_error(&tested.file, Some(test), Some(model), &refusal)
                            )
                        }
                    };
                }
            }
        }
    }
}

fn print_text(results: &[Tested], models: &[Axioms], args: &Args, paint: Paint, seconds: f64) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let single = results.len() == 1 && models.len() <= 1;
    if models.len() > 1 {
        let names: Vec<&str> = models.iter().map(Axioms::name).collect();
        let rows: Vec<_> = results
            .iter()
            .filter_map(|tested| {
                let test = tested.test.as_ref().ok()?;
                let cells = tested
                    .answers
                    .iter()
                    .map(|(_, answer)| answer.as_ref().ok().map(|a| a.outcome.observation));
                Some((test, cells.collect()))
            })
            .collect();
        let _ = write!(out, "{}", render::matrix(&names, &rows, paint));
    }
    let mut unsupported = 0;
    let mut answered = 0;
    for tested in results {
        match &tested.test {
            Err(wrong) => {
                unsupported += 1;
                let _ = out.flush();
                let source = std::fs::read_to_string(&tested.file).ok();
                eprint!("{}", diagnostic::text(wrong, source.as_deref(), paint));
            }
            Ok(test) => {
                let mut executions = tested.executions.iter();
                for (model, answer) in &tested.answers {
                    match answer {
                        Err(message) => {
                            unsupported += 1;
                            let _ = out.flush();
                            eprintln!("{}: {model}: {message}", tested.file);
                        }
                        Ok(answer) => {
                            answered += 1;
                            let executions = executions.next().filter(|_| args.explain);
                            if single || args.states || args.explain {
                                let _ = write!(out, "{}", render::detail(test, model, answer, paint));
                                let _ = match executions {
                                    Some(Ok(executions)) => {
                                        writeln!(
                                            out,
                                            "{}",
                                            render::explanation(model, executions, paint, width())
                                        )
                                    }
                                    Some(Err(error)) => writeln!(out, "not explained: {error}"),
                                    None => Ok(()),
                                };
                            } else if models.len() <= 1 {
                                let _ = writeln!(out, "{}", render::line(test, model, answer, paint));
                            }
                        }
                    }
                }
            }
        }
    }
    if !single {
        let _ = writeln!(out, "{}", render::summary(results.len(), answered, unsupported, seconds));
    }
}

fn exit_code(results: &[Tested]) -> ExitCode {
    let unanswered = |tested: &Tested| tested.test.is_err() || tested.answers.iter().any(|(_, a)| a.is_err());
    ExitCode::from(match results.iter().any(unanswered) {
        true => 2,
        false => u8::from(failed(results).next().is_some()),
    })
}

/// A model that cannot be used.
fn refuse(error: &Error, options: &Options) -> ExitCode {
    options.fail("litmus", None, error)
}

fn fail(message: &str, options: &Options) -> ExitCode {
    options.fail("litmus", None, &Error::Input(message.to_string()))
}
