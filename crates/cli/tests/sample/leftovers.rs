//! Executions leave no memory, descriptors or processes behind.

use crate::answers::{build_answer, options};
use crate::support::{PORF, build, build_text, corpus, directory, expected, sample, two};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[test]
fn memory_stays_bounded_on_long_runs() {
    let program = build(&corpus().join("ring.c"), "ring");
    let report = sample(&program, &["--executions", "2", "--max-events", "10000000"], &["50000"]);
    assert_eq!(report["verdict"], "safe", "{report}");
    let kept = report["peak_stores"].as_u64().expect("a number");
    assert!(kept < 10_000, "{kept} stores kept");
}

#[test]
fn allocation_does_not_gather_in_one_execution() {
    // Nodes with atomics that come and go: what is known of them must go too.
    let body = "for (int i = 0; i < 60000; i++) { atomic_long *n = malloc(64); atomic_store(n, i); atomic_load(n + 1); free(n); }";
    let program = build_text("nodes", &two("", body, ""));
    let report = sample(&program, &["--executions", "1", "--max-events", "10000000"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    let megabytes = report["peak_memory_bytes"].as_u64().expect("a number") >> 20;
    assert!(megabytes < 200, "{megabytes} MB for 60,000 short-lived nodes");
}

/// Two threads that never synchronise, without `porf sample`: what is kept does not grow with the run.
#[test]
fn a_program_by_itself_needs_no_more_memory_the_longer_it_runs() {
    let body = "for (int i = 0; i < 500000; i++) atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);";
    let program = build_text("counting", &two("atomic_int x;", body, body));
    let mut child = Command::new(&program).spawn().expect("it runs");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    while child.try_wait().expect("it is ours").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!((1..40_000).contains(&most), "{most} kB");
}

#[test]
fn executions_leave_nothing_behind() {
    let program = build(&corpus().join("threads/posix.c"), "posix_leaks");
    let peak = |executions: &str| {
        let report = sample(&program, &["--executions", executions], &["leaks"]);
        assert_eq!(report["verdict"], "safe", "{report}");
        report["peak_memory_bytes"].as_u64().expect("a number")
    };
    let (few, many) = (peak("50"), peak("2000"));
    assert!(many < few + (1 << 20), "{few} bytes after 50 executions, {many} after 2,000");
}

/// What an execution leaves open is closed before the next: the numbers of descriptors do not grow.
#[test]
fn executions_leave_no_descriptors_open() {
    let source = "#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static void *work(void *unused) {
    int ends[2], pair[2];
    for (int i = 0; i < 5; i++) assert(open(\"/dev/null\", O_RDONLY) >= 0);
    assert(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    int last = epoll_create1(0);
    assert(last >= 0 && last < 64);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}";
    let program = build_text("descriptors", source);
    for isolation in ["in-process", "fork"] {
        let report = sample(&program, &["--executions", "1000", "--isolation", isolation], &[]);
        assert_eq!(report["verdict"], "safe", "{isolation}: {report}");
        assert_eq!(report["executions"], 1000, "{isolation}");
    }
}

/// The folders of the processes that run this program.
fn processes(program: &Path) -> impl Iterator<Item = PathBuf> {
    let program = program.canonicalize().expect("it was built");
    let entries = std::fs::read_dir("/proc").expect("it is mounted").flatten();
    let runs = move |folder: &PathBuf| std::fs::read_link(folder.join("exe")).is_ok_and(|exe| exe == program);
    entries.map(|entry| entry.path()).filter(runs)
}

/// How many processes run this program.
fn running(program: &Path) -> usize {
    processes(program).count()
}

/// Waits for `porf`, and returns the most descriptors and threads that a process of the program was seen with.
fn watch(porf: &mut Child, program: &Path) -> [usize; 2] {
    let mut most = [0; 2];
    while porf.try_wait().expect("it is ours").is_none() {
        for process in processes(program) {
            for (most, folder) in most.iter_mut().zip(["fd", "task"]) {
                *most = std::fs::read_dir(process.join(folder)).map_or(0, Iterator::count).max(*most);
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    most
}

/// Waits until as many processes as wanted run the program; false if that does not happen.
fn wait_for(program: &Path, wanted: fn(usize) -> bool) -> bool {
    (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        wanted(running(program))
    })
}

/// Children that the program forks and leaves, theirs too, and the program itself when `porf` is killed.
#[test]
fn no_process_is_left_behind() {
    let leaves = "if (fork() == 0) { if (fork() == 0) for (;;) pause(); for (;;) pause(); }";
    let program = build_text("left_behind", &two("atomic_int x;", leaves, "x = 1;"));
    for isolation in ["in-process", "fork", "restart"] {
        let report = sample(&program, &["--executions", "10", "--isolation", isolation], &[]);
        assert_eq!(report["verdict"], "safe", "{isolation}: {report}");
        assert_eq!(running(&program), 0, "{isolation}");
    }
    let program =
        build_text("never_ends", &two("", "if (fork() == 0) for (;;) pause();", "for (;;) pause();"));
    for isolation in ["in-process", "fork", "restart"] {
        let options = ["sample", "--timeout", "1000", "--isolation", isolation, "--"];
        let mut porf = Command::new(PORF).args(options).arg(&program).spawn().expect("porf runs");
        assert!(wait_for(&program, |count| count > 0), "{isolation}");
        porf.kill().expect("it runs");
        porf.wait().expect("it ends");
        assert!(wait_for(&program, |count| count == 0), "{isolation}");
    }
}

/// Every program of the corpus, built by gcc: 1,000 executions (ten times as many as usual of those that take long) need
/// no more memory than 100, but for the table of distinct executions, and never have many descriptors and threads. They
/// leave no process and no file. What is found is found again from its seed, 100 times of 100. Some minutes, so with
/// `PORF_FULL=1` only; a part of it otherwise.
#[test]
fn a_thousand_executions_leave_nothing_behind() {
    let full = std::env::var_os("PORF_FULL").is_some();
    let mut programs = Vec::new();
    for (name, _) in expected()["bugs"].as_table().expect("a table") {
        let program = build(&corpus().join("bugs").join(format!("{name}.c")), &format!("{name}_often"));
        programs.push((program, "-".to_string(), 100, "3".to_string()));
    }
    for (name, row) in expected()["answers"].as_table().expect("a table") {
        if full && row.get("compiler").is_none_or(|only| only.as_str() == Some("gcc")) {
            let (program, cases) = build_answer(name, row, "gcc");
            let (executions, timeout) = options(row);
            programs
                .extend(cases.into_iter().map(|case| (program.clone(), case, executions, timeout.clone())));
        }
    }
    let empty = directory().join("empty");
    let _ = std::fs::remove_dir_all(&empty);
    std::fs::create_dir_all(&empty).expect("the target directory is writable");
    let answer = directory().join("often.json");
    let run_watched = |program: &Path, case: &str, options: &[&str]| {
        let mut command = Command::new(PORF);
        command.args(["sample", "--format", "json", "--minimise", "0"]).args(options).arg("--");
        command.arg(program).arg(case).current_dir(&empty).env("TMPDIR", &empty);
        command.stdout(File::create(&answer).expect("the target directory is writable"));
        let open = watch(&mut command.stderr(Stdio::null()).spawn().expect("porf runs"), program);
        let text = std::fs::read(&answer).expect("it was written");
        (serde_json::from_slice::<Value>(&text).expect("a report"), open)
    };
    let run = |program: &Path, case: &str, options: &[&str]| run_watched(program, case, options).0;
    for (program, case, executions, timeout) in programs {
        let few = executions.to_string();
        let many = if executions < 100 { executions * 10 } else { 1000 }.to_string();
        let what = format!("{} {case}", program.display());
        let peak = |report: &Value| report["peak_memory_bytes"].as_u64().expect("a number");
        let distinct = |report: &Value| report["distinct"].as_u64().expect("a number");
        let (first, _) = run_watched(&program, &case, &["--executions", &few, "--timeout", &timeout]);
        let (report, open) = run_watched(&program, &case, &["--executions", &many, "--timeout", &timeout]);
        // One left behind by every execution would be many more; the programs themselves have a few.
        assert!(open.iter().all(|&most| most < 64), "{what}: {open:?} descriptors and threads");
        // The table of distinct executions has a fixed size. Each new one may be the first in its page.
        let pages = distinct(&report).saturating_sub(distinct(&first)) << 12;
        let (before, after) = (peak(&first), peak(&report));
        assert!(after < before + (2 << 20) + pages, "{what}: {before} bytes, later {after}");
        assert_eq!(running(&program), 0, "{what}");
        let files: Vec<_> = std::fs::read_dir(&empty).expect("it is there").flatten().collect();
        assert!(files.is_empty(), "{what}: {files:?}");
        for finding in report["findings"].as_array().expect("findings") {
            let seed = finding["first_seed"].to_string();
            for _ in 0..if full { 100 } else { 2 } {
                let options = ["--executions", "1", "--seed", &seed, "--timeout", &timeout];
                let again = run(&program, &case, &options);
                let same = again["findings"].as_array().expect("findings").iter().any(|found| {
                    found["title"] == finding["title"] && found["location"] == finding["location"]
                });
                assert!(same, "{what}: seed {seed} does not show {finding} but {again}");
            }
        }
    }
}
