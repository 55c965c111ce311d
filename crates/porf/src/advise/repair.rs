//! Which stronger orderings make a wrong program right.
//!
//! Every suggestion was tried on the whole program. First all places get their strongest ordering: if the
//! program is still wrong, orderings are not the cause. Then each place alone is made stronger, and if
//! none is enough, a fence is put beside each access that the execution comes through. If no place alone
//! is enough, places are weakened again from the strongest program for as long as it stays safe; so are
//! fences. Stronger orderings only forbid executions, so that one pass gives a set from which nothing can
//! be left out.
//!
//! Cost: an exploration for each try, within one budget for all.

use super::places::{Place, Suggestion, visited};
use super::trial::{TrialOutcome, Trials};
use crate::verify::Request;
use crate::{Answer, Error, Input};
use porf_event::Dialect;
use porf_ir::{Change, MemoryOrder};

/// Whether stronger orderings repair a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Each of these sets makes the program safe, as far as the request asks for it.
    Orderings(Vec<Vec<Suggestion>>),
    /// Something goes wrong even if everything is `memory_order_seq_cst`.
    Other,
}

/// Looks for stronger orderings that make a program safe; `None` if there is nothing to say about them, or
/// not within the request's budget.
pub fn repair(input: &Input, request: &Request<'_>, answer: &Answer) -> Result<Option<Repair>, Error> {
    let Some(shown) = answer.found.first().and_then(|found| found.shown.as_ref()) else { return Ok(None) };
    if input.question.is_some() || input.program.dialect != Dialect::C {
        return Ok(None);
    }
    let mut places = Place::all(&input.program);
    if places.is_empty() {
        return Ok(None);
    }
    // What the execution comes through matters most.
    let visited = visited(&shown.trace);
    places.sort_by_key(|place| !visited.contains(&place.location));
    let models = [request.model];
    let mut trials = Trials::new(input, request, &models);
    let strongest: Vec<MemoryOrder> =
        places.iter().map(|place| place.stronger().next_back().unwrap_or(place.order)).collect();
    let all_strong = trials.changed(&changes(&places, &strongest))?;
    if all_strong == TrialOutcome::Violated {
        return Ok(Some(Repair::Other));
    }
    let gaps = Place::gaps(&input.program, &visited);
    for candidates in [&places, &gaps] {
        let singles = singles(candidates, &mut trials)?;
        if !singles.is_empty() {
            return Ok(Some(Repair::Orderings(singles)));
        }
    }
    let mut sets = Vec::new();
    if all_strong == TrialOutcome::Safe {
        sets.extend(smallest(&places, strongest, &mut trials)?);
    }
    let fences = vec![MemoryOrder::SeqCst; gaps.len()];
    if !gaps.is_empty() && trials.changed(&changes(&gaps, &fences))? == TrialOutcome::Safe {
        sets.extend(smallest(&gaps, fences, &mut trials)?);
    }
    sets.sort_by_key(Vec::len);
    Ok((!sets.is_empty()).then_some(Repair::Orderings(sets)))
}

/// Every place that is enough by itself, with the weakest ordering that is.
fn singles(places: &[Place], trials: &mut Trials<'_>) -> Result<Vec<Vec<Suggestion>>, Error> {
    let mut found = Vec::new();
    for place in places {
        for order in place.stronger() {
            let changes: Vec<Change> = place.set(order).collect();
            if trials.changed(&changes)? == TrialOutcome::Safe {
                found.push(vec![Suggestion { place: place.clone(), order }]);
                break;
            }
        }
    }
    Ok(found)
}

/// From orderings that are safe to as few and as weak ones as possible. `None` if the budget ends before.
fn smallest(
    places: &[Place],
    mut orders: Vec<MemoryOrder>,
    trials: &mut Trials<'_>,
) -> Result<Option<Vec<Suggestion>>, Error> {
    // What the execution does not come through is given up first.
    for number in (0..places.len()).rev() {
        let strongest = orders[number];
        for order in std::iter::once(places[number].order).chain(places[number].stronger()) {
            orders[number] = order;
            if order == strongest {
                break;
            }
            match trials.changed(&changes(places, &orders))? {
                TrialOutcome::Safe => break,
                TrialOutcome::Violated => {}
                TrialOutcome::Undecided => return Ok(None),
            }
        }
    }
    let chosen = places.iter().zip(orders).filter(|(place, order)| place.order != *order);
    Ok(Some(chosen.map(|(place, order)| Suggestion { place: place.clone(), order }).collect()))
}

fn changes(places: &[Place], orders: &[MemoryOrder]) -> Vec<Change> {
    places.iter().zip(orders).flat_map(|(place, order)| place.set(*order)).collect()
}
