//! One finite instance of a system: its states, its steps, and how formulas read in them.
//!
//! Memory is operational. Under SC every access is to memory. Under TSO and PSO each process has a store
//! buffer of *groups* (the writes of one step, which reach memory together): a read takes the newest pending
//! write of its own process, else memory; a locked step (one that reads and writes) and `fence()` need an
//! empty buffer, and a locked step writes memory directly. TSO commits the oldest group of a buffer; PSO any
//! group that shares no location with an older one. Under release–acquire memory holds messages
//! ([`super::messages`]), and [`super::release_acquire`] has the steps.
//!
//! A variable that `init` makes different from every process (`Home <> p`) is one process more, which takes no part:
//! no parameter, quantifier or index ranges over it.

use super::messages::Messages;
use crate::Memory;
use crate::syntax::Comparison;
use crate::system::*;

/// A number, a process, or the index of a constructor.
pub type Value = i32;

/// Beyond this a number is not followed: the exploration says that it was cut short.
const MAX_NUMBER: i64 = 1_000_000;

/// Samples tried to find initial states where there are too many to try all.
const MIN_TRIES: usize = 4_000;

/// A state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// Memory: one value for each cell of each symbol. Under release–acquire, the last one in coherence order.
    pub cells: Box<[Value]>,
    /// Per process, the pending groups, oldest first; empty under SC and release–acquire.
    pub buffers: Vec<Vec<Group>>,
    /// Under release–acquire, what there is to read.
    pub messages: Messages,
}

/// The writes of one step, by cell.
pub type Group = Vec<(u16, Value)>;

/// What the machine does in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A transition of the system.
    Transition {
        /// An index into [`System::transitions`].
        index: usize,
        /// The processes for its parameters.
        procs: Vec<u8>,
    },
    /// Group number `group` of the buffer of `process` reaches memory.
    Commit {
        /// Whose buffer it is.
        process: u8,
        /// Counted from the oldest.
        group: usize,
    },
}

/// A system with a fixed number of processes.
pub struct Instance<'a> {
    /// What the processes run.
    pub system: &'a System,
    /// The memory under its weak symbols; SC if it has none.
    pub memory: Memory,
    /// How many processes there are.
    pub processes: u8,
    offsets: Vec<usize>,
    cell_count: usize,
    /// The numbers of the program text, from which unconstrained numbers are drawn.
    numbers: Vec<Value>,
    /// Variables may hold a process that takes no part.
    outsider: bool,
    /// The weak cells, and the number of each among them.
    pub(super) locations: Vec<usize>,
    pub(super) location_of: Vec<u16>,
}

/// Something was left out: what was found is real, what was not found may exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// A number grew too large to be followed.
    pub numbers: bool,
    /// A store buffer was full.
    pub buffers: bool,
    /// There were too many states.
    pub states: bool,
    /// There were too many initial states to try all.
    pub initial: bool,
    /// From outside.
    pub stopped: bool,
}

impl Cut {
    /// Whether anything was left out.
    pub fn any(self) -> bool {
        self != Cut::default()
    }
}

pub(super) type Env = [u8; 16];

