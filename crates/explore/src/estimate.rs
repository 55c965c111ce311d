//! How many executions there may be: random descents.
//!
//! Source: Knuth, "Estimating the efficiency of backtrack programs", 1975. A descent follows one
//! choice at random at every event; the product of the numbers of choices is an unbiased estimate of
//! the number of executions (0 where the choice turns out to be inconsistent). The variance is large
//! for lopsided trees: an estimate, not a bound.

use crate::engine::Engine;
use crate::error::Error;
use crate::search::Policy;
use crate::visit::Visit;
use porf_consistency::{Choice, MemoryModel};
use std::ops::ControlFlow;

/// A walk down the tree of choices.
pub(crate) struct Descent {
    random: u64,
    weight: f64,
}

impl Descent {
    /// Keeps one of the choices from `start` on.
    pub fn choose(&mut self, choices: &mut Vec<Choice>, start: usize) {
        let count = choices.len() - start;
        self.weight *= count as f64;
        if count > 1 {
            // xorshift64*
            self.random ^= self.random >> 12;
            self.random ^= self.random << 25;
            self.random ^= self.random >> 27;
            let picked = (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % count;
            choices.swap(start, start + picked);
            choices.truncate(start + 1);
        }
    }
}

/// The mean of `samples` descents, and its standard error.
pub(crate) fn estimate<M: MemoryModel>(
    engine: &mut Engine<'_, M>,
    samples: u32,
) -> Result<(f64, f64), Error> {
    let mut descent = Descent { random: 0x9e37_79b9_7f4a_7c15, weight: 1.0 };
    let (mut sum, mut squares) = (0.0, 0.0);
    // Nobody looks for cycles.
    engine.detector.found = true;
    for _ in 0..samples {
        descent.weight = 1.0;
        engine.forget();
        engine.descent = Some(descent);
        let mut leaf = false;
        let mut visitor = |visit: Visit<'_, '_>| {
            leaf = matches!(visit, Visit::Complete(_) | Visit::Blocked(_));
            if leaf { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = engine.run(&mut visitor)?;
        descent = engine.descent.take().unwrap_or_else(|| unreachable!("it was put there"));
        let weight = if leaf { descent.weight } else { 0.0 };
        sum += weight;
        squares += weight * weight;
    }
    let n = f64::from(samples.max(1));
    let mean = sum / n;
    let variance = (squares / n - mean * mean).max(0.0);
    Ok((mean, (variance / n).sqrt()))
}
