//! The system of a program, as text.

use super::control::{Control, Edge, Place, PointKind, Reading};
use super::machine::{AtomOp, Location, Sym, Val, Who};
use super::setup::Setup;
use super::{Translated, outside};
use crate::syntax::{Diagnostic, Span};
use porf_ir::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Prints the system, reads it, and puts lines of the program in the place of its own.
pub fn system(program: &Program, setup: &Setup, control: &Control) -> Result<Translated, Diagnostic> {
    let names = Names::new(program, control);
    let mut text = format!("(* {}, as `porf prove --from` reads it. *)\n", program.name);
    let mut lines: Vec<u32> = Vec::new();
    let mut unsafe_lines: Vec<u32> = Vec::new();
    declarations(&mut text, setup, control, &names, program);
    properties(&mut text, control, setup, &names, &mut unsafe_lines);
    if unsafe_lines.is_empty() {
        let message = "nothing to prove: no assertion of a thread can fail, and no race is possible";
        return Err(outside(program, setup.roles[0].function, 0, message));
    }
    for (number, role) in setup.roles.iter().enumerate() {
        let begin = &names.points[control.begins[number]];
        let _ = match role.once {
            true => writeln!(
                text,
                "transition start{number} ([p]) requires {{ PC[p] = Unborn && Begun{number} = No }} \
                 {{ PC[p] := {begin}; Begun{number} := Yes }}"
            ),
            false => {
                writeln!(
                    text,
                    "transition start{number} ([p]) requires {{ PC[p] = Unborn }} {{ PC[p] := {begin} }}"
                )
            }
        };
        lines.push(role.line);
    }
    for (number, edge) in control.edges.iter().enumerate() {
        // What a slot points to is another process, or this one.
        let indices: &[&str] = match edge.place.and_then(|place| place.of) {
            Some(Who::Slot(_) | Who::Read) => &["q", "p"],
            _ => &["p"],
        };
        for index in indices {
            transition(&mut text, control, edge, number, &names, index);
            lines.push(control.points[edge.from].line);
        }
    }
    let function = setup.roles[0].function;
    let mut system = crate::load(&text).map_err(|wrong| {
        outside(program, function, 0, format!("the system of this program is too large: {}", wrong.message))
    })?;
    let span = |line: u32| Span { line, column: 1, ..Span::default() };
    for (transition, line) in system.transitions.iter_mut().zip(&lines) {
        transition.span = span(*line);
    }
    for (set, line) in system.unsafes.iter_mut().zip(&unsafe_lines) {
        set.span = span(*line);
    }
    Ok(Translated { text, system, assumptions: assumptions(setup, control, &names) })
}

fn assumptions(setup: &Setup, control: &Control, names: &Names) -> Vec<String> {
    let mut assumptions = Vec::new();
    let wide: Vec<&str> = (control.shared.iter())
        .filter(|(location, shared)| shared.wide && names.used.contains(location))
        .map(|(location, _)| names.variables[location].as_str())
        .collect();
    if !wide.is_empty() {
        assumptions.push(format!("numbers do not wrap around: {}", wide.join(", ")));
    }
    let arrays: Vec<&str> = (names.used.iter())
        .filter(|location| location.stride != 0)
        .map(|location| names.variables[location].as_str())
        .collect();
    if !arrays.is_empty() {
        assumptions.push(format!("arrays are as long as there are threads: {}", arrays.join(", ")));
    }
    if let Some(line) = setup.left {
        assumptions
            .push(format!("what main does after joining the threads is not checked (from line {line} on)"));
    }
    assumptions
}

/// What points and locations are called.
struct Names {
    points: Vec<String>,
    variables: BTreeMap<Location, String>,
    /// The locations that some step accesses.
    used: BTreeSet<Location>,
}

impl Names {
    fn new(program: &Program, control: &Control) -> Names {
        let mut points: Vec<String> = Vec::new();
        for point in &control.points {
            let name = match &point.kind {
                PointKind::Running(_) => {
                    format!("{}_{}", word(&program.function(point.function).name), point.line)
                }
                PointKind::End => format!("End{}", point.role),
                PointKind::Stuck => format!("Stuck_{}", point.line),
                PointKind::Fail(_) => format!("Wrong_{}", point.line),
            };
            points.push(unused(name, &points));
        }
        let mut variables: BTreeMap<Location, String> = BTreeMap::new();
        for location in control.shared.keys() {
            let mut name = word(&program.name_of(location.address, location.size));
            if location.size == 0 {
                name = format!("Freed_{name}");
            }
            // `N0` is a value, `L0` a slot.
            if name.ends_with(|last: char| last.is_ascii_digit()) {
                name.push('_');
            }
            let taken: Vec<String> = variables.values().chain(&points).cloned().collect();
            let name = unused(name, &taken);
            variables.insert(*location, name);
        }
        let used = control.edges.iter().filter_map(|edge| Some(edge.place?.location)).collect();
        Names { points, variables, used }
    }