impl<'a> Instance<'a> {
    /// The instance with so many processes.
    pub fn new(system: &'a System, memory: Memory, processes: u8) -> Instance<'a> {
        let mut offsets = Vec::new();
        let mut cell_count = 0;
        for symbol in &system.symbols {
            offsets.push(cell_count);
            cell_count += (processes as usize).pow(symbol.dims as u32);
        }
        let memory = if system.has_weak() { memory } else { Memory::Sc };
        let outsider = excludes_all(&system.init.body, system.init.params.len());
        let mut locations = Vec::new();
        let mut location_of = vec![0; cell_count];
        for (at, symbol) in system.symbols.iter().enumerate().filter(|(_, symbol)| symbol.weak) {
            for cell in (offsets[at]..).take((processes as usize).pow(symbol.dims as u32)) {
                location_of[cell] = locations.len() as u16;
                locations.push(cell);
            }
        }
        let numbers = numbers(system);
        Instance { system, memory, processes, offsets, cell_count, numbers, outsider, locations, location_of }
    }

    /// The place in [`State::cells`] of a symbol at these indices.
    pub fn cell(&self, symbol: usize, indices: impl IntoIterator<Item = u8>) -> usize {
        let place =
            indices.into_iter().fold(0, |place, index| place * self.processes as usize + index as usize);
        self.offsets[symbol] + place
    }

    /// The symbol and indices of a cell, the inverse of [`Instance::cell`].
    pub fn cell_name(&self, cell: usize) -> (usize, Vec<u8>) {
        let symbol = self.offsets.partition_point(|offset| *offset <= cell) - 1;
        let mut place = cell - self.offsets[symbol];
        let mut indices = vec![0; self.system.symbols[symbol].dims];
        for index in indices.iter_mut().rev() {
            *index = (place % self.processes as usize) as u8;
            place /= self.processes as usize;
        }
        (symbol, indices)
    }

    /// How many cells a state has.
    pub fn cell_count(&self) -> usize {
        self.cell_count
    }

    /// Every initial state, as far as `limit` allows.
    pub fn initial_states(&self, limit: usize, cut: &mut Cut) -> Vec<State> {
        let mut domains: Vec<Vec<Value>> = Vec::new();
        for cell in 0..self.cell_count {
            let (symbol, _) = self.cell_name(cell);
            domains.push(self.domain(self.system.symbols[symbol].ty));
        }
        let params = self.system.init.params.len();
        for env in self.all_environments(params) {
            self.narrow(&self.system.init.body, &env, &mut domains);
        }
        let free_number = |cell: usize| {
            let ty = self.system.symbols[self.cell_name(cell).0].ty;
            domains[cell].len() > 1
                && matches!(self.system.types[ty].kind, TypeKind::Int | TypeKind::Real | TypeKind::Abstract)
        };
        cut.numbers |= (0..self.cell_count).any(free_number);
        let count = domains.iter().fold(1_usize, |count, domain| count.saturating_mul(domain.len()));
        cut.initial |= count > limit;
        let mut states = Vec::new();
        let mut cells = vec![0; self.cell_count];
        if count <= limit {
            for mut code in 0..count {
                for (cell, domain) in cells.iter_mut().zip(&domains) {
                    *cell = domain[code % domain.len()];
                    code /= domain.len();
                }
                states.extend(self.initial_state(&cells));
            }
            return states;
        }
        // Too many: a sample, the same each time. (xorshift64)
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..limit.max(MIN_TRIES) {
            for (cell, domain) in cells.iter_mut().zip(&domains) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                *cell = domain[(random >> 32) as usize % domain.len()];
            }
            states.extend(self.initial_state(&cells));
            if states.len() == limit {
                break;
            }
        }
        states.sort_unstable();
        states.dedup();
        states
    }

    /// The state with these cells and empty buffers, if it is initial.
    fn initial_state(&self, cells: &[Value]) -> Option<State> {
        let buffers = match self.memory {
            Memory::Sc | Memory::Ra => Vec::new(),
            Memory::Tso | Memory::Pso => vec![Vec::new(); self.processes as usize],
        };
        let messages = match self.memory {
            Memory::Ra => self.initial_messages(cells),
            Memory::Sc | Memory::Tso | Memory::Pso => Messages::default(),
        };
        let state = State { cells: cells.into(), buffers, messages };
        let initial = self
            .all_environments(self.system.init.params.len())
            .all(|env| self.holds(&self.system.init.body, &state, &env));
        let allowed = || self.system.axioms().all(|axiom| !self.some_instance(axiom, &state));
        (initial && allowed()).then_some(state)
    }

    /// Whether the state is an initial one.
    pub fn is_initial(&self, state: &State) -> bool {
        self.initial_state(&state.cells).as_ref() == Some(state)
    }

