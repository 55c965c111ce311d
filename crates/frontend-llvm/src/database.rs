//! Programs of many files, as their build compiles them: `compile_commands.json`.
//!
//! The file lists how every source is compiled, and not what is linked with what. So sources are linked as a linker
//! takes members of an archive: first the ones that the user names, or the only one that defines the entry, then
//! whatever defines a symbol that is still missing. Where two sources define such a symbol, nobody but the user knows
//! which one is meant: that is an error that names both.
//!
//! Of the options those are kept that change what a source means (include paths, definitions, the standard, and the
//! like); the build may be made for another compiler.

use crate::llvm::Module;
use crate::{Code, Error, Options, compile};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How one source is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compilation {
    pub file: PathBuf,
    pub flags: Vec<String>,
}

/// An entry of the file, as its specification has it.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

/// Options that matter, with a value that may be a word of its own.
const WITH_VALUE: &[&str] =
    &["-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-x", "--sysroot"];
/// How options that matter begin, and have no value of their own.
const ALONE: &[&str] = &[
    "-std=",
    "-ansi",
    "-m",
    "-pthread",
    "-nostdinc",
    "-stdlib=",
    "-funsigned-char",
    "-fsigned-char",
    "-fshort-enums",
    "-fno-exceptions",
    "-fno-rtti",
    "-fms-extensions",
    "-fgnu89-inline",
    "-fno-builtin",
    "--target=",
    "--sysroot=",
];

/// Whether a file is such a list, by its name.
pub fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Whether one of its sources is C++.
pub fn has_cpp(path: &Path) -> bool {
    read(path).is_ok_and(|list| list.iter().any(|one| compile::is_cpp(&one.file)))
}

/// The compilations of C and C++ that a file lists, each once.
pub(crate) fn read(path: &Path) -> Result<Vec<Compilation>, Error> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io { file: name.clone(), source })?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|wrong| Error::Bitcode {
        file: name,
        reason: format!("not a list of compilations (compile_commands.json): {wrong}"),
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let file = entry.directory.join(&entry.file);
        let words = if entry.arguments.is_empty() { words(&entry.command) } else { entry.arguments };
        let compilation = Compilation { file, flags: flags(&words, &entry.directory) };
        if compile::is_source(&compilation.file) && !found.contains(&compilation) {
            found.push(compilation);
        }
    }
    Ok(found)
}

/// The options that matter; paths are made independent of the directory.
fn flags(words: &[String], directory: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let option =
            WITH_VALUE.iter().filter(|option| word.starts_with(*option)).max_by_key(|option| option.len());
        match option {
            Some(option) => {
                let value = match &word[option.len()..] {
                    "" => words.next().cloned().unwrap_or_default(),
                    value => value.to_string(),
                };
                let is_path = !matches!(*option, "-D" | "-U" | "-x");
                // What is included by name may also be found along the include paths.
                let there = directory.join(&value);
                let is_path =
                    is_path && (there.exists() || !option.starts_with("-i") || *option == "-isystem");
                let value = if is_path { there.display().to_string() } else { value };
                kept.extend([option.to_string(), value]);
            }
            None if ALONE.iter().any(|option| word.starts_with(option)) => kept.push(word.clone()),
            // All others: what is warned of, how it is optimised, where results go.
            None if matches!(word.as_str(), "-o" | "-MF" | "-MT" | "-MQ") => {
                words.next();
            }
            None => {}
        }
    }
    kept
}

/// The words of a command, as a shell reads them: quotes and backslashes, and no expansions.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(rest.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A source that is compiled.
struct Unit {
    name: String,
    bitcode: Vec<u8>,
    /// What it defines for others; weak definitions, of which any will do, are told apart.
    strong: BTreeSet<String>,
    weak: BTreeSet<String>,
    missing: BTreeSet<String>,
}

