//! Builds the runtime that `porf cc` links into programs and puts it where `embed.rs` includes it, so that
//! one installed binary is complete. A cargo of its own, with its own target directory: the runtime is a
//! static library for C programs, with other settings than this binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for part in ["runtime/src", "runtime/Cargo.toml", "sample/src", "sample/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join("crates").join(part).display());
    }
    let library = out.join("libporf_runtime.a");
    let target = env::var("TARGET").expect("cargo sets it");
    if target == "x86_64-unknown-linux-gnu" {
        build(&root, &out);
        fs::copy(out.join("runtime/release/libporf_runtime.a"), &library).expect("the runtime was built");
    } else {
        fs::write(&library, b"").expect("OUT_DIR is writable");
    }
    println!("cargo::rustc-env=PORF_RUNTIME_LIBRARY={}", library.display());
}

fn build(root: &Path, out: &Path) {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.args(["build", "--quiet", "--release", "--package", "porf-runtime"]);
    cargo.arg("--manifest-path").arg(root.join("Cargo.toml")).arg("--target-dir").arg(out.join("runtime"));
    // What concerns the outer build (clippy's wrapper, coverage flags) must not reach this one.
    for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    // Nothing to unwind into, one object, no debug information of the runtime in users' programs.
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort");
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the runtime does not build");
}
