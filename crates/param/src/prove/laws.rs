//! Laws of a system: found from its rules, each an inductive invariant by itself, and used where cubes are compared.
//!
//! *Counts* (after Clarke and Emerson's counting abstraction and the place invariants of Petri nets, Lautenbach 1973): a
//! counter changes by a constant in every step, and so does the number of processes at each location. Weights of locations
//! such that both changes agree are the solutions of linear equations, one for each way a rule can go. A counter then
//! equals the sum of the weights of all processes, so the processes of a cube bound it: a reader–writer lock, a reference count.
//!
//! *Witnesses*: a flag that is set only while some process is in a set of locations. A universal guard that finds nobody
//! there then says that the flag is not set.
//!
//! Both are over what no store buffer ever holds. What is found here is only used to drop cubes: the check of a
//! certificate has its own proof of each law.

use super::compile::{Compiled, Conjunction, Rule};
use super::cube::{Cube, MAX_PROCS, instantiate, tidy};
use super::facts::Facts;
use super::literal::{Lin, LinOp, Literal, Operand, ProcId, Simplified, Var};
use super::pre::{alternatives, matches};
use super::visited::Visited;
use super::work::Work;
use crate::law::{Count, Law, Witness};
use crate::system::INT;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Laws that hold in every reachable state, and which of them were used.
#[derive(Default)]
pub struct Laws {
    laws: Vec<(Law, AtomicBool)>,
}

/// Changes of a counter in one step that are looked for, and initial values.
const MAX_STEP: i64 = 8;
const MAX_START: i64 = 64;
/// Ways of one rule, and laws of one kind.
const MAX_WAYS: usize = 2_000;
const MAX_LAWS: usize = 16;

/// One way for a rule to go: what is known before it, and what becomes of the variables at hand.
struct Way<'a> {
    facts: &'a Facts,
    changes: &'a [(Var, Option<Operand>)],
}

/// A variable that a rule changes, and what may become of it.
type Changing = (Var, Vec<(Vec<Literal>, Option<Operand>)>);

impl Laws {
    /// The laws of a system; none where processes have names.
    pub fn of(compiled: &Compiled<'_>) -> Laws {
        let system = compiled.system;
        if system.named {
            return Laws::default();
        }
        let symbols = |dims: usize, enumerated: bool| -> Vec<usize> {
            (0..system.symbols.len())
                .filter(|&at| {
                    let symbol = &system.symbols[at];
                    let of_kind = if enumerated {
                        !system.constructors(symbol.ty).is_empty()
                    } else {
                        symbol.ty == INT
                    };
                    symbol.dims == dims && of_kind && !symbol.constant && !compiled.waits[at]
                })
                .collect()
        };
        let (counters, flags, arrays) = (symbols(0, false), symbols(0, true), symbols(1, true));
        let mut finder = Finder { compiled, starts: Vec::new() };
        for disjunct in &compiled.init.disjuncts {
            let literals = instantiate(compiled, &disjunct.literals, &[0; 16]);
            let facts = literals.and_then(|literals| Facts::new(&literals, &compiled.domains));
            finder.starts.extend(facts);
        }
        let mut laws = finder.counts(&counters, &flags, &arrays);
        laws.extend(finder.witnesses(&flags, &arrays));
        Laws { laws: laws.into_iter().map(|law| (law, AtomicBool::new(false))).collect() }
    }

