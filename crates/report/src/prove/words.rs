//! Words for states, steps and cubes, as the reports print them: processes are `#1`, `#2`, …

use porf_param::Memory;
use porf_param::explore::{Instance, State, Step, Trace};
use porf_param::prove::Cube;
use porf_param::prove::literal::{Lin, LinOp, Literal, Var};
use porf_param::prove::weak::Entry;
use porf_param::system::{System, TypeKind};

/// One step of a run, ready to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepView {
    /// The transition; `None` when a pending group reaches memory.
    pub transition: Option<String>,
    /// The line of the transition.
    pub line: Option<u32>,
    /// The processes, the acting one first.
    pub processes: Vec<u8>,
    /// `X = True (memory)`: what the step read from weak memory; `X = True (older than the last)` under release–acquire.
    pub reads: Vec<String>,
    /// `PC[#1] := Want`, `buffer X[#1] := True`, `memory X[#1] := True`, `message X[#1] := True`.
    pub effects: Vec<String>,
    /// Per process with pending writes, oldest first.
    pub buffers: Vec<String>,
}

/// The cells of a state, `PC[#1] = Idle`.
pub fn state(instance: &Instance<'_>, state: &State) -> Vec<String> {
    (0..instance.cell_count())
        .map(|cell| format!("{} = {}", cell_name(instance, cell), value(instance, cell, state.cells[cell])))
        .collect()
}

/// The steps of a run.
pub fn steps(instance: &Instance<'_>, trace: &Trace) -> Vec<StepView> {
    let mut before = &trace.initial;
    let mut views = Vec::new();
    for (step, after) in &trace.steps {
        views.push(view(instance, before, step, after));
        before = after;
    }
    views
}

fn view(instance: &Instance<'_>, before: &State, step: &Step, after: &State) -> StepView {
    let write =
        |cell: usize, v: i32| format!("{} := {}", cell_name(instance, cell), value(instance, cell, v));
    let changed: Vec<usize> =
        (0..before.cells.len()).filter(|c| before.cells[*c] != after.cells[*c]).collect();
    let (transition, line, processes, reads, effects) = match step {
        Step::Commit { process, group } => {
            let writes = &before.buffers[*process as usize][*group];
            let effects = writes.iter().map(|(c, v)| format!("memory {}", write(*c as usize, *v))).collect();
            (None, None, vec![*process], Vec::new(), effects)
        }
        Step::Transition { index, procs } => {
            let transition = &instance.system.transitions[*index];
            let mut processes = procs.clone();
            if let Some(acting) = transition.acting {
                let acting = processes.remove(acting);
                processes.insert(0, acting);
            }
            let messages = instance.memory == Memory::Ra;
            let plain = changed.iter().filter(|c| !messages || !instance.is_weak(**c));
            let mut effects: Vec<String> = plain.map(|c| write(*c, after.cells[*c])).collect();
            for (process, buffer) in after.buffers.iter().enumerate() {
                if buffer.len() > before.buffers[process].len()
                    && let Some(group) = buffer.last()
                {
                    effects.extend(group.iter().map(|(c, v)| format!("buffer {}", write(*c as usize, *v))));
                }
            }
            let mut reads = Vec::new();
            if messages {
                let accesses = instance.accesses(*index, procs, before, after);
                effects.extend(accesses.writes.iter().map(|(c, v)| format!("message {}", write(*c, *v))));
                reads.extend((accesses.reads.iter()).map(|(c, v)| {
                    let old = if before.cells[*c] == *v { "" } else { " (older than the last)" };
                    format!("{} = {}{old}", cell_name(instance, *c), value(instance, *c, *v))
                }));
            }
            for (cell, v, buffered) in instance.weak_reads(*index, procs, before) {
                if messages {
                    break;
                }
                let from = if buffered { "own buffer" } else { "memory" };
                let read = format!("{} = {} ({from})", cell_name(instance, cell), value(instance, cell, v));
                if !reads.contains(&read) {
                    reads.push(read);
                }
            }
            (Some(transition.name.clone()), Some(transition.span.line), processes, reads, effects)
        }
    };
    let buffers = (after.buffers.iter().enumerate())
        .filter(|(_, buffer)| !buffer.is_empty())
        .map(|(process, buffer)| {
            let groups: Vec<String> = (buffer.iter())
                .map(|group| {
                    let writes: Vec<String> = group.iter().map(|(c, v)| write(*c as usize, *v)).collect();
                    writes.join(" & ")
                })
                .collect();
            format!("#{}: {}", process + 1, groups.join(", "))
        })
        .collect();
    StepView { transition, line, processes, reads, effects, buffers }
}

fn cell_name(instance: &Instance<'_>, cell: usize) -> String {
    let (symbol, indices) = instance.cell_name(cell);
    named(&instance.system.symbols[symbol].name, indices.into_iter())
}

fn named(name: &str, indices: impl Iterator<Item = u8>) -> String {
    let indices: Vec<String> = indices.map(|p| format!("#{}", p + 1)).collect();
    if indices.is_empty() { name.to_owned() } else { format!("{name}[{}]", indices.join(", ")) }
}

fn value(instance: &Instance<'_>, cell: usize, value: i32) -> String {
    let system = instance.system;
    let ty = system.symbols[instance.cell_name(cell).0].ty;
    match &system.types[ty].kind {
        TypeKind::Enum(names) => names[value as usize].clone(),
        TypeKind::Proc => format!("#{}", value + 1),
        TypeKind::Int => value.to_string(),
        TypeKind::Real => real(i64::from(value), system.real_scale),
        TypeKind::Abstract => format!("{}!{value}", system.types[ty].name),
    }
}

