//! `porf cc` and `porf c++` as compilers of projects: make, autoconf, CMake. The projects are in
//! corpus/sample/projects; each builds a program of a C library and a C++ main function.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PORF: &str = env!("CARGO_BIN_EXE_porf");

/// A fresh copy of the projects.
fn projects(name: &str) -> PathBuf {
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wrappers").join(name);
    let _ = std::fs::remove_dir_all(&to);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/sample/projects"), &to);
    to
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the target directory is writable");
    for entry in std::fs::read_dir(from).expect("the projects are there") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: no {tool}");
    }
    found
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the tool is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// The program counts rightly with locks, and the race without them is found in the library's source.
fn check(program: &Path) {
    let sample = |arguments: &[&str]| {
        let mut command = Command::new(PORF);
        command.args(["sample", "--executions", "100", "--"]).arg(program).args(arguments);
        let output = command.output().expect("porf runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = sample(&[]);
    assert_eq!(code, Some(0), "{}: {text}", program.display());
    let (code, text) = sample(&["unlocked"]);
    assert_eq!(code, Some(1), "{}: {text}", program.display());
    assert!(text.contains("data race") && text.contains("counter.c:10"), "{text}");
}

#[test]
fn a_make_project() {
    if !has("make") {
        return;
    }
    let place = projects("make").join("make");
    let variables = [format!("CC={PORF} cc"), format!("CXX={PORF} c++")];
    run(Command::new("make").args(&variables).current_dir(&place));
    for name in ["with-static", "with-shared", "at-once"] {
        check(&place.join(name));
    }
    // The dependency files work: nothing is to be done now, and something when a header changes.
    let again = run(Command::new("make").arg("-n").arg("with-static").args(&variables).current_dir(&place));
    assert!(!String::from_utf8_lossy(&again.stdout).contains(" -c "), "{again:?}");
    let dependencies = std::fs::read_to_string(place.join("at-once.d")).expect("-MMD when linking at once");
    assert!(dependencies.starts_with("at-once:") && dependencies.contains("counter.h"), "{dependencies}");
    let header = place.join("../source/counter.h");
    let text = std::fs::read(&header).expect("the header");
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(&header, text).expect("writable");
    let changed = run(Command::new("make").arg("-n").arg("with-static").args(&variables).current_dir(&place));
    assert!(String::from_utf8_lossy(&changed.stdout).contains(" -c "), "{changed:?}");
}

#[test]
fn an_autoconf_project() {
    if !has("autoconf") || !has("make") {
        return;
    }
    let place = projects("autoconf").join("autoconf");
    run(Command::new("autoconf").current_dir(&place));
    let build = place.join("build");
    std::fs::create_dir(&build).expect("writable");
    let mut configure = Command::new("../configure");
    configure.env("CC", format!("{PORF} cc")).env("CXX", format!("{PORF} c++"));
    let output = run(configure.current_dir(&build));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("checking whether the compiler supports GNU C... yes"), "{text}");
    run(Command::new("make").current_dir(&build));
    check(&build.join("counter"));
}

#[test]
fn a_cmake_project() {
    if !has("cmake") || !has("make") {
        return;
    }
    let place = projects("cmake").join("cmake");
    // As environment variables of two words, and as links of one.
    let links = place.join("bin");
    std::fs::create_dir(&links).expect("writable");
    for name in ["porf-cc", "porf-c++"] {
        std::os::unix::fs::symlink(PORF, links.join(name)).expect("a link");
    }
    let by_environment = |cmake: &mut Command| {
        cmake.env("CC", format!("{PORF} cc")).env("CXX", format!("{PORF} c++"));
    };
    let by_links = |cmake: &mut Command| {
        cmake.arg(format!("-DCMAKE_C_COMPILER={}", links.join("porf-cc").display()));
        cmake.arg(format!("-DCMAKE_CXX_COMPILER={}", links.join("porf-c++").display()));
    };
    type Way<'a> = (&'a str, &'a dyn Fn(&mut Command));
    let ways: [Way; 2] = [("environment", &by_environment), ("links", &by_links)];
    for (name, way) in ways {
        let mut cmake = Command::new("cmake");
        cmake.args(["-S", ".", "-B", name, "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]);
        way(&mut cmake);
        let output = run(cmake.current_dir(&place));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("The C compiler identification is GNU") || text.contains("Clang"), "{text}");
        run(Command::new("cmake").args(["--build", name]).current_dir(&place));
        check(&place.join(name).join("main"));
    }
}

#[test]
fn questions_go_to_the_compiler() {
    let ask = |arguments: &[&str]| {
        let output = run(Command::new(PORF).arg("cc").args(arguments));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(ask(&["--version"]).contains("gcc") || ask(&["--version"]).contains("clang"));
    assert!(ask(&["-dumpmachine"]).contains("linux"));
    assert!(!ask(&["-print-search-dirs"]).is_empty());
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("asked.c");
    std::fs::write(&source, "#if __SANITIZE_THREAD__ || __clang__\nint seen;\n#endif\n").expect("writable");
    let source = source.to_str().expect("a path");
    assert!(ask(&["-E", source]).contains("int seen;"), "the preprocessor knows of the instrumentation");
    assert!(ask(&["-M", source]).contains("asked.c"));
    assert_eq!(ask(&["-c", "-o", "/dev/null", source]), "");
    let mut wrong = Command::new(PORF);
    wrong.args(["cc", "/W4", "-c", "-o", "/dev/null", source]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    let wrong = wrong.output().expect("porf runs");
    assert_ne!(wrong.status.code(), Some(0), "an option of another compiler is not a file");
    let refused = Command::new(PORF).args(["cc", "-static", source]).output().expect("porf runs");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("-static is not supported"));
}

/// A script named gcc that calls `porf cc`, before the compiler on the PATH: the compiler is called in the end.
#[test]
fn a_compiler_that_calls_porf_is_not_called_by_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("callers");
    std::fs::create_dir_all(&place).expect("the target directory is writable");
    for name in ["gcc", "clang"] {
        let script = place.join(name);
        std::fs::write(&script, format!("#!/bin/sh\nexec {PORF} cc \"$@\"\n")).expect("writable");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }
    let source = place.join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("writable");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([place.clone()].into_iter().chain(std::env::split_paths(&path))).expect("paths");
    for (name, chosen) in [("gcc", None), ("clang", None), ("gcc", Some("gcc")), ("clang", Some("clang"))] {
        for (options, output) in [(&["-c", "-o"][..], "empty.o"), (&["-o"], "empty")] {
            let output = place.join(output);
            let _ = std::fs::remove_file(&output);
            let mut command = Command::new(place.join(name));
            command.env("PATH", &path).args(options).arg(&output).arg(&source);
            if let Some(chosen) = chosen {
                command.env("PORF_CC", chosen);
            }
            run(&mut command);
            assert!(output.is_file(), "{name} {chosen:?}");
        }
        // It is linked with the runtime, once.
        run(Command::new(PORF).args(["sample", "-n", "3", "--"]).arg(place.join("empty")));
    }
}

/// A program of several files, in a directory of its own, with another program beside it.
fn program_of_files(name: &str) -> PathBuf {
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wrappers").join(name);
    let _ = std::fs::remove_dir_all(&to);
    std::fs::create_dir_all(to.join("include")).expect("the directory is writable");
    let write = |name: &str, text: &str| std::fs::write(to.join(name), text).expect("a file");
    write("include/count.h", "int next(int);\n");
    write("count.c", "#include <count.h>\nint next(int x) { return x + STEP; }\n");
    write("main.c", "#include <assert.h>\n#include <count.h>\nint main(void) { assert(next(1) == 2); }\n");
    write("other.c", "#include <assert.h>\n#include <count.h>\nint main(void) { assert(next(1) == 3); }\n");
    write(
        "Makefile",
        "CC = gcc\nCFLAGS = -Iinclude -DSTEP=1 -Wall -O2\nall: main other\n\
         main: main.o count.o\nother: other.o count.o\nclean:\n\trm -f *.o main other\n",
    );
    to
}

fn verify_in(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(PORF).arg("verify").args(arguments).current_dir(directory).output().expect("porf runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

#[test]
fn what_make_compiles_is_verified() {
    if !has("make") || !has("gcc") {
        return;
    }
    let directory = program_of_files("build");
    let (code, text) = verify_in(&directory, &["--build", "make", "main.c"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(directory.join("main").is_file(), "the build itself is made");
    // Nothing is left to compile; what was seen before is known.
    let (code, text) = verify_in(&directory, &["--build", "make", "other.c"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("next(1) == 3"), "{text}");
    let (code, text) = verify_in(&directory, &["--build", "make"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("main is defined by several files"), "{text}");
    let (code, text) = verify_in(&directory, &["--build", "make no-such-target", "main.c"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn a_list_of_compilations_is_verified() {
    let directory = program_of_files("database");
    let list = |step: u32| {
        let entry = |file: &str| {
            let command = format!("cc -Iinclude '-DSTEP={step}' -c {file} -o {file}.o");
            serde_json::json!({ "directory": directory, "file": file, "command": command })
        };
        let list = serde_json::json!([entry("main.c"), entry("count.c")]);
        std::fs::write(directory.join("compile_commands.json"), list.to_string()).expect("a file");
    };
    list(1);
    assert_eq!(verify_in(&directory, &["compile_commands.json"]).0, Some(0));
    list(2);
    let (code, text) = verify_in(&directory, &["compile_commands.json"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("main.c:3"), "{text}");
}

#[test]
fn names_of_files_and_functions() {
    let directory = program_of_files("names");
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("a file");
    let text =
        "#include <cassert>\nnamespace queue { void test(int = 0) { assert(1 == 2); } }\nint main() {}\n";
    for name in ["a.C", "a.cc", "a.cxx", "a.c++", "a.cpp"] {
        write(name, text);
        assert_eq!(verify_in(&directory, &[name]).0, Some(0), "{name}");
    }
    for entry in ["test", "queue::test"] {
        let (code, text) = verify_in(&directory, &["--entry", entry, "a.cc"]);
        assert_eq!(code, Some(1), "{text}");
    }
    assert_eq!(verify_in(&directory, &["--entry", "stack::test", "a.cc"]).0, Some(2));
    // Preprocessed: nothing is defined any more, and `class` is no word of C.
    write("b.i", "# 7 \"b.c\"\nint main(void) { int class = 0; return class; }\n");
    write("b.ii", "# 7 \"b.cpp\"\nclass A {}; int main() { A a; return 0; }\n");
    // An attribute as newer headers of gcc have it; and a name that is a macro of compilers.
    let newer = "void free(void *);\nvoid *make(void) __attribute__((__malloc__(free, 1)));\n\
        int main(void) { int linux = 0; return linux; }\n";
    write("c.i", newer);
    for name in ["b.i", "b.ii", "c.i"] {
        let (code, text) = verify_in(&directory, &[name]);
        assert_eq!(code, Some(0), "{name}: {text}");
    }
}
