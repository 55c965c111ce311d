//! Which processes an obligation speaks of: the choices for parameters and quantifiers.

use crate::system::Formula;

/// How many processes the existential quantifiers of a formula may name.
pub fn quantifiers(formula: &Formula) -> usize {
    match formula {
        Formula::True | Formula::False | Formula::Compare(..) => 0,
        Formula::Not(inner) => quantifiers(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().map(quantifiers).sum(),
        Formula::If(a, b, c) => 2 * quantifiers(a) + quantifiers(b) + quantifiers(c),
        Formula::Forall(q) => quantifiers(&q.body),
        Formula::Exists(q) => 1 + quantifiers(&q.body),
    }
}

pub fn all_environments(params: usize, procs: usize) -> Vec<[u8; 16]> {
    let mut envs = vec![[0; 16]];
    for slot in 0..params {
        envs = (envs.iter())
            .flat_map(|env| {
                (0..procs as u8).map(move |p| {
                    let mut env = *env;
                    env[slot] = p;
                    env
                })
            })
            .collect();
    }
    envs
}

/// Every injective map of `0..from` into `0..to`.
pub fn injections(from: usize, to: usize) -> Vec<Vec<u8>> {
    let mut maps: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..from {
        maps = (maps.iter())
            .flat_map(|map| {
                (0..to as u8)
                    .filter(|p| !map.contains(p))
                    .map(|p| map.iter().copied().chain([p]).collect())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    maps
}

/// Distinct processes for the parameters: those of the cube, and new ones in order. With how many there are then.
pub fn placements(params: usize, fixed: usize, named: bool, most: usize) -> Vec<(Vec<u8>, usize)> {
    let mut found: Vec<(Vec<u8>, usize)> = vec![(Vec::new(), fixed)];
    for _ in 0..params {
        let mut next = Vec::new();
        for (chosen, used) in found {
            let end = if named || used >= most { used } else { used + 1 };
            for p in (0..end as u8).filter(|p| !chosen.contains(p)) {
                let used = used.max(p as usize + 1);
                next.push((chosen.iter().copied().chain([p]).collect(), used));
            }
        }
        found = next;
    }
    found
}
