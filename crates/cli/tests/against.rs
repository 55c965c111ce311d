//! `porf litmus --against`: what one model allows and another one forbids.

use std::process::Command;

const LB: &str = "C LB\n{ x=0; y=0; }\n\
P0(atomic_int *x, atomic_int *y) { int r0 = atomic_load_explicit(x, memory_order_relaxed); \
atomic_store_explicit(y, 1, memory_order_relaxed); }\n\
P1(atomic_int *x, atomic_int *y) { int r0 = atomic_load_explicit(y, memory_order_relaxed); \
atomic_store_explicit(x, 1, memory_order_relaxed); }\n\
exists (0:r0=1 /\\ 1:r0=1)\n";

#[test]
fn load_buffering_is_what_rc11_forbids() {
    let (code, text) = run(&["--model", "imm", "--against", "rc11"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 of 4 executions under imm are forbidden by rc11"), "{text}");
    assert!(text.contains("x → 1 rlx ← T1.1"), "{text}");
    assert!(text.contains("rc11 forbids it: no-thin-air"), "{text}");
}

#[test]
fn rc11_allows_nothing_more_than_imm_here() {
    let (code, text) = run(&["--model", "rc11", "--against", "imm"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("0 of 3 executions"), "{text}");
}

#[test]
fn as_json() {
    let (code, text) = run(&["--model", "imm", "--against", "rc11", "--format", "json"]);
    assert_eq!(code, Some(1), "{text}");
    let json: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!(json["forbidden"], 1);
    assert_eq!(json["witness"]["events"].as_array().unwrap().len(), 4);
    assert_eq!(json["witness"]["why"]["allowed"], false);
}

fn run(args: &[&str]) -> (Option<i32>, String) {
    let file =
        std::env::temp_dir().join(format!("porf-against-{}-{}.litmus", std::process::id(), args.len()));
    let file = file.with_file_name(format!("{}-{}", args[1], file.file_name().unwrap().to_string_lossy()));
    std::fs::write(&file, LB).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_porf")).arg("litmus").arg(&file).args(args).output().unwrap();
    let _ = std::fs::remove_file(&file);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}
