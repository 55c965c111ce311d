//! Notes how a build compiles its sources: for `porf verify --build`.
//!
//! While the build runs, the first directory of its PATH has links to porf that are named as compilers are. Called by
//! such a link, porf notes the command line of each source and runs the compiler that the build would have found.
//! Compilers that a build calls by an absolute path are not noticed.

use super::line::{CommandLine, Stage};
use porf_frontend_llvm::cache;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// Where to note, and the PATH without our directory.
const FOLDER: &str = "PORF_COLLECT";
const PATH: &str = "PORF_COLLECT_PATH";
const LIST: &str = "compile_commands.json";
const COMPILERS: &[&str] = &["cc", "gcc", "clang", "c89", "c99", "c++", "g++", "clang++"];

/// Runs a build in a shell; the list of its compilations, and of those that it did not repeat.
pub fn build(command: &str) -> io::Result<PathBuf> {
    let here = env::current_dir()?;
    let folder = cache::keyed("build", &(&here, command))?;
    let (links, notes) = (folder.join("bin"), folder.join("notes"));
    for directory in [&links, &notes] {
        let _ = fs::remove_dir_all(directory);
        fs::create_dir(directory)?;
    }
    let porf = env::current_exe()?;
    for name in COMPILERS {
        std::os::unix::fs::symlink(&porf, links.join(name))?;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let first =
        env::join_paths(std::iter::once(links).chain(env::split_paths(&path))).map_err(io::Error::other)?;
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env("PATH", first).env(PATH, path).env(FOLDER, &notes);
    // What it says is not the answer.
    let status = shell.stdout(io::stderr()).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("`{command}` failed")));
    }
    let list = folder.join(LIST);
    write_list(&list, &notes)?;
    Ok(list)
}

/// Adds what was noted to the list of earlier builds: a build that is up to date compiles nothing.
fn write_list(list: &Path, notes: &Path) -> io::Result<()> {
    let mut known: Vec<Value> =
        fs::read(list).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let mut new: BTreeMap<OsString, Value> = BTreeMap::new();
    for note in fs::read_dir(notes)? {
        let note = note?;
        new.insert(note.file_name(), serde_json::from_slice(&fs::read(note.path())?)?);
    }
    let place = |entry: &Value| (entry["directory"].clone(), entry["file"].clone());
    known.retain(|old| new.values().all(|entry| place(entry) != place(old)));
    known.extend(new.into_values());
    if known.is_empty() {
        return Err(io::Error::other("the build compiled nothing that was seen: is everything up to date?"));
    }
    fs::write(list, serde_json::to_vec_pretty(&known)?)
}

/// Whether the process was called as a compiler of a build that is watched; then it is that compiler.
pub fn called() -> Option<ExitCode> {
    let (folder, path) = (env::var_os(FOLDER)?, env::var_os(PATH)?);
    let mut words = env::args_os();
    let name = PathBuf::from(words.next()?).file_name()?.to_os_string();
    if !COMPILERS.iter().any(|compiler| name == OsStr::new(compiler)) {
        return None;
    }
    let arguments: Vec<OsString> = words.collect();
    let error = match note(Path::new(&folder), &name, &arguments) {
        // Only returns if the compiler cannot be run.
        Ok(()) => Command::new(find(&name, &path)).args(&arguments).env("PATH", &path).exec(),
        Err(error) => error,
    };
    eprintln!("porf: {}: {error}", name.display());
    Some(ExitCode::from(2))
}

fn find(name: &OsStr, path: &OsStr) -> PathBuf {
    env::split_paths(path)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
        .unwrap_or(name.into())
}

/// One file for each source, named by the time, so that they can be read in order.
fn note(folder: &Path, compiler: &OsStr, arguments: &[OsString]) -> io::Result<()> {
    let line = CommandLine::parse(arguments);
    if !matches!(line.stage, Stage::Compile | Stage::Link) {
        return Ok(());
    }
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let words: Vec<String> =
        std::iter::once(compiler).chain(arguments.iter().map(OsString::as_os_str)).map(text).collect();
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    for (number, source) in line.sources().enumerate() {
        let entry = json!({ "directory": env::current_dir()?, "file": text(source), "arguments": words });
        fs::write(folder.join(format!("{now:024}-{}-{number}", std::process::id())), entry.to_string())?;
    }
    Ok(())
}
