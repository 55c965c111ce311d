//! `porf models`: the models, where they come from, what each engine does with them.

use crate::options::{Format, ModelName, Options};
use porf::Model;
use porf_report::models as render;
use std::process::ExitCode;

/// List the memory models, their sources, and what runs them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  porf models
  porf models rc11          the axioms of one model, in cat
  porf models --format json")]
pub struct Args {
    /// Print the axioms of this model
    #[arg(value_parser = ModelName, hide_possible_values = true)]
    name: Option<Model>,
}

pub fn run(args: &Args, options: &Options) -> ExitCode {
    match (args.name, options.format) {
        (Some(model), _) => print!("{}", model.entry().cat),
        (None, Format::Json) => render::json().iter().for_each(|object| println!("{object}")),
        (None, Format::Text) => print!("{}", render::text()),
    }
    ExitCode::SUCCESS
}
