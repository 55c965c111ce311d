//! `porf completions SHELL`.

use clap::CommandFactory;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  porf completions bash > ~/.local/share/bash-completion/completions/porf
  porf completions zsh > ~/.zfunc/_porf")]
pub struct Args {
    /// The shell to write completions for
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub fn run(args: &Args) -> ExitCode {
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "porf", &mut std::io::stdout());
    ExitCode::SUCCESS
}
