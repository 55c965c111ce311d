//! `porf man FOLDER`: manual pages, for packagers and `make install`.

use crate::Cli;
use clap::CommandFactory;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages to a folder
#[derive(clap::Args)]
#[command(after_help = "Examples:
  porf man ~/.local/share/man/man1 && man porf-verify")]
pub struct Args {
    /// The folder; it is created if it does not exist
    folder: PathBuf,
}

pub fn run(args: &Args) -> ExitCode {
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", args.folder.display());
            ExitCode::from(2)
        }
    }
}
