//! What is left of a search, in a file.
//!
//! A checkpoint is written to a new file that then takes the old one's place. Whatever happens in between,
//! the file on disk is the end of some slice: going on from it loses nothing and counts nothing twice.

use super::seen::{Noted, Seen};
use super::{Error, Request};
use porf_explore::{Equivalence, Reduced, Rest, Statistics};
use porf_ir::Program;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

const SCHEMA: u32 = 10;

#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    schema: u32,
    /// Of the program and everything else that the search depends on.
    fingerprint: u64,
    executions: u64,
    blocked: u64,
    events: u64,
    revisits: u64,
    atomic_parts: bool,
    reduced: Reduced,
    pub noted: Noted,
    pub rest: Rest,
}

impl Saved {
    pub fn new(fingerprint: u64, total: &Statistics, seen: &Seen, rest: &Rest) -> Saved {
        Saved {
            schema: SCHEMA,
            fingerprint,
            executions: total.executions,
            blocked: total.blocked,
            events: total.events,
            revisits: total.revisits,
            atomic_parts: total.atomic_parts,
            reduced: total.reduced,
            noted: Noted::of(seen),
            rest: rest.clone(),
        }
    }

    /// What the search depends on.
    pub fn fingerprint(program: &Program, request: &Request<'_>, equivalence: Equivalence) -> u64 {
        let mut hasher = DefaultHasher::new();
        porf_ir::print(program).hash(&mut hasher);
        (request.model.name(), equivalence.to_string(), request.unroll, request.reductions).hash(&mut hasher);
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        hasher.finish()
    }

    pub fn statistics(&self) -> Statistics {
        Statistics {
            executions: self.executions,
            blocked: self.blocked,
            events: self.events,
            revisits: self.revisits,
            atomic_parts: self.atomic_parts,
            reduced: self.reduced,
            ..Statistics::default()
        }
    }

    pub fn read(path: &Path, fingerprint: u64) -> Result<Saved, Error> {
        let fail = |message: String| Error::Input(format!("{}: {message}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let saved: Saved =
            serde_json::from_str(&text).map_err(|error| fail(format!("no checkpoint ({error})")))?;
        if saved.schema != SCHEMA || saved.fingerprint != fingerprint {
            let message = "the checkpoint is of another program, model, equivalence or version";
            return Err(fail(message.to_string()));
        }
        Ok(saved)
    }

    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let fail = |error: &dyn std::fmt::Display| Error::Input(format!("{}: {error}", path.display()));
        let text = serde_json::to_string(self).map_err(|error| fail(&error))?;
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        std::fs::write(&new, text).map_err(|error| fail(&error))?;
        std::fs::rename(&new, path).map_err(|error| fail(&error))
    }
}
