//! The command line, and the program by itself.

use crate::support::{PORF, build_text, build_with, directory, sample, two};
use serde_json::Value;
use std::process::Command;

#[test]
fn a_program_built_otherwise_is_refused() {
    let output = Command::new(PORF).args(["sample", "--", "/bin/true"]).output().expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not built by `porf cc`"));
}

#[test]
fn an_inconclusive_report_says_why() {
    let program = build_text(
        "many_events",
        "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
         void *run(void *a) { for (int i = 0; i < 100; i++) x++; return a; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); pthread_join(t, 0); }\n",
    );
    let report = sample(&program, &["--executions", "4", "--max-events", "10"], &[]);
    assert_eq!(report["verdict"], "inconclusive");
    assert_eq!(report["limit"], "every execution reached --max-events");
    let report = sample(&program, &["--executions", "4"], &[]);
    assert_eq!((&report["verdict"], report.get("limit")), (&Value::from("safe"), None));
}

/// A program that stops after a second takes as many events as the tick says.
#[test]
fn a_longer_tick_ends_timed_programs_sooner() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int stop, count;
static void *work(void *unused) {
    while (!atomic_load(&stop)) atomic_fetch_add(&count, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    sleep(1);
    atomic_store(&stop, 1);
    return pthread_join(thread, 0);
}";
    let program = build_text("timed", source);
    let events = |tick: &str| {
        let report = sample(&program, &["--executions", "1", "--tick", tick], &[]);
        assert_eq!(report["verdict"], "safe", "{report}");
        report["events"].as_u64().expect("a number")
    };
    let (long, short) = (events("10000"), events("100000"));
    assert!(long > 90_000 && short < 12_000, "{long} and {short} events");
}

