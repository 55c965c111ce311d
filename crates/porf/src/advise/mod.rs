//! Which line to change: orderings that repair a wrong program, and orderings that a right one can do
//! without.

mod places;
mod repair;
mod trial;
mod weaken;

pub use places::{Place, Side, Suggestion};
pub use repair::{Repair, repair};
pub use weaken::{Advice, Advised, advise};