/// The sources of lists that make the program, linked; `named` are those that the user wants in any case.
pub(crate) fn link(databases: &[PathBuf], named: &[PathBuf], options: &Options) -> Result<Module, Error> {
    let mut list: Vec<Compilation> = Vec::new();
    for database in databases {
        list.extend(read(database)?);
    }
    let mut wanted: Vec<bool> =
        list.iter().map(|one| named.iter().any(|name| is_same(&one.file, name))).collect();
    for name in named {
        if !list.iter().any(|one| is_same(&one.file, name)) {
            list.push(Compilation { file: name.clone(), flags: Vec::new() });
            wanted.push(true);
        }
    }
    let units: Vec<Unit> = list.iter().map(|one| unit(one, options)).collect::<Result<_, _>>()?;
    if named.is_empty() {
        let begins = |unit: &Unit| unit.strong.contains(&options.entry);
        let found: Vec<usize> = (0..units.len()).filter(|at| begins(&units[*at])).collect();
        match found.as_slice() {
            [one] => wanted[*one] = true,
            [] => return Err(Error::NoEntry(options.entry.clone())),
            several => {
                let names: Vec<&str> = several.iter().map(|at| units[*at].name.as_str()).collect();
                return Err(Error::Several { what: options.entry.clone(), files: names.join(", ") });
            }
        }
    }
    let mut linked: Vec<usize> = (0..units.len()).filter(|at| wanted[*at]).collect();
    while let Some(next) = needed(&units, &linked)? {
        linked.push(next);
    }
    let (first, rest) = linked.split_first().ok_or_else(|| Error::NoEntry(options.entry.clone()))?;
    let mut module = Module::parse(&units[*first].name, &units[*first].bitcode)?;
    for at in rest {
        module.link(&units[*at].name, &units[*at].bitcode)?;
    }
    Ok(module)
}

/// The next unit that defines what is missing.
fn needed(units: &[Unit], linked: &[usize]) -> Result<Option<usize>, Error> {
    let defined = |name: &String| {
        linked.iter().any(|at| units[*at].strong.contains(name) || units[*at].weak.contains(name))
    };
    let missing: BTreeSet<&String> =
        linked.iter().flat_map(|at| &units[*at].missing).filter(|name| !defined(name)).collect();
    for name in missing {
        let others = || (0..units.len()).filter(|at| !linked.contains(at));
        let strong: Vec<usize> = others().filter(|at| units[*at].strong.contains(name)).collect();
        if let [_, _, ..] = strong.as_slice() {
            let files: Vec<&str> = strong.iter().map(|at| units[*at].name.as_str()).collect();
            return Err(Error::Several { what: name.clone(), files: files.join(", ") });
        }
        let found = strong.first().copied().or_else(|| others().find(|at| units[*at].weak.contains(name)));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn unit(compilation: &Compilation, options: &Options) -> Result<Unit, Error> {
    let own = compilation.flags.iter().chain(&options.flags).cloned().collect();
    let options = Options { flags: own, ..options.clone() };
    let name = compilation.file.display().to_string();
    let bitcode = Code::compiled(&compilation.file, &options)?;
    let module = Module::parse(&name, &bitcode)?;
    let mut symbols: BTreeMap<bool, BTreeSet<String>> = BTreeMap::new();
    let mut missing = BTreeSet::new();
    for value in module.functions().chain(module.globals()) {
        if value.is_declaration() {
            missing.insert(value.name().to_string());
        } else if !value.is_internal() {
            symbols.entry(value.is_weak()).or_default().insert(value.name().to_string());
        }
    }
    let mut take = |weak| symbols.remove(&weak).unwrap_or_default();
    Ok(Unit { name, strong: take(false), weak: take(true), missing, bitcode })
}

fn is_same(file: &Path, named: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real(file) == real(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_a_shell_does() {
        assert_eq!(words(r#"cc -DA="x y" -D'B=1 2' a\ b.c"#), ["cc", "-DA=x y", "-DB=1 2", "a b.c"]);
        assert_eq!(words("  cc  ''  "), ["cc", ""]);
    }

    #[test]
    fn options_that_matter_are_kept() {
        let words =
            words("gcc -O2 -Iinc -I /abs -DX=1 -MD -MF a.d -Wall -o a.o -std=gnu11 -c a.c -fanalyzer");
        let kept = flags(&words, Path::new("/d"));
        assert_eq!(kept, ["-I", "/d/inc", "-I", "/abs", "-D", "X=1", "-std=gnu11"]);
    }
}
