//! Litmus tests as C programs: what `porf verify` finds, from the compiler to the verdict, is what the
//! models say of the tests.
//!
//! Every C test of the tree whose variables are all atomic becomes a function for each thread and one
//! that runs them and asserts that the proposition does not hold. All are compiled once; `--entry`
//! chooses a test. The expectations are those of the litmus tests, which come from herd and from brute
//! force, by a way that has neither clang nor the explorer in it. Under the models of machines programs are
//! compiled, and so are the litmus tests; what these do then is found by brute force.

use porf::{Axioms, Engine, Model, litmus};
use porf_corpus::words::{replace_word, word_positions};
use porf_frontend_litmus::{Observation, parse};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every test runs under the first; under each of the others one in turn, or with PORF_FULL all.
const MODELS: [&str; 11] =
    ["rc11", "imm", "sc", "tso", "pso", "ra", "sra", "armv8", "armv7", "power", "riscv"];

/// What the second search refuses: load buffering past half of a read-modify-write.
const REFUSED: [(&str, &str); 2] = [("lb-exchange-data", "power"), ("lb-exchange-data", "armv7")];

#[test]
fn c_programs_do_what_the_litmus_tests_say() {
    run(Memory::Static);
}

/// The same with variables that are allocated and freed.
#[test]
fn on_the_heap() {
    run(Memory::Heap);
}

/// Where the variables of a test are.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    Static,
    Heap,
}

