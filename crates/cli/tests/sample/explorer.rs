//! What the sampler sees the explorer allows: random small C programs through `porf sample` and `porf verify`.
//!
//! The outcome of a program is what its loads returned and what memory holds at the end. All outcomes of drawn executions
//! must be among those of all executions (`--systematic`), and these among those that `porf verify --model c20 --all`
//! finds: it is asked by one assertion for each outcome and one for all others. Without `seq_cst` there must be no others.
//! With it there may be: those whose order of SC events contradicts every interleaving lie outside of the sampler's
//! fragment (docs/limits.md). They must be rare.
//!
//! Twelve programs; 300 with `PORF_FULL=1`. A failure prints the program.

use crate::support::{PORF, build, directory};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// So many programs in one file for the sampler: compiling takes longest.
const GROUP: usize = 25;

/// Numbers that look random (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    fn of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

struct Program {
    threads: Vec<String>,
    registers: usize,
}

/// Two or three threads that access two variables, and a counter under a lock.
fn program(random: &mut Random) -> Program {
    let (count, length) = if random.below(2) == 0 { (2, 3) } else { (3, 2) };
    let mut registers = 0;
    let threads = (0..count)
        .map(|_| {
            let mut body = String::new();
            for _ in 0..length {
                let variable = random.of(&["x", "y"]);
                let value = 1 + random.below(3);
                let mut register = || {
                    registers += 1;
                    registers - 1
                };
                let rmw = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
                match random.below(16) {
                    0..=4 => {
                        let order = random.of(&["relaxed", "relaxed", "acquire", "seq_cst"]);
                        write!(body, "r[{}] = atomic_load_explicit(&{variable}, memory_order_{order});", register())
                    }
                    5..=9 => {
                        let order = random.of(&["relaxed", "relaxed", "release", "seq_cst"]);
                        write!(body, "atomic_store_explicit(&{variable}, {value}, memory_order_{order});")
                    }
                    10 => {
                        let order = random.of(&rmw);
                        let place = register();
                        write!(body, "r[{place}] = atomic_exchange_explicit(&{variable}, {value}, memory_order_{order});")
                    }
                    11 => {
                        let order = random.of(&rmw);
                        let place = register();
                        write!(body, "r[{place}] = atomic_fetch_add_explicit(&{variable}, 1, memory_order_{order});")
                    }
                    12 => {
                        let order = random.of(&rmw);
                        let place = register();
                        write!(
                            body,
                            "{{ int e = 0; atomic_compare_exchange_strong_explicit(&{variable}, &e, {value}, \
                             memory_order_{order}, memory_order_relaxed); r[{place}] = e; }}"
                        )
                    }
                    13 | 14 => {
                        let order = random.of(&["acquire", "release", "acq_rel", "seq_cst", "seq_cst"]);
                        write!(body, "atomic_thread_fence(memory_order_{order});")
                    }
                    _ => write!(body, "pthread_mutex_lock(&m); r[{}] = n++; pthread_mutex_unlock(&m);", register()),
                }
                .expect("a string takes everything");
                body.push('\n');
            }
            body
        })
        .collect();
    Program { threads, registers }
}

/// The program as a function `run` with this suffix; `end` is what it does with the outcome `s`.
fn source(program: &Program, suffix: &str, end: &str) -> String {
    let mut text = String::from("#undef x\n#undef y\n#undef r\n#undef m\n#undef n\n");
    for name in ["x", "y", "r", "m", "n"] {
        writeln!(text, "#define {name} {name}{suffix}").expect("a string takes everything");
    }
    text.push_str("static atomic_int x, y; static int r[10], n; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n");
    for (thread, body) in program.threads.iter().enumerate() {
        write!(text, "static void *t{thread}{suffix}(void *u) {{\n{body}return u; }}\n").expect("as above");
    }
    let count = program.threads.len();
    let each =
        |what: fn(usize, &str) -> String| (0..count).map(|thread| what(thread, suffix)).collect::<String>();
    let create = each(|thread, suffix| format!("pthread_create(&t[{thread}], 0, t{thread}{suffix}, 0);\n"));
    let join = each(|thread, _| format!("pthread_join(t[{thread}], 0);\n"));
    let values: String =
        (0..program.registers).map(|register| format!("s = s * 8 + r[{register}];\n")).collect();
    write!(
        text,
        "static int run{suffix}(void) {{\npthread_t t[{count}];\n{create}{join}\
         long s = atomic_load_explicit(&x, memory_order_relaxed) * 8 + atomic_load_explicit(&y, memory_order_relaxed);\n\
         {values}{end}\nreturn 0; }}\n"
    )
    .expect("as above");
    text
}

