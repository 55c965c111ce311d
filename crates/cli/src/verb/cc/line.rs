//! The command line of a C compiler, as far as the wrapper must understand it.
//!
//! Options are kept in order and passed on; sources and objects are told apart, because sources are
//! compiled one by one with instrumentation before anything is linked. Response files (`@file`) are
//! expanded, as they may hold any of this.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// What the command would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Neither compiles nor links: prints something.
    Other,
    /// Stops before an object file: `-E`, `-S`, `-M`, a precompiled header.
    Text,
    Compile,
    Link,
}

#[derive(Debug)]
pub struct CommandLine {
    pub stage: Stage,
    /// Everything but `-c`, `-o FILE` and what we replace.
    pub items: Vec<Item>,
    pub output: Option<OsString>,
    /// A shared library or a relocatable object: the runtime is linked later.
    pub shared: bool,
    pub debug: bool,
    /// `-MD` or `-MMD` without `-MF`: the compiler names the file after its output.
    pub implicit_dependencies: bool,
    pub names_target: bool,
    pub refused: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub enum Item {
    /// An option, with its separate value.
    Option(Vec<OsString>),
    /// C or C++, to be instrumented.
    Source(OsString),
    Assembly(OsString),
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
    "-iwithprefix",
    "-iwithprefixbefore",
    "-imultilib",
    "-imultiarch",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-u",
    "-T",
    "-Ttext",
    "-Tdata",
    "-Tbss",
    "-z",
    "-l",
    "--param",
    "-x",
    "-e",
    "-h",
    "-A",
    "-G",
    "-B",
    "-target",
    "--target",
    "-isysroot",
    "--sysroot",
    "-specs",
    "-wrapper",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-aux-info",
    "-rpath",
    "-soname",
    "-gcc-toolchain",
    "-resource-dir",
    "-arch",
    "-framework",
    "--config",
    "-working-directory",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
];
const SOURCES: &[&str] = &["c", "cc", "cpp", "cxx", "c++", "C", "CPP", "i", "ii", "cp", "m", "mm"];
const HEADERS: &[&str] = &["h", "hh", "hpp", "hxx", "h++", "H", "hp", "tcc"];
const ASSEMBLY: &[&str] = &["s", "S", "sx", "asm"];

impl CommandLine {
    pub fn parse(arguments: &[OsString]) -> CommandLine {
        let mut line = CommandLine {
            stage: Stage::Link,
            items: Vec::new(),
            output: None,
            shared: false,
            debug: false,
            implicit_dependencies: false,
            names_target: false,
            refused: None,
        };
        let (mut text, mut informs, mut inputs) = (false, false, 0);
        let mut names_dependencies = false;
        let mut language = OsString::new();
        let arguments = expand(arguments, 0);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let word = argument.to_string_lossy();
            match word.as_ref() {
                "-c" => line.stage = Stage::Compile,
                "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" => {
                    text = true;
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                "-###" | "--help" | "--version" => {
                    informs = true;
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                "-static" | "-static-pie" => line.refused = Some("-static"),
                "-o" => line.output = rest.next().cloned(),
                "-shared" | "-r" | "--relocatable" => {
                    line.shared = true;
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                "-static-libtsan" | "-static-libasan" => {}
                _ if word.starts_with("-o") && word.len() > 2 && !word.starts_with("-objc") => {
                    line.output = Some(OsString::from(&word[2..]));
                }
                _ if word.starts_with("-fsanitize-ignorelist=")
                    || word.starts_with("-fsanitize-blacklist=") =>
                {
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                _ if word.starts_with("-fsanitize") || word.starts_with("-flto") => {}
                _ if WITH_VALUE.contains(&word.as_ref()) => {
                    let value = rest.next().cloned();
                    if word == "-x" {
                        language = value.clone().unwrap_or_default();
                    }
                    names_dependencies |= word == "-MF";
                    line.names_target |= word == "-MT" || word == "-MQ";
                    inputs += usize::from(word == "-l");
                    line.items.push(Item::Option([argument.clone()].into_iter().chain(value).collect()));
                }
                "-" => {
                    inputs += 1;
                    line.items.push(Item::Source(argument.clone()));
                }
                _ if word.starts_with('-') => {
                    line.debug |= word.starts_with("-g") && word != "-g0";
                    line.implicit_dependencies |= word == "-MD" || word == "-MMD";
                    names_dependencies |= word.starts_with("-MF");
                    line.names_target |= word.starts_with("-MT") || word.starts_with("-MQ");
                    if let Some(named) = word.strip_prefix("-x") {
                        language = named.into();
                    }
                    inputs += usize::from(word.starts_with("-l"));
                    line.items.push(Item::Option(vec![argument.clone()]));
                }
                _ => {
                    inputs += 1;
                    let extension = Path::new(argument).extension().and_then(OsStr::to_str).unwrap_or("");
                    let named = language.to_string_lossy();
                    let given = !named.is_empty() && named != "none";
                    text |= named.ends_with("-header") || (!given && HEADERS.contains(&extension));
                    line.items.push(match () {
                        _ if given && named.starts_with("assembler") => Item::Assembly(argument.clone()),
                        _ if given || HEADERS.contains(&extension) => Item::Source(argument.clone()),
                        _ if SOURCES.contains(&extension) => Item::Source(argument.clone()),
                        _ if ASSEMBLY.contains(&extension) => Item::Assembly(argument.clone()),
                        _ => Item::Input(argument.clone()),
                    });
                }
            }
        }
        line.implicit_dependencies &= !names_dependencies;
        if informs || inputs == 0 {
            line.stage = Stage::Other;
        } else if text {
            line.stage = Stage::Text;
        }
        line
    }

    pub fn sources(&self) -> impl Iterator<Item = &OsString> {
        self.items.iter().filter_map(|item| if let Item::Source(source) = item { Some(source) } else { None })
    }
}

/// Puts the words of response files in their place. A file that cannot be read stays as it is, and the
/// compiler complains.
fn expand(arguments: &[OsString], depth: usize) -> Vec<OsString> {
    const DEEPEST: usize = 16;
    let mut out = Vec::new();
    for argument in arguments {
        match argument.as_bytes().strip_prefix(b"@") {
            Some(name) if depth < DEEPEST => match std::fs::read(OsStr::from_bytes(name)) {
                Ok(text) => out.extend(expand(&words(&text), depth + 1)),
                Err(_) => out.push(argument.clone()),
            },
            _ => out.push(argument.clone()),
        }
    }
    out
}

/// Words separated by white space; single and double quotes and backslashes as gcc reads them.
fn words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(byte),
            b'"' | b'\'' => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        CommandLine::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn sources(line: &str) -> Vec<String> {
        parse(line).sources().map(|source| source.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn stages() {
        assert_eq!(parse("-O2 -c a.c -o a.o").stage, Stage::Compile);
        assert_eq!(parse("a.c b.o -o prog -lm").stage, Stage::Link);
        assert_eq!(parse("-MD -MF a.d -c a.cpp").stage, Stage::Compile);
        assert_eq!(parse("-E a.c").stage, Stage::Text);
        assert_eq!(parse("-S a.c -o a.s").stage, Stage::Text);
        assert_eq!(parse("-x c++-header -c pch.hxx -o pch.hxx.gch").stage, Stage::Text);
        assert_eq!(parse("common.hpp").stage, Stage::Text);
        for informs in ["--version", "-print-search-dirs", "-v", "-dumpmachine", "-### a.c", "-Wl,--version"]
        {
            assert_eq!(parse(informs).stage, Stage::Other, "{informs}");
        }
    }

    #[test]
    fn sources_and_values_are_told_apart() {
        let line = parse("-I inc.c -D X=1 a.cc b.o -oprog");
        assert_eq!(sources("-I inc.c -D X=1 a.cc b.o -oprog"), ["a.cc"]);
        assert_eq!(line.output.as_deref(), Some(OsStr::new("prog")));
        assert!(parse("-static a.c").refused.is_some());
        assert!(parse("-shared -fPIC a.c").shared);
        assert_eq!(sources("-c a.c b.S c.s -xc d.txt -x none e.o"), ["a.c", "d.txt"]);
    }

    #[test]
    fn dependency_files() {
        assert!(parse("-MMD a.c -o prog").implicit_dependencies);
        assert!(!parse("-MMD -MFx.d a.c -o prog").implicit_dependencies);
        assert!(!parse("-MMD -MF x.d a.c -o prog").implicit_dependencies);
        assert!(parse("-MD -MT x -c a.c").names_target);
    }

    #[test]
    fn response_files_are_read_as_gcc_does() {
        let text = b"a.c -DX=\"a b\"\n'c d.o' e\\ f.o \"\"\n";
        assert_eq!(words(text), ["a.c", "-DX=a b", "c d.o", "e f.o", ""]);
        assert_eq!(parse("@/no/such/file").stage, Stage::Link, "the compiler says what is wrong");
    }
}
