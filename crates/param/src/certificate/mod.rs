//! Certificates: the invariant of a safe system in a file, and a check that shares nothing with the search.
//!
//! # What is checked
//!
//! A certificate is a list of [cubes](cube), which are sets of states of the store-buffer machine: cells, memory, and a
//! buffer of pending writes for each process. The claim is that the states in no cube are an inductive invariant
//! without unsafe states. The obligations are made from the parsed system by code of its own ([`scene`], [`machine`],
//! [`obligations`]); the prover's cubes, pre-images and memory events are used by [`export`] alone, which translates
//! what the prover found. So a wrong reduction of weak memory to events, or a wrong pre-image, gives a certificate that is
//! rejected.
//!
//! A certificate may also have [laws](crate::law::Law), about all processes at once. They are part of the invariant, and
//! [`laws`] says what is shown of them.
//!
//! # Why buffers need no bound
//!
//! A cube speaks of what processes will read on some run ρ of *commits alone*: the state is in it if there is such a run
//! with a place for each of its moments. We may take ρ to be complete (all buffers empty in the end) and count
//! time by its commits: 0 is the state itself. All that a cube can say is then said by finitely many numbers: the time of
//! each moment, the time at which a process has nothing pending any more (for a location, or at all), and the time at
//! which the write that a read finds reached memory (0 if it was in memory from the start).
//!
//! *Commits* need no obligation. If s goes to s′ by a commit and s′ is in a cube by ρ, then s is in the same cube by
//! that commit followed by ρ: every moment is one later, every read finds the same write. This is where memory itself
//! must not occur in a cube, only reads of it, and [`obligations::fits`] refuses cubes in which it does.
//!
//! *Transitions*: let s go to s′ by a step of process p, and let s′ be in a cube by ρ′. If the step writes through the buffer,
//! leave the commit of its group, at time c, out of ρ′. The rest, ρ, is a run from s, since the group is the newest of
//! its buffer. A locked step writes memory itself, with its buffer empty, so c is 0 and ρ is ρ′. For each
//! read in the cube of a location that the step writes there are two cases.
//!
//! - It finds the new write. If another process reads, the write has reached memory by then, and the reader has nothing of its
//!   own pending there, nor did anything of its own reach memory after c.
//! - It finds what it finds on ρ. Then it happened before c, or the new write was overwritten: by a write that was pending in
//!   s, reached memory after c, and is not of p, whose writes to one location stay in order. A process that
//!   reads its own new write from the buffer cannot miss it before c.
//!
//! Nothing else in the cube changes but emptiness of the buffer of p: it is empty on ρ′ once it is empty on ρ and c is over.
//! Under TSO c comes after all that was pending of p, under PSO after what was pending for the locations of the
//! group. These are the facts of [`obligations`]; that s is in no cube is used for the moments of ρ′ and for the
//! reads of the step itself. Using it for fewer runs than there are makes an obligation harder, never easier.
//!
//! A certificate may also be one of the [watched system](robust) under sequential consistency, where that is enough.
//!
//! # What stays trusted
//!
//! The parser and [`crate::typing`], this module, and the solvers. If several are installed they must not disagree.

mod choices;
pub mod cube;
mod export;
mod format;
mod laws;
mod machine;
mod obligations;
mod relevance;
mod robust;
mod scene;
mod solver;
mod term;

pub use cube::Certificate;
pub use format::{read, write};
pub use obligations::Obligation;
pub use solver::{Reply, Solver};

use crate::law::Law;
use crate::prove::{self, Order};
use crate::syntax::Diagnostic;
use crate::system::System;
use crate::{Memory, ProofAnswer};

/// Why a certificate is not confirmed.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The system has no meaning under the model, or is beyond what the prover accepts.
    System(Diagnostic),
    /// The certificate does not fit the question.
    Certificate(String),
    /// An obligation that no solver refutes, and why.
    Obligation(String),
    /// A solver does not run.
    Solver(String),
}

/// What a confirmed certificate rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// How many problems had to be unsatisfiable.
    pub obligations: usize,
    /// Each solver, and how many obligations it refuted. None was left open by all.
    pub solvers: Vec<(String, usize)>,
}

/// The certificate of an answer; `None` if its invariant was found in another order than that of issue.
pub fn of(memory: Memory, answer: &ProofAnswer) -> Option<Certificate> {
    let Some(robust) = &answer.robust else { return of_invariant(memory, &answer.invariant, &answer.laws) };
    // Two inductive invariants are one together.
    let cubes: Vec<prove::Cube> = answer.invariant.iter().chain(&robust.invariant).cloned().collect();
    let more = robust.laws.iter().filter(|law| !answer.laws.contains(law));
    let laws: Vec<Law> = answer.laws.iter().chain(more).cloned().collect();
    Some(Certificate { robust: true, ..of_invariant(memory, &cubes, &laws)? })
}

/// The same for an invariant under the memory itself.
pub fn of_invariant(memory: Memory, invariant: &[prove::Cube], laws: &[Law]) -> Option<Certificate> {
    if memory == Memory::Ra && invariant.iter().any(|cube| !cube.weak.is_empty()) {
        return None;
    }
    let cubes = invariant.iter().map(export::export).collect::<Option<_>>()?;
    Some(Certificate { memory, robust: false, cubes, laws: laws.to_vec() })
}

