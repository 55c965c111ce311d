//! Where instructions come from: columns count characters, although debug information counts bytes.

use porf_frontend_llvm::{Options, load};
use porf_ir::{Instr, Span};

/// The place of the store in a program with this comment before it.
fn store_behind(comment: &str, name: &str) -> Span {
    let text = format!("volatile int x;\nint main(void) {{\n  /* {comment} */ x = 1;\n  return 0;\n}}\n");
    let directory = std::env::temp_dir().join(format!("porf-places-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("places.c");
    std::fs::write(&path, text).unwrap();
    let program = load(&[path], &Options::default()).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let main = program.functions.iter().find(|function| function.name == "main").unwrap();
    let stored = |instr: &Instr| matches!(instr, Instr::Store { value: porf_ir::Operand::Const(1), .. });
    main.spans[main.code.iter().position(stored).unwrap()]
}

#[test]
fn columns_behind_other_characters() {
    let plain = store_behind("greater", "plain");
    assert_eq!(plain, Span { line: 3, column: 19 });
    assert_eq!(store_behind("größere", "other"), plain);
}