    /// Those that dropped a cube.
    pub fn used(&self) -> Vec<Law> {
        let used = self.laws.iter().filter(|(_, used)| used.load(Ordering::Relaxed));
        used.map(|(law, _)| law.clone()).collect()
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Law> {
        self.laws.iter().map(|(law, _)| law)
    }

    /// Whether a law excludes every state of the cube.
    pub fn refute(&self, compiled: &Compiled<'_>, cube: &Cube) -> bool {
        self.laws.iter().any(|(law, used)| {
            let Law::Count(count) = law else { return false };
            let refutes = (self.sides(compiled, count, cube).into_iter())
                .any(|(sign, contradicted)| contradicted && count.with_sign(sign) == 0);
            if refutes {
                used.store(true, Ordering::Relaxed);
            }
            refutes
        })
    }

    /// Whether the visited cubes cover all states of the cube that satisfy the laws: where a law needs one process more,
    /// that process is added before they are asked.
    pub fn covers(&self, compiled: &Compiled<'_>, cube: &Cube, visited: &Visited, work: &Work<'_>) -> bool {
        if cube.procs >= compiled.system.number_procs.unwrap_or(MAX_PROCS).min(MAX_PROCS) {
            return false;
        }
        self.laws.iter().any(|(law, used)| {
            let Law::Count(count) = law else { return false };
            let covered = (self.sides(compiled, count, cube).into_iter()).any(|(sign, contradicted)| {
                contradicted && {
                    let cell = Var::cell(count.array, &[cube.procs]);
                    let more = Literal::In(cell, count.with_sign(sign));
                    let literals = cube.literals.iter().cloned().chain([more]).collect();
                    let cube = Cube::normalise(compiled, literals, cube.weak.clone(), cube.procs + 1);
                    cube.is_none_or(|(cube, _)| visited.covers(compiled, &cube, work))
                }
            });
            if covered {
                used.store(true, Ordering::Relaxed);
            }
            covered
        })
    }

    /// For the rest of the processes, those that the cube does not speak of: whether their sum is certainly negative,
    /// and whether it is certainly positive.
    fn sides(&self, compiled: &Compiled<'_>, count: &Count, cube: &Cube) -> Vec<(i64, bool)> {
        let counted = |var: Var| count.counters.iter().any(|(symbol, _)| var == Var::cell(*symbol, &[]));
        if !cube.literals.iter().any(|literal| literal.mentions(counted)) {
            return Vec::new();
        }
        let Some(facts) = Facts::new(&cube.literals, &compiled.domains) else { return Vec::new() };
        // The least and the greatest of what the literals allow.
        let range = |var: Var, weights: &[i64]| {
            let allowed = facts.values(var);
            let each = || weights.iter().enumerate().filter(|(v, _)| allowed >> v & 1 == 1).map(|(_, w)| *w);
            (each().min().unwrap_or(0), each().max().unwrap_or(0))
        };
        // Counters − total − cells + flags = rest, from `low` to `high` without the counters.
        let (mut low, mut high) = (-count.total, -count.total);
        for process in 0..cube.procs {
            let (least, most) = range(Var::cell(count.array, &[process]), &count.weights);
            (low, high) = (low - most, high - least);
        }
        for (flag, weights) in &count.flags {
            let (least, most) = range(Var::cell(*flag, &[]), weights);
            (low, high) = (low + least, high + most);
        }
        let sum = |sign: i64, constant: i64| {
            let terms =
                count.counters.iter().map(|(symbol, k)| (Var::cell(*symbol, &[]), sign * k)).collect();
            Lin::new(LinOp::Le, terms, constant, false)
        };
        // The rest is at least 0: −counters − high ≤ 0. It is at most 0: counters + low ≤ 0.
        [(-1, sum(-1, -high)), (1, sum(1, low))]
            .into_iter()
            .map(|(sign, bound)| {
                let literals: Vec<Literal> =
                    cube.literals.iter().cloned().chain([Literal::Lin(bound)]).collect();
                let possible =
                    tidy(compiled, literals).is_some_and(|all| Facts::new(&all, &compiled.domains).is_some());
                (sign, !possible)
            })
            .collect()
    }

    /// What the laws say of the state before a step, given by `literals` over `procs` processes: where no process at hand can
    /// be a witness and the universal part of the guard excludes all others, the variable has none of the values.
    pub fn before(
        &self,
        compiled: &Compiled<'_>,
        literals: &[Literal],
        guard: &Conjunction,
        env: &[u8; 16],
        procs: u8,
    ) -> Vec<Literal> {
        let mut known = Vec::new();
        if guard.universals.is_empty() || procs as usize >= env.len() {
            return known;
        }
        let mut facts = None;
        for (law, used) in &self.laws {
            let Law::Witness(witness) = law else { continue };
            let facts: &Option<Facts> = facts.get_or_insert_with(|| Facts::new(literals, &compiled.domains));
            let Some(facts) = facts else { return known };
            let may = |process: ProcId| facts.values(Var::cell(witness.array, &[process])) & witness.set != 0;
            let variable = Var::cell(witness.variable, &[]);
            if facts.values(variable) & witness.values == 0 || (0..procs).any(may) {
                continue;
            }
            let stranger = Literal::In(Var::cell(witness.array, &[procs]), witness.set);
            let excluded = guard.universals.iter().any(|universal| {
                let mut env = *env;
                env[universal.slot as usize] = procs;
                universal.body.iter().all(|body| {
                    instantiate(compiled, body, &env).is_none_or(|mut body| {
                        body.push(stranger.clone());
                        tidy(compiled, body).is_none_or(|all| Facts::new(&all, &compiled.domains).is_none())
                    })
                })
            });
            if excluded {
                used.store(true, Ordering::Relaxed);
                known.push(Literal::In(variable, compiled.domains[witness.variable] & !witness.values));
            }
        }
        known
    }
}

struct Finder<'a> {
    compiled: &'a Compiled<'a>,
    /// What holds at the start of any one process, per disjunct of `init`.
    starts: Vec<Facts>,
}