    fn variable(&self, edge: &Edge) -> &str {
        edge.place.map_or("", |place| self.variables[&place.location].as_str())
    }

    /// A thread in a step.
    fn process(&self, edge: &Edge, who: Who, index: &str) -> String {
        match who {
            Who::Me => "p".to_owned(),
            Who::Slot(slot) => format!("P{slot}[p]"),
            Who::Read => format!("{}_of{}", self.variable(edge), subscript(edge.place, index)),
        }
    }

    /// A value in a step.
    fn term(&self, edge: &Edge, wide: bool, value: &Val, index: &str) -> String {
        let plus = |what: String, offset: i64| match offset {
            0 => what,
            1.. => format!("{what} + {offset}"),
            _ => format!("{what} - {}", offset.unsigned_abs()),
        };
        match value {
            Val::Const(value) if wide => format!("{}", *value as i64),
            Val::Const(value) => format!("N{value}"),
            Val::Sym(Sym::Slot(slot), offset) => plus(format!("L{slot}[p]"), *offset),
            Val::Sym(Sym::Read, offset) => {
                plus(format!("{}{}", self.variable(edge), subscript(edge.place, index)), *offset)
            }
            Val::Of(_, who) => self.process(edge, *who, index),
            Val::Argument | Val::Unknown => "?".to_owned(),
        }
    }
}

/// The index behind a name, if it has one.
fn subscript(place: Option<Place>, index: &str) -> String {
    if place.is_some_and(|place| place.of.is_some()) { format!("[{index}]") } else { String::new() }
}

/// A name that begins with a capital.
fn word(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let clean = clean.trim_matches('_');
    let mut letters = clean.chars();
    match letters.next() {
        Some(first) if first.is_ascii_alphabetic() => {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        }
        _ => format!("V{clean}"),
    }
}

/// The name, or the name with the next letter behind it that makes it new.
fn unused(name: String, taken: &[String]) -> String {
    const OTHERS: [&str; 5] = ["PC", "Unborn", "No", "Yes", "Member"];
    let is_new = |name: &String| !taken.contains(name) && !OTHERS.contains(&name.as_str());
    if is_new(&name) {
        return name;
    }
    (2..).map(|number| format!("{name}_{number}")).find(is_new).unwrap_or(name)
}

fn declarations(text: &mut String, setup: &Setup, control: &Control, names: &Names, program: &Program) {
    if setup.roles.iter().all(|role| role.once) {
        let _ = writeln!(text, "number_procs {}", setup.roles.len());
    }
    let mut values: BTreeSet<u64> = BTreeSet::new();
    let mut members = false;
    for (location, shared) in &control.shared {
        if names.used.contains(location) && !shared.wide {
            values.extend(&shared.values);
            members |= shared.family.is_some();
        }
    }
    let _ = writeln!(text, "type loc = Unborn | {}", names.points.join(" | "));
    if !values.is_empty() {
        let values = values.iter().map(|value| format!("N{value}"));
        let values: Vec<String> = values.chain(members.then(|| "Member".to_owned())).collect();
        let _ = writeln!(text, "type value = {}", values.join(" | "));
    }
    let once: Vec<usize> = (0..setup.roles.len()).filter(|role| setup.roles[*role].once).collect();
    if !once.is_empty() {
        text.push_str("type answer = No | Yes\n");
    }
    text.push_str("array PC[proc] : loc\n");
    let mut init = vec!["PC[p] = Unborn".to_owned()];
    for slot in &control.slots {
        let _ = writeln!(text, "array L{slot}[proc] : int");
        init.push(format!("L{slot}[p] = 0"));
    }
    for slot in 0..control.pointers {
        let _ = writeln!(text, "array P{slot}[proc] : proc");
        init.push(format!("P{slot}[p] = p"));
    }
    for role in once {
        let _ = writeln!(text, "weak var Begun{role} : answer");
        init.push(format!("Begun{role} = No"));
    }
    for (location, shared) in control.shared.iter().filter(|(location, _)| names.used.contains(location)) {
        let name = &names.variables[location];
        let (kind, declared, name) = match location.stride {
            0 => ("var", String::new(), name.clone()),
            _ => ("array", "[proc]".to_owned(), format!("{name}[p]")),
        };
        let variable = &names.variables[location];
        let sort = if shared.wide { "int" } else { "value" };
        let _ = writeln!(text, "weak {kind} {variable}{declared} : {sort}");
        if shared.family.is_some() {
            let _ = writeln!(text, "weak {kind} {variable}_of{declared} : proc");
        }
        let initial = setup.initial(program, location.address, location.size);
        let width = porf_ir::Width::of_bytes(location.size.max(1));
        init.push(match shared.wide {
            true => format!("{name} = {}", width.signed(initial)),
            false => format!("{name} = N{initial}"),
        });
    }
    let _ = writeln!(text, "init (p) {{ {} }}", init.join(" && "));
}

