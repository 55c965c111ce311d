//! Executions built by hand, and a small enumerator of rf and co for them.

use std::collections::HashMap;

use porf_cat::{CatModel, Evaluator, Structure};
use porf_relation::{EventSet, Relation};

/// A litmus shape with its outcome: each read says what it must read.
///
/// An event is `Wx1` (write 1 to x), `Rx0` (read 0), `Ux0-1` (read 0 and write 1 in one update), `Xx0-1` (the same
/// by a pair of exclusives) or `F`, then
/// `:TAG` for each of its sets and `@addr`, `@data` or `@ctrl` for a dependency on the read before it.
pub struct Shape {
    pub name: &'static str,
    threads: Vec<Vec<Event>>,
    last: Vec<(String, i64)>,
}

#[derive(Clone)]
struct Event {
    kind: char,
    location: String,
    value: i64,
    tags: Vec<String>,
    dependency: Option<String>,
    /// The event after this one is the write of the same update: `amo` or `lxsx`.
    update: Option<&'static str>,
}

impl Shape {
    pub fn new(name: &'static str) -> Self {
        Self { name, threads: Vec::new(), last: Vec::new() }
    }

    pub fn thread(mut self, text: &str) -> Self {
        let mut events = Vec::new();
        for word in text.split_whitespace() {
            let (word, dependency) = match word.split_once('@') {
                Some((word, dependency)) => (word, Some(dependency.to_owned())),
                None => (word, None),
            };
            let mut parts = word.split(':');
            let head = parts.next().unwrap();
            let tags: Vec<String> = parts.map(str::to_owned).collect();
            let kind = head.chars().next().unwrap();
            let location: String = head.chars().skip(1).take_while(|c| c.is_alphabetic()).collect();
            let rest = &head[1 + location.len()..];
            let event = |kind, value: &str, update| Event {
                kind,
                location: location.clone(),
                value: value.parse().unwrap_or(0),
                tags: tags.clone(),
                dependency: dependency.clone(),
                update,
            };
            match (kind, rest.split_once('-')) {
                ('U' | 'X', Some((old, new))) => {
                    events.push(event('R', old, Some(if kind == 'U' { "amo" } else { "lxsx" })));
                    events.push(event('W', new, None));
                }
                _ => events.push(event(kind, rest, None)),
            }
        }
        self.threads.push(events);
        self
    }

    /// The final value of each location, as in `x1 y2`.
    pub fn last(mut self, text: &str) -> Self {
        for word in text.split_whitespace() {
            let at = word.find(|c: char| c.is_ascii_digit()).unwrap();
            self.last.push((word[..at].to_owned(), word[at..].parse().unwrap()));
        }
        self
    }

    pub fn structure(&self) -> Execution {
        let mut all: Vec<(Option<usize>, Event)> = Vec::new();
        let mut locations: Vec<String> =
            self.threads.iter().flatten().filter(|e| e.kind != 'F').map(|e| e.location.clone()).collect();
        locations.sort();
        locations.dedup();
        for location in locations {
            let init = Event { kind: 'W', location, value: 0, tags: vec![], dependency: None, update: None };
            all.push((None, init));
        }
        for (thread, events) in self.threads.iter().enumerate() {
            all.extend(events.iter().map(|event| (Some(thread), event.clone())));
        }
        Execution { events: all }
    }
}

pub struct Execution {
    events: Vec<(Option<usize>, Event)>,
}

impl Execution {
    fn set_of(&self, holds: impl Fn(&(Option<usize>, Event)) -> bool) -> EventSet {
        EventSet::filter(self.events.len(), |&i| holds(&self.events[i]))
    }

    fn pairs(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation::filter(self.events.len(), holds)
    }

    fn same_location(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.events[a].1, &self.events[b].1);
        a.kind != 'F' && b.kind != 'F' && a.location == b.location
    }
}

impl Structure for Execution {
    fn len(&self) -> usize {
        self.events.len()
    }

