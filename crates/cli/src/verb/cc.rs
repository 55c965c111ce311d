//! `porf cc`, `porf c++`: the C and C++ compiler, building programs for `porf sample`.
//!
//! The compilers' own ThreadSanitizer instrumentation, linked with our runtime instead of theirs. Works as
//! CC and CXX of make, autoconf and CMake. Compiling and linking in one command is split in two, because the
//! compiler would link its own runtime otherwise. Calls of libc's functions that access memory for their caller
//! are redirected in the object file.

pub mod collect;
mod line;

use crate::embed;
use line::{CommandLine, Item, Stage};
use porf_sample::protocol::REDIRECTED;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// For `--help` and completions: the compiler's arguments are never parsed by clap, see [`called`].
#[derive(clap::Args)]
pub struct Args {
    /// Arguments of the compiler (PORF_CC or PORF_CXX names it; gcc and g++, or clang, otherwise)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Below the help of `porf cc`.
pub const C_EXAMPLES: &str = "Examples:
  porf cc -O2 -g queue.c -o queue && porf sample -- ./queue
  make CC=\"porf cc\"
  CC=\"porf cc\" CXX=\"porf c++\" cmake ..
  PORF_CC=clang-18 porf cc -c queue.c";

/// Below the help of `porf c++`.
pub const CXX_EXAMPLES: &str = "Examples:
  porf c++ -std=c++20 -g queue.cpp -o queue && porf sample -- ./queue
  CC=\"porf cc\" CXX=\"porf c++\" cmake ..
  PORF_CXX=clang++-18 porf c++ -c queue.cpp";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    /// The verb that compiles it.
    pub fn verb(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cxx => "c++",
        }
    }
}

/// Whether the process was called as a compiler: `porf cc …`, `porf c++ …`, or by a link named porf-cc or
/// porf-c++ (for tools that want the compiler as one word). All that follows is the compiler's, also what
/// looks like an option of ours.
pub fn called() -> Option<(Language, Vec<OsString>)> {
    let mut words = env::args_os();
    let name = words.next()?;
    let language = |word: &OsStr| match word.to_str()? {
        "cc" => Some(Language::C),
        "c++" => Some(Language::Cxx),
        _ => None,
    };
    let name = Path::new(&name).file_name()?.to_string_lossy().into_owned();
    let language = match name.strip_prefix("porf-") {
        Some(rest) => language(OsStr::new(rest))?,
        None => language(&words.next()?)?,
    };
    Some((language, words.collect()))
}

pub fn run(args: &Args, language: Language) -> ExitCode {
    run_compiler(&args.arguments, language)
}

pub fn run_compiler(arguments: &[OsString], language: Language) -> ExitCode {
    match build(arguments, language) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("porf cc: {error}");
            ExitCode::from(2)
        }
    }
}

fn build(arguments: &[OsString], language: Language) -> io::Result<u8> {
    let nested = env::var_os(CALLERS).is_some();
    let compiler = compiler(language)?;
    // The compiler that was called first calls us again: all that we add is there already.
    if nested {
        return status(Command::new(&compiler).args(arguments));
    }
    let line = CommandLine::parse(arguments);
    if let Some(option) = &line.refused {
        return Err(io::Error::other(format!("{option} is not supported: the runtime needs a dynamic libc")));
    }
    match line.stage {
        Stage::Other => status(Command::new(&compiler).args(arguments)),
        // Sees the macros that the real compilation sees, and assembly is instrumented.
        Stage::Text => status(Command::new(&compiler).args(instrumentation(&compiler)).args(arguments)),
        Stage::Compile => compile(&compiler, &line),
        Stage::Link => link(&compiler, &line),
    }
}

fn compile(compiler: &OsStr, line: &CommandLine) -> io::Result<u8> {
    let files: Vec<&OsString> = line
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Source(file) | Item::Assembly(file) => Some(file),
            _ => None,
        })
        .collect();
    if let (Some(output), [_, _, ..]) = (&line.output, files.as_slice()) {
        return Err(io::Error::other(format!("-o {} with -c and several sources", output.display())));
    }
    // The compiler does not get these below. One that is not there, it would refuse: `cc /W4 -c` must fail.
    let missing =
        line.items.iter().any(|item| matches!(item, Item::Input(file) if !Path::new(file).exists()));
    if missing {
        let mut command = Command::new(compiler);
        command.arg("-c");
        add_items(&mut command, line, &files.iter().map(PathBuf::from).collect::<Vec<_>>());
        return status(&mut command);
    }
    for file in &files {
        let object = match &line.output {
            Some(output) => PathBuf::from(output),
            None => PathBuf::from(Path::new(file).file_name().unwrap_or(file)).with_extension("o"),
        };
        let code = compile_one(compiler, line, file, &object, None)?;
        if code != 0 {
            return Ok(code);
        }
    }
    if files.is_empty() {
        // Nothing of ours; the compiler says so.
        let mut command = Command::new(compiler);
        command.arg("-c");
        add_items(&mut command, line, &[]);
        command.args(line.output.iter().flat_map(|output| [OsStr::new("-o"), output]));
        return status(&mut command);
    }
    Ok(0)
}

