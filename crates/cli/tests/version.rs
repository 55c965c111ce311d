//! `porf --version`.

use std::process::Command;

#[test]
fn the_llvm_that_reads_programs_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_porf")).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    assert_eq!(first, concat!("porf ", env!("CARGO_PKG_VERSION")));
    assert!(second.starts_with("LLVM ") && second.contains("libLLVM"), "{second}");
    assert_eq!(output.status.code(), Some(0));
}
