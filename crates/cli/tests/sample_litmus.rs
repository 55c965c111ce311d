//! What the sampler sees on native litmus tests, the oracle allows, and what the model's fragment allows,
//! the sampler sees.
//!
//! Tests and herd's RC11 answers come from the oracle's c11-diy corpus (`../shared/oracle` beside the
//! repository; without it this test says so and passes). Every test becomes a C function per thread in one
//! program. Observed ⊆ allowed by herd is soundness. An outcome that herd allows and the engine cannot
//! produce by any choice (psc against every interleaving) lies outside the fragment; the others must be
//! observed: all of them in the full run (PORF_FULL: 400 tests, 100,000 executions each), all but one in two
//! hundred in the default one, since some outcomes of four threads need one exact schedule.

use porf_sample::scheduler::{Replay, Scheduler};
use porf_sample::{Engine, LocationId, Order, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

const PORF: &str = env!("CARGO_BIN_EXE_porf");

#[derive(Clone, Debug)]
enum Op {
    Load(String, String, Order),
    Store(String, u8, Order),
    Fence(Order),
}

struct Test {
    name: String,
    threads: Vec<Vec<Op>>,
    /// Variables of a state, `1:r0` or `[x]`.
    keys: Vec<String>,
    allowed: BTreeSet<String>,
}

#[test]
fn native_litmus_tests_agree_with_the_oracle() {
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle");
    if !oracle.join("corpus/c11-diy.tar.gz").exists() {
        eprintln!("skipped: no oracle data at {}", oracle.display());
        return;
    }
    let full = std::env::var_os("PORF_FULL").is_some();
    let (count, executions) = if full { (400, 100_000) } else { (60, 10_000) };
    let tests = read_tests(&oracle, count);
    assert_eq!(tests.len(), count);
    let program = compile(&tests);
    let (mut seen, mut outside, mut rare) = (0, Vec::new(), Vec::new());
    for (index, test) in tests.iter().enumerate() {
        let observed = observe(&program, index, executions);
        let wrong: Vec<_> = observed.difference(&test.allowed).collect();
        assert!(wrong.is_empty(), "{}: observed but not allowed: {wrong:?}", test.name);
        seen += observed.len();
        let missed: Vec<_> = test.allowed.difference(&observed).collect();
        if missed.is_empty() {
            continue;
        }
        let possible = engine_outcomes(test);
        for outcome in missed {
            if possible.contains(outcome) {
                rare.push(format!("{}: {outcome}", test.name));
            } else {
                outside.push(format!("{}: {outcome}", test.name));
            }
        }
    }
    eprintln!(
        "{count} tests: {seen} outcomes observed, {} outside the fragment: {outside:?}, not observed: {rare:?}",
        outside.len()
    );
    let bearable = if full { 0 } else { seen / 200 };
    assert!(rare.len() <= bearable, "allowed and possible but not observed: {rare:?}");
}

fn read_tests(oracle: &Path, count: usize) -> Vec<Test> {
    let gunzip =
        |path: PathBuf| flate2::read::GzDecoder::new(std::fs::File::open(path).expect("oracle file"));
    let mut table = String::new();
    gunzip(oracle.join("expected/c11-diy-rc11.tsv.gz")).read_to_string(&mut table).expect("text");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let column = |name: &str| header.iter().position(|&h| h == name).expect("a column");
    let (path, observation, states) = (column("path"), column("observation"), column("states"));
    let mut expected = BTreeMap::new();
    for line in lines {
        let row: Vec<&str> = line.split('\t').collect();
        if !row[observation].is_empty() {
            expected.insert(row[path].to_string(), row[states].to_string());
        }
    }
    // Spread over the corpus, the same in every run.
    let step = expected.len() / (count + count / 4);
    let wanted: BTreeSet<&String> = expected.keys().step_by(step.max(1)).collect();
    let mut tests = Vec::new();
    let mut archive = tar::Archive::new(gunzip(oracle.join("corpus/c11-diy.tar.gz")));
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a path").file_name().map(|n| n.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| wanted.contains(name)) else { continue };
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("text");
        if tests.len() < count
            && let Some(threads) = parse(&text)
        {
            let normal = |state: &str| {
                let mut parts: Vec<&str> = state.trim().split(';').filter(|part| !part.is_empty()).collect();
                parts.sort_unstable();
                parts.join(";")
            };
            let allowed: BTreeSet<String> = expected[&name].split('|').map(normal).collect();
            let first = allowed.first().expect("a state");
            let keys =
                first.split(';').map(|part| part.split('=').next().unwrap_or("").to_string()).collect();
            tests.push(Test { name, threads, keys, allowed });
        }
    }
    tests
}