/// Obligations are about the store-buffer machine.
const NO_MESSAGES: &str = "there are no certificates under release–acquire (docs/limits.md)";

/// The obligations of a certificate for the system under `memory`.
pub fn obligations(
    system: &System,
    memory: Memory,
    certificate: &Certificate,
) -> Result<Vec<Obligation>, Refusal> {
    // What the prover refuses is refused here, for the same reason.
    prove::compile::compile(system, memory, Order::Issue).map_err(Refusal::System)?;
    if certificate.memory != memory {
        return Err(Refusal::Certificate(format!(
            "the certificate is for {}, not for {}",
            certificate.memory.word(),
            memory.word()
        )));
    }
    if memory == Memory::Ra && system.has_weak() {
        return Err(Refusal::Certificate(NO_MESSAGES.into()));
    }
    if certificate.robust {
        let watched = robust::watched(system, memory).map_err(Refusal::Certificate)?;
        let certificate = Certificate { memory: Memory::Sc, robust: false, ..certificate.clone() };
        return obligations_of(&watched, &certificate);
    }
    obligations_of(system, certificate)
}

fn obligations_of(system: &System, certificate: &Certificate) -> Result<Vec<Obligation>, Refusal> {
    obligations::fits(system, certificate).map_err(Refusal::Certificate)?;
    Ok(obligations::obligations(system, certificate))
}

/// Confirms a certificate: every obligation is refuted by some solver, and none is satisfiable for any.
pub fn check(
    system: &System,
    memory: Memory,
    certificate: &Certificate,
    solvers: &[Solver],
) -> Result<Confirmed, Refusal> {
    let obligations = obligations(system, memory, certificate)?;
    refute(&obligations, solvers)
}

/// Has every solver refute the obligations.
pub fn refute(obligations: &[Obligation], solvers: &[Solver]) -> Result<Confirmed, Refusal> {
    if solvers.is_empty() {
        return Err(Refusal::Solver("no SMT solver is installed: install z3 or cvc5".into()));
    }
    let mut replies: Vec<Vec<Reply>> = Vec::new();
    for solver in solvers {
        let problems = obligations.iter().map(|obligation| obligation.text.as_str());
        replies.push(solver.ask(problems).map_err(Refusal::Solver)?);
    }
    for (at, obligation) in obligations.iter().enumerate() {
        let each = || solvers.iter().zip(replies.iter().map(|replies| &replies[at]));
        let says =
            |wanted: Reply| each().find(|(_, reply)| **reply == wanted).map(|(solver, _)| solver.name());
        let why = match (says(Reply::Sat), says(Reply::Unsat)) {
            (None, Some(_)) => continue,
            (Some(sat), Some(unsat)) => format!("{sat} and {unsat} disagree"),
            (Some(sat), None) => format!("{sat} says `sat`"),
            (None, None) => {
                let words: Vec<String> = each()
                    .map(|(solver, reply)| match reply {
                        Reply::Other(word) => format!("{} says `{word}`", solver.name()),
                        Reply::Sat | Reply::Unsat => String::new(),
                    })
                    .collect();
                words.join(", ")
            }
        };
        return Err(Refusal::Obligation(format!("{}: {why}", obligation.what)));
    }
    let count = |replies: &Vec<Reply>| replies.iter().filter(|reply| **reply == Reply::Unsat).count();
    let solvers =
        solvers.iter().zip(&replies).map(|(solver, replies)| (solver.name().to_owned(), count(replies)));
    Ok(Confirmed { obligations: obligations.len(), solvers: solvers.collect() })
}

/// Drops laws and cubes as long as the rest is confirmed: of the cubes left none can be dropped alone.
pub fn minimise(
    system: &System,
    memory: Memory,
    certificate: Certificate,
    solvers: &[Solver],
) -> Result<Certificate, Refusal> {
    let mut least = certificate;
    for at in (0..least.laws.len()).rev() {
        let mut less = least.clone();
        less.laws.remove(at);
        match check(system, memory, &less, solvers) {
            Ok(_) => least = less,
            Err(Refusal::Obligation(_)) => {}
            Err(other) => return Err(other),
        }
    }
    // What a cube was needed for may go after it: until nothing goes.
    loop {
        let before = least.cubes.len();
        for at in (0..before).rev() {
            let mut less = least.clone();
            less.cubes.remove(at);
            // Only what assumed the cube to be away can fail without it.
            let all = obligations(system, memory, &least)?;
            let with: Vec<bool> = all.iter().map(|obligation| obligation.uses.contains(&at)).collect();
            let without = obligations(system, memory, &less)?;
            let kept = (all.iter().zip(with)).filter(|(obligation, _)| obligation.cube != Some(at));
            let affected: Vec<Obligation> =
                kept.zip(without).filter(|((_, with), _)| *with).map(|(_, obligation)| obligation).collect();
            match refute(&affected, solvers) {
                Ok(_) => least = less,
                Err(Refusal::Obligation(_)) => {}
                Err(other) => return Err(other),
            }
        }
        if least.cubes.len() == before {
            return Ok(least);
        }
    }
}
