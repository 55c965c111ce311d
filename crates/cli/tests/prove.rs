//! `porf prove` as its user meets it: exit codes, diagnostics, certificates, interruption.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn corpus(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove").join(file)
}

fn porf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.arg("prove");
    command
}

/// A system without an end: no cube tells the parity of `X`, and each step back gives a new one.
const ENDLESS: &str = "var X : int
var Y : int
init { X = 0 && Y = 0 }
unsafe { X = 1 && Y = 1 }
transition even () { X := X + 2 }
transition odd () { X := X - 2; Y := Y + 1 }
";

/// `ENDLESS` as a file of this test.
fn endless(test: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("endless-{test}.cub"));
    std::fs::write(&file, ENDLESS).expect("a file");
    file
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn exit_codes_follow_the_verdict() {
    for (file, model, code) in
        [("dekker.cub", "pso", 0), ("dekker-nofence.cub", "tso", 1), ("dekker-nofence.cub", "sc", 0)]
    {
        let output = porf().arg(corpus(file)).args(["--model", model]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(code), "{file} under {model}: {}", text(&output));
    }
    let output = porf().arg(endless("codes")).args(["--budget", "1"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

#[test]
fn errors_point_at_the_text() {
    let folder = std::env::temp_dir().join(format!("porf-prove-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("wrong.cub");
    std::fs::write(&file, "var X : bool\ninit { X = Treu }\nunsafe { X = False }\n").expect("a file");
    let output = porf().arg(&file).output().expect("porf runs");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("wrong.cub:2:12") && shown.contains("init { X = Treu }"), "{shown}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn an_instance_is_no_larger_than_the_system() {
    let output = porf().arg(corpus("peterson.cub")).args(["--instance", "3"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("at most 2 processes"), "{}", text(&output));
}

#[test]
fn an_interrupted_search_says_so() {
    let child = porf()
        .arg(endless("interrupt"))
        .args(["--budget", "300"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("porf starts");
    std::thread::sleep(Duration::from_secs(1));
    // SAFETY: a signal to the child of this test, which has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().expect("porf ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    let shown = text(&output);
    assert!(shown.contains("interrupted") && shown.contains("nodes"), "{shown}");
}

/// Writes a system to a file of its own.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("porf-prove-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("system.cub");
    std::fs::write(&file, text).expect("a file");
    file
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

/// The kinds of the warnings that a system gets.
fn warnings(name: &str, system: &str, arguments: &[&str]) -> (serde_json::Value, Vec<String>) {
    let file = file(name, system);
    let output = porf().arg(&file).args(["--format", "json"]).args(arguments).output().expect("porf runs");
    let object = json(&output);
    let kinds = object["warnings"].as_array().unwrap_or_else(|| panic!("{object}"));
    let kinds = kinds.iter().map(|w| w["kind"].as_str().expect("a kind").to_owned()).collect();
    (object, kinds)
}

const LOCAL: &str = "type loc = A | B\narray PC[proc] : loc\n";

#[test]
fn a_bound_on_processes_is_named() {
    let (object, kinds) = warnings(
        "bound",
        &format!(
            "number_procs 2\n{LOCAL}init (p) {{ PC[p] = A }}\nunsafe (p) {{ PC[p] = B }}\n\
                  transition t ([p]) requires {{ PC[p] = A }} {{ PC[p] := A }}\n"
        ),
        &[],
    );
    assert_eq!(kinds, ["number_procs"], "{object}");
    assert_eq!(object["coverage"]["kind"], "bounded_instances");
    assert_eq!(object["coverage"]["processes"], 2);
    let output = porf().arg(corpus("peterson.cub")).output().expect("porf runs");
    assert!(!text(&output).contains("any number of processes,"), "{}", text(&output));
}

#[test]
fn assumptions_are_named() {
    let system = |assumed: &str| {
        format!(
            "const N : int\nvar X : int\n{assumed}init {{ X = 0 && N = 1 }}\nunsafe {{ X > N }}\n\
                 transition t () requires {{ X < N }} {{ X := X + 1 }}\n"
        )
    };
    let (object, kinds) = warnings("assumed", &system("invariant { N < 0 }\n"), &[]);
    assert!(kinds.contains(&"assumed".to_owned()), "{object}");
    let (object, kinds) = warnings("contradiction", &system("invariant { N > 0 }\n"), &[]);
    assert!(kinds.contains(&"contradictory_assumptions".to_owned()), "{object}");
}

#[test]
fn a_system_without_a_beginning_is_named() {
    let (object, kinds) = warnings(
        "empty",
        &format!(
            "{LOCAL}init (p) {{ PC[p] = A && PC[p] = B }}\nunsafe (p) {{ PC[p] = B }}\n\
                  transition t ([p]) requires {{ PC[p] = A }} {{ PC[p] := B }}\n"
        ),
        &[],
    );
    assert!(kinds.contains(&"no_initial_state".to_owned()), "{object}");
}

#[test]
fn a_transition_that_never_happens_is_named() {
    let (object, kinds) = warnings(
        "idle",
        &format!(
            "{LOCAL}init (p) {{ PC[p] = A }}\nunsafe (p) {{ PC[p] = B }}\n\
                  transition t ([p]) requires {{ PC[p] = B }} {{ PC[p] := A }}\n"
        ),
        &[],
    );
    assert_eq!(kinds, ["never_happens"], "{object}");
}

#[test]
fn without_weak_variables_there_is_one_memory() {
    // Local arrays: tso may be asked for, and the answer is one under sc.
    let local = format!(
        "{LOCAL}init (p) {{ PC[p] = A }}\nunsafe (p) {{ PC[p] = B }}\n\
                         transition t ([p]) requires {{ PC[p] = A }} {{ PC[p] := A }}\n"
    );
    let (object, kinds) = warnings("local", &local, &["--model", "tso"]);
    assert_eq!(kinds, ["nothing_weak"], "{object}");
    assert_eq!(object["model"], "sc");
    // A plain global that processes share is refused, whether or not another variable is weak.
    for weak in ["", "weak var Y : bool\n"] {
        let shared = format!(
            "{LOCAL}var X : bool\n{weak}init (p) {{ PC[p] = A && X = False }}\n\
             unsafe (p) {{ PC[p] = B && X = True }}\n\
             transition t ([p]) requires {{ PC[p] = A && X = False }} {{ PC[p] := B }}\n"
        );
        let file = file("shared", &shared);
        let output = porf().arg(&file).args(["--model", "tso"]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("`X` is not weak"), "{}", text(&output));
        let output = porf().arg(&file).args(["--model", "sc"]).output().expect("porf runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
}

#[test]
fn a_transition_called_commit_is_no_commit() {
    let system = format!(
        "{LOCAL}weak var X : bool\ninit (p) {{ PC[p] = A && X = False }}\n\
         unsafe (p q) {{ PC[p] = B && PC[q] = A && q@X = True }}\n\
         transition commit ([p]) requires {{ PC[p] = A }} {{ PC[p] := B; X := True }}\n"
    );
    let (object, _) = warnings("commit", &system, &["--model", "tso"]);
    let steps = object["trace"]["steps"].as_array().expect("a trace");
    let kinds: Vec<_> = steps.iter().map(|step| step["kind"].as_str().unwrap_or("")).collect();
    assert_eq!(kinds, ["transition", "commit"], "{object}");
    let output = porf().arg(file("commit", &system)).output().expect("porf runs");
    assert!(text(&output).contains("#1 (commit)"), "{}", text(&output));
}

#[test]
fn a_run_has_no_more_processes_than_it_needs() {
    let system = format!(
        "{LOCAL}init (p) {{ PC[p] = A }}\nunsafe (p) {{ PC[p] = B }}\n\
                          transition t ([p]) requires {{ PC[p] = A }} {{ PC[p] := B }}\n"
    );
    for arguments in [&[][..], &["--no-explore"]] {
        let (object, _) = warnings("one", &system, arguments);
        assert_eq!(object["trace"]["processes"], 1, "{object}");
    }
}

#[test]
fn errors_are_objects_in_json() {
    let missing = porf().args(["no-such-file.cub", "--format", "json"]).output().expect("porf runs");
    assert_eq!(missing.status.code(), Some(2));
    assert!(json(&missing)["error"]["message"].as_str().is_some_and(|m| m.contains("no-such-file.cub")));
    let bound = porf()
        .arg(corpus("peterson.cub"))
        .args(["--instance", "3", "--format", "json"])
        .output()
        .expect("porf runs");
    assert!(json(&bound)["error"]["message"].is_string());
}

#[test]
fn a_certificate_is_written_checked_and_obeys_the_model() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("skipped: z3 is not installed");
        return;
    }
    let path = file("certificate", "").with_file_name("mutex.cert");
    let run = |file: &str, arguments: &[&str]| {
        let output = porf().arg(corpus(file)).args(arguments).output().expect("porf runs");
        (output.status.code(), text(&output))
    };
    let certificate = path.to_str().expect("a path");
    let (code, shown) = run("naive-mutex.cub", &["--certificate", certificate]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("refuted by z3"), "{shown}");
    let (code, shown) = run("naive-mutex.cub", &["--check", certificate]);
    assert_eq!(code, Some(0), "{shown}");
    let (code, shown) = run("naive-mutex.cub", &["--check", certificate, "--model", "pso"]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("is for tso, not for pso"), "{shown}");
    let (code, shown) = run("naive-mutex-nofence.cub", &["--check", certificate]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("rejected"), "{shown}");
}

#[test]
fn fences_are_advised() {
    let ask = |file: &str, more: &[&str]| {
        let output = porf()
            .arg(corpus(file))
            .args(["--fences", "--max-work", "300000"])
            .args(more)
            .output()
            .expect("porf runs");
        (output.status.code(), text(&output))
    };
    let (code, shown) = ask("naive-mutex-nofence.cub", &["--model", "tso"]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("The smallest sets to add:") && shown.contains("fence in `enter`"), "{shown}");
    let (code, shown) = ask("message-passing.cub", &["--model", "tso"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("superfluous  fence in `publish`"), "{shown}");
    let (_, shown) = ask("message-passing.cub", &["--model", "pso"]);
    assert!(shown.contains("needed       fence in `publish`"), "{shown}");
    let (code, shown) = ask("naive-mutex-nofence.cub", &["--model", "sc"]);
    assert_eq!(code, Some(2), "{shown}");
    let (_, shown) = ask("naive-mutex-nofence.cub", &["--model", "tso", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&shown).expect("an object");
    assert_eq!(object["verdict"], "violated");
    assert_eq!(object["fences"]["added"][0][0]["kind"], "fence");
    assert_eq!(object["fences"]["added"][0][0]["transition"], "enter");
}

/// Laws hold always and cubes never: the page has them in two columns.
#[test]
fn the_page_tells_laws_from_cubes() {
    let page = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("laws.html");
    let columns = |system: &str| {
        let output = porf().arg(corpus(system)).args(["--model", "tso", "--html"]).arg(&page).output();
        assert_eq!(output.expect("porf runs").status.code(), Some(0), "{system}");
        let shown = std::fs::read_to_string(&page).expect("a page");
        ["always", "never reached"].map(|name| shown.contains(&format!("\"name\":\"{name}\"")))
    };
    assert_eq!(columns("rw-counter.cub"), [true, true]);
    assert_eq!(columns("spinlock.cub"), [false, true]);
}

fn program(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/programs").join(file)
}

/// The answer about a program of the corpus: exit code and text.
fn from(file: &str, model: &str, threads: &str, flags: &[&str]) -> (Option<i32>, String) {
    let output = porf()
        .arg("--from")
        .arg(program(file))
        .args(["--model", model, "--threads", threads, "--"])
        .args(flags)
        .output()
        .expect("porf runs");
    (output.status.code(), text(&output))
}

/// Locks and others from the C text, for any number of threads where main creates several, under sc and tso.
#[test]
fn programs_are_proved_for_any_number_of_threads() {
    for (file, threads) in [
        ("ttaslock.c", "*"),
        ("ticketlock.c", "*"),
        ("clh.c", "*"),
        ("mcs.c", "*"),
        ("../prove/refcount.c", "*"),
        ("seqlock.c", "reader=*"),
        ("peterson.c", "main"),
        ("barrier.c", "main"),
        ("refcount.c", "main"),
    ] {
        for model in ["sc", "tso"] {
            let (code, shown) = from(file, model, threads, &[]);
            assert_eq!(code, Some(0), "{file} under {model}: {shown}");
            let what = if threads == "main" { "up to 2 processes" } else { "any number of processes" };
            assert!(shown.contains(what), "{file} under {model}: {shown}");
        }
    }
}

#[test]
fn broken_programs_get_a_run_with_lines_of_c() {
    for (file, model, threads, flag, place) in [
        ("peterson.c", "tso", "main", "-DBUG_NO_FENCE", "peterson.c:19"),
        ("seqlock.c", "sc", "*", "-DBUG_NO_RETRY", "seqlock.c:"),
        ("../prove/refcount.c", "sc", "*", "-DBUG_BLIND", "refcount.c:21"),
    ] {
        let (code, shown) = from(file, model, threads, &[flag]);
        assert_eq!(code, Some(1), "{file}: {shown}");
        assert!(shown.contains(place), "{file}: {shown}");
    }
    // The fence is for x86's store buffers: without them nothing is wrong.
    assert_eq!(from("peterson.c", "sc", "main", &["-DBUG_NO_FENCE"]).0, Some(0));
}

/// A lock with one part taken out lets two threads in, and the run has lines of the program.
#[test]
fn locks_without_a_part_get_a_run() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let include = format!("-I{}", program("").display());
    for (file, part, instead) in [
        (
            "ticketlock.c",
            "mine = fetch_add(&next, 1, rlx);",
            "mine = load(&next, rlx); store(&next, mine + 1, rlx);",
        ),
        ("mcs.c", "while (load(&me->locked, acq)) {}", ""),
        (
            "clh.c",
            "before = exchange(&tail, me, acq_rel);",
            "before = load(&tail, acq); store(&tail, me, rel);",
        ),
    ] {
        let source = std::fs::read_to_string(program(file)).expect("a program");
        assert!(source.contains(part), "{file}");
        let broken = folder.join(format!("broken-{file}"));
        std::fs::write(&broken, source.replace(part, instead)).expect("a file");
        for model in ["sc", "tso"] {
            let output = porf().arg("--from").arg(&broken).args(["--model", model, "--", &include]).output();
            let output = output.expect("porf runs");
            assert_eq!(output.status.code(), Some(1), "{file} under {model}: {}", text(&output));
            assert!(text(&output).contains(&format!("broken-{file}:")), "{}", text(&output));
        }
        // The explorer agrees, about the threads that main creates.
        let mut verify = Command::new(env!("CARGO_BIN_EXE_porf"));
        let output = verify.arg("verify").arg(&broken).args(["--model", "tso", "--", &include]).output();
        assert_eq!(output.expect("porf runs").status.code(), Some(1), "{file}");
    }
}

#[test]
fn what_is_outside_of_the_fragment_is_refused_with_its_line() {
    let (code, shown) = from("peterson.c", "tso", "*", &[]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("peterson.c:1") && shown.contains("argument of the thread"), "{shown}");
    let (code, shown) = from("treiber.c", "tso", "*", &[]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("treiber.c:"), "{shown}");
    let (code, shown) = from("ttaslock.c", "pso", "*", &[]);
    assert_eq!(code, Some(2), "{shown}");
}

/// The system of a program is a file like any other: proved again, and its certificate is confirmed.
#[test]
fn the_system_of_a_program_is_written_and_certified() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (system, certificate) = (folder.join("ttas.cub"), folder.join("ttas.cert"));
    let output = porf().arg("--from").arg(program("ttaslock.c")).arg("--system").arg(&system).output();
    assert_eq!(output.expect("porf runs").status.code(), Some(0));
    let prove = |option: &str| {
        let output = porf().arg(&system).args(["--model", "tso", option]).arg(&certificate).output();
        output.expect("porf runs")
    };
    let saved = prove("--certificate");
    if text(&saved).contains("no certificate is written") {
        eprintln!("skipped: no solver is installed");
        return;
    }
    assert_eq!(saved.status.code(), Some(0), "{}", text(&saved));
    assert!(text(&prove("--check")).contains("confirmed"));
}