/// What makes the compiler tell the runtime of every access.
fn instrumentation(compiler: &OsStr) -> &'static [&'static str] {
    if is_clang(compiler) {
        &["-fsanitize=thread", "-fno-lto", "-mllvm", "-tsan-distinguish-volatile=1"]
    } else {
        // gcc warns that its own runtime does not know fences; ours does.
        // What it expands in place of these calls it would not tell of.
        &[
            "-fsanitize=thread",
            "-fno-lto",
            "--param",
            "tsan-distinguish-volatile=1",
            "-Wno-tsan",
            "-fno-builtin-memcpy",
            "-fno-builtin-memmove",
            "-fno-builtin-memset",
            "-fno-builtin-memcmp",
            // What _FORTIFY_SOURCE makes of them is expanded all the same.
            "-U_FORTIFY_SOURCE",
        ]
    }
}

/// Compiles one source, or assembles one file; `dependencies` names the file for `-MD` and its target.
fn compile_one(
    compiler: &OsStr,
    line: &CommandLine,
    file: &OsStr,
    object: &Path,
    dependencies: Option<(PathBuf, PathBuf)>,
) -> io::Result<u8> {
    let mut command = Command::new(compiler);
    add_compilation(&mut command, compiler, line, file);
    let is_source = line.items.iter().any(|item| matches!(item, Item::Source(this) if this == file));
    if let Some((name, target)) = dependencies {
        command.arg("-MF").arg(name);
        if !line.names_target {
            command.arg("-MT").arg(target);
        }
    }
    command.arg("-c").arg("-o").arg(object);
    let mut code = status(&mut command)?;
    if code == 0
        && is_source
        && !is_clang(compiler)
        && let Some(place) = hidden_volatile(&command, object)
    {
        code = compile_by_clang(compiler, line, file, object, &place)?;
    }
    if code == 0 && is_source && object.is_file() {
        redirect_library(object);
    }
    Ok(code)
}

/// Where gcc does not tell that an access is volatile: it announces those to members of packed structures as
/// ranges of bytes. Its intermediate code still knows.
fn hidden_volatile(compilation: &Command, object: &Path) -> Option<String> {
    let bytes = fs::read(object).ok()?;
    let mentions = |name: &[u8]| bytes.windows(name.len()).any(|part| part == name);
    if !mentions(b"__tsan_read_range") && !mentions(b"__tsan_write_range") {
        return None;
    }
    let temporary = Temporary::new().ok()?;
    let mut again = Command::new(compilation.get_program());
    // Twice: the pass has another name without optimisation.
    for pass in ["tsan0", "tsan1"] {
        let dump = temporary.0.join(pass);
        again.arg(format!("-fdump-tree-{pass}-lineno={}", dump.display()));
    }
    // The object and the dependencies come out as before.
    again.args(compilation.get_args()).stderr(std::process::Stdio::null());
    again.status().ok()?;
    ["tsan0", "tsan1"].into_iter().find_map(|pass| {
        let text = fs::read(temporary.0.join(pass)).ok()?;
        volatile_range(&String::from_utf8_lossy(&text))
    })
}

/// The place of the first volatile access (`={v}`) that is announced as a range, as `file:line:column`.
fn volatile_range(dump: &str) -> Option<String> {
    let mut lines = dump.lines().peekable();
    while let Some(line) = lines.next() {
        let is_range = line.contains("__tsan_read_range") || line.contains("__tsan_write_range");
        if is_range && let Some(next) = lines.peek().filter(|next| next.contains("={v}")) {
            let place = next.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
            return Some(
                place.map_or("?", |(place, _)| place.split_whitespace().next().unwrap_or("?")).to_string(),
            );
        }
    }
    None
}