    /// Conjuncts `cell = value` fix cells before anything is enumerated.
    fn narrow(&self, formula: &Formula, env: &Env, domains: &mut [Vec<Value>]) {
        match formula {
            Formula::And(parts) => parts.iter().for_each(|part| self.narrow(part, env, domains)),
            Formula::Compare(ty, left, Comparison::Eq, right) => {
                for (side, other) in [(left, right), (right, left)] {
                    let access = match side {
                        Term::Access(access) => access,
                        Term::Linear(parts, 0) if parts.len() == 1 && parts[0].0 == 1 => &parts[0].1,
                        _ => continue,
                    };
                    let value = match other {
                        Term::Enum(value) => i64::from(*value),
                        Term::Proc(process) => i64::from(resolve(*process, env)),
                        Term::Linear(parts, value) if parts.is_empty() => *value,
                        _ => continue,
                    };
                    let cell = self.cell(access.symbol, access.indices.iter().map(|p| resolve(*p, env)));
                    let Ok(value) = Value::try_from(value) else { continue };
                    let number = matches!(self.system.types[*ty].kind, TypeKind::Int | TypeKind::Real);
                    if number && !domains[cell].contains(&value) {
                        domains[cell].push(value);
                    }
                    domains[cell].retain(|v| *v == value);
                }
            }
            Formula::Forall(quantified) => {
                for env in self.bindings(quantified, env) {
                    self.narrow(&quantified.body, &env, domains);
                }
            }
            _ => {}
        }
    }

    fn domain(&self, ty: TypeId) -> Vec<Value> {
        match &self.system.types[ty].kind {
            TypeKind::Proc => (0..Value::from(self.processes) + Value::from(self.outsider)).collect(),
            TypeKind::Enum(names) => (0..names.len() as Value).collect(),
            TypeKind::Int | TypeKind::Real => self.numbers.clone(),
            TypeKind::Abstract => (0..3).collect(),
        }
    }

    fn all_environments(&self, params: usize) -> impl Iterator<Item = Env> + use<> {
        let n = u32::from(self.processes);
        (0..n.pow(params as u32)).map(move |mut code| {
            let mut env = [0; 16];
            for slot in env.iter_mut().take(params) {
                *slot = (code % n) as u8;
                code /= n;
            }
            env
        })
    }

    /// Calls `visit` with every environment that gives pairwise distinct processes to `params` slots.
    pub fn distinct_environments(&self, params: usize, visit: &mut impl FnMut(&Env)) {
        self.distinct_from(0, params, &mut [0; 16], visit);
    }

    fn distinct_from(&self, at: usize, params: usize, env: &mut Env, visit: &mut impl FnMut(&Env)) {
        if at == params {
            return visit(env);
        }
        for process in 0..self.processes {
            if !env[..at].contains(&process) {
                env[at] = process;
                self.distinct_from(at + 1, params, env, visit);
            }
        }
    }

    /// Whether some distinct processes satisfy an `unsafe` or `invariant` formula.
    pub fn some_instance(&self, set: &StateSet, state: &State) -> bool {
        let mut found = false;
        self.distinct_environments(set.params.len(), &mut |env| {
            found = found
                || match self.memory {
                    Memory::Ra => self.holds_with_messages(&set.body, state, env),
                    Memory::Sc | Memory::Tso | Memory::Pso => self.holds(&set.body, state, env),
                }
        });
        found
    }

    /// The first unsafe formula that holds.
    pub fn unsafe_in(&self, state: &State) -> Option<usize> {
        self.system.unsafes.iter().position(|set| self.some_instance(set, state))
    }

    /// Every step from `state`. A buffer never grows beyond `max_buffer` groups.
    pub fn successors(
        &self,
        state: &State,
        max_buffer: usize,
        cut: &mut Cut,
        visit: &mut impl FnMut(Step, State),
    ) {
        for index in 0..self.system.transitions.len() {
            let params = self.system.transitions[index].params.len();
            self.distinct_environments(params, &mut |env| {
                for next in self.apply(index, env, state, max_buffer, cut) {
                    visit(Step::Transition { index, procs: env[..params].to_vec() }, next);
                }
            });
        }
        self.commits(state, visit);
    }

