//! An independent way to all executions of small programs, and random programs to try it on.
//!
//! Nothing here is shared with the search: graphs are plain lists, built in every order, and the
//! axioms are written down over bit matrices.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod axioms;
pub mod brute;
pub mod chain;
pub mod dependent;
pub mod generate;

use porf_ir::Program;

/// How many random programs: `default`, fifty times as many with `PORF_FULL`, or what `PORF_FUZZ` says.
pub fn budget(default: u64) -> u64 {
    match std::env::var("PORF_FUZZ") {
        Ok(count) => count.parse().unwrap(),
        Err(_) if std::env::var_os("PORF_FULL").is_some() => default * 50,
        Err(_) => default,
    }
}

/// How many programs to run where a reduction is compared with the search without it: 100,000 with PORF_FULL.
pub fn programs(default: u64) -> u64 {
    let full = std::env::var_os("PORF_FUZZ").is_none() && std::env::var_os("PORF_FULL").is_some();
    if full { 100_000 } else { budget(default) }
}

/// All permutations of threads that run the same function.
pub fn permutations(program: &Program) -> Vec<Vec<u16>> {
    let mut all: Vec<Vec<u16>> = vec![Vec::new()];
    for thread in &program.threads {
        let free = |begun: &Vec<u16>| -> Vec<Vec<u16>> {
            let others = (0..program.threads.len() as u16)
                .filter(|other| !begun.contains(other))
                .filter(|&other| program.threads[other as usize].function == thread.function);
            others.map(|other| begun.iter().copied().chain([other]).collect()).collect()
        };
        all = all.iter().flat_map(free).collect();
    }
    all
}
