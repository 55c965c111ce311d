//! `porf replay WITNESS`: shows one execution again. Of `porf verify` step by step, checking that it is one;
//! of `porf sample` by running the program with the seed and options of the finding.

use crate::options::{Format, Options};
use porf::{Input, Replayed};
use porf_report::replay as render;
use porf_report::verify::Witness;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show an execution that `porf verify --witness` or `porf sample --witness` wrote
///
/// A witness of `porf verify` is shown step by step. For a witness of `porf sample`, the program runs once more
/// with the same choices, and the report is that of `porf sample`. The exit code is 1 if the violation happens again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  porf verify --witness bug.json queue.c; porf replay bug.json
  porf replay --html bug.html bug.json
  porf sample --witness race.json -- ./queue; porf replay race.json")]
pub struct Args {
    /// The witness file
    witness: PathBuf,
    /// Write the execution as a page for a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    let witness = match read(args) {
        Ok(witness) => witness,
        Err(message) => return fail(&message, options),
    };
    if witness["command"] == "sample" {
        return match super::sample::Args::from_witness(&witness) {
            Ok(mut sample) => {
                sample.html.clone_from(&args.html);
                super::sample::run(&sample, options)
            }
            Err(message) => fail(&format!("{}: {message}", args.witness.display()), options),
        };
    }
    match Witness::read(witness).and_then(|witness| Ok((replay(&witness)?, witness))) {
        Err(message) => fail(&format!("{}: {message}", args.witness.display()), options),
        Ok((replayed, witness)) => {
            if let Some(path) = &args.html {
                let page = render::html(&witness, &replayed, &super::verify::read);
                if let Err(error) = super::verify::write(path, &page) {
                    return fail(&error.to_string(), options);
                }
            }
            match options.format {
                Format::Json => println!("{}", render::json(&witness, &replayed)),
                Format::Text => print!("{}", render::text(&witness, &replayed, options.paint())),
            }
            ExitCode::from(1)
        }
    }
}

fn fail(message: &str, options: &Options) -> ExitCode {
    options.fail("replay", None, &porf::Error::Input(message.to_string()))
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
    let porf::Origin { files, options } = &witness.origin;
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let input = Input::load(&files, options).map_err(|error| error.to_string())?;
    let mut program =
        porf::mapping::compile(input.program, witness.model).map_err(|error| error.to_string())?;
    for splits in &witness.cuts {
        if splits.iter().any(|split| !program.fits(split)) {
            return Err("the program has changed since".to_string());
        }
        program.split(splits);
    }
    porf::replay(&program, &witness.events, witness.co.clone()).map_err(|error| error.to_string())
}
