//! What is verified: a program, and for a litmus test the question about its final states.

use super::Args;
use super::guard::Guard;
use porf_event::ThreadId;
use porf_explore::Execution;
use porf_frontend_litmus::{Condition, LitmusTest, Observable, Quantifier};
use porf_frontend_llvm as llvm;
use porf_ir::Program;
use std::path::Path;

pub struct Input {
    pub program: Program,
    pub test: Option<Question>,
    /// The model that a litmus test is meant for.
    pub model: Option<&'static str>,
}

/// The condition of a litmus test.
pub struct Question(LitmusTest);

/// What one execution says to the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Nothing,
    /// The outcome that `exists` asks for.
    Found,
    /// A final state that `forall` or `~exists` rules out.
    Contradicts,
}

pub fn load(args: &Args) -> Result<Input, String> {
    if let [file] = args.files.as_slice() {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("porf") => {
                let mut program =
                    porf_ir::parse(&read(file)?).map_err(|error| format!("{}:{error}", file.display()))?;
                program.name = file.display().to_string();
                return Ok(Input { program, test: None, model: None });
            }
            Some("litmus") => return litmus(file),
            _ => {}
        }
    }
    if let Some(file) = args.files.iter().find(|file| !llvm::is_supported(file)) {
        return Err(format!(
            "{}: not a file of a kind that verify knows (.c .cpp .bc .ll, or a single .porf or .litmus)",
            file.display()
        ));
    }
    let front = llvm::Options {
        flags: args.flags.clone(),
        clang: args.clang.clone(),
        entry: args.entry.clone(),
        spurious: args.spurious,
        ..llvm::Options::default()
    };
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let _guard = Guard::new(&names.join(", "));
    let program = llvm::load(&args.files, &front).map_err(|error| error.to_string())?;
    Ok(Input { program, test: None, model: None })
}

fn litmus(file: &Path) -> Result<Input, String> {
    let name = file.display().to_string();
    let test = porf_frontend_litmus::parse(&name, &read(file)?).map_err(|error| error.to_string())?;
    let mut program = test.program.clone();
    program.name = name;
    let model = Some(porf_cli::litmus::default_model(&test).name());
    Ok(Input { program, test: Some(Question(test)), model })
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

impl Question {
    /// Whether some execution must be found.
    pub fn asks_for_one(&self) -> bool {
        self.0.condition.quantifier == Quantifier::Exists
    }

    pub fn ask(&self, execution: &Execution<'_, '_>) -> Says {
        let mut value = |observable: &Observable| match observable {
            Observable::Register { thread, reg, .. } => {
                execution.state(ThreadId(*thread as u16)).register(*reg)
            }
            Observable::Location { address, size, .. } => execution.memory(*address, *size),
        };
        if self.0.filter.as_ref().is_some_and(|filter| !filter.holds(&mut value)) {
            return Says::Nothing;
        }
        let Condition { quantifier, prop } = &self.0.condition;
        match (quantifier, prop.holds(&mut value)) {
            (Quantifier::Exists, true) => Says::Found,
            (Quantifier::NotExists, true) | (Quantifier::Forall, false) => Says::Contradicts,
            _ => Says::Nothing,
        }
    }

    pub fn contradiction(&self) -> &'static str {
        match self.0.condition.quantifier {
            Quantifier::Forall => "a final state for which the proposition of `forall` does not hold",
            Quantifier::NotExists => "a final state that the test says cannot be (`~exists`)",
            Quantifier::Exists => "no execution ends in a state that the test asks for (`exists`)",
        }
    }
}