fn run(memory: Memory) {
    let corpus = porf_corpus::expected::folder("litmus/c11");
    let expected: BTreeMap<String, BTreeMap<String, String>> = porf_corpus::expected::expected("litmus/c11");
    let directory =
        std::env::temp_dir().join(format!("porf-verify-litmus-{}-{}", memory as u8, std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut source = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n",
    );
    let mut tests = Vec::new();
    for name in expected.keys() {
        let text = std::fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
        if let Some(program) = program(&text, tests.len(), memory) {
            source.push_str(&program);
            tests.push(name);
        }
    }
    assert!(tests.len() >= 100, "only {} of {} tests are C programs", tests.len(), expected.len());
    let file = compile(&directory, &source);
    let full = std::env::var_os("PORF_FULL").is_some();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for (index, name) in tests.iter().enumerate() {
        for (at, model) in MODELS.iter().enumerate() {
            let Some(observation) = observation(&expected[*name], &corpus, name, model) else { continue };
            if at > 0 && !full && index % (MODELS.len() - 1) != at - 1 {
                continue;
            }
            let output = Command::new(env!("CARGO_BIN_EXE_porf"))
                .args(["verify", "--spurious", "--model", model, "--entry", &format!("test{index}")])
                .arg(&file)
                .output()
                .unwrap();
            let code = match observation.as_str() {
                _ if REFUSED.contains(&(name.as_str(), *model)) => 2,
                "Never" => 0,
                _ => 1,
            };
            ran += 1;
            if output.status.code() != Some(code) {
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                wrong.push(format!(
                    "{name} under {model}: {observation}, but {:?} {message}",
                    output.status.code()
                ));
            }
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!("{} tests, {ran} runs", tests.len());
}

/// What a model says of a test.
fn observation(
    expected: &BTreeMap<String, String>,
    corpus: &Path,
    name: &str,
    model: &str,
) -> Option<String> {
    if model.parse::<Model>().unwrap().entry().machine().is_none() {
        return expected.get(model).cloned();
    }
    let text = std::fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
    let test = parse(name, &text).unwrap();
    let answer = litmus(&test, &Axioms::load(model).unwrap(), Engine::Oracle { unroll: 2 }).unwrap();
    Some(if answer.outcome.observation == Observation::Never { "Never" } else { "Sometimes" }.to_string())
}

/// A test as C functions whose names end in its index; None if it has non-atomic variables.
fn program(text: &str, index: usize, memory: Memory) -> Option<String> {
    let mut out = String::new();
    let mut variables: Vec<String> = Vec::new();
    let mut threads = String::new();
    let mut count = 0;
    let parts = text.split("\nP").skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    for (thread, part) in parts.enumerate() {
        let (head, rest) = part.split_once('{')?;
        let (body, _) = rest.split_once("\n}")?;
        let parameters = head.split_once('(')?.1.rsplit_once(')')?.0;
        let mut declarations = String::new();
        for parameter in parameters.split(',') {
            let name = parameter.trim().strip_prefix("atomic_int")?.replace([' ', '*'], "");
            let address = if memory == Memory::Heap { "" } else { "&" };
            let _ = writeln!(declarations, "    atomic_int *{name} = {address}g{index}_{name};");
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
        // Registers outlive the thread: the proposition speaks of them.
        let mut body = body.to_string();
        for register in (0..10).map(|number| format!("r{number}")) {
            let outer = format!("o{index}_{thread}_{register}");
            if word_positions(&body, &register).next().is_some() {
                body = replace_word(&body, &register, &outer).replace(&format!("int {outer}"), &outer);
                let _ = writeln!(out, "static int {outer};");
            }
        }
        let _ = writeln!(
            threads,
            "static void *t{index}_{thread}(void *unused) {{\n{declarations}{body}\n    return 0;\n}}"
        );
        count += 1;
    }
    for variable in &variables {
        let pointer = if memory == Memory::Heap { "*" } else { "" };
        let _ = writeln!(out, "static atomic_int {pointer}g{index}_{variable};");
    }
    let proposition = proposition(text, index, &variables, memory)?;
    let _ = write!(out, "{threads}int test{index}(void) {{\n    pthread_t t[{count}];\n");
    if memory == Memory::Heap {
        for variable in &variables {
            let _ = writeln!(out, "    g{index}_{variable} = calloc(1, sizeof(atomic_int));");
        }
    }
    for thread in 0..count {
        let _ = writeln!(out, "    pthread_create(&t[{thread}], 0, t{index}_{thread}, 0);");
    }
    let _ = writeln!(out, "    for (int i = 0; i < {count}; i++) pthread_join(t[i], 0);");
    let _ = writeln!(out, "    assert(!({proposition}));");
    if memory == Memory::Heap {
        for variable in &variables {
            let _ = writeln!(out, "    free(g{index}_{variable});");
        }
    }
    out.push_str("    return 0;\n}\n");
    // Initial values other than zero would have to be set.
    let initial = text.split_once('{')?.1.split_once('}')?.0;
    initial.replace("=0", "").find('=').is_none().then_some(out)
}

/// `exists (0:r0=1 /\ [x]=2)` as an expression of C.
fn proposition(text: &str, index: usize, variables: &[String], memory: Memory) -> Option<String> {
    let start = text.rfind("exists")? + "exists".len();
    let mut out = text[start..].trim().replace("/\\", "&&").replace("\\/", "||").replace('~', "!");
    out = out.replace('=', "==").replace(['[', ']'], "");
    for variable in variables {
        let pointer = if memory == Memory::Heap { "*" } else { "" };
        out = replace_word(&out, variable, &format!("{pointer}g{index}_{variable}"));
    }
    for thread in 0..8 {
        out = out.replace(&format!("{thread}:r"), &format!("o{index}_{thread}_r"));
    }
    (!out.contains(':') && !out.contains("not")).then_some(out)
}

/// Bitcode with debug information, by the compiler that `porf verify` would use.
fn compile(directory: &Path, source: &str) -> PathBuf {
    let (input, output) = (directory.join("tests.c"), directory.join("tests.bc"));
    std::fs::write(&input, source).unwrap();
    let clang = porf_frontend_llvm::find_clang().expect("clang");
    let status = Command::new(clang)
        .args(["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-emit-llvm", "-c", "-o"])
        .args([&output, &input])
        .status()
        .unwrap();
    assert!(status.success(), "clang does not take the tests");
    output
}
