//! `porf verify --all`: every violation, by kind and place, each with an execution of its own.

mod support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use support::Folder;

/// Three accesses that race in pairs, an assertion that fails in each of two threads, and a leak.
const PROGRAM: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int shared;
atomic_int x, y;
static void *first(void *unused) {
    shared = 1;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    assert(!atomic_load_explicit(&y, memory_order_relaxed));
    return unused;
}
static void *second(void *unused) {
    shared = 2;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    assert(!atomic_load_explicit(&x, memory_order_relaxed));
    return unused;
}
int main(void) {
    pthread_t a, b;
    malloc(4);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    shared = 3;
    pthread_join(a, 0);
    pthread_join(b, 0);
    malloc(8);
    return 0;
}
"#;

fn lines(violation: &Value) -> (String, Vec<u64>) {
    let mut lines = vec![violation["location"]["line"].as_u64().unwrap()];
    if violation["kind"] == "race" {
        let related = violation["related"].as_array().unwrap();
        lines.extend(related.iter().map(|one| one["stack"][0]["line"].as_u64().unwrap()));
        lines.sort_unstable();
    }
    (violation["kind"].as_str().unwrap().to_string(), lines)
}

#[test]
fn every_violation_has_its_witness() {
    let folder = Folder::new("all", "p.c", PROGRAM);
    let one = folder.verify(&["--leaks"]);
    assert!(one["violations"].is_null(), "{one}");
    let expected: BTreeSet<(String, Vec<u64>)> = [
        ("race", vec![8, 14]),
        ("race", vec![8, 24]),
        ("race", vec![14, 24]),
        ("assertion", vec![10]),
        ("assertion", vec![16]),
        ("leak", vec![21]),
        ("leak", vec![27]),
    ]
    .map(|(kind, lines)| (kind.to_string(), lines))
    .into();
    let (witness, sarif, html) = (folder.path("bug.json"), folder.path("s.json"), folder.path("p.html"));
    let files = ["--witness", &witness, "--sarif", &sarif, "--html", &html];
    for options in [
        &["--all", "--leaks"][..],
        &["--all", "--leaks", "--jobs", "2"],
        &["--all", "--leaks", "--model", "imm"],
    ] {
        let all = folder.verify(&[options, &files].concat());
        let found = all["violations"].as_array().unwrap_or_else(|| panic!("{all}"));
        assert_eq!(found.iter().map(lines).collect::<BTreeSet<_>>(), expected, "{options:?}");
        assert_eq!(found.len(), expected.len(), "each once");
        assert_eq!(found[0], all["violation"], "the violation of the verdict comes first");
        assert!(found.iter().all(|one| !one["witness"]["events"].as_array().unwrap().is_empty()));
    }
    for number in 1..=expected.len() {
        let name = if number == 1 { "bug.json".to_string() } else { format!("bug-{number}.json") };
        let (code, text) = folder.porf(&["replay", &folder.path(&name)]);
        assert_eq!(code, 1, "{name}: {text}");
    }
    let sarif: Value = serde_json::from_str(&std::fs::read_to_string(sarif).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), expected.len());
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 3);
    let html = std::fs::read_to_string(html).unwrap();
    let (_, data) = html.split_once("id=\"data\">").expect("the data of the page");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["views"].as_array().unwrap().len(), expected.len());
    let (code, text) = folder.porf(&["verify", "--all", "--leaks", &folder.path("p.c")]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("7 violations") && text.contains("7 of 7:"), "{text}");
    assert_eq!(text.matches("how it happens").count(), expected.len(), "{text}");
}

/// What was found before the time was over says that there may be more.
#[test]
fn a_search_that_did_not_end_says_so() {
    let folder = Folder::new("all-budget", "p.c", PROGRAM);
    let cut = folder.verify(&["--all", "--leaks", "--budget", "1"]);
    assert_eq!(
        (&cut["verdict"], &cut["limit"]),
        (&"violated".into(), &"limit of 1 executions reached".into())
    );
    assert!(folder.verify(&["--all", "--leaks"])["limit"].is_null());
    assert!(Path::new(&folder.path("p.c")).exists());
}

/// All of them survive a checkpoint.
#[test]
fn violations_survive_a_checkpoint() {
    let folder = Folder::new("all-checkpoint", "p.c", PROGRAM);
    let whole = folder.verify(&["--all", "--leaks"]);
    let checkpoint = folder.path("checkpoint");
    let args = ["--all", "--leaks", "--budget", "3", "--checkpoint", &checkpoint];
    let mut last = folder.verify(&args);
    let mut steps = 1;
    while Path::new(&checkpoint).exists() {
        last = folder.verify(&args);
        steps += 1;
        assert!(steps < 1000);
    }
    assert!(steps > 3, "{steps}");
    assert_eq!(last["violations"], whole["violations"]);
}