/// clang tells: it compiles the file instead. Without it the user is told.
fn compile_by_clang(
    gcc: &OsStr,
    line: &CommandLine,
    file: &OsStr,
    object: &Path,
    place: &str,
) -> io::Result<u8> {
    let name = Path::new(gcc).file_name().unwrap_or(gcc).to_string_lossy().into_owned();
    let clang = OsString::from(if name.contains("++") { "clang++" } else { "clang" });
    let copy = object.with_extension("gcc.o");
    fs::rename(object, &copy)?;
    let mut command = Command::new(&clang);
    command.stderr(std::process::Stdio::null()).arg("-w");
    add_compilation(&mut command, &clang, line, file);
    command.arg("-c").arg("-o").arg(object);
    let compiled = command.status().is_ok_and(|status| status.success());
    if compiled {
        eprintln!(
            "porf cc: {place}: gcc does not tell that this access is volatile; clang compiles the file"
        );
        fs::remove_file(&copy)?;
    } else {
        eprintln!(
            "porf cc: {place}: gcc does not tell that this access is volatile, and clang cannot compile the file: \
             expect false races here"
        );
        fs::rename(&copy, object)?;
    }
    Ok(0)
}

/// The part of a compilation that does not depend on where its results go.
fn add_compilation(command: &mut Command, compiler: &OsStr, line: &CommandLine, file: &OsStr) {
    if !line.debug {
        command.arg("-g");
    }
    if line.items.iter().any(|item| matches!(item, Item::Source(this) if this == file)) {
        command.args(instrumentation(compiler));
    }
    // The first hides what libc accesses, of the second gcc knows nothing.
    let unwanted = |word: &OsString| {
        let word = word.to_string_lossy();
        word.contains("_FORTIFY_SOURCE") || word.starts_with("-fsanitize-")
    };
    for item in &line.items {
        match item {
            Item::Option(words) if !is_clang(compiler) && words.iter().any(unwanted) => {}
            Item::Option(words) if !is_link_option(&words[0]) => {
                command.args(words);
            }
            Item::Source(this) | Item::Assembly(this) if this == file => {
                command.arg(this);
            }
            _ => {}
        }
    }
}

fn is_link_option(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    text.starts_with("-Wl,")
        || text.starts_with("-l")
        || text.starts_with("-L")
        || matches!(
            text.as_ref(),
            "-shared"
                | "-Xlinker"
                | "-rdynamic"
                | "-u"
                | "-T"
                | "-z"
                | "-s"
                | "-rpath"
                | "-h"
                | "-soname"
                | "-e"
        )
}

/// Lets the runtime see what functions of libc read and write. An object that objcopy cannot change is left as it is.
fn redirect_library(object: &Path) {
    let mut command = Command::new(env::var_os("PORF_OBJCOPY").unwrap_or_else(|| "objcopy".into()));
    for name in ["memcpy", "memmove", "memset"] {
        command.arg("--redefine-sym").arg(format!("{name}=__tsan_{name}"));
    }
    for name in REDIRECTED {
        command.arg("--redefine-sym").arg(format!("{name}=__porf_{name}"));
    }
    if !command.arg(object).stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    {
        eprintln!(
            "porf cc: objcopy failed: what functions of libc access for {} is not checked",
            object.display()
        );
    }
}

fn link(compiler: &OsStr, line: &CommandLine) -> io::Result<u8> {
    let temporary = Temporary::new()?;
    let mut objects = Vec::new();
    for (index, source) in line.sources().enumerate() {
        let object = temporary.0.join(format!("{index}.o"));
        let dependencies = line.implicit_dependencies.then(|| dependency_file(line, source));
        let code = compile_one(compiler, line, source, &object, dependencies)?;
        if code != 0 {
            return Ok(code);
        }
        objects.push(object);
    }
    let mut command = Command::new(compiler);
    add_items(&mut command, line, &objects);
    command.args(line.output.iter().flat_map(|output| [OsStr::new("-o"), output]));
    if !line.shared {
        let [runtime, exported] = embed::runtime()?;
        command.arg(runtime).arg(format!("-Wl,--dynamic-list={}", exported.display()));
        command.args(["-lpthread", "-ldl", "-lm"]);
    }
    status(&mut command)
}

/// The file that `-MD` writes when a program is compiled and linked in one command, and the target in it,
/// as gcc names them.
fn dependency_file(line: &CommandLine, source: &OsStr) -> (PathBuf, PathBuf) {
    let source = Path::new(Path::new(source).file_name().unwrap_or(source));
    match &line.output {
        None => (source.with_extension("d"), source.with_extension("o")),
        Some(output) if line.sources().count() == 1 => {
            (Path::new(output).with_extension("d"), PathBuf::from(output))
        }
        Some(output) => {
            let stem = |path: &Path| path.file_stem().unwrap_or_default().to_os_string();
            let mut name = stem(Path::new(output));
            name.push("-");
            name.push(stem(source));
            let path = Path::new(output).with_file_name(name);
            (path.with_extension("d"), path.with_extension("o"))
        }
    }
}

