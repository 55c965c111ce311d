//! The `porf` binary: arguments, files and exit codes, nothing else.
//!
//! One file per verb under `verb/`; each has an `Args` (clap) and a `run`. Results go to stdout,
//! progress and diagnostics to stderr. Exit codes: 0 safe, 1 violated, 2 bad input or usage,
//! 3 inconclusive, 130 interrupted.

mod embed;
mod guard;
mod interrupt;
mod options;
mod pipe;
mod verb;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "porf",
    version,
    about = "Is your concurrent code right on weak memory?",
    max_term_width = 100,
    after_help = "Examples:
  porf verify queue.c                       every execution of a program
  porf litmus SB.litmus --model sc,tso,rc11 what each model says of a litmus test
  porf cc queue.c -o queue && porf sample -- ./queue
  porf prove mutex.cub --model tso          any number of processes
Every verb has --help with examples."
)]
struct Cli {
    #[command(flatten)]
    options: options::Options,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Verify(Box<verb::verify::Args>),
    Advise(verb::advise::Args),
    Replay(verb::replay::Args),
    Litmus(verb::litmus::Args),
    Prove(verb::prove::Args),
    Sample(verb::sample::Args),
    /// Compile and link C for `porf sample`
    #[command(disable_help_flag = true, after_help = verb::cc::C_EXAMPLES)]
    Cc(verb::cc::Args),
    /// Compile and link C++ for `porf sample`
    #[command(name = "c++", disable_help_flag = true, after_help = verb::cc::CXX_EXAMPLES)]
    Cxx(verb::cc::Args),
    Models(verb::models::Args),
    /// Print a completion script for a shell
    Completions(verb::completions::Args),
    Man(verb::man::Args),
    #[command(hide = true)]
    Work(verb::work::Args),
}

fn main() -> ExitCode {
    pipe::end_quietly_when_closed();
    if let Some(code) = verb::cc::collect::called() {
        return code;
    }
    if let Some((language, arguments)) = verb::cc::called() {
        // A build system that asks the compiler for its help still gets it, below ours.
        if arguments == ["--help"] {
            let name = format!("porf {}", language.verb());
            let command = Cli::command().find_subcommand(language.verb()).cloned();
            let _ = command.map(|command| command.bin_name(name).print_help());
            println!("\nThe compiler's own help:\n");
        }
        return verb::cc::run_compiler(&arguments, language);
    }
    if let [_, argument] = std::env::args().collect::<Vec<_>>().as_slice()
        && matches!(argument.as_str(), "--version" | "-V")
    {
        return version();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match cli.verb {
        Verb::Verify(args) => verb::verify::run(&args, &cli.options),
        Verb::Advise(args) => verb::advise::run(&args, &cli.options),
        Verb::Replay(args) => verb::replay::run(&args, &cli.options),
        Verb::Litmus(args) => verb::litmus::run(&args, &cli.options),
        Verb::Prove(args) => verb::prove::run(&args, &cli.options),
        Verb::Sample(args) => verb::sample::run(&args, &cli.options),
        Verb::Cc(args) => verb::cc::run(&args, verb::cc::Language::C),
        Verb::Cxx(args) => verb::cc::run(&args, verb::cc::Language::Cxx),
        Verb::Models(args) => verb::models::run(&args, &cli.options),
        Verb::Completions(args) => verb::completions::run(&args),
        Verb::Man(args) => verb::man::run(&args),
        Verb::Work(args) => verb::work::run(&args),
    }
}

/// Help, or what is wrong with the arguments. `--format json` is obeyed as well as it can be read.
fn usage(error: &clap::Error) -> ExitCode {
    let arguments: Vec<String> = std::env::args().take_while(|argument| argument != "--").collect();
    let json = arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair == ["--format", "json"]);
    if !error.use_stderr() || !json {
        error.exit();
    }
    let text = error.render().to_string();
    let message = text.split("\n\nUsage").next().unwrap_or(&text).trim_start_matches("error: ").trim();
    let wrong = porf_verdict::Diagnostic::about("", message);
    let command = arguments.get(1).map_or("", String::as_str);
    println!("{}", porf_report::diagnostic::failure(command, None, &wrong));
    ExitCode::from(2)
}

/// This version, and the libLLVM that reads programs.
fn version() -> ExitCode {
    println!("porf {}", env!("CARGO_PKG_VERSION"));
    match porf_frontend_llvm::version() {
        Ok((version, path)) => println!("LLVM {version} ({})", path.display()),
        Err(error) => println!("no LLVM: {error}"),
    }
    ExitCode::SUCCESS
}
