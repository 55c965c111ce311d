//! A model: its files, read and parsed.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use porf_model::Model;
use porf_relation::{EventSet, Relation};

use crate::{
    Diagnostic, Span,
    ast::{File, Name, Statement, StatementKind},
    builtin, defaults,
    node::Kind,
    parser::parse,
    program::Program,
    statement::names_in,
    structure::Structure,
};

/// A parsed model with all that it includes.
pub struct CatModel {
    name: String,
    /// Which of Porf's own models it is, if it is one.
    shipped: Option<Model>,
    title: String,
    main: Arc<File>,
    /// A bell file beside the model, run before it.
    bell: Option<Arc<File>>,
    /// Parsed files, by the name that spans carry.
    files: HashMap<String, Arc<File>>,
    names: HashSet<Name>,
    variants: Vec<String>,
    /// Compiled forms, one for each set of names that executions have defined so far.
    programs: Mutex<Vec<Arc<Program>>>,
    facts: OnceLock<Facts>,
}

/// What is known of a model without an execution.
#[derive(Clone, Copy, Default)]
struct Facts {
    coherence: bool,
    atomicity: bool,
    dependencies: bool,
    porf: bool,
    demands: bool,
    chooses: bool,
    mixed: bool,
}

impl CatModel {
    /// Reads a model from a file. Included files are looked for beside it, then among the built-in ones.
    ///
    /// `lock.cat` and `aarch64deps.cat` are always the built-in ones. They fit the executions that Porf
    /// enumerates, in which locks are ordinary events and dependencies are given. See docs/cat.md.
    pub fn load(path: &Path) -> Result<CatModel, Diagnostic> {
        let source = fs::read_to_string(path).map_err(|error| missing(path, &error.to_string()))?;
        let name =
            path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned());
        let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let bell = path.with_extension("bell");
        let bell = if path.extension().is_some_and(|extension| extension == "cat") && bell.is_file() {
            let source = fs::read_to_string(&bell).map_err(|error| missing(&bell, &error.to_string()))?;
            Some((bell.display().to_string(), source))
        } else {
            None
        };
        CatModel::assemble(&name, &path.display().to_string(), &source, bell, Some(directory))
    }

    /// Parses a model from text; it can include built-in files only.
    pub fn parse(name: &str, source: &str) -> Result<CatModel, Diagnostic> {
        CatModel::assemble(name, &format!("{name}.cat"), source, None, None)
    }

    /// A model that ships with Porf.
    pub fn shipped(model: Model) -> CatModel {
        let parsed = CatModel::parse(model.name(), model.entry().cat);
        let parsed = parsed.expect("shipped models are correct: a test parses each");
        CatModel { shipped: Some(model), ..parsed }
    }

    /// Which shipped model it is; `None` for a text of the user's.
    pub fn shipped_as(&self) -> Option<Model> {
        self.shipped
    }

    /// The name that it was loaded by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model calls itself, or its name.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Switches a variant on, as in `if "name" then …`.
    pub fn enable(&mut self, variant: &str) {
        self.variants.push(variant.to_owned());
        self.programs.get_mut().expect("no compilation panics").clear();
        self.facts = OnceLock::new();
    }

    /// Whether the model forbids every incoherent execution, that is, every cycle in po-loc | rf | co | fr. Such
    /// executions then need not be tried. False when the axioms do not show it plainly.
    pub fn implies_coherence(&self) -> bool {
        self.facts().coherence
    }

    /// Whether the model forbids rmw & (fre ; coe). False when the axioms do not show it plainly.
    pub fn implies_atomicity(&self) -> bool {
        self.facts().atomicity
    }

    /// Whether any answer depends on addr, data or ctrl.
    pub fn needs_dependencies(&self) -> bool {
        self.facts().dependencies
    }

    /// Whether the model forbids every cycle in po | rf. False when the axioms do not show it plainly.
    pub fn implies_porf_acyclicity(&self) -> bool {
        self.facts().porf
    }

    /// Whether some axiom requires something to be there (`~empty`, `~acyclic`). A part of a consistent execution
    /// then need not be consistent.
    pub fn demands(&self) -> bool {
        self.facts().demands
    }

    /// Whether the model chooses relations of its own (`with r from set`).
    pub fn chooses(&self) -> bool {
        self.facts().chooses
    }

    /// Whether the model speaks of accesses that are several events, because others access parts of the same bytes:
    /// it asks for `si`.
    pub fn takes_mixed_sizes(&self) -> bool {
        self.facts().mixed
    }

    fn facts(&self) -> Facts {
        *self.facts.get_or_init(|| match Program::compile(self, &Nominal) {
            Ok(program) => Facts {
                coherence: program.implies_coherence(),
                atomicity: program.implies_atomicity(),
                dependencies: DEPENDENCIES.iter().any(|name| program.uses(name)),
                porf: program.implies_porf_acyclicity(),
                demands: program.demands(),
                chooses: program.chooses(),
                mixed: MIXED_SIZES.iter().any(|name| program.uses(name)),
            },
            // The error comes up again when an execution is bound, and is reported then.
            Err(_) => Facts { dependencies: true, ..Facts::default() },
        })
    }

    /// The model compiled for executions that define the names that `structure` defines.
    pub(crate) fn program(&self, structure: &dyn Structure) -> Result<Arc<Program>, Diagnostic> {
        let mut programs = self.programs.lock().expect("no compilation panics");
        if let Some(program) = programs.iter().find(|program| program.fits(structure)) {
            return Ok(program.clone());
        }
        let program = Arc::new(Program::compile(self, structure)?);
        programs.push(program.clone());
        Ok(program)
    }

    fn assemble(
        name: &str,
        file: &str,
        source: &str,
        bell: Option<(String, String)>,
        directory: Option<PathBuf>,
    ) -> Result<CatModel, Diagnostic> {
        let main = Arc::new(parse(file, source)?);
        let title = main.header.last().cloned().unwrap_or_else(|| name.to_owned());
        let mut model = CatModel {
            shipped: None,
            name: name.to_owned(),
            title,
            main: main.clone(),
            bell: None,
            files: HashMap::new(),
            names: HashSet::new(),
            variants: vec!["lkmmv2".into()],
            programs: Mutex::new(Vec::new()),
            facts: OnceLock::new(),
        };
        model.add_builtin("stdlib.cat", None)?;
        if let Some((file, source)) = bell {
            let parsed = Arc::new(parse(&file, &source)?);
            model.add(&parsed.statements, directory.as_deref())?;
            model.bell = Some(parsed);
        }
        model.add(&main.statements, directory.as_deref())?;
        Ok(model)
    }

    fn add_builtin(&mut self, name: &str, directory: Option<&Path>) -> Result<bool, Diagnostic> {
        if self.files.contains_key(name) {
            return Ok(true);
        }
        let Some(source) = builtin::library(name) else { return Ok(false) };
        let parsed = Arc::new(parse(name, source)?);
        self.files.insert(name.to_owned(), parsed.clone());
        self.add(&parsed.statements, directory)?;
        Ok(true)
    }

    /// Reads what the statements include.
    fn add(&mut self, statements: &[Statement], directory: Option<&Path>) -> Result<(), Diagnostic> {
        names_in(statements, &mut self.names);
        let mut includes = Vec::new();
        collect_includes(statements, &mut includes);
        for (span, name) in includes {
            if self.files.contains_key(name) {
                continue;
            }
            let path = directory.map(|directory| directory.join(name)).filter(|path| path.is_file());
            match path {
                Some(path) if !builtin::PINNED.contains(&name) => {
                    let source =
                        fs::read_to_string(&path).map_err(|error| missing(&path, &error.to_string()))?;
                    let parsed = Arc::new(parse(&path.display().to_string(), &source)?);
                    self.files.insert(name.to_owned(), parsed.clone());
                    self.add(&parsed.statements, directory)?;
                }
                _ => {
                    if !self.add_builtin(name, directory)? {
                        let help = "it is neither beside the model nor one of the built-in files";
                        let message = format!("cannot find the included file `{name}`");
                        return Err(Diagnostic::new(span, message).help(help));
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn included(&self, _from: &Span, name: &str) -> Option<Arc<File>> {
        self.files.get(name).cloned()
    }

    /// The files that run, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &File> {
        [self.files.get("stdlib.cat"), self.bell.as_ref(), Some(&self.main)]
            .into_iter()
            .flatten()
            .map(|f| &**f)
    }

    pub(crate) fn names(&self) -> &HashSet<Name> {
        &self.names
    }

    pub(crate) fn variants(&self) -> &[String] {
        &self.variants
    }
}

/// An execution without events in which every name is defined. It shows what a model asks for.
struct Nominal;

const BASE_SETS: &[&str] = &["R", "W", "M", "IW"];
const BASE_RELATIONS: &[&str] = &["po", "loc", "int", "ext", "same-value"];
/// The two names of the relation between the events of one access.
const MIXED_SIZES: &[&str] = &["si", "sm"];
const DEPENDENCIES: &[&str] =
    &["addr", "data", "ctrl", "casdep", "pick-addr-dep", "pick-data-dep", "pick-ctrl-dep", "pick-dep"];

impl Structure for Nominal {
    fn len(&self) -> usize {
        0
    }

    fn set(&self, name: &str) -> Option<EventSet> {
        (self.kind(name) == Some(Kind::Set)).then(|| EventSet::empty(0))
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        (self.kind(name) == Some(Kind::Relation)).then(|| Relation::empty(0))
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        let relations = [BASE_RELATIONS, MIXED_SIZES, DEPENDENCIES, defaults::EMPTY_RELATIONS];
        if [BASE_SETS, defaults::EMPTY_SETS].concat().contains(&name) {
            Some(Kind::Set)
        } else {
            relations.concat().contains(&name).then_some(Kind::Relation)
        }
    }
}

fn collect_includes<'s>(statements: &'s [Statement], includes: &mut Vec<(&'s Span, &'s str)>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Include(name) => includes.push((&statement.span, name)),
            StatementKind::Procedure { body, .. } => collect_includes(body, includes),
            StatementKind::Forall { body, .. } => collect_includes(body, includes),
            StatementKind::If { then, otherwise, .. } => {
                collect_includes(then, includes);
                collect_includes(otherwise, includes);
            }
            StatementKind::Match { arms, otherwise, .. } => {
                arms.iter().for_each(|(_, body)| collect_includes(body, includes));
                otherwise.iter().for_each(|body| collect_includes(body, includes));
            }
            _ => {}
        }
    }
}

fn missing(path: &Path, reason: &str) -> Diagnostic {
    let span = Span { file: path.display().to_string().into(), line: 1, column: 1 };
    Diagnostic::new(&span, format!("cannot read the file: {reason}"))
}
