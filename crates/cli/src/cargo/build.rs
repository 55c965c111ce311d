//! Builds a crate so that the bitcode of whole programs is left: see `porf_frontend_llvm::rust`.
//!
//! The build has a target directory of its own, and says `--target`, so that build scripts and procedural
//! macros are compiled as always. Nothing is linked: `cargo-porf` itself stands for the linker and makes a file
//! that says how it was called. What has not changed is not built again.

use super::dropin::Patches;
use super::settings::Settings;
use clap::Args;
use porf::Error;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Tells `cargo-porf` that it is called as a linker.
const LINKS: &str = "PORF_LINKS";

/// Options for cargo.
#[derive(Args, Clone, Debug, Default)]
pub struct Selection {
    /// The package to check
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Only the library's own tests
    #[arg(long)]
    lib: bool,
    /// A binary
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,
    /// An integration test
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// An example
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,
    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<String>,
    /// Turn on all features
    #[arg(long)]
    all_features: bool,
    /// Leave out the default features
    #[arg(long)]
    no_default_features: bool,
    /// Use the release profile, for example without debug assertions
    #[arg(short, long)]
    release: bool,
    /// Use this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    profile: Option<String>,
    /// The manifest of the crate
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Do not use the network
    #[arg(long)]
    offline: bool,
    /// Do not change Cargo.lock
    #[arg(long)]
    locked: bool,
}

/// What was built: a file of bitcode.
pub struct Built {
    /// The target, as cargo calls it: `unittests src/lib.rs`.
    pub title: String,
    /// Its name.
    pub name: String,
    /// Its place among the targets.
    pub order: usize,
    pub bitcode: PathBuf,
    /// What cargo takes for the program: the arguments of the linker, one in each line.
    pub executable: PathBuf,
    pub settings: Settings,
}

/// What cargo knows of the workspace.
pub struct Workspace {
    target_directory: PathBuf,
    packages: Vec<Value>,
    patches: Patches,
}

impl Workspace {
    pub fn load(selection: &Selection) -> Result<Workspace, Error> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        selection.add_manifest(&mut command);
        let output = command.stderr(Stdio::inherit()).output().map_err(no_cargo)?;
        let data: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| Error::Input("cargo metadata says nothing that can be read".to_string()))?;
        let directory = data["target_directory"].as_str().unwrap_or("target");
        let packages = data["packages"].as_array().cloned().unwrap_or_default();
        let patches = Patches::of(&data)?;
        Ok(Workspace { target_directory: PathBuf::from(directory).join("porf"), packages, patches })
    }

    /// The `[package.metadata.porf]` of a package.
    fn settings(&self, id: &str) -> Result<Settings, Error> {
        let package = self.packages.iter().find(|package| package["id"] == id);
        Settings::read(package.map_or(&Value::Null, |package| &package["metadata"]["porf"]))
    }
}

/// Builds what is selected; `Err` with cargo's exit code where it does not compile.
pub fn build(verb: &str, selection: &Selection) -> Result<Result<Vec<Built>, ExitCode>, Error> {
    let workspace = Workspace::load(selection)?;
    let mut command = cargo();
    command.arg(verb);
    if verb == "test" {
        command.arg("--no-run");
    }
    command.args(["--message-format", "json-render-diagnostics", "--target", &host()?]);
    let profile = selection.profile();
    for (key, value) in [
        ("lto", "\"fat\""),
        ("opt-level", "0"),
        ("debug", "1"),
        ("codegen-units", "1"),
        ("panic", "\"unwind\""),
    ] {
        command.args(["--config", &format!("profile.{profile}.{key}={value}")]);
    }
    selection.add(&mut command, &workspace.patches);
    let linker = std::env::current_exe().map_err(|error| Error::Input(error.to_string()))?;
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    // A lint that is denied may speak of types that are of std here, and of loom elsewhere.
    let flags = format!("{flags} --cap-lints=warn -Csave-temps -Clinker={}", linker.display());
    command
        .env("RUSTFLAGS", flags.trim())
        .env("CARGO_TARGET_DIR", &workspace.target_directory)
        .env(LINKS, "1");
    let output = command.stderr(Stdio::inherit()).output().map_err(no_cargo)?;
    if !output.status.success() {
        let code = output.status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(Err(ExitCode::from(code.unwrap_or(super::FAILED))));
    }
    let mut built = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        built.extend(artifact(&workspace, verb, &message)?);
    }
    Ok(Ok(built))
}

