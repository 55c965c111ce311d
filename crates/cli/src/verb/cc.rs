//! `porf cc`, `porf c++`: the C and C++ compiler, building programs for `porf sample`.
//!
//! The compilers' own ThreadSanitizer instrumentation, linked with our runtime instead of theirs. Works as
//! CC and CXX of make, autoconf and CMake. Compiling and linking in one command is split in two, because the
//! compiler would link its own runtime otherwise. Calls of memcpy, memmove and memset, which gcc and older
//! clang leave alone, are redirected in the object file.

use crate::embed;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

#[derive(clap::Args)]
pub struct Args {
    /// Arguments of the compiler (PORF_CC or PORF_CXX names it; gcc and g++, or clang, otherwise)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

pub fn run(args: &Args, language: Language) -> ExitCode {
    match build(&args.arguments, language) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("porf cc: {error}");
            ExitCode::from(2)
        }
    }
}

fn build(arguments: &[OsString], language: Language) -> io::Result<u8> {
    let compiler = compiler(language)?;
    let line = CommandLine::parse(arguments);
    if let Some(option) = &line.refused {
        return Err(io::Error::other(format!("{option} is not supported: the runtime needs a dynamic libc")));
    }
    match line.stage {
        Stage::Other => status(Command::new(&compiler).args(arguments)),
        Stage::Compile => compile(&compiler, &line),
        Stage::Link => link(&compiler, &line),
    }
}

/// What the command would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Neither compiles nor links: preprocess, print something.
    Other,
    Compile,
    Link,
}

#[derive(Debug)]
struct CommandLine {
    stage: Stage,
    /// Everything but sources, `-c`, `-o FILE` and what we replace; sources as placeholders.
    items: Vec<Item>,
    output: Option<OsString>,
    shared: bool,
    debug: bool,
    refused: Option<&'static str>,
}

#[derive(Debug, Clone)]
enum Item {
    /// An option, with its separate value.
    Option(Vec<OsString>),
    Source(OsString),
    /// An object file or library.
    Input(OsString),
}

const WITH_VALUE: &[&str] = &[
    "-I",
    "-L",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-u",
    "-T",
    "-z",
    "-l",
    "--param",
    "-x",
    "-e",
    "-A",
    "-G",
    "-B",
    "-target",
    "-isysroot",
    "--sysroot",
    "-specs",
    "-wrapper",
    "-dumpbase",
    "-rpath",
];
const SOURCES: &[&str] = &["c", "cc", "cpp", "cxx", "c++", "C", "CPP", "i", "ii", "cp", "m", "mm"];

impl CommandLine {
    fn parse(arguments: &[OsString]) -> CommandLine {
        let mut line = CommandLine {
            stage: Stage::Link,
            items: Vec::new(),
            output: None,
            shared: false,
            debug: false,
            refused: None,
        };
        let mut inputs = 0;
        let mut informs = false;
        let mut explicit_language = false;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            match text.as_ref() {
                "-c" => line.stage = Stage::Compile,
                "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" => {
                    informs = true;
                }
                "-static" | "-static-pie" => line.refused = Some("-static"),
                "-o" => line.output = rest.next().cloned(),
                "-shared" | "-r" | "--relocatable" => {
                    line.shared = true;
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                "-static-libtsan" | "-static-libasan" => {}
                _ if text.starts_with("-o") && text.len() > 2 && !text.starts_with("-objc") => {
                    line.output = Some(OsString::from(&text[2..]));
                }
                _ if text.starts_with("-fsanitize") || text.starts_with("-flto") => {}
                _ if WITH_VALUE.contains(&text.as_ref()) => {
                    explicit_language |= text == "-x";
                    let value = rest.next().cloned();
                    line.items.push(Item::Option([argument.clone()].into_iter().chain(value).collect()));
                }
                "-" => {
                    inputs += 1;
                    line.items.push(Item::Source(argument.clone()));
                }
                _ if text.starts_with('-') || text.starts_with('@') => {
                    line.debug |= text.starts_with("-g") && text != "-g0";
                    line.items.push(Item::Option(vec![argument.clone()]));
                    inputs += usize::from(text.starts_with("-l") || text.starts_with('@'));
                }
                _ => {
                    inputs += 1;
                    let extension = Path::new(argument).extension().and_then(OsStr::to_str).unwrap_or("");
                    let is_source = explicit_language || SOURCES.contains(&extension);
                    line.items.push(if is_source {
                        Item::Source(argument.clone())
                    } else {
                        Item::Input(argument.clone())
                    });
                }
            }
        }
        if informs || inputs == 0 {
            line.stage = Stage::Other;
        }
        line
    }

    fn sources(&self) -> Vec<&OsString> {
        self.items
            .iter()
            .filter_map(|item| if let Item::Source(source) = item { Some(source) } else { None })
            .collect()
    }
}

fn compile(compiler: &OsStr, line: &CommandLine) -> io::Result<u8> {
    let sources = line.sources();
    if let (Some(output), [_, _, ..]) = (&line.output, sources.as_slice()) {
        return Err(io::Error::other(format!("-o {} with -c and several sources", output.display())));
    }
    for source in sources {
        let object = match &line.output {
            Some(output) => PathBuf::from(output),
            None => PathBuf::from(Path::new(source).file_name().unwrap_or(source)).with_extension("o"),
        };
        let code = compile_one(compiler, line, source, &object)?;
        if code != 0 {
            return Ok(code);
        }
    }
    if line.sources().is_empty() {
        // Assembly, or nothing of ours.
        let mut command = Command::new(compiler);
        command.arg("-c");
        add_items(&mut command, line, &[]);
        command.args(line.output.iter().flat_map(|output| [OsStr::new("-o"), output]));
        return status(&mut command);
    }
    Ok(0)
}

