//! The `porf` binary: arguments, files and exit codes, nothing else.
//!
//! One file per verb under `verb/`; each has an `Args` (clap) and a `run`. Results go to stdout,
//! progress and diagnostics to stderr. Exit codes: 0 safe, 1 violated, 2 bad input or usage,
//! 3 inconclusive, 130 interrupted.

mod embed;
mod guard;
mod interrupt;
mod options;
mod verb;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "porf",
    version,
    about = "Is your concurrent code right on weak memory?",
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    options: options::Options,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Verify(verb::verify::Args),
    Advise(verb::advise::Args),
    Replay(verb::replay::Args),
    Litmus(verb::litmus::Args),
    Prove(verb::prove::Args),
    Sample(verb::sample::Args),
    /// Compile and link C for `porf sample`
    #[command(disable_help_flag = true)]
    Cc(verb::cc::Args),
    /// Compile and link C++ for `porf sample`
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(verb::cc::Args),
    Models(verb::models::Args),
    /// Print a completion script for a shell
    Completions(verb::completions::Args),
    Man(verb::man::Args),
    #[command(hide = true)]
    Work(verb::work::Args),
}

fn main() -> ExitCode {
    end_quietly_on_closed_pipe();
    if let Some((language, arguments)) = verb::cc::called() {
        return verb::cc::run_compiler(&arguments, language);
    }
    if let [_, argument] = std::env::args().collect::<Vec<_>>().as_slice()
        && matches!(argument.as_str(), "--version" | "-V")
    {
        return version();
    }
    let cli = Cli::parse();
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

/// This version, and the libLLVM that reads programs.
fn version() -> ExitCode {
    println!("porf {}", env!("CARGO_PKG_VERSION"));
    match porf_frontend_llvm::version() {
        Ok((version, path)) => println!("LLVM {version} ({})", path.display()),
        Err(error) => println!("no LLVM: {error}"),
    }
    ExitCode::SUCCESS
}

/// `porf … | head` ends as other tools do, not with a panic on a failed write: Rust ignores SIGPIPE
/// unless told otherwise.
fn end_quietly_on_closed_pipe() {
    #[cfg(unix)]
    // SAFETY: sets a signal's disposition to the default before any thread is started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
