//! Programs that have a published number of executions with reductions: Porf visits no more.

use std::path::Path;
use std::process::Command;

/// Program, flags, and how many complete executions GenMC 0.11 visits under RC11.
const ROWS: [(&str, &str, u64); 4] = [
    ("mpmc_packed.c", "-DWRITERS=2 -DREADERS=2 -DSIZE=10", 284),
    ("msqueue.c", "-DWRITERS=2 -DREADERS=2", 634),
    ("casloop.c", "-DN=3 -DWRITERS=1", 42),
    ("poll_locked.c", "-DN=3", 6),
];

fn verify(file: &str, flags: &str, options: &[&str]) -> serde_json::Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/programs");
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--format", "json"])
        .args(options)
        .arg(root.join(file))
        .arg("--")
        .args(flags.split_whitespace())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn no_more_executions_than_others_visit() {
    for (file, flags, most) in ROWS {
        let answer = verify(file, flags, &[]);
        println!("{file} {flags}: {} and {} blocked", answer["executions"], answer["blocked"]);
        assert_eq!(answer["verdict"], "safe", "{file} {flags}");
        assert!(answer["executions"].as_u64().unwrap() <= most, "{file} {flags}: {answer}");
        let twice = verify(file, flags, &["--jobs", "2"]);
        for count in ["executions", "blocked", "reduced"] {
            assert_eq!(answer[count], twice[count], "{file} {flags}");
        }
    }
}

#[test]
fn reductions_are_switched_off_by_name() {
    let all = verify("casloop.c", "-DN=2", &["--no-reduce", "all"]);
    let few = verify("casloop.c", "-DN=2", &["--no-reduce", "symmetry"]);
    assert_eq!(all["reduced"], serde_json::json!({}));
    assert!(few["reduced"]["retries"].as_u64().unwrap() > 0);
    assert!(few["executions"].as_u64() < all["executions"].as_u64());
    // A data race stays one.
    let racy = verify("poll_locked.c", "-DN=2 -DBUG_NO_LOCK", &[]);
    assert_eq!(racy["violation"]["kind"], "race");
}
