//! The interpreter against the native program: the same source gives the same output.
//!
//! Programs of `tests/native` and random ones, which clang compiles twice: to a binary and for us.

use porf_frontend_llvm::{Options, find_clang, load};
use porf_interp::{End, run_alone};
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "native/generator.rs"]
mod generator;

/// How many random programs a run of the tests checks.
const RANDOM: u64 = 200;

#[test]
fn written_programs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native");
    let mut checked = 0;
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
            check(&entry.path());
            checked += 1;
        }
    }
    assert!(checked >= 10, "the programs are there");
}

#[test]
fn random_programs() {
    let directory = std::env::temp_dir().join(format!("porf-native-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let full = std::env::var_os("PORF_FULL").is_some();
    for seed in 0..if full { 10 * RANDOM } else { RANDOM } {
        let path = directory.join(format!("random-{seed}.c"));
        std::fs::write(&path, generator::program(seed)).unwrap();
        check(&path);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

fn check(path: &Path) {
    let clang = find_clang().expect("the tests need clang");
    let binary: PathBuf = std::env::temp_dir().join(format!(
        "porf-native-{}-{}",
        std::process::id(),
        path.file_stem().unwrap().to_string_lossy()
    ));
    // The same front-end view of the program, then nothing that could change what it prints.
    let mut flags = vec!["-w".to_string(), "-ffp-contract=off".to_string()];
    if cfg!(target_arch = "x86_64") {
        flags.push("-mcx16".to_string());
    }
    flags.extend(path.extension().is_some_and(|one| one == "cpp").then(|| "-std=c++20".to_string()));
    let built = Command::new(&clang)
        .args(&flags)
        .args(["-O0", "-o"])
        .arg(&binary)
        .arg(path)
        .args(["-lstdc++", "-lm", "-latomic", "-lpthread"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let native = Command::new(&binary).output().unwrap();
    std::fs::remove_file(&binary).unwrap();

    let options = Options { flags, ..Options::default() };
    let program = load(&[path.to_path_buf()], &options).unwrap_or_else(|error| panic!("{error}"));
    let ours = run_alone(&program);
    assert_eq!(ours.end, End::Finished, "{}", path.display());
    assert_eq!(
        String::from_utf8_lossy(&ours.output),
        String::from_utf8_lossy(&native.stdout),
        "{}",
        path.display()
    );
}
