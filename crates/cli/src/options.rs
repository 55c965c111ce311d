//! Options that every verb understands.

use clap::{Args, ValueEnum};
use porf_report::{Paint, diagnostic};
use porf_verdict::Diagnostic;
use std::io::IsTerminal;
use std::process::ExitCode;

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
        Paint { color: self.colored(), ascii: !is_utf8() }
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

    /// Says that there is no answer, in the format that was asked for: an object on stdout, or a message on stderr.
    pub fn fail(&self, command: &str, file: Option<&str>, error: &porf::Error) -> ExitCode {
        match (self.format, error) {
            (Format::Text, _) => eprint!("{}", self.error(error)),
            (Format::Json, porf::Error::Text(wrong)) => {
                println!("{}", diagnostic::failure(command, file, wrong))
            }
            (Format::Json, error) => {
                println!("{}", diagnostic::failure(command, file, &Diagnostic::about("", error.to_string())))
            }
        }
        ExitCode::from(2)
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

/// Whether the locale is one of UTF-8 (POSIX, "Environment Variables": the first of these that is set counts). A program
/// that reads our output is not told to do without if nobody has set a locale.
fn is_utf8() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let locale = names.filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty());
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        None => !std::io::stdout().is_terminal(),
    }
}

/// Columns of the terminal; `COLUMNS` comes before what it says itself.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    asked.or_else(real).unwrap_or(120).max(20)
}