    fn set(&self, name: &str) -> Option<EventSet> {
        Some(match name {
            "R" => self.set_of(|(_, e)| e.kind == 'R'),
            "W" => self.set_of(|(_, e)| e.kind == 'W'),
            "F" => self.set_of(|(_, e)| e.kind == 'F'),
            "IW" => self.set_of(|(thread, _)| thread.is_none()),
            // Untagged accesses are the weakest ones that race with nothing.
            "RLX" => self.set_of(|(thread, e)| thread.is_some() && e.kind != 'F' && e.tags.is_empty()),
            "Once" | "ONCE" => {
                self.set_of(|(thread, e)| thread.is_some() && e.kind != 'F' && e.tags.is_empty())
            }
            _ => {
                let used = self.events.iter().any(|(_, e)| e.tags.iter().any(|tag| tag == name));
                if !used {
                    return None;
                }
                self.set_of(|(_, e)| e.tags.iter().any(|tag| tag == name))
            }
        })
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        let thread = |i: usize| self.events[i].0;
        let same_thread = |a, b| thread(a).is_some() && thread(a) == thread(b);
        Some(match name {
            "po" => self.pairs(|a, b| same_thread(a, b) && a < b),
            "loc" => self.pairs(|a, b| self.same_location(a, b)),
            "int" => self.pairs(same_thread),
            "ext" => self.pairs(|a, b| a != b && !same_thread(a, b)),
            "amo" | "lxsx" => self.pairs(|a, b| self.events[a].1.update == Some(name) && b == a + 1),
            "same-value" => self.pairs(|a, b| self.events[a].1.value == self.events[b].1.value),
            "addr" | "data" | "ctrl" => self.pairs(|a, b| {
                let depends = self.events[b].1.dependency.as_deref() == Some(name);
                let read_before = (0..b).rev().find(|&i| same_thread(i, b) && self.events[i].1.kind == 'R');
                depends && read_before == Some(a)
            }),
            _ => return None,
        })
    }
}

/// Whether the model allows the outcome of the shape: some rf and co that give it are consistent.
pub fn outcomes(model: &str, shape: &Shape) -> bool {
    let model = CatModel::shipped(model.parse().unwrap());
    allowed(&model, shape)
}

pub fn allowed(model: &CatModel, shape: &Shape) -> bool {
    let execution = shape.structure();
    let len = execution.len();
    let mut evaluator = Evaluator::new(model);
    if !evaluator.bind(&execution).unwrap_or_else(|e| panic!("{e}")) {
        return false;
    }
    let reads: Vec<usize> = (0..len).filter(|&i| execution.events[i].1.kind == 'R').collect();
    let sources: Vec<Vec<usize>> = reads
        .iter()
        .map(|&r| {
            (0..len)
                .filter(|&w| execution.events[w].1.kind == 'W' && execution.same_location(w, r))
                .filter(|&w| execution.events[w].1.value == execution.events[r].1.value)
                .collect()
        })
        .collect();
    let mut by_location: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, (_, event)) in execution.events.iter().enumerate().filter(|(_, (_, e))| e.kind == 'W') {
        by_location.entry(&event.location).or_default().push(i);
    }
    let mut cos = vec![Relation::empty(len)];
    for (location, writes) in &by_location {
        let base = Relation::of(len, writes[1..].iter().map(|&w| (writes[0], w)));
        let mut orders = base.linearisations(&EventSet::of(len, writes.iter().copied()));
        let mut here = Vec::new();
        while orders.advance() {
            let last = *orders.order().last().unwrap();
            let wanted = shape.last.iter().find(|(name, _)| name == location);
            if wanted.is_none_or(|(_, value)| execution.events[last].1.value == *value) {
                here.push(orders.as_relation());
            }
        }
        cos = cos.iter().flat_map(|done| here.iter().map(|r| done.clone().union(r))).collect();
    }
    let mut choice = vec![0; reads.len()];
    if sources.iter().any(Vec::is_empty) {
        return false;
    }
    loop {
        let rf = Relation::of(len, reads.iter().zip(&sources).zip(&choice).map(|((&r, ws), &c)| (ws[c], r)));
        if evaluator.set_rf(&rf).unwrap() {
            for co in &cos {
                evaluator.set_co(co);
                if evaluator.check().unwrap().is_consistent() {
                    return true;
                }
                assert!(evaluator.explain().is_some(), "a forbidden execution has a reason");
            }
        }
        let Some(next) = (0..choice.len()).find(|&i| choice[i] + 1 < sources[i].len()) else { return false };
        choice[next] += 1;
        choice[..next].fill(0);
    }
}