impl Finder<'_> {
    fn all(&self, symbol: usize) -> u64 {
        self.compiled.domains[symbol]
    }

    /// The values of a variable or of any cell at the start.
    fn start(&self, symbol: usize) -> u64 {
        let dims = self.compiled.system.symbols[symbol].dims;
        let var = Var::cell(symbol, &[0; 3][..dims]);
        self.starts.iter().fold(0, |set, facts| set | facts.values(var)) & self.all(symbol)
    }

    /// The one number that a counter has at the start.
    fn first(&self, symbol: usize) -> Option<i64> {
        let is = |value: i64| equation(&[(Var::cell(symbol, &[]), 1)], -value);
        (-MAX_START..=MAX_START).find(|value| self.starts.iter().all(|facts| implied(facts, is(*value))))
    }

    /// Every way for the rule to go, as far as these symbols are concerned: for each parameter and one process more.
    /// `None` if there are too many, or `visit` says so.
    fn ways(
        &self,
        rule: &Rule,
        symbols: &[usize],
        visit: &mut dyn FnMut(Way<'_>) -> Option<()>,
    ) -> Option<()> {
        let env: [u8; 16] = std::array::from_fn(|slot| slot as u8);
        let processes = rule.params as u8 + 1;
        let mut changing: Vec<Changing> = Vec::new();
        for effect in rule.updates.iter().filter(|effect| symbols.contains(&effect.symbol)) {
            let cells: Vec<Var> = match effect.pattern.len() {
                0 => vec![Var::cell(effect.symbol, &[])],
                _ => (0..processes).map(|p| Var::cell(effect.symbol, &[p])).collect(),
            };
            for cell in cells.into_iter().filter(|cell| matches(effect, *cell, &env)) {
                changing.push((cell, alternatives(self.compiled, effect, cell, &env)));
            }
        }
        let mut left = MAX_WAYS;
        for guard in &rule.guards {
            // What the guard says of processes that are no parameters is left out.
            let params = |literal: &&Literal| {
                let mut only = true;
                literal.vars(&mut |var| only &= var.indices().all(|p| usize::from(p) < rule.params));
                only
            };
            let known: Vec<Literal> = guard.literals.iter().filter(params).cloned().collect();
            self.go(&changing, &known, &mut Vec::new(), &mut left, visit)?;
        }
        Some(())
    }

    fn go(
        &self,
        changing: &[Changing],
        known: &[Literal],
        made: &mut Vec<(Var, Option<Operand>)>,
        left: &mut usize,
        visit: &mut dyn FnMut(Way<'_>) -> Option<()>,
    ) -> Option<()> {
        let Some(((var, alternatives), rest)) = changing.split_first() else {
            *left = left.checked_sub(1)?;
            let Some(known) = tidy(self.compiled, known.to_vec()) else { return Some(()) };
            let Some(facts) = Facts::new(&known, &self.compiled.domains) else { return Some(()) };
            return visit(Way { facts: &facts, changes: made });
        };
        for (conditions, value) in alternatives {
            let known: Vec<Literal> = known.iter().chain(conditions).cloned().collect();
            made.push((*var, value.clone()));
            self.go(rest, &known, made, left, visit)?;
            made.pop();
        }
        Some(())
    }

    /// The values that a change may leave.
    fn after(&self, facts: &Facts, symbol: usize, value: &Operand) -> u64 {
        match value {
            Operand::Enum(value) => 1 << value,
            Operand::Var(other) => facts.values(*other) & self.all(symbol),
            Operand::Linear(..) | Operand::Any => self.all(symbol),
        }
    }

    fn counts(&self, counters: &[usize], flags: &[usize], arrays: &[usize]) -> Vec<Law> {
        let mut sums: Vec<Vec<(usize, i64)>> = counters.iter().map(|symbol| vec![(*symbol, 1)]).collect();
        for (at, first) in counters.iter().enumerate() {
            sums.extend(counters[at + 1..].iter().map(|second| vec![(*first, 1), (*second, -1)]));
        }
        let mut laws: Vec<Law> = Vec::new();
        for sum in sums {
            for &array in arrays {
                let plain = self.count(&sum, &[], array, false);
                let flagged = plain.is_none().then(|| self.count(&sum, flags, array, false));
                // A flag may stand for the one process of a kind: the weights of flags before those of processes.
                let single = (!flags.is_empty()).then(|| self.count(&sum, flags, array, true));
                let found = [plain, flagged.flatten(), single.flatten().filter(|law| !law.flags.is_empty())];
                for law in found.into_iter().flatten().map(Law::Count) {
                    if laws.len() < MAX_LAWS && !laws.contains(&law) {
                        laws.push(law);
                    }
                }
            }
        }
        laws
    }

    /// The weights for which the sum of the counters and flags follows the cells, if there are any. Where they leave a
    /// choice, the cells of processes weigh nothing if `light`, else the flags.
    fn count(&self, counters: &[(usize, i64)], flags: &[usize], array: usize, light: bool) -> Option<Count> {
        let size = |symbol: usize| self.all(symbol).count_ones() as usize;
        // What comes last is free.
        let cells = if light { flags.iter().map(|flag| size(*flag)).sum() } else { 0 };
        let mut columns = if light { 0 } else { size(array) };
        let mut places: Vec<(usize, usize)> = Vec::new();
        for flag in flags {
            places.push((*flag, columns));
            columns += size(*flag);
        }
        if light {
            columns += size(array);
        }
        let mut equations = Equations { columns, rows: Vec::new() };
        // What a process or a flag is at the start weighs nothing.
        let starts = places.iter().copied().chain([(array, cells)]);
        for (symbol, place) in starts {
            for value in values(self.start(symbol)) {
                equations.add(&[(place + value, 1)], 0)?;
            }
        }
        let mut total = 0;
        for (symbol, factor) in counters {
            total += factor * self.first(*symbol)?;
        }
        let symbols: Vec<usize> =
            counters.iter().map(|(symbol, _)| *symbol).chain(flags.iter().copied()).chain([array]).collect();
        for rule in &self.compiled.rules {
            self.ways(rule, &symbols, &mut |way| {
                let mut change = 0;
                let mut moves: Vec<(usize, i64, u64, u64)> = Vec::new();
                for (var, value) in way.changes {
                    let Some(value) = value else { continue };
                    if let Some((_, factor)) = counters.iter().find(|(symbol, _)| *symbol == var.symbol()) {
                        change += factor * step(way.facts, *var, value)?;
                        continue;
                    }
                    let before = way.facts.values(*var) & self.all(var.symbol());
                    let after = self.after(way.facts, var.symbol(), value);
                    let flag = places.iter().find(|(flag, _)| *flag == var.symbol());
                    let (place, sign) = flag.map_or((cells, -1), |(_, place)| (*place, 1));
                    moves.push((place, sign, before, after));
                }
                let mut rows: Vec<Vec<(usize, i64)>> = vec![Vec::new()];
                for (place, sign, before, after) in moves {
                    let mut next = Vec::new();
                    for row in &rows {
                        for from in values(before) {
                            for to in values(after) {
                                let both = [(place + to, sign), (place + from, -sign)];
                                next.push(row.iter().copied().chain(both).collect());
                            }
                        }
                    }
                    rows = next;
                    (rows.len() <= MAX_WAYS).then_some(())?;
                }
                rows.iter().try_for_each(|row| equations.add(row, -change))
            })?;
        }
        let solution = equations.solution()?;
        let weights = solution[cells..cells + size(array)].to_vec();
        weights.iter().any(|weight| *weight != 0).then_some(())?;
        let flags = (places.iter())
            .map(|(flag, place)| (*flag, solution[*place..place + size(*flag)].to_vec()))
            .filter(|(_, weights)| weights.iter().any(|weight| *weight != 0))
            .collect();
        Some(Count { counters: counters.to_vec(), flags, array, weights, total })
    }

    fn witnesses(&self, flags: &[usize], arrays: &[usize]) -> Vec<Law> {
        // They are of use for universal guards alone.
        let asked = |array: &&usize| {
            let guards = self.compiled.rules.iter().flat_map(|rule| &rule.guards);
            let mut bodies = guards.flat_map(|guard| &guard.universals).flat_map(|universal| &universal.body);
            bodies.any(|body| body.iter().any(|literal| literal.mentions(|var| var.symbol() == **array)))
        };
        let arrays: Vec<usize> = arrays.iter().filter(asked).copied().collect();
        let mut laws: Vec<Witness> = Vec::new();
        for &variable in flags {
            for value in values(self.all(variable)) {
                for &array in &arrays {
                    let single = values(self.all(array)).map(|value| 1 << value);
                    let all_but = values(self.all(array)).map(|value| self.all(array) & !(1 << value));
                    for set in single.chain(all_but) {
                        let law = Witness { variable, values: 1 << value, array, set };
                        let weaker = |other: &Witness| {
                            (other.variable, other.values, other.array) == (variable, law.values, array)
                                && other.set & !set == 0
                        };
                        if laws.len() < MAX_LAWS && !laws.iter().any(weaker) && self.is_law(&law) {
                            laws.push(law);
                        }
                    }
                }
            }
        }
        laws.into_iter().map(Law::Witness).collect()
    }

    fn is_law(&self, law: &Witness) -> bool {
        if self.start(law.variable) & law.values != 0 {
            return false;
        }
        let (flag, symbols) = (Var::cell(law.variable, &[]), [law.variable, law.array]);
        self.compiled.rules.iter().all(|rule| {
            let holds = self.ways(rule, &symbols, &mut |way| {
                let change = |var: Var| {
                    way.changes.iter().find(|(other, _)| *other == var).and_then(|(_, v)| v.as_ref())
                };
                let after = |var: Var| match change(var) {
                    Some(value) => self.after(way.facts, var.symbol(), value),
                    None => way.facts.values(var) & self.all(var.symbol()),
                };
                let cell = |process: usize| Var::cell(law.array, &[process as u8]);
                let inside = |process: usize| after(cell(process)) & !law.set == 0;
                let kept = |process: usize| {
                    change(cell(process)).is_none()
                        || inside(process)
                        || way.facts.values(cell(process)) & law.set == 0
                };
                let was = change(flag).is_none()
                    || way.facts.values(flag) & self.all(law.variable) & !law.values == 0;
                let stays = was && (0..=rule.params).all(kept);
                let fine = after(flag) & law.values == 0 || stays || (0..rule.params).any(inside);
                fine.then_some(())
            });
            holds.is_some()
        })
    }
}

/// By how much a counter changes when it gets this value.
fn step(facts: &Facts, counter: Var, value: &Operand) -> Option<i64> {
    let Operand::Linear(terms, constant) = value else { return None };
    let mut difference: SmallVec<[(Var, i64); 2]> = terms.clone();
    difference.push((counter, -1));
    (-MAX_STEP..=MAX_STEP).find(|step| implied(facts, equation(&difference, constant - step)))
}

fn equation(terms: &[(Var, i64)], constant: i64) -> Literal {
    Literal::Lin(Lin::new(LinOp::Eq, SmallVec::from_slice(terms), constant, false))
}

fn implied(facts: &Facts, literal: Literal) -> bool {
    match literal.simplify(|_| u64::MAX) {
        Simplified::True => true,
        Simplified::False => false,
        Simplified::Literal(literal) => facts.implies(&literal),
    }
}

fn values(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |value| set >> value & 1 == 1)
}