    /// Every way for a pending group to reach memory.
    pub fn commits(&self, state: &State, visit: &mut impl FnMut(Step, State)) {
        for (process, buffer) in state.buffers.iter().enumerate() {
            for group in 0..buffer.len() {
                let free = match self.memory {
                    Memory::Sc | Memory::Ra => false,
                    Memory::Tso => group == 0,
                    Memory::Pso => {
                        let shares = |older: &Group| {
                            older.iter().any(|(c, _)| buffer[group].iter().any(|(d, _)| c == d))
                        };
                        !buffer[..group].iter().any(shares)
                    }
                };
                if free {
                    let mut next = state.clone();
                    for (cell, value) in next.buffers[process].remove(group) {
                        next.cells[cell as usize] = value;
                    }
                    visit(Step::Commit { process: process as u8, group }, next);
                }
            }
        }
    }

    /// The states after a transition, several if it chooses a value; none if its guard fails.
    pub fn apply(
        &self,
        index: usize,
        env: &Env,
        state: &State,
        max_buffer: usize,
        cut: &mut Cut,
    ) -> Vec<State> {
        let transition = &self.system.transitions[index];
        if self.memory == Memory::Ra {
            let mut states = Vec::new();
            self.apply_messages(index, env, state, max_buffer, cut, &mut |next, _| states.push(next));
            states.sort_unstable();
            states.dedup();
            return states;
        }
        let acting = transition.acting.map(|slot| env[slot] as usize);
        let weak = self.memory != Memory::Sc;
        if weak
            && (transition.fence || transition.locked)
            && acting.is_some_and(|p| !state.buffers[p].is_empty())
        {
            return Vec::new();
        }
        if !self.holds(&transition.guard, state, env) {
            return Vec::new();
        }
        let buffered = |symbol: usize| weak && self.system.symbols[symbol].weak && !transition.locked;
        let mut states = Vec::new();
        for (mut next, mut group) in self.outcomes(transition, env, state, &buffered, cut) {
            if !group.is_empty() {
                let Some(p) = acting else { continue };
                if next.buffers[p].len() >= max_buffer {
                    cut.buffers = true;
                    continue;
                }
                group.sort_unstable();
                next.buffers[p].push(group);
            }
            states.push(next);
        }
        states
    }

    /// What the updates of a transition do, several results if one chooses a value: the state with its plain cells
    /// changed, and the writes to `buffered` symbols.
    pub(super) fn outcomes(
        &self,
        transition: &Transition,
        env: &Env,
        state: &State,
        buffered: &dyn Fn(usize) -> bool,
        cut: &mut Cut,
    ) -> Vec<(State, Group)> {
        // (cell, value) alternatives, one list per update that chooses.
        let mut results: Vec<(State, Group)> = vec![(state.clone(), Group::new())];
        for update in &transition.updates {
            let buffered = buffered(update.symbol);
            let mut writes: Vec<(usize, Vec<Value>)> = Vec::new();
            let mut too_large = false;
            self.update_cells(update, env, &mut |env, indices| {
                let cell = self.cell(update.symbol, indices.iter().copied());
                match &update.value {
                    UpdateValue::Any => {
                        let ty = self.system.symbols[update.symbol].ty;
                        cut.numbers |= matches!(
                            self.system.types[ty].kind,
                            TypeKind::Int | TypeKind::Real | TypeKind::Abstract
                        );
                        writes.push((cell, self.domain(ty)));
                    }
                    UpdateValue::Cases(cases) => {
                        let case = cases.iter().find(|(condition, _)| self.holds(condition, state, env));
                        let Some((_, term)) = case else { return };
                        // `| _ : X[j]`: the cell is left alone, nothing is written.
                        if self.is_cell(term, update.symbol, indices, env) {
                            return;
                        }
                        let value = self.value(term, state, env);
                        too_large |= value.abs() > MAX_NUMBER;
                        writes.push((cell, vec![value as Value]));
                    }
                }
            });
            if too_large {
                cut.numbers = true;
                return Vec::new();
            }
            for (cell, values) in writes {
                let mut more = Vec::new();
                for (next, group) in &results {
                    for &value in &values {
                        let (mut next, mut group) = (next.clone(), group.clone());
                        if buffered {
                            group.push((cell as u16, value));
                        } else {
                            next.cells[cell] = value;
                        }
                        more.push((next, group));
                    }
                }
                results = more;
            }
        }
        results
    }