/// The threads of a test of loads, stores and fences; None for anything else.
fn parse(text: &str) -> Option<Vec<Vec<Op>>> {
    let mut threads = Vec::new();
    // Other lines begin with P too: "Prefetch=".
    let parts = text.split("\nP").skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    for part in parts {
        let body = part.split_once('{')?.1.split_once("\n}")?.0;
        threads.push(
            body.split(';')
                .map(str::trim)
                .filter(|op| !op.is_empty())
                .map(parse_op)
                .collect::<Option<_>>()?,
        );
    }
    Some(threads)
}

fn parse_op(text: &str) -> Option<Op> {
    let (head, arguments) = text.strip_suffix(')')?.split_once('(')?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let order = match *arguments.last()? {
        "memory_order_relaxed" => Order::Relaxed,
        "memory_order_acquire" => Order::Acquire,
        "memory_order_release" => Order::Release,
        "memory_order_acq_rel" => Order::AcqRel,
        "memory_order_seq_cst" => Order::SeqCst,
        _ => return None,
    };
    match head {
        "atomic_store_explicit" => Some(Op::Store(arguments[0].into(), arguments[1].parse().ok()?, order)),
        "atomic_thread_fence" => Some(Op::Fence(order)),
        _ => {
            let register = head.strip_prefix("int ")?.strip_suffix(" = atomic_load_explicit")?;
            Some(Op::Load(register.into(), arguments[0].into(), order))
        }
    }
}

fn locations(test: &Test) -> BTreeSet<String> {
    let of = |op: &Op| match op {
        Op::Load(_, x, _) | Op::Store(x, ..) => Some(x.clone()),
        Op::Fence(_) => None,
    };
    test.threads.iter().flatten().filter_map(of).collect()
}

fn compile(tests: &[Test]) -> PathBuf {
    let mut source = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n",
    );
    source.push_str("typedef struct { int n; void *(*f[8])(void *); void (*show)(void); } test;\n");
    let mut table = String::new();
    let order = |order: &Order| match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    };
    for (index, test) in tests.iter().enumerate() {
        let out = &mut source;
        for x in locations(test) {
            writeln!(out, "static atomic_int g{index}_{x};").expect("a string");
        }
        let mut names = Vec::new();
        for (thread, ops) in test.threads.iter().enumerate() {
            for op in ops {
                if let Op::Load(register, ..) = op {
                    writeln!(out, "static int o{index}_{thread}_{register};").expect("a string");
                }
            }
            writeln!(out, "static void *t{index}_{thread}(void *unused) {{").expect("a string");
            for op in ops {
                match op {
                    Op::Load(register, x, o) => writeln!(
                        out,
                        "o{index}_{thread}_{register} = atomic_load_explicit(&g{index}_{x}, {});",
                        order(o)
                    ),
                    Op::Store(x, value, o) => {
                        writeln!(out, "atomic_store_explicit(&g{index}_{x}, {value}, {});", order(o))
                    }
                    Op::Fence(o) => writeln!(out, "atomic_thread_fence({});", order(o)),
                }
                .expect("a string");
            }
            writeln!(out, "return unused; }}").expect("a string");
            names.push(format!("t{index}_{thread}"));
        }
        let format: Vec<String> = test.keys.iter().map(|key| format!("{key}=%d")).collect();
        let value = |key: &String| match key.split_once(':') {
            Some((thread, register)) => format!("o{index}_{thread}_{register}"),
            None => format!(
                "atomic_load_explicit(&g{index}_{}, memory_order_relaxed)",
                key.trim_matches(['[', ']'])
            ),
        };
        let values: Vec<String> = test.keys.iter().map(value).collect();
        writeln!(
            out,
            "static void show{index}(void) {{ printf(\"{}\\n\", {}); }}",
            format.join(";"),
            values.join(", ")
        )
        .expect("a string");
        writeln!(table, "{{{}, {{{}}}, show{index}}},", names.len(), names.join(", ")).expect("a string");
    }
    write!(
        source,
        "static test all[] = {{{table}}};\nint main(int c, char **v) {{ test *t = &all[atoi(v[c - 1])]; pthread_t h[8];\n\
         for (int i = 0; i < t->n; i++) pthread_create(&h[i], 0, t->f[i], 0);\n\
         for (int i = 0; i < t->n; i++) pthread_join(h[i], 0);\n t->show(); return 0; }}\n"
    )
    .expect("a string");
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (directory.join("litmus.c"), directory.join("litmus"));
    std::fs::write(&file, source).expect("the target directory is writable");
    let status = Command::new(PORF).args(["cc", "-O1", "-w"]).arg(&file).arg("-o").arg(&program).status();
    assert!(status.expect("porf runs").success());
    program
}