/// Linear equations over the rationals in echelon form: each row has whole coefficients, then its constant.
struct Equations {
    columns: usize,
    rows: Vec<Vec<i128>>,
}

impl Equations {
    /// Adds Σ coefficient · unknown = constant; `None` if that contradicts what is known.
    fn add(&mut self, terms: &[(usize, i64)], constant: i64) -> Option<()> {
        let mut row = vec![0_i128; self.columns + 1];
        terms.iter().for_each(|(column, k)| row[*column] += i128::from(*k));
        row[self.columns] = i128::from(constant);
        for known in &self.rows {
            let lead = leading(known)?;
            if row[lead] != 0 {
                let (a, b) = (known[lead], row[lead]);
                for (mine, theirs) in row.iter_mut().zip(known) {
                    *mine = mine.checked_mul(a)?.checked_sub(theirs.checked_mul(b)?)?;
                }
                reduce(&mut row);
            }
        }
        match leading(&row) {
            None => {}
            Some(lead) if lead == self.columns => return None,
            Some(_) => self.rows.push(row),
        }
        Some(())
    }

    /// A solution in whole numbers in which every unknown that is free is 0.
    fn solution(&self) -> Option<Vec<i64>> {
        let mut solution = vec![0_i128; self.columns];
        // A later row has no unknown that an earlier one leads with, but not the other way round.
        for row in self.rows.iter().rev() {
            let lead = leading(row)?;
            let rest: i128 =
                (0..self.columns).filter(|at| *at != lead).map(|at| row[at] * solution[at]).sum();
            let right = row[self.columns] - rest;
            (right % row[lead] == 0).then_some(())?;
            solution[lead] = right / row[lead];
        }
        solution.into_iter().map(|value| i64::try_from(value).ok().filter(|v| v.abs() <= 1_000)).collect()
    }
}

fn leading(row: &[i128]) -> Option<usize> {
    row.iter().position(|value| *value != 0)
}

/// Divides a row by what all its numbers have in common.
fn reduce(row: &mut [i128]) {
    let common = row.iter().fold(0, |a, b| gcd(a, b.abs()));
    if common > 1 {
        row.iter_mut().for_each(|value| *value /= common);
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