fn real(value: i64, scale: i64) -> String {
    if scale == 1 { format!("{value}.0") } else { format!("{}", value as f64 / scale as f64) }
}

/// A cube as a formula of the input language, with what it says of the order of reads after `//`.
pub fn cube(system: &System, cube: &Cube) -> String {
    let mut parts: Vec<String> =
        cube.literals.iter().map(|literal| self::literal(system, cube, literal)).collect();
    if parts.is_empty() {
        parts.push("true".to_owned());
    }
    let mut text = parts.join(" && ");
    let order = order(system, cube);
    if !order.is_empty() {
        text.push_str(&format!("  // {}", order.join("; ")));
    }
    text
}

fn var(system: &System, cube: &Cube, var: Var) -> String {
    if let Some(process) = var.as_process() {
        return format!("#{}", process + 1);
    }
    let name = named(&system.symbols[var.symbol()].name, var.indices());
    match var.node() {
        Some(node) => {
            // Reads of one process at different moments are told apart by primes.
            let thread = cube.weak.nodes[node as usize].thread;
            let earlier = cube.weak.nodes[..node as usize].iter().filter(|n| n.thread == thread).count();
            format!("#{}{}@{name}", thread + 1, "'".repeat(earlier))
        }
        None => name,
    }
}

fn literal(system: &System, cube: &Cube, literal: &Literal) -> String {
    match literal {
        Literal::In(v, set) => {
            let names = system.constructors(system.symbols[v.symbol()].ty);
            let inside: Vec<&str> =
                (0..names.len()).filter(|i| set >> i & 1 == 1).map(|i| names[i].as_str()).collect();
            let name = var(system, cube, *v);
            match inside.as_slice() {
                [one] => format!("{name} = {one}"),
                _ if inside.len() + 1 == names.len() => {
                    let out = (0..names.len()).find(|i| set >> i & 1 == 0).map_or("", |i| names[i].as_str());
                    format!("{name} <> {out}")
                }
                _ => {
                    let each: Vec<String> = inside.iter().map(|value| format!("{name} = {value}")).collect();
                    format!("({})", each.join(" || "))
                }
            }
        }
        Literal::Eq(a, b) => format!("{} = {}", var(system, cube, *b), var(system, cube, *a)),
        Literal::Neq(a, b) => format!("{} <> {}", var(system, cube, *b), var(system, cube, *a)),
        Literal::Lin(lin) => linear(system, cube, lin),
    }
}

fn linear(system: &System, cube: &Cube, lin: &Lin) -> String {
    let number = |value: i64| if lin.real { real(value, system.real_scale) } else { value.to_string() };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (v, k) in &lin.terms {
        let name = var(system, cube, *v);
        let term = if k.abs() == 1 { name } else { format!("{} * {name}", k.abs()) };
        if *k > 0 { left.push(term) } else { right.push(term) }
    }
    // x − y + 1 ≤ 0 over the integers is x < y.
    let strict = lin.op == LinOp::Lt || (lin.op == LinOp::Le && !lin.real && lin.constant == 1);
    let constant = if strict && lin.op == LinOp::Le { 0 } else { lin.constant };
    if constant > 0 {
        left.push(number(constant));
    } else if constant < 0 {
        right.push(number(-constant));
    }
    let side = |terms: Vec<String>| if terms.is_empty() { number(0) } else { terms.join(" + ") };
    let op = match lin.op {
        LinOp::Eq => "=",
        LinOp::Neq => "<>",
        _ if strict => "<",
        _ => "<=",
    };
    format!("{} {op} {}", side(left), side(right))
}

fn order(system: &System, cube: &Cube) -> Vec<String> {
    let node = |i: usize| {
        let thread = cube.weak.nodes[i].thread;
        let earlier = cube.weak.nodes[..i].iter().filter(|n| n.thread == thread).count();
        format!("#{}{}", thread + 1, "'".repeat(earlier))
    };
    let nodes = |mask: u32| {
        let all: Vec<String> = (0..cube.weak.nodes.len()).filter(|i| mask >> i & 1 == 1).map(node).collect();
        all.join(" ")
    };
    let mut words = Vec::new();
    for (entry, mask) in &cube.weak.entries {
        let location = |v: &Var| named(&system.symbols[v.symbol()].name, v.indices());
        let what = match entry {
            Entry::Any(p) => format!("steps of #{}", p + 1),
            Entry::Write(p) => format!("writes of #{}", p + 1),
            Entry::Location(v) => format!("accesses to {}", location(v)),
            Entry::Fences => "fences".to_owned(),
            Entry::Own(p, v) => format!("writes of #{} to {}", p + 1, location(v)),
        };
        words.push(format!("{what} before {}", nodes(*mask)));
    }
    for (i, reads) in cube.weak.nodes.iter().enumerate() {
        for location in &reads.swaps {
            let location = named(&system.symbols[location.symbol()].name, location.indices());
            words.push(format!("{} reads {location} in a locked step", node(i)));
        }
        for (location, floor) in &reads.late {
            let location = named(&system.symbols[location.symbol()].name, location.indices());
            words.push(format!(
                "{} reads {location} from a pending write that follows {}",
                node(i),
                nodes(*floor)
            ));
        }
    }
    words
}
