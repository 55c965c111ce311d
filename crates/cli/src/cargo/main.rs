//! `cargo porf`: the tests and binaries of a crate, every execution of each.
//!
//! cargo compiles the crate as for `cargo test`, with flags that leave the whole program as bitcode
//! ([`build`]); each test then is a program of its own ([`mod@test`]), or is run natively by the sampler ([`sample`]).
//! Exit codes are cargo's: 0 where all is right, 101 where a test fails or has no verdict, and what cargo says where the crate does not compile.

mod build;
mod dropin;
#[path = "../pipe.rs"]
mod pipe;
mod sample;
mod settings;
mod test;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;

/// What cargo gives as the exit code of tests that fail.
pub const FAILED: u8 = 101;

#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Porf(Porf),
}

/// Check every execution of a crate's tests and binaries
#[derive(Args)]
#[command(version, max_term_width = 100)]
struct Porf {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Test(test::Args),
    Verify(test::VerifyArgs),
    /// Run natively, under a controlled scheduler, again and again
    #[command(subcommand)]
    Sample(Sample),
}

#[derive(Subcommand)]
enum Sample {
    Test(sample::Args),
}

fn main() -> ExitCode {
    if let Some(code) = build::link() {
        return code;
    }
    pipe::end_quietly_when_closed();
    // Options of the exploration may stand behind `--`, as those of libtest do. The sampler has options of its own.
    let samples = std::env::args_os().nth(2).is_some_and(|verb| verb == "sample");
    let words = std::env::args_os().filter(|word| samples || word != "--");
    let Cargo::Porf(Porf { verb }) = Cargo::parse_from(words);
    let done = match verb {
        Verb::Test(args) => test::run(&args),
        Verb::Verify(args) => test::verify(&args),
        Verb::Sample(Sample::Test(args)) => sample::run(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(FAILED)
    })
}
