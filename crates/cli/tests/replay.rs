//! `porf replay` reads a program again as the command did that wrote the witness, whatever its options were.

use std::process::Command;

/// Options of `porf verify`, and a program that is wrong with them.
const CASES: &[(&[&str], &str)] = &[
    (&["--arg", "stop"], "assert(argc == 1);"),
    (&["--any-args", "1", "--text", "go"], "assert(argc == 1 || strcmp(argv[1], \"go\"));"),
    (
        &["--text", "go", "--text", "stop"],
        "char s[8]; assert(!fgets(s, 8, stdin) || strcmp(s, \"stop\\n\"));",
    ),
    (&["--nondet", "40..42"], "assert(__VERIFIER_nondet_int() * 2 != 84);"),
    (&["--stub", "sensor"], "assert(sensor() * 2 != 2);"),
    (&["--overflow"], "int x = 2147483647; return (x + argc) != 0;"),
    (&["--entry", "other"], ""),
    (&["--", "-DWRONG=1"], "assert(!WRONG);"),
];

#[test]
fn a_witness_carries_the_options() {
    let folder = std::env::temp_dir().join(format!("porf-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, witness) = (folder.join("a.c"), folder.join("a.json"));
    let (source, witness) = (source.to_str().unwrap(), witness.to_str().unwrap());
    for (options, body) in CASES {
        let text = format!(
            "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\nint __VERIFIER_nondet_int(void);\n\
             int sensor(void);\nvoid other(void) {{ assert(0); }}\n\
             int main(int argc, char **argv) {{ {body} return 0; }}\n"
        );
        std::fs::write(source, text).unwrap();
        let found = porf(&[&["verify", source, "--witness", witness], *options].concat());
        assert_eq!(found.0, 1, "{options:?}: {}", found.1);
        let again = porf(&["replay", witness]);
        assert_eq!(again.0, 1, "replay after {options:?}: {}", again.1);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

fn porf(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_porf")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}
