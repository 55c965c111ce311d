//! Laws: what counters and flags say of all processes at once, which no conjunction over some processes can say.
//!
//! A law is data alone. The search finds laws and uses them ([`mod@crate::prove`]), the check of a certificate proves them
//! anew ([`crate::certificate`]).

use crate::system::{INT, System};

/// A statement about all processes that every reachable state satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// A sum over all processes.
    Count(Count),
    /// Some process.
    Witness(Witness),
}

/// Σ factor · counter + Σ weight of a flag's value = total + Σ over all processes of the weight of their cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Whole variables and their factors.
    pub counters: Vec<(usize, i64)>,
    /// Enumerated variables, with the weight of each value.
    pub flags: Vec<(usize, Vec<i64>)>,
    /// An enumerated array with one index.
    pub array: usize,
    /// The weight of each of its values.
    pub weights: Vec<i64>,
    /// The sum of the left side if every process weighs nothing.
    pub total: i64,
}

/// Where the variable has one of these values, some process has its cell in the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// An enumerated variable.
    pub variable: usize,
    /// Some of its values.
    pub values: u64,
    /// An enumerated array with one index.
    pub array: usize,
    /// Some of its values.
    pub set: u64,
}

impl Count {
    /// The values of the array with a weight of this sign.
    pub fn with_sign(&self, sign: i64) -> u64 {
        (self.weights.iter().enumerate())
            .filter(|(_, weight)| weight.signum() == sign)
            .fold(0, |set, (value, _)| set | 1 << value)
    }
}

impl Law {
    /// Every variable and array that the law speaks of.
    pub fn symbols(&self) -> Vec<usize> {
        match self {
            Law::Count(count) => {
                let counters = count.counters.iter().map(|(symbol, _)| *symbol);
                counters.chain(count.flags.iter().map(|(symbol, _)| *symbol)).chain([count.array]).collect()
            }
            Law::Witness(witness) => vec![witness.variable, witness.array],
        }
    }

    /// Whether the law speaks of such symbols as it should; the error says what does not fit.
    pub fn fits(&self, system: &System) -> Result<(), String> {
        let name = |symbol: usize| system.symbols[symbol].name.as_str();
        let values = |symbol: usize| system.constructors(system.symbols[symbol].ty).len();
        let enumerated = |symbol: usize, dims: usize, given: usize| {
            if system.symbols[symbol].dims != dims || values(symbol) == 0 || values(symbol) != given {
                return Err(format!("a law gives values to `{}` that it does not have", name(symbol)));
            }
            Ok(())
        };
        match self {
            Law::Count(count) => {
                for (symbol, _) in &count.counters {
                    if system.symbols[*symbol].dims != 0 || system.symbols[*symbol].ty != INT {
                        return Err(format!("a law adds up `{}`, which is no number", name(*symbol)));
                    }
                }
                for (symbol, weights) in &count.flags {
                    enumerated(*symbol, 0, weights.len())?;
                }
                enumerated(count.array, 1, count.weights.len())
            }
            Law::Witness(witness) => {
                enumerated(witness.variable, 0, values(witness.variable))?;
                enumerated(witness.array, 1, values(witness.array))
            }
        }
    }

    /// The law in words of the system.
    pub fn words(&self, system: &System) -> String {
        let name = |symbol: usize| system.symbols[symbol].name.clone();
        let constructor =
            |symbol: usize, value: usize| system.constructors(system.symbols[symbol].ty)[value].clone();
        let names = |symbol: usize, set: u64| {
            let count = system.constructors(system.symbols[symbol].ty).len();
            let names: Vec<String> =
                (0..count).filter(|i| set >> i & 1 == 1).map(|i| constructor(symbol, i)).collect();
            names.join(" or ")
        };
        match self {
            Law::Witness(witness) => format!(
                "if {} = {}, then some process has {} = {}",
                name(witness.variable),
                names(witness.variable, witness.values),
                name(witness.array),
                names(witness.array, witness.set)
            ),
            Law::Count(count) => {
                let mut left: Vec<(i64, String)> =
                    count.counters.iter().map(|(symbol, k)| (*k, name(*symbol))).collect();
                for (symbol, weights) in &count.flags {
                    left.extend((weights.iter().enumerate()).filter(|(_, weight)| **weight != 0).map(
                        |(value, weight)| {
                            (*weight, format!("[{} = {}]", name(*symbol), constructor(*symbol, value)))
                        },
                    ));
                }
                let mut right: Vec<(i64, String)> = Vec::new();
                for (value, weight) in count.weights.iter().enumerate().filter(|(_, weight)| **weight != 0) {
                    right.push((
                        *weight,
                        format!("#({} = {})", name(count.array), constructor(count.array, value)),
                    ));
                }
                format!("{} = {}", sum(&left, 0), sum(&right, count.total))
            }
        }
    }
}

/// `2 a - b + 3`.
fn sum(terms: &[(i64, String)], constant: i64) -> String {
    let mut text = String::new();
    let numbers = (constant != 0 || terms.is_empty()).then(|| (constant, String::new()));
    for (factor, term) in terms.iter().cloned().chain(numbers) {
        let sign = if factor < 0 { "-" } else { "+" };
        text += &match (text.is_empty(), factor < 0) {
            (true, true) => "-".to_owned(),
            (true, false) => String::new(),
            (false, _) => format!(" {sign} "),
        };
        text += &match (factor.unsigned_abs(), term.is_empty()) {
            (1, false) => term,
            (k, false) => format!("{k} {term}"),
            (k, true) => k.to_string(),
        };
    }
    text
}
