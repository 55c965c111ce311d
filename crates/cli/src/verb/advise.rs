//! `porf advise FILE`: the weakest orderings that keep a program right, or those that repair a wrong one.

use crate::guard::Guard;
use crate::options::{Format, ModelName, Options, width};
use porf::{Budget, Error, Input, LoadOptions, Model, Repair, Request, Suggestion};
use porf_report::{advise as render, verify};
use std::path::PathBuf;
use std::process::ExitCode;

/// Find the weakest orderings that keep a program right, or those that repair a wrong one
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  porf advise lock.c
  porf advise --model armv8,rc11 queue.c -- -DTHREADS=2
  porf advise --patch lock.c | patch -p0

Exit code: 0 the program is right, 1 it is wrong, 2 bad input or usage, 3 inconclusive, 130 interrupted.")]
pub struct Args {
    /// Source files (.c .cpp .rs) or LLVM bitcode (.bc .ll), linked into one program, or one program in Porf's
    /// own text form (.porf)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The memory models under which the program must be safe: see `porf models` [default: rc11 for C,
    /// c20 for C++ and Rust]
    #[arg(
        long,
        value_delimiter = ',',
        alias = "require-models",
        value_parser = ModelName,
        hide_possible_values = true
    )]
    model: Vec<Model>,
    /// Cut off executions in which a loop runs more than N times
    #[arg(long, value_name = "N")]
    unroll: Option<u32>,
    /// Stop after this many executions, or this long (10s, 5m), in all
    #[arg(long)]
    budget: Option<Budget>,
    /// Print the advice as a patch
    #[arg(long)]
    patch: bool,
    /// The function that the first thread runs
    #[arg(long, default_value = "main")]
    entry: String,
    /// The clang to use
    #[arg(long)]
    clang: Option<String>,
    /// Arguments for clang, or for rustc
    #[arg(last = true)]
    flags: Vec<String>,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    crate::interrupt::watch();
    match advise(args, options) {
        Ok(code) => code,
        Err(error) => options.fail("advise", args.files[0].to_str(), &error),
    }
}

fn advise(args: &Args, options: &Options) -> Result<ExitCode, Error> {
    let input = load(args, options)?;
    let models = if args.model.is_empty() { vec![input.model] } else { args.model.clone() };
    let request = Request {
        unroll: args.unroll,
        budget: args.budget.unwrap_or_default(),
        interrupt: Some(crate::interrupt::flag()),
        ..Request::new(models[0])
    };
    if let Some(advice) = porf::advise(&input, &request, &models)? {
        match options.format {
            Format::Json => println!("{}", render::json(&input.origin, &advice)),
            Format::Text if args.patch => print_patch(&advice.suggestions().collect::<Vec<_>>()),
            Format::Text => print!("{}", render::text(&advice)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Under one of the models the program is not safe: how to repair it there.
    let mut code = ExitCode::from(3);
    for &model in &models {
        let request = Request { model, ..request };
        let mut answer = porf::verify(&input, &request)?;
        code = ExitCode::from(answer.verdict.exit_code());
        if answer.verdict.exit_code() == 0 {
            continue;
        }
        answer.repair = porf::repair(&input, &request, &answer)?;
        match (options.format, &answer.repair) {
            (Format::Json, _) => println!("{}", render::repair_json(&answer)),
            (Format::Text, Some(Repair::Orderings(sets))) if args.patch => {
                print_patch(sets.first().map_or(&[], Vec::as_slice));
            }
            (Format::Text, _) => {
                print!("{}", verify::text(&answer, options.paint(), width(), &super::verify::read));
            }
        }
        break;
    }
    Ok(code)
}

fn print_patch(suggestions: &[Suggestion]) {
    let patch = render::patch(suggestions, &super::verify::read);
    print!("{}", patch.diff);
    for suggestion in patch.left {
        eprintln!("note: not in the patch: {suggestion}");
    }
}

fn load(args: &Args, options: &Options) -> Result<Input, Error> {
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let _guard = Guard::new("advise", &names.join(", "), options.format);
    let options = LoadOptions {
        flags: args.flags.clone(),
        clang: args.clang.clone(),
        entry: args.entry.clone(),
        ..LoadOptions::default()
    };
    Input::load(&args.files, &options)
}
