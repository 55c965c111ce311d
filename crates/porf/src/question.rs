//! The condition of a litmus test, asked of executions one at a time.

use crate::Error;
use porf_event::ThreadId;
use porf_explore::Execution;
use porf_frontend_litmus::{Condition, LitmusTest, Observable, Quantifier};

/// The condition of a litmus test.
#[derive(Clone, Debug)]
pub struct Question {
    test: LitmusTest,
    /// As it was read.
    text: String,
}

/// What one execution says to the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    /// The outcome that `exists` asks for.
    Found,
    /// A final state that `forall` or `~exists` rules out.
    Contradicts,
}

/// What an observable is at the end of an execution.
pub(crate) fn observe(execution: &Execution<'_, '_>, observable: &Observable) -> u64 {
    match observable {
        Observable::Register { thread, reg, .. } => execution.state(ThreadId(*thread as u16)).register(*reg),
        Observable::Location { address, size, .. } => execution.memory(*address, *size),
    }
}

/// Why wrc11 has no answer to a question about final contents of memory.
pub(crate) fn no_last_write() -> Error {
    let message = "the test asks about final contents of memory, but wrc11 does not order all writes to a location: \
                   no write is the last one (ask about what a thread reads instead)";
    Error::Unsupported(message.to_string())
}

impl Question {
    /// The question that a test asks, which was read from a text.
    pub fn of(test: LitmusTest, text: &str) -> Question {
        Question { test, text: text.to_string() }
    }

    /// The text of the test.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The test that asks it.
    pub fn test(&self) -> &LitmusTest {
        &self.test
    }

    /// Whether some execution must be found.
    pub(crate) fn asks_for_one(&self) -> bool {
        self.test.condition.quantifier == Quantifier::Exists
    }

    /// Whether it is about final contents of memory: executions up to rf do not say which write is the last.
    pub(crate) fn is_about_memory(&self) -> bool {
        let mut found = false;
        let mut look = |observable: &Observable| found |= matches!(observable, Observable::Location { .. });
        self.test.condition.prop.visit(&mut look);
        if let Some(filter) = &self.test.filter {
            filter.visit(&mut look);
        }
        found
    }

    pub(crate) fn ask(&self, execution: &Execution<'_, '_>) -> Says {
        let mut value = |observable: &Observable| observe(execution, observable);
        if self.test.filter.as_ref().is_some_and(|filter| !filter.holds(&mut value)) {
            return Says::Nothing;
        }
        let Condition { quantifier, prop } = &self.test.condition;
        match (quantifier, prop.holds(&mut value)) {
            (Quantifier::Exists, true) => Says::Found,
            (Quantifier::NotExists, true) | (Quantifier::Forall, false) => Says::Contradicts,
            _ => Says::Nothing,
        }
    }

    pub(crate) fn contradiction(&self) -> &'static str {
        match self.test.condition.quantifier {
            Quantifier::Forall => "a final state for which the proposition of `forall` does not hold",
            Quantifier::NotExists => "a final state that the test says cannot be (`~exists`)",
            Quantifier::Exists => "no execution ends in a state that the test asks for (`exists`)",
        }
    }
}
