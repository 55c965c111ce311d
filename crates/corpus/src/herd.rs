//! Public litmus corpora with herd's answers, where they lie beside the repository.
//!
//! `../shared/oracle/corpus/NAME.tar.gz` holds tests, `../shared/oracle/expected/NAME-MODEL.tsv.gz` one
//! row per test. A clone without them skips what needs them, and says so.

use crate::root;
use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// One final state: the observables and their values as herd prints them.
pub type State = BTreeMap<String, String>;

/// The tests of one archive, by their path inside it.
pub struct Corpus {
    pub name: String,
    pub tests: BTreeMap<String, String>,
}

/// What herd says of one test under one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub path: String,
    /// `Never`, `Sometimes` or `Always`; empty where herd gave no answer.
    pub observation: String,
    pub positive: u64,
    pub negative: u64,
    pub states: BTreeSet<State>,
    /// herd's own time, in milliseconds.
    pub milliseconds: u64,
}

/// The folder with the corpora, if it is there.
pub fn folder() -> Option<PathBuf> {
    // A worktree may lie one level deeper than the repository itself.
    let places = ["../shared/oracle", "../../shared/oracle"].map(|place| root().join(place));
    places.into_iter().find(|folder| folder.join("corpus").is_dir())
}

/// The names of the corpora and, for each, herd's models.
pub fn list(folder: &Path) -> io::Result<Vec<(String, Vec<String>)>> {
    let stems = |sub: &str, suffix: &str| -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in folder.join(sub).read_dir()? {
            if let Some(stem) = entry?.file_name().to_str().and_then(|name| name.strip_suffix(suffix)) {
                found.push(stem.to_string());
            }
        }
        found.sort();
        Ok(found)
    };
    let expected = stems("expected", ".tsv.gz")?;
    Ok(stems("corpus", ".tar.gz")?
        .into_iter()
        .map(|name| {
            let models = expected
                .iter()
                .filter_map(|stem| stem.strip_prefix(&name)?.strip_prefix('-'))
                .filter(|model| !model.contains('-'))
                .map(str::to_string)
                .collect();
            (name, models)
        })
        .collect())
}

/// Our name of a model of herd's; `None` where the column is information only.
pub fn our_model(theirs: &str) -> Option<&str> {
    match theirs {
        "x86tso" => Some("tso"),
        "ppc" => Some("power"),
        "arm" => Some("armv7"),
        "aarch64" => Some("armv8"),
        "c11" | "imm" => None,
        same => Some(same),
    }
}

impl Corpus {
    pub fn load(folder: &Path, name: &str) -> io::Result<Corpus> {
        let file = File::open(folder.join(format!("corpus/{name}.tar.gz")))?;
        let mut tests = BTreeMap::new();
        for entry in tar::Archive::new(GzDecoder::new(file)).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().into_owned();
            if let Some(inner) = path.strip_prefix(name).and_then(|path| path.strip_prefix('/'))
                && inner.ends_with(".litmus")
            {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes)?;
                tests.insert(inner.to_string(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Corpus { name: name.to_string(), tests })
    }

    /// herd's answers under one of its models.
    pub fn rows(&self, folder: &Path, model: &str) -> io::Result<Vec<Row>> {
        let file = File::open(folder.join(format!("expected/{}-{model}.tsv.gz", self.name)))?;
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text)?;
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
        let column = |name: &str| {
            header
                .iter()
                .position(|column| *column == name)
                .ok_or_else(|| io::Error::other(format!("no column {name}")))
        };
        let (path, observation, positive, negative, states, count, time) = (
            column("path")?,
            column("observation")?,
            column("positive")?,
            column("negative")?,
            column("states")?,
            column("nstates")?,
            column("time_s")?,
        );
        Ok(lines
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
                Row {
                    path: cell(path).to_string(),
                    observation: cell(observation).to_string(),
                    positive: cell(positive).parse().unwrap_or(0),
                    negative: cell(negative).parse().unwrap_or(0),
                    // A single state without observables is written as nothing too.
                    states: match cell(count) {
                        "" | "0" => BTreeSet::new(),
                        _ => cell(states).split(" | ").map(parse_state).collect(),
                    },
                    milliseconds: (cell(time).parse::<f64>().unwrap_or(0.0) * 1000.0) as u64,
                }
            })
            .collect())
    }
}

fn parse_state(text: &str) -> State {
    text.split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
        .collect()
}

/// Whether a test belongs to the fixed sample that takes about one of `every` tests.
pub fn sampled(path: &str, every: u32) -> bool {
    // FNV-1a: the same sample everywhere and forever.
    let hash = path
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    hash.is_multiple_of(u64::from(every.max(1)))
}
