//! `porf replay WITNESS`: shows one execution again. Of `porf verify` step by step, checking that it is one;
//! of `porf sample` by running the program with the seed and options of the finding.

use crate::options::{Format, Options};
use porf::{Input, LoadOptions, Replayed};
use porf_report::replay as render;
use porf_report::verify::Witness;
use serde_json::Value;
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
    match Witness::read(witness).and_then(|witness| Ok((replay(&witness)?, witness))) {
        Err(message) => {
            eprintln!("error: {}: {message}", args.witness.display());
            ExitCode::from(2)
        }
        Ok((replayed, witness)) => {
            match options.format {
                Format::Json => println!("{}", render::json(&witness, &replayed)),
                Format::Text => print!("{}", render::text(&witness, &replayed)),
            }
            ExitCode::SUCCESS
        }
    }
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

fn replay(witness: &Witness) -> Result<Replayed, String> {
    let porf::Origin { files, flags, entry, spurious, overflow, volatile, real_std, leaks } =
        witness.origin.clone();
    let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
    let options =
        LoadOptions { flags, entry, spurious, overflow, volatile, real_std, leaks, ..LoadOptions::default() };
    let input = Input::load(&files, &options).map_err(|error| error.to_string())?;
    let mut program =
        porf::mapping::compile(input.program, witness.model).map_err(|error| error.to_string())?;
    for splits in &witness.cuts {
        if splits.iter().any(|split| !program.can_split(split.function, split.at)) {
            return Err("the program has changed since".to_string());
        }
        program.split(splits);
    }
    porf::replay(&program, &witness.events).map_err(|error| error.to_string())
}
