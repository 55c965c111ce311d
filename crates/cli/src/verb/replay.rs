//! `porf replay WITNESS`: shows one execution again. Of `porf verify` step by step, checking that it is one;
//! of `porf sample` by running the program with the seed and options of the finding.

use crate::options::{Format, Options};
use porf_event::{Label, ThreadId};
use porf_frontend_llvm as llvm;
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::Split;
use porf_report::trace::{StackFrame, stack};
use porf_report::verify::source;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show an execution that `porf verify --witness` or `porf sample --witness` wrote
///
/// Of `porf verify`: step by step. Of `porf sample`: the program runs once more, with the same choices,
/// and the report and exit code are those of `porf sample`.
#[derive(clap::Args)]
pub struct Args {
    /// The witness file
    witness: PathBuf,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    let witness = match read(args) {
        Ok(witness) => witness,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    if witness["command"] == "sample" {
        return match super::sample::Args::from_witness(&witness) {
            Ok(sample) => super::sample::run(&sample, options),
            Err(message) => {
                eprintln!("error: {}: {message}", args.witness.display());
                ExitCode::from(2)
            }
        };
    }
    match replay(args, &witness) {
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Ok(steps) => {
            match options.format {
                Format::Json => {
                    println!("{}", Value::Array(steps.iter().map(|step| step.json.clone()).collect()))
                }
                Format::Text => steps.iter().for_each(|step| println!("{}", step.text)),
            }
            ExitCode::SUCCESS
        }
    }
}

/// One line of the replay.
struct Shown {
    text: String,
    json: Value,
}

fn read(args: &Args) -> Result<Value, String> {
    let path = args.witness.display();
    let text = std::fs::read_to_string(&args.witness).map_err(|error| format!("{path}: {error}"))?;
    let witness: Value = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    if witness["kind"] != "witness" || witness["schema"] != 1 {
        return Err(format!("{path}: not a witness that this version writes"));
    }
    Ok(witness)
}

fn replay(args: &Args, witness: &Value) -> Result<Vec<Shown>, String> {
    let path = args.witness.display();
    let list = |name: &str| -> Vec<String> {
        let items = witness[name].as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_string)).collect()
    };
    let files: Vec<PathBuf> = list("files").into_iter().map(PathBuf::from).collect();
    let options = llvm::Options {
        flags: list("flags"),
        clang: None,
        entry: witness["entry"].as_str().unwrap_or("main").to_string(),
        spurious: witness["spurious"] == true,
        ..llvm::Options::default()
    };
    let program = llvm::load(&files, &options).map_err(|error| error.to_string())?;
    let model = witness["model"].as_str().unwrap_or_default().parse()?;
    let mut program = super::verify::machine::compile(program, model)?;
    let cuts: Vec<Vec<Split>> = serde_json::from_value(witness["cuts"].clone()).unwrap_or_default();
    for split in cuts {
        if split.iter().any(|split| !program.can_split(split.function, split.at)) {
            return Err(format!("{path}: the program has changed since"));
        }
        program.split(&split);
    }
    let interpreter = Interpreter::new(&program);
    let mut threads: HashMap<ThreadId, ThreadState> =
        HashMap::from([(ThreadId(0), interpreter.start(ThreadId(0)))]);
    let mut steps = Vec::new();
    for event in witness["execution"]["events"].as_array().into_iter().flatten() {
        let id = event["id"].as_str().unwrap_or_default();
        let differs = || format!("{path}: the program no longer does {id}: it has changed since");
        let thread = id.strip_prefix('T').and_then(|id| id.split('.').next()).and_then(|id| id.parse().ok());
        let state = threads.get_mut(&ThreadId(thread.ok_or_else(differs)?)).ok_or_else(differs)?;
        let Step::Emit(label) = interpreter.run(state) else { return Err(differs()) };
        let answer = event["answer"].as_u64().unwrap_or(0);
        let label = interpreter.settle(state, label, answer);
        if event["label"].as_str() != Some(&label.to_string()) {
            return Err(differs());
        }
        let child = match label {
            Label::Create { child } => interpreter
                .created(state)
                .map(|(function, argument)| (child, interpreter.start_function(child, function, argument))),
            _ => None,
        };
        let calls = stack(&program, &state.stack(&program));
        steps.push(show(id, event, &calls));
        interpreter.deliver(state, answer);
        threads.extend(child);
    }
    let mut threads: Vec<(ThreadId, ThreadState)> = threads.into_iter().collect();
    threads.sort_by_key(|(thread, _)| *thread);
    for (thread, mut state) in threads {
        if let Step::Fault(fault) = interpreter.run(&mut state) {
            let calls = stack(&program, &fault.stack);
            let place = source(&calls).map_or(String::new(), |frame| frame.location.to_string());
            let text = format!("{thread:8} {place:40} {}", fault.message);
            steps.push(Shown {
                json: serde_json::json!({ "thread": thread.to_string(), "message": fault.message }),
                text,
            });
        }
    }
    let message = witness["violation"]["message"].as_str().unwrap_or_default();
    let text = format!("violation: {message}");
    steps.push(Shown { json: witness["violation"].clone(), text });
    Ok(steps)
}

fn show(id: &str, event: &Value, calls: &[StackFrame]) -> Shown {
    let frame = source(calls);
    let place = frame.map_or(String::new(), |frame| format!("{} {}", frame.location, frame.function));
    let from = event["rf"].as_str().map_or(String::new(), |rf| format!(" ← {rf}"));
    let text = format!("{id:8} {place:40} {}{from}", event["text"].as_str().unwrap_or_default());
    Shown { text, json: event.clone() }
}
