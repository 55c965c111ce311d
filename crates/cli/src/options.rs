//! Options that every verb understands.

use clap::{Args, ValueEnum};
use porf_report::{Paint, diagnostic};
use std::io::IsTerminal;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// How the result is printed
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// When to use colours (NO_COLOR is obeyed too)
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Options {
    /// The colours of what goes to stdout.
    pub fn paint(&self) -> Paint {
        Paint { color: self.colored() }
    }

    /// An error for stderr: with the lines that it is about, if it is about a text.
    pub fn error(&self, error: &porf::Error) -> String {
        match error {
            porf::Error::Text(wrong) => {
                let source = std::fs::read_to_string(&wrong.location.file).ok();
                diagnostic::text(wrong, source.as_deref(), self.paint())
            }
            error => format!("error: {error}\n"),
        }
    }

    /// Whether to colour what goes to stdout.
    pub fn colored(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal(),
        }
    }
}
