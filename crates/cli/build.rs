//! Builds the runtime that `porf cc` links into programs and puts it where `embed.rs` includes it, so that
//! one installed binary is complete.
//!
//! The runtime is a static library for C programs. It is built by a cargo of its own, because its settings
//! differ from those of this binary. Its sources come with this package: the folder `native` holds links
//! to the crates beside this one, and `cargo package` stores what the links point to. The manifests are
//! written here, since a package must not contain another one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crates of the runtime: the folder in `native`, and what goes into the manifest.
const CRATES: [(&str, &str); 4] = [
    (
        "runtime",
        "crate-type = ['staticlib']\n\
         [dependencies]\n\
         libc = '0.2'\n\
         porf-event = { path = '../event' }\n\
         porf-sample = { path = '../sample' }\n",
    ),
    (
        "sample",
        "[dependencies]\n\
         porf-event = { path = '../event' }\n\
         porf-verdict = { path = '../verdict' }\n\
         smallvec = '1'\n",
    ),
    ("event", "[features]\nserde = []\n[dependencies]\nsmallvec = '1'\n"),
    ("verdict", ""),
];

/// Nothing to unwind into, one object, no debug information of the runtime in users' programs.
const WORKSPACE: &str = "\
[workspace]
resolver = '3'
members = ['runtime']

[profile.release]
codegen-units = 1
debug = 0
lto = 'thin'
panic = 'abort'
strip = 'debuginfo'
";

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let library = out.join("porf_runtime.o");
    let target = env::var("TARGET").expect("cargo sets it");
    println!("cargo::rerun-if-changed=build.rs");
    if target == "x86_64-unknown-linux-gnu" {
        let workspace = out.join("native");
        write_workspace(&package, &workspace);
        build(&workspace);
        localise(&workspace.join("target/release/libporf_runtime.a"), &library);
    } else {
        fs::write(&library, b"").expect("OUT_DIR is writable");
    }
    println!("cargo::rustc-env=PORF_RUNTIME_LIBRARY={}", library.display());
}

/// Manifests for the sources in the package. The lock file is that of the package or of its workspace.
fn write_workspace(package: &Path, workspace: &Path) {
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    for (name, rest) in CRATES {
        let source =
            package.join("native").join(name).canonicalize().expect("the sources are in the package");
        println!("cargo::rerun-if-changed={}", source.display());
        let mut manifest = String::new();
        write!(
            manifest,
            "[package]\nname = 'porf-{name}'\nversion = '{version}'\nedition = '2024'\n\
             [lib]\npath = '{}'\n{rest}",
            source.join("lib.rs").display()
        )
        .expect("a string takes everything");
        let folder = workspace.join(name);
        fs::create_dir_all(&folder).expect("OUT_DIR is writable");
        fs::write(folder.join("Cargo.toml"), manifest).expect("OUT_DIR is writable");
    }
    fs::write(workspace.join("Cargo.toml"), WORKSPACE).expect("OUT_DIR is writable");
    let locks = [package.join("Cargo.lock"), package.join("../../Cargo.lock")];
    if let Some(lock) = locks.iter().find(|lock| lock.exists()) {
        fs::copy(lock, workspace.join("Cargo.lock")).expect("OUT_DIR is writable");
    }
}

/// One object in which Rust's own names are local: the program may be a Rust program, with a standard library of its
/// own. All others are weak: a program may have a function of such a name, `malloc` for example.
fn localise(archive: &Path, object: &Path) {
    let mut linker = Command::new("ld");
    run(linker.args(["-r", "-u", "__tsan_init", "-o"]).arg(object).arg(archive));
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--wildcard");
    for names in ["_R*", "_ZN*", "rust_*", "__rust*"] {
        objcopy.arg("--localize-symbol").arg(names);
    }
    run(objcopy.arg(object));
    // Only what is defined: what is not must be found by the linker all the same.
    let names = object.with_extension("names");
    let listing =
        Command::new("nm").args(["-g", "--defined-only", "--format=just-symbols"]).arg(object).output();
    let listing = listing.unwrap_or_else(|error| panic!("nm: {error}: install binutils"));
    fs::write(&names, listing.stdout).expect("OUT_DIR is writable");
    run(Command::new("objcopy").arg(format!("--weaken-symbols={}", names.display())).arg(object));
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}: install binutils"));
    assert!(status.success(), "{command:?} fails");
}

fn build(workspace: &Path) {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.args(["build", "--quiet", "--release", "--package", "porf-runtime"]);
    cargo.arg("--target-dir").arg(workspace.join("target"));
    cargo.current_dir(workspace);
    // What concerns the outer build (clippy's wrapper, coverage flags) must not reach this one.
    for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    // Its profile is the one above, however the binary is built.
    for (variable, _) in env::vars_os() {
        if variable.to_string_lossy().starts_with("CARGO_PROFILE_") {
            cargo.env_remove(variable);
        }
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the runtime does not build");
}
