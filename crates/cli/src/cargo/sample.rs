//! `cargo porf sample test`: each test natively, under the sampler.
//!
//! The bitcode is the one that `cargo porf test` explores. LLVM instruments it, std included, and `porf cc` links
//! it with the sampler's runtime, as rustc would have linked it. libtest runs the test, in a thread of its own;
//! `porf sample` runs that again and again.

use super::build::Built;
use super::test::{Format, Tests, announce};
use porf::Error;
use porf_frontend_llvm::instrument;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::SystemTime;

/// Run each test of the crate natively, again and again
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo porf sample test
  cargo porf sample test queue:: --lib -- --executions 100000 --scheduler pct")]
pub struct Args {
    #[command(flatten)]
    tests: Tests,
    /// Options of `porf sample`
    #[arg(last = true)]
    options: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<ExitCode, Error> {
    args.tests.each_target(|built| target(args, built))
}

/// The tests of one target; whether one of them is not right.
fn target(args: &Args, built: &Built) -> Result<bool, Error> {
    let program = program(built)?;
    let json = args.tests.format == Format::Json;
    let ignored = if args.tests.include_ignored { Vec::new() } else { listed(&program, &["--ignored"])? };
    let mut tests = listed(&program, &[])?;
    tests.retain(|name| args.tests.has(name));
    if !json {
        announce(built, tests.len());
    }
    let mut reports = Vec::new();
    for test in &tests {
        let (word, report) = match ignored.contains(test) {
            true => ("ignored", Vec::new()),
            false => sample(args, &program, test)?,
        };
        if json {
            // libtest's own words come first.
            let said = String::from_utf8_lossy(&report);
            let answer: Value =
                said.lines().rev().find_map(|line| serde_json::from_str(line).ok()).unwrap_or_default();
            let outcome = word.to_lowercase();
            println!(
                "{}",
                json!({ "target": built.name, "test": test, "outcome": outcome, "answer": answer })
            );
        } else {
            println!("test {test} ... {word}");
        }
        if !matches!(word, "ok" | "ignored") {
            reports.push((test, report));
        }
    }
    if !json {
        for (test, report) in &reports {
            println!("\n---- {test} ----\n{}", String::from_utf8_lossy(report).trim_end());
        }
        let word = if reports.is_empty() { "ok" } else { "FAILED" };
        println!("\ntest result: {word}. {} of {} not right\n", reports.len(), tests.len());
    }
    Ok(!reports.is_empty())
}

/// What the sampler says of a test, and its report.
fn sample(args: &Args, program: &Path, test: &str) -> Result<(&'static str, Vec<u8>), Error> {
    let mut command = porf()?;
    command.arg("sample").args(&args.options);
    if args.tests.format == Format::Json {
        command.args(["--format", "json"]);
    }
    command.arg("--").arg(program).args(["--exact", test, "--test-threads=1", "--include-ignored"]);
    let Output { status, stdout, stderr } = output(&mut command)?;
    match status.code() {
        Some(0) => Ok(("ok", stdout)),
        Some(1) => Ok(("FAILED", stdout)),
        Some(3) => Ok(("inconclusive", stdout)),
        _ => Err(Error::Input(String::from_utf8_lossy(&stderr).trim_end().to_string())),
    }
}

/// The names of tests, as libtest lists them.
fn listed(program: &Path, options: &[&str]) -> Result<Vec<String>, Error> {
    let mut command = Command::new(program);
    let Output { status, stdout, stderr } = output(command.args(["--list", "--format=terse"]).args(options))?;
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        return Err(Error::Input(format!("{} cannot be run ({status}): {said}", program.display())));
    }
    let lines = String::from_utf8_lossy(&stdout).into_owned();
    Ok(lines.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_string).collect())
}

/// The program of a target, linked with the sampler's runtime. Made anew if its bitcode or Porf has changed.
fn program(built: &Built) -> Result<PathBuf, Error> {
    let program = built.bitcode.with_extension("sampled");
    let porf = std::env::current_exe().map_err(|error| Error::Input(error.to_string()))?;
    let age =
        |path: &Path| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    if age(&program) > age(&built.bitcode) && age(&program) > age(&porf) {
        return Ok(program);
    }
    let object = built.bitcode.with_extension("sampled.o");
    instrument(&built.bitcode, &object).map_err(|error| Error::Input(error.to_string()))?;
    let failed = |error: std::io::Error| Error::Input(format!("{}: {error}", built.executable.display()));
    let line = std::fs::read_to_string(&built.executable).map_err(failed)?;
    let mut command = self::porf()?;
    command.arg("cc").arg(&object).args(libraries(&line)).arg("-o").arg(&program);
    let Output { status, stderr, .. } = output(&mut command)?;
    // As large as the program itself.
    let _ = std::fs::remove_file(&object);
    match status.success() {
        true => Ok(program),
        false => {
            let said = String::from_utf8_lossy(&stderr);
            Err(Error::Input(format!("{} cannot be linked: {}", built.name, said.trim_end())))
        }
    }
}

/// What rustc gives to the linker, without the code that we have made ourselves, and without rustc's own linker.
fn libraries(line: &str) -> Vec<&str> {
    let mut words = line.lines();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let is_ours = word.ends_with(".rcgu.o") || word.ends_with("symbols.o");
        match word {
            "-o" => drop(words.next()),
            "-nodefaultlibs" => {}
            _ if is_ours || word.starts_with("-fuse-ld") || word.starts_with("-B") => {}
            _ => kept.push(word),
        }
    }
    kept
}

/// The command `porf`, which is installed beside this one.
fn porf() -> Result<Command, Error> {
    let path =
        std::env::current_exe().map_err(|error| Error::Input(error.to_string()))?.with_file_name("porf");
    match path.exists() {
        true => Ok(Command::new(path)),
        false => Err(Error::Input(format!("the sampler needs {}", path.display()))),
    }
}

fn output(command: &mut Command) -> Result<Output, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|error| Error::Input(format!("{program}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_command_line() {
        let line = "-m64\n/tmp/rustc1/symbols.o\n/t/deps/a-1.a.rcgu.o\n/s/libcompiler_builtins-2.rlib\n-lgcc_s\n-B/r/gcc-ld\n\
            -fuse-ld=lld\n-L\n/t/native\n-o\n/t/deps/a-1\n-pie\n-nodefaultlibs";
        let kept = ["-m64", "/s/libcompiler_builtins-2.rlib", "-lgcc_s", "-L", "/t/native", "-pie"];
        assert_eq!(libraries(line), kept);
    }
}
