//! Which orderings of a right program are stronger than they need to be.
//!
//! Places are weakened one after the other, fences first, each as far as the program stays safe together
//! with what was weakened before. Weaker orderings only allow more executions, so that after one pass
//! no place can be weakened further: a weakening that went wrong earlier goes wrong later too.
//!
//! Limits: the advice is as good as the program that was explored. A place that no execution comes
//! through gets none. What could not be decided within the budget stays as it is.
//! Cost: an exploration for each try, at most five for each place.

use super::places::{Place, Suggestion};
use super::trial::{TrialOutcome, Trials};
use crate::verify::Request;
use crate::{Error, Input};
use porf_event::Dialect;
use porf_ir::{Change, FaultKind, Instr, MemoryOrder, Operation};
use porf_model::Model;

/// The weakest orderings that keep a program safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The models under which the program stays safe.
    pub models: Vec<Model>,
    /// Every place with the ordering that it should have, in the order of the text.
    pub places: Vec<Advised>,
    /// How many programs were tried.
    pub tried: u64,
    /// For how many of them the budget was too small; their places stay as they are.
    pub undecided: u64,
    /// Executions in all.
    pub executions: u64,
}

/// What is advised for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advised {
    /// The place with its present ordering.
    pub place: Place,
    /// The ordering that is enough.
    pub order: MemoryOrder,
    /// Whether some execution comes through it. If not, the ordering is the present one.
    pub reached: bool,
}

impl Advice {
    /// The places that should change.
    pub fn suggestions(&self) -> impl Iterator<Item = Suggestion> + '_ {
        let changed = self.places.iter().filter(|advised| advised.order != advised.place.order);
        changed.map(|advised| Suggestion { place: advised.place.clone(), order: advised.order })
    }
}

/// Looks for the weakest orderings under which a program is safe under each of the models. `None` if it is not
/// safe as it is, or if that could not be decided.
pub fn advise(input: &Input, request: &Request<'_>, models: &[Model]) -> Result<Option<Advice>, Error> {
    if input.question.is_some() || input.program.dialect != Dialect::C {
        return Err(Error::Unsupported("advice is for programs in C, C++ or Porf's text form".to_string()));
    }
    let mut trials = Trials::new(input, request, models);
    if trials.changed(&[])? != TrialOutcome::Safe {
        return Ok(None);
    }
    let mut places: Vec<Advised> = Place::all(&input.program)
        .into_iter()
        .map(|place| Advised { order: place.order, place, reached: true })
        .collect();
    let mut turn: Vec<usize> = (0..places.len()).collect();
    // A fence costs most, and seq_cst more than the others.
    turn.sort_by_key(|&number| {
        let Place { operation, order, .. } = places[number].place;
        (operation != Operation::Fence, std::cmp::Reverse(order))
    });
    for number in turn {
        let place = places[number].place.clone();
        if place.weaker().next().is_none() {
            continue;
        }
        if !reached(input, &place, &mut trials)? {
            places[number].reached = false;
            continue;
        }
        for order in place.weaker() {
            places[number].order = order;
            if trials.changed(&changes(&places))? == TrialOutcome::Safe {
                break;
            }
            places[number].order = place.order;
        }
    }
    let Trials { tried, undecided, executions, .. } = trials;
    Ok(Some(Advice { models: models.to_vec(), places, tried, undecided, executions }))
}

/// Whether some execution comes through a place: a program with an assertion that fails there is not safe.
fn reached(input: &Input, place: &Place, trials: &mut Trials<'_>) -> Result<bool, Error> {
    if place.operation == Operation::Failure {
        // It stands where the compare-and-swap stands.
        return Ok(true);
    }
    let mut program = input.program.clone();
    for site in place.sites() {
        let code = &mut program.functions[site.function.0 as usize].code;
        code[site.at as usize] = Instr::Fail { kind: FaultKind::Assertion, message: "".into() };
    }
    trials.fails(program)
}

fn changes(places: &[Advised]) -> Vec<Change> {
    places.iter().flat_map(|advised| advised.place.set(advised.order)).collect()
}
