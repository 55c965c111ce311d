//! Any text: the reader of litmus tests answers, and what it accepts is well-formed and can be printed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(test) = porf_frontend_litmus::parse("fuzz", text) {
        assert_eq!(porf_ir::validate(&test.program), Ok(()));
        let _ = test.to_string();
    }
});