fn compile_one(compiler: &OsStr, line: &CommandLine, source: &OsStr, object: &Path) -> io::Result<u8> {
    let mut command = Command::new(compiler);
    if !line.debug {
        command.arg("-g");
    }
    command.args(["-fsanitize=thread", "-fno-lto"]);
    if is_clang(compiler) {
        command.args(["-mllvm", "-tsan-distinguish-volatile=1"]);
    } else {
        // gcc warns that its own runtime does not know fences; ours does.
        command.args(["--param", "tsan-distinguish-volatile=1", "-Wno-tsan"]);
    }
    for item in &line.items {
        match item {
            Item::Option(words) if !is_link_option(&words[0]) => {
                command.args(words);
            }
            Item::Source(this) if this == source => {
                command.arg(this);
            }
            _ => {}
        }
    }
    command.arg("-c").arg("-o").arg(object);
    let code = status(&mut command)?;
    if code == 0 {
        redirect_memory_functions(object);
    }
    Ok(code)
}

fn is_link_option(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    text.starts_with("-Wl,")
        || text.starts_with("-l")
        || text.starts_with("-L")
        || matches!(
            text.as_ref(),
            "-shared" | "-Xlinker" | "-rdynamic" | "-u" | "-T" | "-z" | "-s" | "-rpath"
        )
}

/// Lets the runtime see what is copied. An object that objcopy cannot change is left as it is.
fn redirect_memory_functions(object: &Path) {
    let mut command = Command::new(env::var_os("PORF_OBJCOPY").unwrap_or_else(|| "objcopy".into()));
    for name in ["memcpy", "memmove", "memset"] {
        command.arg("--redefine-sym").arg(format!("{name}=__tsan_{name}"));
    }
    if !command.arg(object).stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    {
        eprintln!(
            "porf cc: objcopy failed: copies by memcpy in {} are not checked for races",
            object.display()
        );
    }
}

fn link(compiler: &OsStr, line: &CommandLine) -> io::Result<u8> {
    let temporary = Temporary::new()?;
    let mut objects = Vec::new();
    for (index, source) in line.sources().into_iter().enumerate() {
        let object = temporary.0.join(format!("{index}.o"));
        let code = compile_one(compiler, line, source, &object)?;
        if code != 0 {
            return Ok(code);
        }
        objects.push(object);
    }
    let mut command = Command::new(compiler);
    add_items(&mut command, line, &objects);
    command.args(line.output.iter().flat_map(|output| [OsStr::new("-o"), output]));
    if !line.shared {
        command.args(["-Wl,-u,__tsan_init", "-rdynamic"]).arg(embed::runtime_library()?);
        command.args(["-lpthread", "-ldl", "-lm"]);
    }
    status(&mut command)
}

/// The command line with the sources' objects in their places.
fn add_items(command: &mut Command, line: &CommandLine, objects: &[PathBuf]) {
    let mut objects = objects.iter();
    for item in &line.items {
        match item {
            // An object is not in the language of the source.
            Item::Option(words) if words[0] == "-x" && !line.sources().is_empty() => {}
            Item::Option(words) => {
                command.args(words);
            }
            Item::Source(_) => {
                command.args(objects.next());
            }
            Item::Input(input) => {
                command.arg(input);
            }
        }
    }
}

fn compiler(language: Language) -> io::Result<OsString> {
    let (variable, candidates) = match language {
        Language::C => ("PORF_CC", ["gcc", "clang", "cc"]),
        Language::Cxx => ("PORF_CXX", ["g++", "clang++", "c++"]),
    };
    if let Some(chosen) = env::var_os(variable) {
        return Ok(chosen);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let exists = |name: &&str| env::split_paths(&path).any(|directory| directory.join(name).is_file());
    let found = candidates.iter().find(|name| exists(name));
    found
        .map(|name| OsString::from(*name))
        .ok_or_else(|| io::Error::other("no C compiler found (gcc or clang)"))
}

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
        let path = env::temp_dir().join(format!("porf-cc-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Temporary(path))
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

    fn parse(line: &str) -> CommandLine {
        CommandLine::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn stages() {
        assert_eq!(parse("-O2 -c a.c -o a.o").stage, Stage::Compile);
        assert_eq!(parse("a.c b.o -o prog -lm").stage, Stage::Link);
        assert_eq!(parse("-E a.c").stage, Stage::Other);
        assert_eq!(parse("--version").stage, Stage::Other);
        assert_eq!(parse("-MD -MF a.d -c a.cpp").stage, Stage::Compile);
    }

    #[test]
    fn sources_and_values_are_told_apart() {
        let line = parse("-I inc.c -D X=1 a.cc b.o -oprog");
        assert_eq!(line.sources(), ["a.cc"]);
        assert_eq!(line.output.as_deref(), Some(OsStr::new("prog")));
        assert!(parse("-static a.c").refused.is_some());
        assert!(parse("-shared -fPIC a.c").shared);
    }
}