/// The program that a message of cargo's is about.
fn artifact(workspace: &Workspace, verb: &str, message: &Value) -> Result<Option<Built>, Error> {
    let target = &message["target"];
    let is_test = message["profile"]["test"] == true;
    let Some(path) = message["executable"].as_str().filter(|_| is_test == (verb == "test")) else {
        return Ok(None);
    };
    let name = target["name"].as_str().unwrap_or("").to_string();
    let source = target["src_path"].as_str().unwrap_or("");
    let here = std::env::current_dir().unwrap_or_default();
    let source = Path::new(source).strip_prefix(&here).unwrap_or(Path::new(source)).display().to_string();
    let kind = target["kind"][0].as_str().unwrap_or("");
    let title = match kind {
        "test" | "bench" => source,
        _ => format!("unittests {source}"),
    };
    let path = PathBuf::from(path);
    let Some(bitcode) = bitcode(&path, &name) else {
        return Err(Error::Input(format!("rustc left no bitcode of {name} in {}", path.display())));
    };
    let settings = workspace.settings(message["package_id"].as_str().unwrap_or(""))?;
    let order = ["lib", "bin", "test"].iter().position(|known| kind.contains(known)).unwrap_or(3);
    Ok(Some(Built { title, name, order, bitcode, executable: path, settings }))
}

/// The newest merged module of a program: `deps/name-hash.….lto.after-restriction.bc`.
fn bitcode(executable: &Path, name: &str) -> Option<PathBuf> {
    let directory = executable.parent()?;
    // Those of examples lie beside them.
    let is_there = directory.ends_with("deps") || directory.ends_with("examples");
    let directory = if is_there { directory.to_path_buf() } else { directory.join("deps") };
    let stem = executable.file_stem()?.to_str()?;
    // Beside a binary without a hash in its name: those of all versions of it.
    let prefixes = [format!("{stem}."), format!("{}-", name.replace('-', "_"))];
    let exact = stem.contains('-') && executable.parent()?.ends_with("deps");
    let fits = |file: &str| {
        file.ends_with(".lto.after-restriction.bc")
            && if exact { file.starts_with(&prefixes[0]) } else { file.starts_with(&prefixes[1]) }
    };
    std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok())
        .map(|entry| entry.path())
}

/// As a linker: writes the arguments into the file that is asked for. `None` where the program is called as cargo does.
pub fn link() -> Option<ExitCode> {
    std::env::var_os(LINKS)?;
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "porf") {
        return None;
    }
    let at = arguments.iter().position(|argument| argument == "-o")?;
    let lines: Vec<_> = arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    let made = std::fs::write(arguments.get(at + 1)?, lines.join("\n"));
    Some(if made.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Selection {
    fn profile(&self) -> &str {
        match &self.profile {
            Some(profile) => profile,
            None if self.release => "release",
            None => "dev",
        }
    }

    fn add_manifest(&self, command: &mut Command) {
        if let Some(path) = &self.manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        if self.offline {
            command.arg("--offline");
        }
    }

    fn add(&self, command: &mut Command, patches: &Patches) {
        self.add_manifest(command);
        patches.add(command);
        // A lock file that is patched for the time being is not locked.
        if self.locked && patches.is_empty() {
            command.arg("--locked");
        }
        for (flag, values) in [
            ("--package", &self.package),
            ("--bin", &self.bin),
            ("--test", &self.test),
            ("--example", &self.example),
            ("--features", &self.features),
        ] {
            for value in values {
                command.args([flag, value]);
            }
        }
        for (flag, set) in [
            ("--workspace", self.workspace),
            ("--lib", self.lib),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
        ] {
            if set {
                command.arg(flag);
            }
        }
        if let Some(profile) = &self.profile {
            command.args(["--profile", profile]);
        }
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn no_cargo(error: std::io::Error) -> Error {
    Error::Input(format!("cargo cannot be run: {error}"))
}

/// The target that programs are compiled for: this machine.
fn host() -> Result<String, Error> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_string)
        .ok_or_else(|| Error::Input("no rustc found: install Rust, or set RUSTC to the compiler".to_string()))
}