/// What executions print, and whether they were all.
fn outcomes(binary: &Path, number: usize, options: &[&str]) -> BTreeSet<i64> {
    let mut command = Command::new(PORF);
    command.args(["sample", "--output", "all"]).args(options).arg("--").arg(binary).arg(number.to_string());
    let output = command.output().expect("porf runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "program {number}, {options:?}: {text}");
    text.lines().filter_map(|line| line.strip_prefix('=')?.parse().ok()).collect()
}

/// The outcomes of `asked` that `porf verify` finds, and whether it finds others.
fn explored(program: &Program, number: usize, asked: &BTreeSet<i64>) -> (BTreeSet<i64>, bool) {
    let mut end = String::new();
    for outcome in asked {
        writeln!(end, "assert(s != {outcome});").expect("a string takes everything");
    }
    let known: Vec<String> = asked.iter().map(|outcome| format!("s == {outcome}")).collect();
    writeln!(end, "assert({});", known.join(" || ")).expect("as above");
    let head = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n";
    let text = format!("{head}{}int main(void) {{ return run_(); }}\n", source(program, "_", &end));
    let path = directory().join(format!("explored_{number}.c"));
    std::fs::write(&path, &text).expect("the target directory is writable");
    let mut command = Command::new(PORF);
    command.args([
        "verify",
        "--model",
        "c20",
        "--all",
        "--no-hints",
        "--check",
        "assertion",
        "--format",
        "json",
    ]);
    let output = command.arg(&path).output().expect("porf runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["verdict"], "violated", "{report}");
    let (mut found, mut others) = (BTreeSet::new(), false);
    for violation in report["violations"].as_array().expect("violations") {
        let line = violation["location"]["line"].as_u64().expect("a line") as usize;
        let line = text.lines().nth(line - 1).expect("a line of the program");
        let one = line.strip_prefix("assert(s != ").and_then(|rest| rest.strip_suffix(");"));
        match one.map(|number| number.parse().expect("a number")) {
            Some(outcome) => drop(found.insert(outcome)),
            None => others = true,
        }
    }
    (found, others)
}

#[test]
fn the_explorer_has_the_same_outcomes() {
    let count = if std::env::var_os("PORF_FULL").is_some() { 300 } else { 12 };
    let mut random = Random(SEED);
    let programs: Vec<Program> = (0..count).map(|_| program(&mut random)).collect();
    let (mut several, mut beyond) = (0, 0);
    for (group, programs) in programs.chunks(GROUP).enumerate() {
        let mut text = String::from(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n",
        );
        for (place, program) in programs.iter().enumerate() {
            text.push_str(&source(program, &format!("_{place}"), "printf(\"=%ld\\n\", s);"));
        }
        let names: String = (0..programs.len()).map(|place| format!("run_{place}, ")).collect();
        write!(
            text,
            "static int (*const programs[])(void) = {{{names}}};\n\
             int main(int argc, char **argv) {{ return programs[atoi(argv[1])](); }}\n"
        )
        .expect("a string takes everything");
        let path = directory().join(format!("small_{group}.c"));
        std::fs::write(&path, text).expect("the target directory is writable");
        let binary = build(&path, &format!("small_{group}"));
        for (place, program) in programs.iter().enumerate() {
            let number = group * GROUP + place;
            let all = outcomes(&binary, place, &["--systematic", "100000"]);
            let drawn = outcomes(&binary, place, &["--executions", "200"]);
            several += usize::from(all.len() > 2);
            let what = format!("program {number}: {}", program.threads.join("---\n"));
            assert!(drawn.is_subset(&all), "drawn {drawn:?}, all {all:?}\n{what}");
            let (found, others) = explored(program, number, &all);
            assert_eq!(found, all, "verify finds the first\n{what}");
            let has_sc = program.threads.iter().any(|body| body.contains("seq_cst"));
            assert!(!others || has_sc, "verify finds more than {all:?}\n{what}");
            beyond += usize::from(others);
        }
    }
    println!("{count} programs, {several} with more than two outcomes, {beyond} where the explorer has more");
    assert!(beyond * 10 <= count, "the explorer has more in {beyond} of {count} programs");
    assert!(several * 2 > count, "{several} of {count} programs have more than two outcomes");
}
