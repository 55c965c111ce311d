//! `porf models`: the models, where they come from, what each engine does with them.

use crate::options::{Format, Options};
use porf_cli::litmus::Model;
use serde_json::json;
use std::process::ExitCode;

/// List the memory models, their sources, and what runs them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  porf models
  porf models rc11          the axioms of one model, in cat
  porf models --format json")]
pub struct Args {
    /// Print the axioms of this model
    name: Option<String>,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    match &args.name {
        Some(name) => match porf_cat::models().iter().find(|entry| entry.name == name) {
            Some(entry) => {
                print!("{}", entry.source);
                ExitCode::SUCCESS
            }
            None => {
                eprintln!("porf models: no model '{name}' (see `porf models`)");
                ExitCode::from(2)
            }
        },
        None => {
            list(options);
            ExitCode::SUCCESS
        }
    }
}

fn list(options: &Options) {
    for entry in porf_cat::models() {
        let explored = Model::load(entry.name).is_ok_and(|model| model.is_fast());
        let prover = ["sc", "tso", "pso"].contains(&entry.name);
        match options.format {
            Format::Json => println!(
                "{}",
                json!({
                    "schema": 1,
                    "model": entry.name,
                    "title": entry.title,
                    "source": entry.citation,
                    "dialects": entry.dialects,
                    "explore": explored,
                    "oracle": true,
                    "prove": prover,
                })
            ),
            Format::Text => {
                let engines = match (explored, prover) {
                    (true, true) => "litmus, verify, prove",
                    (true, false) => "litmus, verify",
                    _ => "litmus",
                };
                println!("{:<6} {:<28} {engines}", entry.name, entry.title);
                println!("       {}", entry.citation);
            }
        }
    }
    if options.format == Format::Text {
        println!("\n`--model FILE.cat` takes a model of your own; `porf models NAME` prints one of these.");
    }
}
