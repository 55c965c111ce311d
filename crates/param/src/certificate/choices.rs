//! Which processes the parameters of an obligation are.

use super::scene::Env;

/// Every way to give processes to the parameters of `init`, which need not be distinct.
pub fn environments(params: usize, processes: u8) -> Vec<Env> {
    let mut envs = vec![[0; 16]];
    for slot in 0..params {
        let with = |env: Env| {
            (0..processes).map(move |process| {
                let mut env = env;
                env[slot] = process;
                env
            })
        };
        envs = envs.into_iter().flat_map(with).collect();
    }
    envs
}

/// Every injective map of `0..from` into `0..to`.
pub fn injections(from: u8, to: u8) -> Vec<Vec<u8>> {
    placements(usize::from(from), usize::from(to), usize::from(to)).into_iter().map(|(map, _)| map).collect()
}

/// Distinct processes for parameters: some of the `known` ones and new ones in order, up to `most`. With how many
/// there are then.
pub fn placements(params: usize, known: usize, most: usize) -> Vec<(Vec<u8>, usize)> {
    let mut found: Vec<(Vec<u8>, usize)> = vec![(Vec::new(), known)];
    for _ in 0..params {
        let mut next = Vec::new();
        for (chosen, used) in found {
            for process in (0..(used + 1).min(most.max(used)) as u8).filter(|p| !chosen.contains(p)) {
                let used = used.max(usize::from(process) + 1);
                next.push((chosen.iter().copied().chain([process]).collect(), used));
            }
        }
        found = next;
    }
    found
}
