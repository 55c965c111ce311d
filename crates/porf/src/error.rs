//! Why there is no answer.

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be read, or is wrong.
    #[error("{0}")]
    Input(String),
    /// The input has something that Porf does not treat.
    #[error("{0}")]
    Unsupported(String),
    /// The explorer refuses the program.
    #[error("{0}")]
    Explore(porf_explore::Error),
}