fn observe(program: &Path, index: usize, executions: u32) -> BTreeSet<String> {
    let output = Command::new(PORF)
        .args(["sample", "--output", "all", "--executions", &executions.to_string(), "--"])
        .arg(program)
        .arg(index.to_string())
        .output()
        .expect("porf runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stdout).expect("text");
    let normal = |line: &str| {
        let mut parts: Vec<&str> = line.split(';').collect();
        parts.sort_unstable();
        parts.join(";")
    };
    text.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit() || c == '['))
        .map(normal)
        .collect()
}

/// Every outcome that the engine can produce, by trying all choices.
fn engine_outcomes(test: &Test) -> BTreeSet<String> {
    let mut engine = Engine::new();
    let mut choices = Replay::default();
    let mut outcomes = BTreeSet::new();
    loop {
        choices.begin(0);
        engine.reset();
        let places: BTreeMap<String, LocationId> =
            locations(test).into_iter().map(|x| (x, engine.new_location(0))).collect();
        let threads: Vec<ThreadId> = test.threads.iter().map(|_| engine.create_thread(ThreadId(0))).collect();
        let mut next = vec![0; threads.len()];
        let mut values: BTreeMap<String, u128> = BTreeMap::new();
        loop {
            let runnable: Vec<ThreadId> = (0..threads.len())
                .filter(|&p| next[p] < test.threads[p].len())
                .map(|p| ThreadId(p as _))
                .collect();
            if runnable.is_empty() {
                break;
            }
            let p = runnable[choices.next_thread(&runnable, ThreadId(0))].as_usize();
            match &test.threads[p][next[p]] {
                Op::Load(register, x, order) => {
                    let value = engine.load(threads[p], places[x], *order, &mut choices);
                    values.insert(format!("{p}:{register}"), value);
                }
                Op::Store(x, value, order) => engine.store(threads[p], places[x], *order, (*value).into()),
                Op::Fence(order) => engine.fence(threads[p], *order),
            }
            next[p] += 1;
        }
        for &t in &threads {
            engine.finish_thread(t);
            engine.join_thread(ThreadId(0), t);
        }
        for (x, place) in &places {
            values.insert(format!("[{x}]"), engine.load(ThreadId(0), *place, Order::Relaxed, &mut choices));
        }
        let mut parts: Vec<String> = test.keys.iter().map(|key| format!("{key}={}", values[key])).collect();
        parts.sort_unstable();
        outcomes.insert(parts.join(";"));
        if !choices.advance() {
            return outcomes;
        }
    }
}