    /// Calls `visit` for each cell that an update may write, with its indices.
    pub(super) fn update_cells(&self, update: &Update, env: &Env, visit: &mut dyn FnMut(&Env, &[u8])) {
        let bound = update.indices.iter().filter_map(|index| match index {
            Index::Bound(slot) => Some(*slot),
            Index::Fixed(_) => None,
        });
        let bound: Vec<u8> = bound.collect();
        let n = u32::from(self.processes);
        for mut code in 0..n.pow(bound.len() as u32) {
            let mut env = *env;
            for slot in &bound {
                env[*slot as usize] = (code % n) as u8;
                code /= n;
            }
            let indices: Vec<u8> = (update.indices.iter())
                .map(|index| match index {
                    Index::Fixed(process) => resolve(*process, &env),
                    Index::Bound(slot) => env[*slot as usize],
                })
                .collect();
            visit(&env, &indices);
        }
    }

    /// What a transition reads from weak memory in `state`: cell, value, and whether the own buffer served it.
    pub fn weak_reads(&self, index: usize, procs: &[u8], state: &State) -> Vec<(usize, Value, bool)> {
        let transition = &self.system.transitions[index];
        let mut env = [0; 16];
        env[..procs.len()].copy_from_slice(procs);
        let mut found = Vec::new();
        let mut note = |access: &Access| {
            // A quantified index stands for every process.
            let free =
                access.indices.iter().any(|p| matches!(p, Proc::Slot(slot) if *slot as usize >= procs.len()));
            if !self.system.symbols[access.symbol].weak || (free && access.indices.len() > 1) {
                return;
            }
            for process in 0..if free { self.processes } else { 1 } {
                let indices = access.indices.iter().map(|p| if free { process } else { resolve(*p, &env) });
                let cell = self.cell(access.symbol, indices);
                let buffer = access.by.and_then(|by| state.buffers.get(resolve(by, &env) as usize));
                let pending = buffer.and_then(|b| {
                    b.iter()
                        .rev()
                        .find_map(|group| group.iter().find(|(c, _)| *c as usize == cell))
                        .map(|(_, v)| *v)
                });
                found.push((cell, pending.unwrap_or(state.cells[cell]), pending.is_some()));
            }
        };
        transition.accesses(&mut note);
        found
    }

