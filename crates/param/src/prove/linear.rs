//! Conjunctions of linear constraints: Fourier–Motzkin elimination.
//!
//! "Unsatisfiable" is certain; "satisfiable" means only that no contradiction was found (integers are relaxed
//! to rationals after tightening, and large systems are given up). Both uses in the prover are sound with
//! that: a cube wrongly kept is explored, an implication wrongly missed costs a node.

use super::literal::{Lin, LinOp, Var};

const MAX_CONSTRAINTS: usize = 300;

/// t ≤ 0 or t < 0, with t = Σ terms + constant.
#[derive(Clone, PartialEq, Eq)]
struct Row {
    terms: Vec<(Var, i128)>,
    constant: i128,
    strict: bool,
    real: bool,
}

/// Whether the conjunction is certainly contradictory.
pub fn contradictory(constraints: &[Lin]) -> bool {
    let mut rows = Vec::new();
    let mut disequalities = Vec::new();
    for lin in constraints {
        match lin.op {
            LinOp::Le => rows.push(row(lin, 1, false)),
            LinOp::Lt => rows.push(row(lin, 1, true)),
            LinOp::Eq => {
                rows.push(row(lin, 1, false));
                rows.push(row(lin, -1, false));
            }
            LinOp::Neq => disequalities.push(lin),
        }
    }
    if refuted(rows.clone()) {
        return true;
    }
    // One disequality at a time: enough for the bounded intervals that occur.
    disequalities.iter().any(|lin| {
        [1, -1].into_iter().all(|sign| {
            let mut side = row(lin, sign, true);
            if !lin.real {
                side.strict = false;
                side.constant += 1;
            }
            let mut rows = rows.clone();
            rows.push(side);
            refuted(rows)
        })
    })
}

fn row(lin: &Lin, sign: i128, strict: bool) -> Row {
    let terms = lin.terms.iter().map(|(var, k)| (*var, sign * i128::from(*k))).collect();
    Row { terms, constant: sign * i128::from(lin.constant), strict, real: lin.real }
}

fn refuted(mut rows: Vec<Row>) -> bool {
    loop {
        if rows
            .iter()
            .any(|row| row.terms.is_empty() && (row.constant > 0 || (row.strict && row.constant >= 0)))
        {
            return true;
        }
        rows.retain(|row| !row.terms.is_empty());
        if rows.len() > MAX_CONSTRAINTS {
            return false;
        }
        let Some(var) = cheapest(&rows) else { return false };
        let Some(next) = eliminate(&rows, var) else { return false };
        rows = next;
    }
}

/// The variable whose elimination creates the fewest rows.
fn cheapest(rows: &[Row]) -> Option<Var> {
    let mut counts: Vec<(Var, usize, usize)> = Vec::new();
    for row in rows {
        for (var, k) in &row.terms {
            let at = counts.iter().position(|(other, ..)| other == var).unwrap_or_else(|| {
                counts.push((*var, 0, 0));
                counts.len() - 1
            });
            if *k > 0 { counts[at].1 += 1 } else { counts[at].2 += 1 }
        }
    }
    counts.into_iter().min_by_key(|(_, up, down)| up * down).map(|(var, ..)| var)
}

fn eliminate(rows: &[Row], var: Var) -> Option<Vec<Row>> {
    let coefficient = |row: &Row| row.terms.iter().find(|(other, _)| *other == var).map_or(0, |(_, k)| *k);
    let mut next: Vec<Row> = rows.iter().filter(|row| coefficient(row) == 0).cloned().collect();
    for up in rows.iter().filter(|row| coefficient(row) > 0) {
        for down in rows.iter().filter(|row| coefficient(row) < 0) {
            let combined = combine(up, -coefficient(down), down, coefficient(up))?;
            if !next.contains(&combined) {
                next.push(combined);
            }
            if next.len() > MAX_CONSTRAINTS {
                return None; // given up before that many are compared with each other
            }
        }
    }
    Some(next)
}

fn combine(a: &Row, by_a: i128, b: &Row, by_b: i128) -> Option<Row> {
    let mut terms: Vec<(Var, i128)> = Vec::new();
    for (row, factor) in [(a, by_a), (b, by_b)] {
        for (var, k) in &row.terms {
            let k = k.checked_mul(factor)?;
            match terms.iter_mut().find(|(other, _)| other == var) {
                Some((_, sum)) => *sum = sum.checked_add(k)?,
                None => terms.push((*var, k)),
            }
        }
    }
    terms.retain(|(_, k)| *k != 0);
    terms.sort_unstable();
    let constant = a.constant.checked_mul(by_a)?.checked_add(b.constant.checked_mul(by_b)?)?;
    let mut row = Row { terms, constant, strict: a.strict || b.strict, real: a.real || b.real };
    let gcd = row.terms.iter().fold(0_i128, |gcd, (_, k)| gcd_of(gcd, k.abs()));
    if gcd > 1 && (!row.real || row.constant % gcd == 0) {
        row.terms.iter_mut().for_each(|(_, k)| *k /= gcd);
        let whole = row.constant % gcd == 0;
        row.constant = row.constant.div_euclid(gcd) + i128::from(!whole);
    }
    Some(row)
}

fn gcd_of(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd_of(b, a % b) }
}
