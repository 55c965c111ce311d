//! The shapes: threads of reads and writes, and the outcome that makes a cycle of them.

pub struct Shape {
    pub name: &'static str,
    /// `Wx1` writes 1 to x, `Ry0` reads y and shall see 0; `|` separates threads; behind `;` the
    /// last values of variables, `x2`.
    code: &'static str,
    pub meaning: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub kind: Kind,
    pub variable: char,
    /// Written, or to be seen.
    pub value: u64,
}

pub const SHAPES: &[Shape] = &[
    shape("SB", "Wx1 Ry0 | Wy1 Rx0", "store buffering: do both reads miss both writes?"),
    shape("MP", "Wx1 Wy1 | Ry1 Rx0", "message passing: is the flag seen before the data?"),
    shape("LB", "Rx1 Wy1 | Ry1 Wx1", "load buffering: does each read see the write after the other?"),
    shape("S", "Wx2 Wy1 | Ry1 Wx1 ; x2", "a write that follows a flag is overwritten by one before it"),
    shape("R", "Wx1 Wy1 | Wy2 Rx0 ; y2", "a read after the last write misses an earlier write"),
    shape("2+2W", "Wx2 Wy1 | Wy2 Wx1 ; x2 y2", "two threads write two variables in opposite orders"),
    shape("WRC", "Wx1 | Rx1 Wy1 | Ry1 Rx0", "write-to-read causality: a flag passed on by a third thread"),
    shape("RWC", "Wx1 | Rx1 Ry0 | Wy1 Rx0", "read-to-write causality"),
    shape("WWC", "Wx2 | Rx2 Wy1 | Ry1 Wx1 ; x2", "write-to-write causality"),
    shape("IRIW", "Wx1 | Wy1 | Rx1 Ry0 | Ry1 Rx0", "do two readers see two writes in different orders?"),
    shape("ISA2", "Wx1 Wy1 | Ry1 Wz1 | Rz1 Rx0", "message passing over two flags"),
    shape("W+RWC", "Wx1 Wy1 | Ry1 Rz0 | Wz1 Rx0", "message passing, then store buffering"),
    shape("WRW+2W", "Wx2 | Rx2 Wy1 | Wy2 Wx1 ; x2 y2", "a write seen and passed on, then overwritten"),
    shape("WRR+2W", "Wx2 | Rx2 Ry0 | Wy1 Wx1 ; x2", "a write seen, a later one missed"),
    shape("Z6.0", "Wx1 Wy1 | Ry1 Wz1 | Wz2 Rx0 ; z2", "a chain of a read, an overwriting and a missed write"),
    shape("Z6.1", "Wx2 Wy1 | Wy2 Wz1 | Rz1 Wx1 ; x2 y2", "two overwritings and a read"),
    shape("Z6.2", "Wx2 Wy1 | Ry1 Wz1 | Rz1 Wx1 ; x2", "two reads and an overwriting"),
    shape("Z6.3", "Wx1 Wy1 | Wy2 Wz1 | Rz1 Rx0 ; y2", "an overwriting, a read and a missed write"),
    shape("Z6.4", "Wx1 Wy1 | Wy2 Rz0 | Wz1 Rx0 ; y2", "an overwriting and two missed writes"),
    shape("Z6.5", "Wx1 Wy1 | Wy2 Wz1 | Wz2 Rx0 ; y2 z2", "two overwritings and a missed write"),
    shape("3.SB", "Wx1 Ry0 | Wy1 Rz0 | Wz1 Rx0", "store buffering in a ring of three"),
    shape("3.LB", "Rx1 Wy1 | Ry1 Wz1 | Rz1 Wx1", "load buffering in a ring of three"),
    shape("3.2W", "Wx2 Wy1 | Wy2 Wz1 | Wz2 Wx1 ; x2 y2 z2", "three threads write three variables in a ring"),
    shape("CoRR", "Wx1 | Rx1 Rx0", "coherence: two reads of one variable do not go back"),
    shape("CoWW", "Wx1 Wx2 ; x1", "coherence: two writes to one variable keep their order"),
    shape("CoWR", "Wx1 Rx2 | Wx2 ; x1", "coherence: a read after a write sees no older one"),
    shape("CoRW", "Rx2 Wx1 | Wx2 ; x2", "coherence: a write after a read is not older than what was read"),
];

const fn shape(name: &'static str, code: &'static str, meaning: &'static str) -> Shape {
    Shape { name, code, meaning }
}

impl Shape {
    pub fn threads(&self) -> Vec<Vec<Access>> {
        let code = self.code.split(';').next().unwrap_or_default();
        code.split('|').map(|thread| thread.split_whitespace().map(access).collect()).collect()
    }

    /// The last values of variables that the outcome speaks of.
    pub fn last(&self) -> impl Iterator<Item = (char, u64)> {
        let values = self.code.split_once(';').map_or("", |(_, values)| values);
        values.split_whitespace().filter_map(|value| {
            let mut letters = value.chars();
            Some((letters.next()?, letters.as_str().parse().ok()?))
        })
    }

    /// The variables, in the order of the alphabet.
    pub fn variables(&self) -> Vec<char> {
        let mut variables: Vec<char> = self.threads().concat().iter().map(|access| access.variable).collect();
        variables.sort();
        variables.dedup();
        variables
    }
}

/// What a thread with two accesses begins and ends with.
pub fn ends(thread: &[Access]) -> Option<(Kind, Kind)> {
    match thread {
        [first, second] => Some((first.kind, second.kind)),
        _ => None,
    }
}

fn access(word: &str) -> Access {
    let letters: Vec<char> = word.chars().collect();
    match letters[..] {
        ['R', variable, value] => Access { kind: Kind::Read, variable, value: digit(value) },
        ['W', variable, value] => Access { kind: Kind::Write, variable, value: digit(value) },
        _ => unreachable!("'{word}' is no access: the shapes are ours"),
    }
}

fn digit(letter: char) -> u64 {
    letter.to_digit(10).map_or(0, u64::from)
}
