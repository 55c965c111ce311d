//! Texts that a program may get as input: lines and words that it reads, arguments, variables of its environment.
//!
//! There are too many texts to try. Those that are tried are the ones that the program tells apart, as far as its
//! code shows: what it compares texts with, and single characters that it compares with characters. To these come a
//! few usual ones: none at all, numbers, and one that is too long for most buffers. The answer of an engine names
//! them. `--text` gives others.
//!
//! Cost: O(code), once, in programs that read text.

use super::Translator;
use crate::llvm::{Opcode, TypeKind, Value, ValueKind};
use porf_event::Value as Word;

/// The most texts.
const MOST: usize = 16;
/// The longest text that is taken from the program.
const LONGEST: usize = 40;
/// Longer than the buffers of most programs.
const LONG: usize = 300;

impl<'m> Translator<'m> {
    /// The addresses of the texts.
    pub fn texts(&mut self) -> Vec<Word> {
        if self.text_addresses.is_empty() {
            let texts = match self.given_texts {
                [] => self.told_apart(),
                given => given.to_vec(),
            };
            for text in texts {
                let bytes = text.bytes().chain([0]).collect();
                self.text_addresses.push(self.program.add_static("text", true, 1, bytes));
            }
        }
        self.text_addresses.clone()
    }

    fn told_apart(&mut self) -> Vec<String> {
        let mut found = vec![String::new()];
        let has_source = |function: &Value<'m>| function.file().is_some();
        for function in
            self.module.functions().filter(|function| !function.is_declaration()).filter(has_source)
        {
            for i in function.blocks().flat_map(|block| block.instructions()) {
                match i.opcode() {
                    Opcode::Call | Opcode::Invoke if compares(i.callee()) => {
                        let texts: Vec<String> = i
                            .arguments()
                            .into_iter()
                            .filter_map(|argument| self.constant_text(argument))
                            .collect();
                        found.extend(texts);
                    }
                    Opcode::ICmp => found.extend(character(i)),
                    _ => {}
                }
            }
        }
        found.extend(["0", "1", "-1", "a"].map(str::to_string));
        let mut texts: Vec<String> = Vec::new();
        for text in found {
            if texts.len() < MOST && !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.push("a".repeat(LONG));
        texts
    }

    /// The text that a constant points to.
    fn constant_text(&mut self, value: Value<'m>) -> Option<String> {
        let mut global = value;
        while global.kind() == ValueKind::ConstantExpression {
            global = global.operand(0);
        }
        if global.kind() != ValueKind::GlobalVariable || global.value_type().kind() != TypeKind::Array {
            return None;
        }
        let bytes = self.bytes(global).ok()?;
        let text = bytes.strip_suffix(&[0]).filter(|text| text.len() <= LONGEST && !text.contains(&0))?;
        String::from_utf8(text.to_vec()).ok()
    }
}

/// Whether a function compares texts, by its name: C's, and those of `std::string`.
fn compares(callee: Value<'_>) -> bool {
    let name = if callee.kind() == ValueKind::Function { callee.name() } else { "" };
    let begins = ["str", "memcmp", "wcs", "bcmp"];
    begins.iter().any(|begin| name.starts_with(begin))
        || name.contains("compare")
        || name.starts_with("_ZSteq")
}

/// The character that a comparison is about.
fn character(i: Value<'_>) -> Option<String> {
    let is_character = |value: Value<'_>| match value.ty().kind() {
        TypeKind::Int(8) => true,
        TypeKind::Int(32) => {
            matches!(value.opcode(), Opcode::SExt | Opcode::ZExt)
                && value.operand(0).ty().kind() == TypeKind::Int(8)
        }
        _ => false,
    };
    let constant = i.operand(1).as_integer().filter(|_| is_character(i.operand(0)))?;
    let byte = u8::try_from(constant).ok()?;
    (byte.is_ascii_graphic() || byte == b' ').then(|| char::from(byte).to_string())
}