/// Without `porf sample`: the findings with their places, and status 66 unless another is asked for.
#[test]
fn a_program_by_itself_ends_with_66() {
    let program = build_text("by_itself", &two("int x;", "x = 1;", "x = 2;"));
    let run = |options: &str| {
        let output = Command::new(&program).env("PORF_OPTIONS", options).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run("");
    assert_eq!(code, Some(66), "{text}");
    assert!(text.contains("data race") && text.contains("by_itself.c:"), "{text}");
    assert_eq!(run("exitcode=0").0, Some(0));
    assert_eq!(run("verbosity=1:exitcode=7").0, Some(7));
    assert_eq!(run("halt_on_error=1").0, Some(66));
    let log = directory().join("by_itself.log");
    let (code, text) = run(&format!("log_path={}", log.display()));
    assert_eq!((code, text.as_str()), (Some(66), ""));
    let logs = std::fs::read_dir(directory()).expect("it is there").flatten().map(|entry| entry.path());
    let logs: Vec<_> =
        logs.filter(|path| path.display().to_string().starts_with(&format!("{}.", log.display()))).collect();
    assert!(!logs.is_empty());
    for log in logs {
        let text = std::fs::read_to_string(&log).expect("a report");
        assert!(text.contains("data race") && text.contains("by_itself.c:"), "{text}");
        std::fs::remove_file(&log).expect("it is ours");
    }
    let right = build_text("by_itself_right", &two("atomic_int x;", "x = 1;", "x = 2;"));
    assert_eq!(Command::new(&right).status().expect("it runs").code(), Some(0));
}

#[test]
fn executions_end_at_a_time() {
    let program = build_text("until", &two("atomic_int x;", "x = 1;", "if (x) x = 2;"));
    let report = sample(&program, &["--until", "0.3s"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
    assert!(report["executions"].as_u64() > Some(100), "{report}");
    // Two threads with three outcomes: nothing new is to be expected after so many.
    assert!(report["unseen"].as_f64() < Some(0.01), "{report}");
}

/// A library that every execution loads anew: its own functions come before the program's of the same name, and its
/// race is one finding, with the line in the library.
#[test]
fn a_loaded_library_is_itself() {
    let library = directory().join("plugin.c");
    let text = "int shared; int helper(void) { return 2; } int ask(void) { return helper(); }\n\
        void touch(void) { shared++; }\n";
    std::fs::write(&library, text).expect("the target directory is writable");
    let library = build_with(&library, "plugin.so", &["-shared", "-fPIC"]);
    let source = format!(
        "#include <dlfcn.h>\n#include <pthread.h>\n#include <stdlib.h>\nint helper(void) {{ return 1; }}\n\
         static void *work(void *touch) {{ ((void (*)(void))touch)(); return 0; }}\n\
         static void *load(void *out) {{ return *(void **)out = dlopen(\"{}\", RTLD_NOW); }}\n\
         int main(void) {{ pthread_t a, b; void *library;\n\
         pthread_create(&a, 0, load, &library); pthread_join(a, 0); if (!library) abort();\n\
         int (*ask)(void) = (int (*)(void))dlsym(library, \"ask\"); if (ask() != 2 || helper() != 1) abort();\n\
         void *touch = dlsym(library, \"touch\"); pthread_create(&a, 0, work, touch);\n\
         pthread_create(&b, 0, work, touch); pthread_join(a, 0); pthread_join(b, 0); return 0; }}\n",
        library.display()
    );
    let program = build_text("plugin_user", &source);
    for isolation in ["in-process", "fork"] {
        let report = sample(&program, &["--executions", "100", "--isolation", isolation], &[]);
        let findings = report["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{isolation}: {report}");
        assert_eq!(
            (&findings[0]["title"], &findings[0]["count"]),
            (&Value::from("data race"), &Value::from(100))
        );
        let file = findings[0]["location"]["file"].as_str().unwrap_or("");
        assert!(file.ends_with("plugin.c"), "{isolation}: {report}");
    }
}

#[test]
fn no_executions_are_no_question() {
    let output = Command::new(PORF)
        .args(["sample", "--systematic", "0", "--", "/bin/true"])
        .output()
        .expect("porf runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--systematic"), "{output:?}");
}

/// A library with operators that belong to an allocator of its own, as jemalloc's: the program has ours, with our `free`.
#[test]
fn operators_belong_to_the_heap() {
    let write = |name: &str, text: &str| {
        let path = directory().join(name);
        std::fs::write(&path, text).expect("the target directory is writable");
        path
    };
    let source = write(
        "other_heap.cpp",
        "#include <cstdlib>\n#include <new>\nstatic char memory[1 << 20]; static size_t used;\n\
         void *operator new(size_t size) { used += (size + 31) / 16 * 16; return memory + used; }\n\
         void operator delete(void *block) noexcept { free(block); }\n\
         void operator delete(void *block, size_t) noexcept { free(block); }\n",
    );
    let library = directory().join("libother_heap.so");
    let mut compiler = Command::new("g++");
    compiler.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().expect("there is a compiler").success());
    let program = write(
        "operators.cpp",
        "#include <cassert>\n#include <new>\n#include <string>\n#include <thread>\n\
         struct alignas(64) Aligned { char c[100]; };\n\
         static void use() {\n\
         volatile size_t much = size_t(1) << 60; bool caught = false;\n\
         try { char *p = new char[much]; p[0] = 1; } catch (std::bad_alloc &) { caught = true; }\n\
         assert(caught && !new (std::nothrow) char[much]);\n\
         auto *a = new Aligned; assert(size_t(a) % 64 == 0); delete a;\n\
         std::string s(1000, 'x'); s += s; delete new int(1); delete[] new int[10]; }\n\
         int main() { use(); std::thread t(use); use(); t.join(); }\n",
    );
    let library = library.to_string_lossy();
    let program = build_with(&program, "operators", &["-std=c++17", &library]);
    let report = sample(&program, &["--executions", "20"], &[]);
    assert_eq!(report["verdict"], "safe", "{report}");
}
