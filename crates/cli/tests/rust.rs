//! Every program of `corpus/rust` gives what Rust's documentation and its memory model, which is C++20's, say
//! of it.
//!
//! The first lines of a program tell: `// expect: safe`, or `// expect: KIND LINE` for each violation that it
//! has (porf shows one of them); `// refused: TEXT` for a program that is refused with such a text;
//! `// check: KIND` for a kind that is not looked for by default; `// executions: N` for how many executions a safe
//! program has, up to reductions. `// std: real` runs it with std as it is compiled, too. All programs are modules of
//! one crate, so that rustc runs once, but those with a line `// alone`.

use porf::{Budget, Code, Input, LoadOptions, Model, Origin, Request, Test, verify};
use porf_verdict::{Checks, Verdict, ViolationKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Program {
    name: String,
    text: String,
    input: Result<Input, String>,
}

#[test]
fn programs_give_what_rust_says() {
    let (alone, together): (Vec<PathBuf>, Vec<PathBuf>) =
        paths().into_iter().partition(|path| says(path, "// alone"));
    let (leaks, others): (Vec<PathBuf>, Vec<PathBuf>) =
        together.into_iter().partition(|path| says(path, "// check: leak"));
    let mut programs = translated(&others, &bundle(&others, LoadOptions::default()));
    for path in alone {
        let path = std::slice::from_ref(&path);
        programs.extend(translated(path, &bundle(path, LoadOptions::default())));
    }
    programs
        .extend(translated(&leaks, &bundle(&leaks, LoadOptions { leaks: true, ..LoadOptions::default() })));
    let wrong = all(&programs);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(programs.len() >= 150, "only {} programs", programs.len());
    let right = programs.iter().filter(|program| expectations(&program.text) == ["safe"]).count();
    assert!(right * 3 >= programs.len(), "only {right} of {} are right", programs.len());
}

/// What we have in place of parts of std changes no verdict.
#[test]
fn programs_give_the_same_with_std_as_it_is_compiled() {
    let paths: Vec<PathBuf> = paths().into_iter().filter(|path| says(path, "// std: real")).collect();
    assert!(paths.len() >= 8, "only {} programs", paths.len());
    let options = LoadOptions { real_std: true, ..LoadOptions::default() };
    let wrong = all(&translated(&paths, &bundle(&paths, options)));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Tests of a crate are found with what their attributes say.
#[test]
fn tests_are_found() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust");
    let options = LoadOptions { flags: vec!["--test".to_string()], ..LoadOptions::default() };
    let code = Code::read(&[directory.join("attributes.rs")], &options).unwrap();
    let tests = code.tests().unwrap();
    let told: Vec<String> = tests
        .iter()
        .map(|Test { name, ignored, should_panic, .. }| format!("{name} {ignored} {should_panic:?}"))
        .collect();
    assert_eq!(
        told,
        [
            "tests::fails_with_a_result false No",
            "tests::ignored true No",
            "tests::ignored_for_a_reason true No",
            "tests::panics false Yes",
            "tests::panics_with_a_message false With(\"bounds\")",
            "tests::plain false No",
            "tests::result false No",
        ]
    );
}

fn paths() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/rust");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect();
    if let Ok(wanted) = std::env::var("PORF_RUST_PROGRAM") {
        paths.retain(|path| path.to_string_lossy().contains(&wanted));
    }
    paths.sort();
    paths
}

/// Whether a program has such a line.
fn says(path: &Path, line: &str) -> bool {
    std::fs::read_to_string(path).unwrap().lines().any(|one| one == line)
}

/// A crate with each program as a module, compiled.
fn bundle(paths: &[PathBuf], options: LoadOptions) -> Code {
    let mut text = "fn main() {}\n".to_string();
    for path in paths {
        let name = identifier(path);
        let module = format!("#[path = {path:?}]\nmod {name};\n");
        let entry = format!("#[unsafe(no_mangle)]\npub fn entry_{name}() {{\n    {name}::main()\n}}\n");
        text.push_str(&module);
        text.push_str(&entry);
    }
    let directory =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rust-{}-{}", options.real_std, options.leaks));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("all.rs");
    std::fs::write(&file, text).unwrap();
    let mut code = Code::read(&[file], &options).unwrap_or_else(|error| panic!("{error}"));
    let entries: Vec<String> = paths.iter().map(|path| format!("entry_{}", identifier(path))).collect();
    code.prepare(&entries).unwrap();
    code
}

fn translated(paths: &[PathBuf], code: &Code) -> Vec<Program> {
    let one = |path: &PathBuf| Program {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: std::fs::read_to_string(path).unwrap(),
        input: Input::of_code(code, &format!("entry_{}", identifier(path)), Origin::default())
            .map_err(|error| error.to_string()),
    };
    paths.iter().map(one).collect()
}

fn identifier(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().replace(['-', '+', '.'], "_")
}

/// What is wrong about the answers.
fn all(programs: &[Program]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(check(program));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

fn check(program: &Program) -> Option<String> {
    let Program { name, text, input } = program;
    let expected = expectations(text);
    assert!(!expected.is_empty(), "{name} says what it expects");
    let (found, executions) = answer(text, input.as_ref().map_err(|error| error.as_str()));
    if std::env::var_os("PORF_RUST_SHOW").is_some() {
        eprintln!("{name}: {found} {executions}");
    }
    let count = text.lines().find_map(|line| line.strip_prefix("// executions: "));
    if count.is_some_and(|count| count != executions.to_string()) {
        return Some(format!("{name}: {found} ({executions} executions), not {}", count.unwrap_or_default()));
    }
    let agrees = expected.iter().any(|one| match one.strip_prefix("refused ") {
        Some(wanted) => found.contains(wanted),
        None => *one == found,
    });
    (!agrees).then(|| format!("{name}: {found} ({executions} executions), not {}", expected.join(" or ")))
}

fn expectations(text: &str) -> Vec<String> {
    let expect = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).map(str::to_string);
    let refused = text.lines().filter_map(|line| line.strip_prefix("// refused: "));
    expect.chain(refused.map(|line| format!("refused {line}"))).collect()
}

/// `safe`, the kind and line of a violation, or what else porf says; and how many executions there are.
fn answer(text: &str, input: Result<&Input, &str>) -> (String, u64) {
    let input = match input {
        Ok(input) => input,
        Err(error) => return (error.to_string(), 0),
    };
    let kind = |word: &str| ViolationKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap();
    let more = text.lines().filter_map(|line| line.strip_prefix("// check: ")).map(kind);
    let request = Request {
        checks: more.fold(Checks::default(), Checks::with),
        budget: "60s".parse::<Budget>().unwrap(),
        ..Request::new(Model::C20)
    };
    match verify(input, &request) {
        Err(error) => (error.to_string(), 0),
        Ok(answer) => {
            let said = match &answer.verdict {
                Verdict::Safe(_) => "safe".to_string(),
                Verdict::Violated(violation) => {
                    let line = violation.location.as_ref().map_or(0, |place| place.line);
                    format!("{} {line}", violation.kind.word())
                }
                Verdict::Inconclusive(limit) => limit.to_string(),
            };
            (said, answer.executions)
        }
    }
}
