//! Labelled events as a model sees them: herd's sets and relations by name.

use crate::{Kind, Structure};
use porf_event::{
    ArmDomain, ArmKind, Dependencies, Dialect, EventId, FenceMode, Label, Location, RmwKind, RwSet, ThreadId,
    Value, tags,
};
use porf_relation::{EventSet, Relation};

/// One event, in the form that [`EventStructure`] takes. Initial writes are `Write`s of [`ThreadId::INIT`].
#[derive(Clone, Copy, Debug)]
pub struct EventView<'a> {
    /// Its thread and its position there. Events of one access (see [`EventStructure`]) have the same.
    pub id: EventId,
    /// What it does.
    pub label: &'a Label,
    /// What it depends on, if that is known.
    pub dependencies: Option<&'a Dependencies>,
}

/// The fixed part of an execution: every set and relation that does not depend on rf and co.
///
/// Where accesses of different sizes overlap, an access is one event for each cell that it covers. The events of one
/// access have one id: po does not order them, and `si` ("same instruction", also `sm`) relates them.
#[derive(Clone, Debug)]
pub struct EventStructure {
    len: usize,
    sets: Vec<(&'static str, EventSet)>,
    /// By thread; the initial writes form a thread of their own.
    threads: Vec<EventSet>,
    /// By location.
    cells: Vec<EventSet>,
    po: Relation,
    addr: Relation,
    data: Relation,
    ctrl: Relation,
    /// As `addr`, `data` and `ctrl`, including dependencies through a value that a condition picked (Arm).
    pick_addr: Relation,
    pick_data: Relation,
    pick_ctrl: Relation,
    casdep: Relation,
    amo: Relation,
    lxsx: Relation,
    /// The events of one access; `None` if every access is one event, which is the default of `si`.
    si: Option<Relation>,
    /// What each event reads or writes.
    values: Vec<Option<Value>>,
}

impl EventStructure {
    /// The events of one thread must be in program order; `rmw` pairs reads with their writes.
    pub fn new(dialect: Dialect, events: &[EventView<'_>], rmw: &[(usize, usize)]) -> EventStructure {
        let len = events.len();
        let empty = Relation::empty(len);
        let mut structure = EventStructure {
            len,
            // Sets of every dialect; the others are there only if some event is in them.
            sets: ["M", "R", "W", "F", "IW"].map(|name| (name, EventSet::empty(len))).to_vec(),
            threads: Vec::new(),
            cells: Vec::new(),
            po: empty.clone(),
            addr: empty.clone(),
            data: empty.clone(),
            ctrl: empty.clone(),
            pick_addr: empty.clone(),
            pick_data: empty.clone(),
            pick_ctrl: empty.clone(),
            casdep: empty.clone(),
            amo: empty.clone(),
            lxsx: empty.clone(),
            si: None,
            values: events.iter().map(|event| event.label.value()).collect(),
        };
        let mut threads: Vec<(ThreadId, usize)> = Vec::new();
        let mut cells: Vec<(Location, usize)> = Vec::new();
        for (number, event) in events.iter().enumerate() {
            for tag in tags(dialect, event.label, event.id.thread == ThreadId::INIT) {
                structure.insert(tag, number);
            }
            let thread = class(&mut threads, event.id.thread, &mut structure.threads, len);
            if event.id.thread != ThreadId::INIT {
                for earlier in structure.threads[thread].iter() {
                    match events[earlier].id == event.id {
                        true => structure.si.get_or_insert_with(|| empty.clone()).insert(earlier, number),
                        false => structure.po.insert(earlier, number),
                    }
                }
            }
            structure.threads[thread].insert(number);
            let location = match event.label {
                Label::Fence { location, .. } if *location != Location(0) => Some(*location),
                label => label.location(),
            };
            if let Some(location) = location {
                let cell = class(&mut cells, location, &mut structure.cells, len);
                structure.cells[cell].insert(number);
            }
            if let Some(dependencies) = event.dependencies {
                structure.depend(events, number, dependencies);
            }
        }
        for &(read, write) in rmw {
            match events[write].label.rmw() {
                RmwKind::Exclusive | RmwKind::Loop => structure.lxsx.insert(read, write),
                _ => structure.amo.insert(read, write),
            }
        }
        let accesses = structure.set("M").unwrap_or_else(|| EventSet::empty(len));
        if let Some(si) = &mut structure.si {
            si.union_with(&si.clone().inverse());
            si.union_with(&Relation::identity_on(&accesses));
        }
        structure
    }

    /// Extends po across threads that others create and join: `first` and everything before it come
    /// before `second` and everything after it.
    pub fn order(&mut self, first: usize, second: usize) {
        let before: Vec<usize> =
            (0..self.len).filter(|&e| e == first || self.po.contains(e, first)).collect();
        let after: Vec<usize> =
            (0..self.len).filter(|&e| e == second || self.po.contains(second, e)).collect();
        for &a in &before {
            after.iter().for_each(|&b| self.po.insert(a, b));
        }
    }

    fn insert(&mut self, tag: &'static str, event: usize) {
        match self.sets.iter_mut().find(|(name, _)| *name == tag) {
            Some((_, set)) => {
                set.insert(event);
            }
            None => self.sets.push((tag, EventSet::of(self.len, [event]))),
        }
    }

    fn depend(&mut self, events: &[EventView<'_>], number: usize, dependencies: &Dependencies) {
        let id = events[number].id;
        // Reads of the same thread, so among the events just before.
        let find = |index: u32| {
            let source = EventId::new(id.thread, index);
            (0..number)
                .rev()
                .take_while(|&n| events[n].id.thread == id.thread)
                .skip_while(move |&n| events[n].id != source)
                .take_while(move |&n| events[n].id == source)
        };
        let kinds = [
            (&dependencies.addr, &mut self.addr, &mut self.pick_addr),
            (&dependencies.data, &mut self.data, &mut self.pick_data),
            (&dependencies.ctrl, &mut self.ctrl, &mut self.pick_ctrl),
        ];
        dependencies.cas.iter().chain(dependencies.cas.picks()).flat_map(find).for_each(|source| {
            self.casdep.insert(source, number);
        });
        for (set, relation, pick) in kinds {
            for source in set.iter().flat_map(find) {
                relation.insert(source, number);
                pick.insert(source, number);
            }
            for source in set.picks().flat_map(find) {
                pick.insert(source, number);
            }
        }
    }

    fn equivalence(&self, classes: &[EventSet]) -> Relation {
        let mut relation = Relation::empty(self.len);
        for class in classes {
            for event in class.iter() {
                for other in class.iter() {
                    relation.insert(event, other);
                }
            }
        }
        relation
    }
}

impl Structure for EventStructure {
    fn len(&self) -> usize {
        self.len
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        const RELATIONS: [&str; 15] = [
            "po",
            "loc",
            "int",
            "ext",
            "addr",
            "data",
            "ctrl",
            "pick-addr-dep",
            "pick-data-dep",
            "pick-ctrl-dep",
            "casdep",
            "amo",
            "lxsx",
            "rmw",
            "same-value",
        ];
        if self.sets.iter().any(|(tag, _)| *tag == name) {
            Some(Kind::Set)
        } else if matches!(name, "si" | "sm") {
            self.si.is_some().then_some(Kind::Relation)
        } else {
            RELATIONS.contains(&name).then_some(Kind::Relation)
        }
    }

    fn set(&self, name: &str) -> Option<EventSet> {
        self.sets.iter().find(|(tag, _)| *tag == name).map(|(_, set)| set.clone())
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        Some(match name {
            "po" => self.po.clone(),
            "loc" => self.equivalence(&self.cells),
            "int" => self.equivalence(&self.threads),
            "ext" => self.equivalence(&self.threads).complemented(),
            "addr" => self.addr.clone(),
            "data" => self.data.clone(),
            "ctrl" => self.ctrl.clone(),
            "pick-addr-dep" => self.pick_addr.clone(),
            "pick-data-dep" => self.pick_data.clone(),
            "pick-ctrl-dep" => self.pick_ctrl.clone(),
            "casdep" => self.casdep.clone(),
            "amo" => self.amo.clone(),
            "lxsx" => self.lxsx.clone(),
            "si" | "sm" => return self.si.clone(),
            "same-value" => Relation::filter(self.len, |a, b| {
                self.values[a].is_some() && self.values[a] == self.values[b]
            }),
            "rmw" => self.amo.clone().union(&self.lxsx),
            _ => return None,
        })
    }
}

/// The strongest fence of a language: whatever starts or awaits a thread orders as it does.
pub fn full_fence(dialect: Dialect) -> FenceMode {
    match dialect {
        Dialect::C => FenceMode::Mb,
        Dialect::X86 => FenceMode::SeqCst,
        Dialect::AArch64 | Dialect::Arm => FenceMode::Dmb(ArmDomain::Full, ArmKind::All),
        Dialect::Ppc => FenceMode::Sync,
        Dialect::RiscV => FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw },
    }
}

/// The number of the class with this key; a new one if there is none.
fn class<K: PartialEq + Copy>(
    keys: &mut Vec<(K, usize)>,
    key: K,
    classes: &mut Vec<EventSet>,
    len: usize,
) -> usize {
    if let Some(&(_, class)) = keys.iter().rev().find(|(known, _)| *known == key) {
        return class;
    }
    classes.push(EventSet::empty(len));
    keys.push((key, classes.len() - 1));
    classes.len() - 1
}