    /// Whether a formula is true in a state; `env` gives the processes for its slots.
    pub fn holds(&self, formula: &Formula, state: &State, env: &Env) -> bool {
        match formula {
            Formula::True => true,
            Formula::False => false,
            Formula::Compare(_, left, comparison, right) => {
                let (left, right) = (self.value(left, state, env), self.value(right, state, env));
                match comparison {
                    Comparison::Eq => left == right,
                    Comparison::Neq => left != right,
                    Comparison::Lt => left < right,
                    Comparison::Le => left <= right,
                    Comparison::Gt => left > right,
                    Comparison::Ge => left >= right,
                }
            }
            Formula::Not(inner) => !self.holds(inner, state, env),
            Formula::And(parts) => parts.iter().all(|part| self.holds(part, state, env)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part, state, env)),
            Formula::If(condition, then, otherwise) => {
                let chosen = if self.holds(condition, state, env) { then } else { otherwise };
                self.holds(chosen, state, env)
            }
            Formula::Forall(quantified) => {
                self.bindings(quantified, env).all(|env| self.holds(&quantified.body, state, &env))
            }
            Formula::Exists(quantified) => {
                self.bindings(quantified, env).any(|env| self.holds(&quantified.body, state, &env))
            }
        }
    }

    pub(super) fn bindings<'q>(
        &self,
        quantified: &'q Quantified,
        env: &Env,
    ) -> impl Iterator<Item = Env> + use<'q> {
        let env = *env;
        (0..self.processes)
            .filter(move |process| !quantified.excluded.iter().any(|other| resolve(*other, &env) == *process))
            .map(move |process| {
                let mut env = env;
                env[quantified.slot as usize] = process;
                env
            })
    }

    pub(super) fn is_cell(&self, term: &Term, symbol: usize, indices: &[u8], env: &Env) -> bool {
        let access = match term {
            Term::Access(access) => access,
            Term::Linear(parts, 0) if parts.len() == 1 && parts[0].0 == 1 => &parts[0].1,
            _ => return false,
        };
        access.symbol == symbol && access.indices.iter().map(|p| resolve(*p, env)).eq(indices.iter().copied())
    }

    fn value(&self, term: &Term, state: &State, env: &Env) -> i64 {
        match term {
            Term::Proc(process) => i64::from(resolve(*process, env)),
            Term::Enum(value) => i64::from(*value),
            Term::Access(access) => self.read(access, state, env),
            Term::Linear(parts, constant) => {
                parts.iter().map(|(k, access)| k * self.read(access, state, env)).sum::<i64>() + constant
            }
        }
    }

    fn read(&self, access: &Access, state: &State, env: &Env) -> i64 {
        let cell = self.cell(access.symbol, access.indices.iter().map(|p| resolve(*p, env)));
        if let Some(by) = access.by
            && let Some(buffer) = state.buffers.get(resolve(by, env) as usize)
        {
            let newest =
                buffer.iter().rev().find_map(|group| group.iter().find(|(c, _)| *c as usize == cell));
            if let Some((_, value)) = newest {
                return i64::from(*value);
            }
        }
        i64::from(state.cells[cell])
    }
}

pub(super) fn resolve(process: Proc, env: &Env) -> u8 {
    match process {
        Proc::Slot(slot) => env[slot as usize],
        Proc::Const(n) => n,
    }
}

/// Whether a conjunct of `init` is `X <> p`, p one of its parameters.
fn excludes_all(formula: &Formula, params: usize) -> bool {
    let parameter = |term: &Term| matches!(term, Term::Proc(Proc::Slot(slot)) if (*slot as usize) < params);
    match formula {
        Formula::And(parts) => parts.iter().any(|part| excludes_all(part, params)),
        Formula::Not(inner) => match &**inner {
            Formula::Compare(ty, left, Comparison::Eq, right) => {
                let differs = Formula::Compare(*ty, left.clone(), Comparison::Neq, right.clone());
                excludes_all(&differs, params)
            }
            _ => false,
        },
        Formula::Compare(_, left, Comparison::Neq, right) => {
            [(left, right), (right, left)].into_iter().any(|(variable, process)| {
                matches!(variable, Term::Access(access) if access.indices.is_empty()) && parameter(process)
            })
        }
        _ => false,
    }
}

/// 0, 1 and every number of the program.
fn numbers(system: &System) -> Vec<Value> {
    let mut found = vec![0, 1];
    let mut note = |formula: &Formula| constants(formula, &mut found);
    note(&system.init.body);
    system.unsafes.iter().for_each(|set| note(&set.body));
    for transition in &system.transitions {
        note(&transition.guard);
        for update in &transition.updates {
            if let UpdateValue::Cases(cases) = &update.value {
                for (condition, value) in cases {
                    note(condition);
                    note(&Formula::Compare(INT, value.clone(), Comparison::Eq, value.clone()));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn constants(formula: &Formula, found: &mut Vec<Value>) {
    match formula {
        Formula::True | Formula::False => {}
        Formula::Compare(_, left, _, right) => {
            for term in [left, right] {
                if let Term::Linear(_, constant) = term
                    && let Ok(value) = Value::try_from(*constant)
                {
                    found.push(value);
                }
            }
        }
        Formula::Not(inner) => constants(inner, found),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| constants(part, found)),
        Formula::If(a, b, c) => [a, b, c].into_iter().for_each(|part| constants(part, found)),
        Formula::Forall(quantified) | Formula::Exists(quantified) => constants(&quantified.body, found),
    }
}
