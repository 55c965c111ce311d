//! Every program of `corpus/verdicts` gives what the C and C++ standards and POSIX say of it.
//!
//! The first lines of a program tell: `// expect: safe`, or `// expect: KIND LINE` for each violation that
//! it has (porf shows one of them); `// refused: TEXT` for a program that is refused with such a text.
//! `// models: …` names the models to run it under (rc11 and sc where there is no such line), and
//! `// options: …` options of `porf verify`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn programs_give_what_the_standards_say() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/verdicts");
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect();
    programs.sort();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut found = check(path);
                    wrong.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let right = programs.iter().filter(|path| expectations(path).iter().any(|one| one == "safe")).count();
    assert!(programs.len() >= 300, "only {} programs", programs.len());
    assert!(right * 5 >= programs.len() * 2, "only {right} of {} are right", programs.len());
}

/// What is wrong about the answers for a program.
fn check(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let expected = expectations(path);
    assert!(!expected.is_empty(), "{name} says what it expects");
    let words = |key: &str, otherwise: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or(otherwise);
        line.split_whitespace().map(str::to_string).collect()
    };
    let (models, options) = (words("// models:", "rc11 sc"), words("// options:", ""));
    let mut wrong = Vec::new();
    for model in models {
        let found = verify(path, &model, &options);
        let agrees = expected.iter().any(|one| match one.strip_prefix("refused ") {
            Some(wanted) => found.contains(wanted),
            None => *one == found,
        });
        if !agrees {
            wrong.push(format!("{name} under {model}: {found}, not {}", expected.join(" or ")));
        }
    }
    wrong
}

fn expectations(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let expect = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).map(str::to_string);
    let refused = text.lines().filter_map(|line| line.strip_prefix("// refused: "));
    expect.chain(refused.map(|line| format!("refused {line}"))).collect()
}

/// `safe`, the kind and line of a violation, or what else porf says.
fn verify(path: &Path, model: &str, options: &[String]) -> String {
    let cpp = path.extension().is_some_and(|extension| extension == "cpp");
    let standard = if cpp { "-std=c++20" } else { "-std=gnu17" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.args(["verify", "--format", "json", "--budget", "60s", "--model", model]).args(options);
    let output = command.arg(path).args(["--", standard]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(&told) else {
        return format!("{told}{}", String::from_utf8_lossy(&output.stderr)).trim().to_string();
    };
    match answer["verdict"].as_str() {
        Some("safe") => "safe".to_string(),
        Some("violated") => {
            let violation = &answer["violation"];
            let kind = violation["kind"].as_str().unwrap_or("?");
            format!("{kind} {}", violation["location"]["line"])
        }
        _ => told.trim().to_string(),
    }
}