/// The command line with the sources' objects in their places.
fn add_items(command: &mut Command, line: &CommandLine, objects: &[PathBuf]) {
    let mut objects = objects.iter();
    let has_sources = line.sources().next().is_some();
    for item in &line.items {
        match item {
            // An object is not in the language of the source, and was made already.
            Item::Option(words)
                if has_sources
                    && (words[0].as_encoded_bytes().starts_with(b"-x") || is_dependency(&words[0])) => {}
            // The runtime's functions are found in the program that loads the library.
            Item::Option(words) if line.shared && forbids_undefined(words) => {}
            Item::Option(words) => {
                command.args(words);
            }
            Item::Source(_) => {
                command.args(objects.next());
            }
            Item::Assembly(input) | Item::Input(input) => {
                command.arg(input);
            }
        }
    }
}

fn is_dependency(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    ["-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP", "-MG"].iter().any(|option| text.starts_with(option))
}

/// `-Wl,--no-undefined`, `-z defs` and their spellings.
fn forbids_undefined(words: &[OsString]) -> bool {
    let text = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let option = text.trim_start_matches("-Wl,").trim_start_matches("-Xlinker ");
    matches!(
        option,
        "--no-undefined" | "-no-undefined" | "-z defs" | "-z,defs" | "-zdefs" | "--no-allow-shlib-undefined"
    )
}

fn compiler(language: Language) -> io::Result<OsString> {
    let (variable, candidates) = match language {
        Language::C => ("PORF_CC", ["gcc", "clang", "cc"]),
        Language::Cxx => ("PORF_CXX", ["g++", "clang++", "c++"]),
    };
    let candidates: Vec<OsString> = match env::var_os(variable) {
        Some(chosen) => vec![chosen],
        None => candidates.map(OsString::from).to_vec(),
    };
    // A compiler on the PATH that called us is not the one to call: the next of its name is.
    let callers: Vec<PathBuf> =
        env::var_os(CALLERS).map(|all| env::split_paths(&all).collect()).unwrap_or_default();
    let path = env::var_os("PATH").unwrap_or_default();
    let found = candidates.iter().find_map(|name| {
        let mut directories = env::split_paths(&path).map(|directory| directory.join(name));
        let here = PathBuf::from(name);
        let is_new = |file: &PathBuf| file.is_file() && !callers.contains(file);
        if here.components().count() > 1 { Some(here).filter(is_new) } else { directories.find(is_new) }
    });
    let found = found.ok_or_else(|| {
        let names = candidates.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(", ");
        io::Error::other(format!("no compiler found that does not call porf cc itself ({names})"))
    })?;
    if let Ok(all) = env::join_paths(callers.iter().chain([&found])) {
        // SAFETY: no other thread of this process exists yet.
        unsafe { env::set_var(CALLERS, all) };
    }
    Ok(found.into_os_string())
}

/// The compilers that were called so far, each by the one before: a script named gcc may call `porf cc`.
const CALLERS: &str = "PORF_CC_CALLERS";

fn is_clang(compiler: &OsStr) -> bool {
    Path::new(compiler).file_name().is_some_and(|name| name.to_string_lossy().contains("clang"))
}

fn status(command: &mut Command) -> io::Result<u8> {
    let program = command.get_program().display().to_string();
    let status =
        command.status().map_err(|error| io::Error::other(format!("cannot run {program}: {error}")))?;
    Ok(status.code().map_or(1, |code| code as u8))
}

/// A directory that is gone when the command ends.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> io::Result<Temporary> {
        // Several of one process, and nobody else's: the directory must not exist yet.
        let make = |number: usize| {
            let path = env::temp_dir().join(format!("porf-cc-{}-{number}", std::process::id()));
            fs::DirBuilder::new().mode(0o700).create(&path).map(|()| Temporary(path))
        };
        let mut last = make(0);
        for number in 1..1000 {
            match last {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = make(number),
                made => return made,
            }
        }
        last
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_undefined_symbols() {
        let forbids =
            |text: &str| forbids_undefined(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        for option in ["-Wl,--no-undefined", "-Wl,-z,defs", "-z defs", "-Xlinker --no-undefined"] {
            assert!(forbids(option), "{option}");
        }
        assert!(!forbids("-Wl,-z,now") && !forbids("-Wl,--as-needed"));
    }

    #[test]
    fn dependency_files_are_named_as_gcc_names_them() {
        let name = |text: &str, source: &str| {
            let line = CommandLine::parse(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
            let (file, target) = dependency_file(&line, OsStr::new(source));
            format!("{} {}", file.display(), target.display())
        };
        assert_eq!(name("-MD src/a.c", "src/a.c"), "a.d a.o");
        assert_eq!(name("-MD src/a.c -o bin/prog", "src/a.c"), "bin/prog.d bin/prog");
        assert_eq!(name("-MD a.c b.c -o bin/prog", "b.c"), "bin/prog-b.d bin/prog-b.o");
    }
}
