//! SMT solvers: programs that read SMT-LIB from their input.

use std::io::Write;
use std::process::{Command, Stdio};

/// A program that reads SMT-LIB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// What a solver says of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No model: the obligation holds.
    Unsat,
    /// There is a model: the obligation does not hold.
    Sat,
    /// Anything else: `unknown`, an error, or nothing.
    Other(String),
}

impl Solver {
    /// The solver with this command line, cut at blanks.
    pub fn new(command: &str) -> Solver {
        Solver { command: command.split_whitespace().map(str::to_owned).collect() }
    }

    /// z3 and cvc5, where they are installed.
    pub fn installed() -> Vec<Solver> {
        ["z3 -in -smt2", "cvc5 --lang=smt2 --incremental --force-logic=ALL"]
            .into_iter()
            .map(Solver::new)
            .filter(|solver| {
                let version = Command::new(solver.name()).arg("--version").output();
                version.is_ok_and(|output| output.status.success())
            })
            .collect()
    }

    /// The program without its arguments.
    pub fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// The answer to each problem, in order.
    pub fn ask<'a>(&self, problems: impl ExactSizeIterator<Item = &'a str>) -> Result<Vec<Reply>, String> {
        let count = problems.len();
        let mut script = String::from("(set-logic ALL)\n");
        for problem in problems {
            script.push_str(&format!("(push 1)\n{problem}(check-sat)\n(pop 1)\n"));
        }
        let output = self.run(script)?;
        let mut replies: Vec<Reply> = (output.lines().map(str::trim).filter(|line| !line.is_empty()))
            .map(|line| match line {
                "unsat" => Reply::Unsat,
                "sat" => Reply::Sat,
                other => Reply::Other(other.to_owned()),
            })
            .collect();
        if replies.len() > count {
            // An error message stands among the answers: nobody knows to which problem each belongs.
            let error = replies.iter().find(|reply| matches!(reply, Reply::Other(_))).cloned();
            return Ok(vec![error.unwrap_or(Reply::Other("too many answers".into())); count]);
        }
        replies.resize(count, Reply::Other("no answer".into()));
        Ok(replies)
    }

    fn run(&self, script: String) -> Result<String, String> {
        let (program, arguments) = self.command.split_first().ok_or("the command of the solver is empty")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("the solver `{program}` does not start: {error}"))?;
        let mut stdin = child.stdin.take().ok_or("the solver has no input")?;
        let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        // A solver that stops early closes its input; what it printed decides.
        drop(writer.join());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
