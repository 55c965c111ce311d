//! Steps of an instance on the release–acquire machine ([`super::messages`]).
//!
//! A step reads, at one moment, every weak location that its guard and its updates speak of. A locked step also reads
//! every location that it may write. `fence()` comes first. An `unsafe` formula holds if each process can read at one
//! moment what the formula says that it reads.

use super::instance::{Cut, Env, Group, Instance, State, Value, resolve};
use super::messages::{Messages, Reads, View};
use crate::system::*;

/// What a step did to weak memory: cell and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// What it read.
    pub reads: Vec<(usize, Value)>,
    /// What it wrote.
    pub writes: Vec<(usize, Value)>,
}

/// Messages of a location beside those that `max_buffer` allows: the one that all have seen, and one to read.
const SPARE: usize = 2;

impl Instance<'_> {
    /// The number of a weak cell among all of them: its place in [`Messages::locations`].
    pub fn location(&self, cell: usize) -> usize {
        self.location_of[cell] as usize
    }

    /// Whether a cell belongs to a weak symbol.
    pub fn is_weak(&self, cell: usize) -> bool {
        self.locations.binary_search(&cell).is_ok()
    }

    /// The messages of an initial state.
    pub(super) fn initial_messages(&self, cells: &[Value]) -> Messages {
        Messages::initial(self.locations.iter().map(|cell| cells[*cell]), self.processes as usize)
    }

    /// Calls `visit` with every state after a transition and what it did.
    pub(super) fn apply_messages(
        &self,
        index: usize,
        env: &Env,
        state: &State,
        max_buffer: usize,
        cut: &mut Cut,
        visit: &mut dyn FnMut(State, Accesses),
    ) {
        let transition = &self.system.transitions[index];
        let Some(acting) = transition.acting.map(|slot| env[slot] as usize) else { return };
        let locations = self.read_locations(transition, env);
        let mut before = state.messages.clone();
        if transition.fence {
            before.fence(acting);
        }
        let weak = |symbol: usize| self.system.symbols[symbol].weak;
        let mut snapshots: Vec<(Reads, View)> = Vec::new();
        before
            .snapshots(acting, &locations, &mut |reads, view| snapshots.push((reads.clone(), view.clone())));
        for (reads, view) in snapshots {
            let values = self.values_read(&before, &reads);
            let seen = self.seen(state, [(acting, values.clone())]);
            if !self.holds(&transition.guard, &seen, env) {
                continue;
            }
            for (next, group) in self.outcomes(transition, env, &seen, &weak, cut) {
                let writes: Vec<(u16, Value)> =
                    group.iter().map(|(cell, value)| (self.location_of[*cell as usize], *value)).collect();
                let mut written = |messages: Messages| {
                    let mut cells = next.cells.clone();
                    // Memory itself, for whoever looks at it: the last in coherence order.
                    for (cell, _) in &group {
                        let place = self.location_of[*cell as usize] as usize;
                        let last = messages.locations[place].last();
                        cells[*cell as usize] = last.map_or(0, |message| message.value);
                    }
                    let accesses = Accesses {
                        reads: values.iter().map(|(cell, value)| (*cell as usize, *value)).collect(),
                        writes: group.iter().map(|(cell, value)| (*cell as usize, *value)).collect(),
                    };
                    visit(State { cells, buffers: Vec::new(), messages }, accesses);
                };
                let most = max_buffer.saturating_add(SPARE).min(usize::from(u8::MAX));
                let locked = transition.locked;
                cut.buffers |= !before.write(acting, &view, &writes, locked, most, &mut written);
            }
        }
    }

    /// Whether the formula holds for some way in which its processes read.
    pub(super) fn holds_with_messages(&self, formula: &Formula, state: &State, env: &Env) -> bool {
        let mut readers: Vec<(usize, Vec<u16>)> = Vec::new();
        self.weak_cells(formula, env, &mut |process, cell| {
            let Some(process) = process else { return };
            let location = self.location_of[cell];
            match readers.iter_mut().find(|(reader, _)| *reader == process) {
                Some((_, locations)) if locations.contains(&location) => {}
                Some((_, locations)) => locations.push(location),
                None => readers.push((process, vec![location])),
            }
        });
        let mut choices: Vec<Vec<(usize, Group)>> = vec![Vec::new()];
        for (process, locations) in readers {
            let mut groups: Vec<Group> = Vec::new();
            state.messages.snapshots(process, &locations, &mut |reads, _| {
                let group = self.values_read(&state.messages, reads);
                if !groups.contains(&group) {
                    groups.push(group);
                }
            });
            choices = (choices.iter())
                .flat_map(|chosen| {
                    groups.iter().map(|group| {
                        let mut chosen = chosen.clone();
                        chosen.push((process, group.clone()));
                        chosen
                    })
                })
                .collect();
        }
        choices.into_iter().any(|chosen| self.holds(formula, &self.seen(state, chosen), env))
    }

    /// A state in which each process reads what was chosen: as if from its own buffer.
    fn seen(&self, state: &State, chosen: impl IntoIterator<Item = (usize, Group)>) -> State {
        let mut buffers: Vec<Vec<Group>> = vec![Vec::new(); self.processes as usize];
        for (process, group) in chosen {
            buffers[process].push(group);
        }
        State { cells: state.cells.clone(), buffers, messages: Messages::default() }
    }

    fn values_read(&self, messages: &Messages, reads: &Reads) -> Group {
        let value = |(location, at): &(u16, u8)| {
            let message = &messages.locations[*location as usize][*at as usize];
            (self.locations[*location as usize] as u16, message.value)
        };
        reads.iter().map(value).collect()
    }

    /// The locations that a transition reads.
    fn read_locations(&self, transition: &Transition, env: &Env) -> Vec<u16> {
        let mut found: Vec<u16> = Vec::new();
        let mut note = |cell: usize| {
            let location = self.location_of[cell];
            if !found.contains(&location) {
                found.push(location);
            }
        };
        self.weak_cells(&transition.guard, env, &mut |_, cell| note(cell));
        for update in &transition.updates {
            self.update_cells(update, env, &mut |env, indices| {
                if transition.locked && self.system.symbols[update.symbol].weak {
                    note(self.cell(update.symbol, indices.iter().copied()));
                }
                if let UpdateValue::Cases(cases) = &update.value {
                    for (condition, value) in cases {
                        self.weak_cells(condition, env, &mut |_, cell| note(cell));
                        value.accesses(&mut |access| {
                            if self.system.symbols[access.symbol].weak
                                && !self.is_cell(value, update.symbol, indices, env)
                            {
                                note(
                                    self.cell(access.symbol, access.indices.iter().map(|p| resolve(*p, env))),
                                );
                            }
                        });
                    }
                }
            });
        }
        found
    }

    /// Calls `visit` with every weak cell that a formula speaks of, and who reads it.
    fn weak_cells(&self, formula: &Formula, env: &Env, visit: &mut dyn FnMut(Option<usize>, usize)) {
        match formula {
            Formula::True | Formula::False => {}
            Formula::Compare(_, left, _, right) => {
                for term in [left, right] {
                    term.accesses(&mut |access| {
                        if self.system.symbols[access.symbol].weak {
                            let cell =
                                self.cell(access.symbol, access.indices.iter().map(|p| resolve(*p, env)));
                            visit(access.by.map(|by| resolve(by, env) as usize), cell);
                        }
                    });
                }
            }
            Formula::Not(inner) => self.weak_cells(inner, env, visit),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| self.weak_cells(part, env, visit));
            }
            Formula::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.weak_cells(part, env, visit)),
            Formula::Forall(quantified) | Formula::Exists(quantified) => {
                for env in self.bindings(quantified, env) {
                    self.weak_cells(&quantified.body, &env, visit);
                }
            }
        }
    }

    /// What a step did to weak memory between two states; nothing if it does not lead from one to the other.
    pub fn accesses(&self, index: usize, procs: &[u8], before: &State, after: &State) -> Accesses {
        let mut env = [0; 16];
        env[..procs.len()].copy_from_slice(procs);
        let mut found = None;
        self.apply_messages(
            index,
            &env,
            before,
            usize::from(u8::MAX),
            &mut Cut::default(),
            &mut |next, accesses| {
                if next == *after {
                    found.get_or_insert(accesses);
                }
            },
        );
        found.unwrap_or_default()
    }
}
