//! Litmus tests as Rust programs: the outcomes that Porf finds, from rustc to the search, are exactly those that
//! the model allows.
//!
//! Every C test of the tree that is a sequence of atomic accesses and fences becomes a Rust program: one thread
//! per thread, and a line of its own for each outcome, which fails there. One search that asks for all violations
//! gives the set of outcomes. The expected sets come from brute force over the litmus test under c20.cat, which herd's answers
//! are compared with elsewhere: neither rustc nor the explorer is in that way.

use porf::{Axioms, Code, Engine, Input, LoadOptions, Model, Origin, Request, litmus, verify};
use porf_frontend_litmus::{LitmusTest, Observable, parse};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// One test in so many is run, or with PORF_FULL each.
const STRIDE: usize = 3;

struct Test {
    name: String,
    litmus: LitmusTest,
    /// The outcomes that have a line, and the first of these lines.
    outcomes: Vec<Vec<u64>>,
    first: u32,
}

#[test]
fn outcomes_are_exactly_those_of_the_model() {
    let corpus = porf_corpus::expected::folder("litmus/c11");
    let mut names: Vec<_> = std::fs::read_dir(&corpus).unwrap().flatten().map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    names.sort();
    let full = std::env::var_os("PORF_FULL").is_some();
    let stride = if full { 1 } else { STRIDE };
    let mut source = "use std::sync::atomic::{AtomicI32, Ordering::*, fence};\nfn main() {}\n".to_string();
    let mut tests: Vec<Test> = Vec::new();
    for path in names.iter().step_by(stride) {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let litmus = parse(&name, &text).unwrap();
        let Some((program, outcomes)) = program(&text, &litmus, tests.len()) else { continue };
        source.push_str(&program);
        let first = source.lines().count() as u32 - outcomes.len() as u32 - 2;
        tests.push(Test { name, litmus, outcomes, first });
    }
    assert!(tests.len() * stride >= 150, "only {} tests are Rust programs", tests.len());

    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-litmus");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("all.rs");
    std::fs::write(&file, source).unwrap();
    let mut code = Code::read(&[file], &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let entries: Vec<String> = (0..tests.len()).map(|index| format!("test{index}")).collect();
    code.prepare(&entries).unwrap();
    let model = Axioms::load("c20").unwrap();
    let mut wrong = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let found = found(&code, test, index);
        let answer = litmus(&test.litmus, &model, Engine::Oracle { unroll: 2 }).unwrap();
        let expected: BTreeSet<Vec<u64>> = answer.outcome.states.into_keys().collect();
        if found != expected {
            wrong.push(format!("{}: {found:?}, not {expected:?}", test.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tests.len(), wrong.join("\n"));
}

/// The outcomes of a test, by the lines at which its program fails.
fn found(code: &Code, test: &Test, index: usize) -> BTreeSet<Vec<u64>> {
    let input = Input::of_code(code, &format!("test{index}"), Origin::default()).unwrap();
    let request = Request { all: true, ..Request::new(Model::C20) };
    let answer = verify(&input, &request).unwrap();
    assert!(answer.unfinished.is_none() && answer.executions == 0, "{}: each execution fails", test.name);
    let lines = answer.found.iter().filter_map(|found| found.violation.location.as_ref());
    lines.map(|place| test.outcomes[(place.line - test.first) as usize].clone()).collect()
}

/// A test as Rust functions whose names end in its index, with the outcomes that have lines; `None` if it has
/// anything but atomic accesses, fences and registers.
fn program(text: &str, litmus: &LitmusTest, index: usize) -> Option<(String, Vec<Vec<u64>>)> {
    let (mut threads, mut run) = (String::new(), String::new());
    let mut variables: Vec<String> = Vec::new();
    let parts = text.split("\nP").skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let mut count = 0;
    for (thread, part) in parts.enumerate() {
        let (head, rest) = part.split_once('{')?;
        let body = rest.split_once("\n}")?.0;
        for parameter in head.split_once('(')?.1.rsplit_once(')')?.0.split(',') {
            let name = parameter.trim().strip_prefix("atomic_int")?.replace([' ', '*'], "");
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
        let mut statements = String::new();
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let _ = writeln!(statements, "    {}", statement(line, index)?);
        }
        let registers = registers(litmus, thread);
        let result = registers.iter().map(|register| format!("{register},")).collect::<String>();
        let types = "i32,".repeat(registers.len());
        let _ = write!(threads, "fn t{index}_{thread}() -> ({types}) {{\n{statements}    ({result})\n}}\n");
        let _ = writeln!(run, "    let t{thread} = std::thread::spawn(t{index}_{thread});");
        count += 1;
    }
    for thread in 0..count {
        let names = registers(litmus, thread).into_iter().map(|register| format!("r{thread}_{register},"));
        let _ = writeln!(run, "    let ({}) = t{thread}.join().unwrap();", names.collect::<String>());
    }
    let initial = text.split_once('{')?.1.split_once('}')?.0;
    if initial.replace("=0", "").contains('=') {
        return None;
    }
    let mut out = String::new();
    for variable in &variables {
        let _ = writeln!(out, "static G{index}_{variable}: AtomicI32 = AtomicI32::new(0);");
    }
    let observed = observed(litmus, index)?;
    let outcomes = combinations(observed.len());
    let _ = write!(out, "{threads}#[unsafe(no_mangle)]\npub fn test{index}() {{\n{run}");
    let _ = writeln!(out, "    match ({},) {{", observed.join(", "));
    for outcome in &outcomes {
        let values: Vec<String> = outcome.iter().map(u64::to_string).collect();
        let _ = writeln!(out, "        ({},) => std::process::abort(),", values.join(", "));
    }
    out.push_str("        _ => unreachable!(),\n    }\n}\n");
    Some((out, outcomes))
}

/// The observables of the test, as Rust has them.
fn observed(litmus: &LitmusTest, index: usize) -> Option<Vec<String>> {
    let observables = litmus.observables();
    let one = |observable: &Observable| match observable {
        Observable::Register { thread, name, .. } => Some(format!("r{thread}_{name}")),
        Observable::Location { name, index: None, .. } => Some(format!("G{index}_{name}.load(Relaxed)")),
        Observable::Location { .. } => None,
    };
    observables.iter().map(one).collect()
}

/// The registers of a thread that the test observes.
fn registers(litmus: &LitmusTest, thread: usize) -> Vec<String> {
    let one = |observable| match observable {
        Observable::Register { thread: of, name, .. } if of == thread => Some(name),
        _ => None,
    };
    litmus.observables().into_iter().filter_map(one).collect()
}

/// All values up to 2 of so many observables: no test writes more.
fn combinations(count: usize) -> Vec<Vec<u64>> {
    (0..3u64.pow(count as u32))
        .map(|code| (0..count as u32).map(|at| code / 3u64.pow(at) % 3).collect())
        .collect()
}

/// A statement of C's in Rust.
fn statement(line: &str, index: usize) -> Option<String> {
    let (target, call) = match line.strip_suffix(';')?.split_once(" = ") {
        Some((declared, call)) => (format!("let {} = ", declared.strip_prefix("int ")?), call),
        None => (String::new(), line.strip_suffix(';')?),
    };
    let (function, arguments) = call.strip_suffix(')')?.split_once('(')?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let order = match arguments.last()?.strip_prefix("memory_order_")? {
        "relaxed" => "Relaxed",
        "acquire" => "Acquire",
        "release" => "Release",
        "acq_rel" => "AcqRel",
        "seq_cst" => "SeqCst",
        _ => return None,
    };
    let method = match function {
        "atomic_thread_fence" => return Some(format!("fence({order});")),
        "atomic_load_explicit" => "load",
        "atomic_store_explicit" => "store",
        "atomic_exchange_explicit" => "swap",
        "atomic_fetch_add_explicit" => "fetch_add",
        _ => return None,
    };
    let inner = &arguments[1..arguments.len() - 1];
    let values: String = inner.iter().map(|value| format!("{value}, ")).collect();
    Some(format!("{target}G{index}_{}.{method}({values}{order});", arguments[0]))
}
