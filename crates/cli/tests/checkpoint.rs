//! `porf verify` that is broken off goes on where it was: nothing is lost, nothing is counted twice.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A folder of its own for a test, with a program in it.
struct Place {
    folder: PathBuf,
    program: PathBuf,
    checkpoint: PathBuf,
}

impl Place {
    fn new(name: &str, program: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("porf-checkpoint-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let place = Place { program: folder.join("p.porf"), checkpoint: folder.join("checkpoint"), folder };
        std::fs::write(&place.program, program).unwrap();
        place
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
        command.arg("--format").arg("json").arg("verify").arg(&self.program).args(args);
        // All threads do the same: the counts are those without symmetry.
        command.args(["--no-reduce", "symmetry"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn with_checkpoint<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        [args, &["--checkpoint", self.checkpoint.to_str().unwrap()]].concat()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or_else(|| panic!("no {field} in {report}"))
}

/// Threads that increment one variable: n! executions.
fn increments(threads: usize) -> String {
    let mut text = "program inc\nglobal x\nfn inc() { x.fetch_add(1, rlx) }\n".to_string();
    for thread in 0..threads {
        text += &format!("thread P{thread} = inc()\n");
    }
    text
}

/// Readers and a writer with a counter for a lock, and increments: every iteration that fails is left out.
fn reader_writer_lock() -> String {
    let take = |name: &str, amount: u32, enough: &str| {
        format!(
            "fn {name}() {{ d = 0; t = 0; o = c.fetch_sub({amount}, acq); while {enough} == 0 {{ d = c.fetch_add({amount}, rlx); t = c.rlx; while t < 51 {{ t = c.rlx }} o = c.fetch_sub({amount}, acq) }} d = c.fetch_add({amount}, rel); x.fetch_add(1, rlx); return 0 }}\n"
        )
    };
    let mut text = "program rw\nglobal x, c = 60\n".to_string();
    text += &take("read", 1, "(o > 50)");
    text += &take("write", 10, "(o == 60)");
    text += "thread R { a = read() }\nthread S { a = read() }\nthread W { a = write() }\n";
    text + "thread I { x.fetch_add(1, rlx) }\nthread J { x.fetch_add(1, rlx) }\n"
}

/// Threads that say what they are doing while they wait, one that looks at it, and increments.
fn heartbeats() -> String {
    let mut text = "program beats\nglobal x, go, c, e\n".to_string();
    for (name, state) in [("P", "c"), ("Q", "e")] {
        text += &format!(
            "thread {name} {{ r = go.acq; while r == 0 {{ {state}.rel = 1; r = go.acq }} {state}.rel = 2; x.fetch_add(1, rlx) }}\n"
        );
    }
    text += "thread R { a = c.rlx; b = e.rlx; go.rel = 1; a = c.acq; x.fetch_add(1, rlx) }\n";
    text + "thread I { x.fetch_add(1, rlx) }\nthread J { x.fetch_add(2, rlx) }\n"
}

/// Starts it, and kills it after a while with SIGKILL; whether that came before its end.
fn kill(mut child: Child, after: Duration) -> bool {
    std::thread::sleep(after);
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

fn exists(path: &Path) -> bool {
    path.exists()
}

#[test]
fn a_killed_search_goes_on() {
    is_killed("increments", &increments(7), Some((5040, 0)));
}

#[test]
fn a_killed_search_with_reductions_goes_on() {
    is_killed("counters", &reader_writer_lock(), None);
    is_killed("owners", &heartbeats(), None);
}

/// Kills a search again and again; in the end it must have found as many executions, complete and blocked, as are
/// `known`, or as one that is not killed finds.
fn is_killed(name: &str, program: &str, known: Option<(u64, u64)>) {
    let counts = |report: &Value| (number(report, "executions"), number(report, "blocked"));
    for jobs in ["1", "2"] {
        let place = Place::new(&format!("kill-{name}-{jobs}"), program);
        let known = known.unwrap_or_else(|| counts(&report(&place.run(&["--jobs", jobs]))));
        assert!(known.0 > 200, "{known:?}");
        let args = place.with_checkpoint(&["--jobs", jobs, "--checkpoint-interval", "0"]);
        let mut kills = 0;
        for attempt in 1..=40 {
            let running = kill(place.command(&args).spawn().unwrap(), Duration::from_millis(20 * attempt));
            kills += u32::from(running && exists(&place.checkpoint));
            if kills == 4 || (!running && kills > 0) {
                break;
            }
            if !running {
                // It came to its end, which removes the checkpoint: from the beginning.
                assert!(!exists(&place.checkpoint));
            }
        }
        assert!(kills > 0, "no kill hit a search with a checkpoint");
        let output = place.run(&args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let report = report(&output);
        assert_eq!(counts(&report), known, "{jobs} jobs");
        assert!(!exists(&place.checkpoint));
    }
}

#[test]
fn a_budget_is_used_up_in_steps() {
    let place = Place::new("budget", &increments(6));
    let mut executions = Vec::new();
    for _ in 0..20 {
        let output = place.run(&place.with_checkpoint(&["--budget", "100"]));
        let found = report(&output);
        executions.push(number(&found, "executions"));
        if output.status.code() == Some(0) {
            break;
        }
        assert_eq!(output.status.code(), Some(3));
    }
    assert_eq!(executions, [100, 200, 300, 400, 500, 600, 700, 720]);
}

/// A search that has used up its memory is inconclusive, and goes on from its checkpoint.
#[test]
fn memory_is_used_up() {
    let place = Place::new("memory", &increments(7));
    let output = place.run(&place.with_checkpoint(&["--max-memory", "1M"]));
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let cut = report(&output);
    assert_eq!(cut["limit"], "memory limit of 1 MiB reached (--max-memory)", "{cut}");
    assert!(number(&cut, "executions") < 5040 && exists(&place.checkpoint), "{cut}");
    let output = place.run(&place.with_checkpoint(&[]));
    assert_eq!(number(&report(&output), "executions"), 5040);
    for wrong in ["0", "1X", "-1", "99999999999G"] {
        assert_eq!(place.run(&["--max-memory", wrong]).status.code(), Some(2), "{wrong}");
    }
}

/// A violation that was met before a checkpoint is reported after it, the same.
#[test]
fn a_violation_survives() {
    let text = "program late
global x, y
thread P0 { x.rlx = 1  y.rlx = 1 }
thread P1 { x.rlx = 2  y.rlx = 2 }
thread P2 { a = y.rlx  b = x.rlx  assert a != 2 || b != 1, \"seen\" }
thread P3 { c = x.rlx }";
    let place = Place::new("violation", text);
    let whole = report(&place.run(&["--all"]));
    assert_eq!(whole["verdict"], "violated", "{whole}");
    let mut steps = 0;
    let last = loop {
        let output = place.run(&place.with_checkpoint(&["--all", "--budget", "20"]));
        steps += 1;
        if !exists(&place.checkpoint) {
            break report(&output);
        }
        assert!(steps < 1000);
    };
    assert!(steps > 3, "{steps}");
    for field in ["verdict", "violation", "executions", "blocked"] {
        assert_eq!(last[field], whole[field], "{field} after {steps} steps");
    }
}

/// Up to rf with seq_cst, a search that may not branch gives up: the answer is that up to mo, and says so.
#[test]
fn giving_up_on_rf_is_said() {
    let text = "program x
global x
thread P0 { fence sc  a = x.acq }
thread P1 { x.sc = 2  x.sc = 1 }
thread P2 { x.rel = 2  b = x.acq }
thread P3 { x.rel = 2  fence sc }";
    let place = Place::new("rf", text);
    let of = |args: &[&str]| report(&place.run(args));
    let (mo, rf) = (of(&[]), of(&["--equivalence", "rf"]));
    assert_eq!((&mo["equivalence"], &rf["equivalence"]), (&"mo".into(), &"rf".into()));
    assert!(number(&rf, "executions") < number(&mo, "executions"));
    let output = place.run(&["--equivalence", "rf", "--branches", "0"]);
    let fallen_back = report(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("searching up to mo instead"));
    assert_eq!(fallen_back["equivalence"], "mo");
    assert_eq!(fallen_back["executions"], mo["executions"]);
}