/// Assertions, and races.
fn properties(text: &mut String, control: &Control, setup: &Setup, names: &Names, lines: &mut Vec<u32>) {
    for (number, point) in control.points.iter().enumerate() {
        if let PointKind::Fail(_) = &point.kind {
            let _ = writeln!(text, "unsafe wrong_{} (p) {{ PC[p] = {} }}", point.line, names.points[number]);
            lines.push(point.line);
        }
        let PointKind::Running(Some((place, ..))) = &point.kind else { continue };
        let freed = |location: &&Location| location.size == 0 && location.same_object(place.location);
        if let Some(freed) = names.used.iter().find(freed) {
            let _ = writeln!(
                text,
                "unsafe freed_{} (p) {{ PC[p] = {} && p@{} = N1 }}",
                point.line, names.points[number], names.variables[freed]
            );
            lines.push(point.line);
        }
    }
    let access = |number: usize| match &control.points[number].kind {
        PointKind::Running(Some(access)) => Some(*access),
        _ => None,
    };
    for (i, a) in control.points.iter().enumerate() {
        for (j, b) in control.points.iter().enumerate().skip(i) {
            let (Some((x, writes, atomic)), Some((y, also_writes, also_atomic))) = (access(i), access(j))
            else {
                continue;
            };
            let alone = a.role == b.role && setup.roles[a.role].once;
            let together = match (x.of, y.of) {
                (Some(Who::Me), Some(Who::Me)) => continue,
                (Some(of), Some(also_of)) => format!(" && {} = {}", thread(of, "p"), thread(also_of, "q")),
                _ => String::new(),
            };
            if x.location == y.location && (writes || also_writes) && !(atomic && also_atomic) && !alone {
                let _ = writeln!(
                    text,
                    "unsafe race_{}_{} (p q) {{ PC[p] = {} && PC[q] = {}{together} }}",
                    a.line, b.line, names.points[i], names.points[j]
                );
                lines.push(a.line);
            }
        }
    }
}

/// The thread whose part the process `name` is about to access.
fn thread(who: Who, name: &str) -> String {
    match who {
        Who::Slot(slot) => format!("P{slot}[{name}]"),
        Who::Me | Who::Read => name.to_owned(),
    }
}

fn transition(text: &mut String, control: &Control, edge: &Edge, number: usize, names: &Names, index: &str) {
    let variable = names.variable(edge);
    let at = subscript(edge.place, index);
    let wide = edge.place.is_some_and(|place| control.shared[&place.location].wide);
    let mut guard = vec![format!("PC[p] = {}", names.points[edge.from])];
    if let Some(Place { of: Some(who @ Who::Slot(_)), .. }) = edge.place {
        guard.push(format!("{} = {index}", names.process(edge, who, index)));
    }
    match edge.reads {
        Some(Reading::Const(value)) => guard.push(format!("{variable}{at} = N{value}")),
        Some(Reading::Member) => guard.push(format!("{variable}{at} = Member")),
        None => {}
    }
    for atom in &edge.guard {
        let op = match atom.op {
            AtomOp::Eq => "=",
            AtomOp::Neq => "<>",
            AtomOp::Lt => "<",
            AtomOp::Le => "<=",
        };
        let [a, b] = [&atom.a, &atom.b].map(|side| names.term(edge, true, side, index));
        guard.push(format!("{a} {op} {b}"));
    }
    if edge.fence {
        guard.push("fence()".to_owned());
    }
    if edge.lock {
        guard.push("lock()".to_owned());
    }
    let mut updates = vec![format!("PC[p] := {}", names.points[edge.to])];
    if let Some(value) = &edge.writes {
        if let Val::Of(..) = value {
            updates.push(format!("{variable}{at} := Member"));
            updates.push(format!("{variable}_of{at} := {}", names.term(edge, wide, value, index)));
        } else {
            updates.push(format!("{variable}{at} := {}", names.term(edge, wide, value, index)));
        }
    }
    for (slot, value) in &edge.slots {
        let array = if let Val::Of(..) = value { 'P' } else { 'L' };
        updates.push(format!("{array}{slot}[p] := {}", names.term(edge, true, value, index)));
    }
    let line = control.points[edge.from].line;
    let place = if variable.is_empty() { String::new() } else { format!("_{}", variable.to_lowercase()) };
    let (other, own) = match edge.place.and_then(|place| place.of) {
        Some(Who::Slot(_)) if index == "p" => ("", "_own"),
        Some(Who::Slot(_)) => (" q", ""),
        _ => ("", ""),
    };
    let _ = writeln!(
        text,
        "transition line{line}_{}{place}_{number}{own} ([p]{other}) requires {{ {} }} {{ {} }}",
        edge.what,
        guard.join(" && "),
        updates.join("; ")
    );
}
