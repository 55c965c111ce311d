//! Why there is no answer.

use porf_verdict::Diagnostic;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text of an input is wrong, or has something that its front end does not treat.
    #[error("{0}")]
    Text(Box<Diagnostic>),
    /// The input cannot be read, or does not fit the request.
    #[error("{0}")]
    Input(String),
    /// The input has something that Porf does not treat.
    #[error("{0}")]
    Unsupported(String),
    /// The explorer refuses the program.
    #[error("{0}")]
    Explore(porf_explore::Error),
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::Text(Box::new(diagnostic))
    }
}

impl From<porf_frontend_llvm::Error> for Error {
    fn from(error: porf_frontend_llvm::Error) -> Error {
        match error {
            porf_frontend_llvm::Error::Unsupported(diagnostic) => diagnostic.into(),
            error => Error::Input(error.to_string()),
        }
    }
}
