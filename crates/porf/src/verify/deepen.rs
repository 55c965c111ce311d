//! Programs without an end: their loops are bounded, by one iteration, two, and so on.
//!
//! A search without `--unroll` gives up where an execution has more events or threads than there is room for, or
//! where none ends in half of the time. A loop without an end is the usual cause. What goes wrong within a bound goes
//! wrong in the program, so the search is made again with small bounds. If it finds nothing, the answer stays
//! inconclusive and says how far it came.
//!
//! Cost: at most [`EXECUTIONS`] in all rounds, and no more than what is left of the budget.

use super::{Budget, Request, once};
use crate::answer::Answer;
use crate::{Error, Input};
use porf_verdict::{Limit, Verdict};
use std::time::Instant;

/// Executions of all rounds.
const EXECUTIONS: u64 = 20_000;

/// The greatest bound: a program that has seen this many iterations repeats itself.
const BOUND: u32 = 32;

/// Explores every execution of a program under a model, and says whether one of them goes wrong.
pub fn verify(input: &Input, request: &Request<'_>) -> Result<Answer, Error> {
    let start = Instant::now();
    let (mut answer, endless) = once(input, request)?;
    let Verdict::Inconclusive(limit) = &answer.verdict else { return Ok(answer) };
    if !endless {
        return Ok(answer);
    }
    let (limit, seconds) = (limit.clone(), answer.seconds);
    let mut executions = 0;
    let mut bound = None;
    for unroll in 1..=BOUND {
        let Budget { executions: allowed, time, memory } = request.budget;
        let used = answer.executions + answer.blocked + executions;
        let left = allowed.map_or(u64::MAX, |limit| limit.saturating_sub(used)).min(EXECUTIONS - executions);
        let time = time.map(|limit| limit.saturating_sub(start.elapsed()));
        if left == 0 || time.is_some_and(|left| left.is_zero()) {
            break;
        }
        let budget = Budget { executions: Some(left), time, memory };
        // What a round cannot do does not change the first answer.
        let Ok((mut round, _)) = once(input, &Request { unroll: Some(unroll), budget, ..*request }) else {
            break;
        };
        executions += round.executions + round.blocked;
        answer.seconds.explore += round.seconds.explore;
        answer.seconds.cpu += round.seconds.cpu;
        match round.verdict {
            Verdict::Violated(_) => {
                round.seconds.explore += seconds.explore;
                round.seconds.cpu += seconds.cpu;
                round.unfinished = round.unfinished.map(|_| limit);
                return Ok(round);
            }
            Verdict::Safe(_) => bound = Some(unroll),
            Verdict::Inconclusive(Limit::Incomplete { .. }) => {}
            Verdict::Inconclusive(Limit::Interrupted) => {
                answer.verdict = Verdict::Inconclusive(Limit::Interrupted);
                break;
            }
            Verdict::Inconclusive(_) => break,
        }
        if executions >= EXECUTIONS {
            break;
        }
    }
    if let Some(bound) = bound {
        let times = if bound == 1 { "iteration" } else { "iterations" };
        let message = format!("nothing goes wrong in executions with loops up to {bound} {times}");
        answer.warnings.push(message);
    }
    Ok(answer)
}
