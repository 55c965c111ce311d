//! A litmus test, a model, an engine: the answer.

mod against;
mod executions;

pub use against::{TestDifference, difference};
pub use executions::{TestExecution, TestExecutions, executions};

use crate::question::observe;
use crate::{Error, mapping};
use porf_cat::CatModel;
use porf_event::{Access, Dialect, EventId, Label, Location};
use porf_explore::{Equivalence, Visit, Visitor};
use porf_frontend_litmus::{Collector, LitmusTest, Observable, Outcome};
use porf_model::{CheckedBy, Language, Machine, Model};
use porf_oracle::{CandidateExecution, CatJudge, Refusal};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// What enumerates the executions of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Brute force over candidate executions.
    Oracle {
        /// How often a loop may go round.
        unroll: u32,
    },
    /// Each execution once; brute force for the models that the search cannot treat.
    Explore {
        /// How often a loop may go round.
        unroll: u32,
    },
}

/// What a model says of a test.
#[derive(Clone, Debug)]
pub struct TestAnswer {
    /// The final states, and what they say of the condition.
    pub outcome: Outcome,
    /// Flags that the model raised, with the number of executions.
    pub flags: Vec<(String, u64)>,
    /// What enumerated the executions: `explore` or `oracle`.
    pub engine: &'static str,
    /// The machine that a C test was compiled to for the model.
    pub compiled: Option<Machine>,
}

/// A memory model by its axioms: one of ours, or a user's cat file.
pub struct Axioms {
    name: String,
    cat: CatModel,
    /// Whether C tests are compiled to the machine of the model.
    compiles: bool,
}

/// Reads a litmus test; `name` is for messages.
pub fn parse_litmus(name: &str, text: &str) -> Result<LitmusTest, Error> {
    Ok(porf_frontend_litmus::parse(name, text)?)
}

/// All executions of a test that a model allows.
///
/// A C test under the model of a machine is compiled to it first, as [`verify`](crate::verify) does.
pub fn litmus(test: &LitmusTest, model: &Axioms, engine: Engine) -> Result<TestAnswer, Error> {
    let is_memory = |observable: &Observable| matches!(observable, Observable::Location { .. });
    if !model.orders_writes() && test.observables().iter().any(is_memory) {
        return Err(crate::question::no_last_write());
    }
    let Some(machine) = model.reading(test)? else { return answer(test, model, engine) };
    let mut compiled = test.clone();
    compiled.program = mapping::compile_to(&test.program, machine)?;
    compiled.dialect = machine.dialect();
    Ok(TestAnswer { compiled: Some(machine), ..answer(&compiled, model, engine)? })
}

fn answer(test: &LitmusTest, model: &Axioms, engine: Engine) -> Result<TestAnswer, Error> {
    match engine {
        Engine::Oracle { unroll } => enumerated(test, model, unroll),
        Engine::Explore { unroll } => match explored(test, model, unroll)? {
            Some(answer) => Ok(answer),
            // What the search cannot do, brute force may.
            None => enumerated(test, model, unroll),
        },
    }
}

/// Brute force.
fn enumerated(test: &LitmusTest, model: &Axioms, unroll: u32) -> Result<TestAnswer, Error> {
    let mut judge = CatJudge::new(&model.cat);
    let mut collected = Collected::new(test, model);
    let mut seen = HashSet::new();
    porf_oracle::enumerate(&test.program, &mut judge, unroll, |execution, judge| {
        if model.equivalence() == Equivalence::Rf {
            let events = execution.candidate.events.iter();
            let labels: Vec<(EventId, Label)> = events.map(|event| (event.id, event.label)).collect();
            if !seen.insert((labels, execution.rf.to_vec())) {
                return true;
            }
        }
        collected.collector.add(|observable| observe_candidate(test, execution, observable));
        if judge.outcome().flags != 0 {
            judge.flags().iter().for_each(|flag| collected.flag(flag));
        }
        if judge.outcome().undefined {
            collected.flag(UNDEFINED);
        }
        true
    })
    .map_err(|refusal| refused(refusal, model))?;
    match judge.error() {
        Some(diagnostic) => Err(Error::Unsupported(diagnostic.to_string())),
        None => Ok(collected.finish("oracle")),
    }
}

fn refused(refusal: Refusal, model: &Axioms) -> Error {
    let message = match refusal {
        Refusal::MixedSizes => {
            let name = model.name();
            format!("the model '{name}' does not say what accesses of different sizes to the same bytes mean")
        }
        other => other.to_string(),
    };
    Error::Unsupported(message)
}

/// The same by exploration; `None` if the explorer cannot treat the test.
fn explored(test: &LitmusTest, model: &Axioms, unroll: u32) -> Result<Option<TestAnswer>, Error> {
    if test.mixed {
        return Ok(None);
    }
    let options = porf_explore::Options {
        unroll: Some(unroll),
        // Executions are counted here.
        reductions: porf_explore::Reductions::NONE,
        ..Default::default()
    };
    let mut collected = Collected::new(test, model);
    let fast = model.shipped_as().filter(|model| is_explored(test, *model));
    let ended = match fast {
        Some(fast) => {
            porf_explore::explore(&test.program, fast, model.equivalence(), &options, &mut collected)
        }
        None => porf_explore::explore_cat(&test.program, &model.cat, &options, &mut collected),
    };
    // Of C and x86 the explorer knows all that brute force knows: what is wrong there is wrong.
    let is_last_word = fast.is_some() && matches!(test.dialect, Dialect::C | Dialect::X86);
    match (ended, collected.fault.take()) {
        (Ok(_), None) => Ok(Some(collected.finish("explore"))),
        (Err(porf_explore::Error::Unsupported(_)), _) => Ok(None),
        (Err(error), _) if is_last_word => Err(Error::Explore(error)),
        (Ok(_), Some(fault)) if is_last_word => Err(Error::Unsupported(fault)),
        _ => Ok(None),
    }
}

/// Whether the fast checkers speak of the events of a test: those of C11, and x86's, whose accesses and
/// fences they read as the cat files do, and those of the machine whose model it is. In other languages a fence
/// or an exclusive access has a meaning that only the cat files know.
fn is_explored(test: &LitmusTest, model: Model) -> bool {
    match test.language() {
        Language::C | Language::X86 => true,
        Language::Kernel => false,
        own => model.entry().checked == CheckedBy::Code && model.entry().languages == [own],
    }
}

/// What a cat model calls an execution that has no meaning.
const UNDEFINED: &str = "undefined";

/// The executions of a test, collected.
struct Collected<'t> {
    collector: Collector<'t>,
    test: &'t LitmusTest,
    is_shipped: bool,
    flags: BTreeMap<String, u64>,
    fault: Option<String>,
}

impl<'t> Collected<'t> {
    fn new(test: &'t LitmusTest, model: &Axioms) -> Collected<'t> {
        let is_shipped = model.shipped_as().is_some();
        Collected { collector: Collector::new(test), test, is_shipped, flags: BTreeMap::new(), fault: None }
    }

    fn flag(&mut self, flag: &str) {
        // The shipped models leave nothing undefined but races.
        let name = if self.is_shipped && flag == UNDEFINED { "data-race" } else { flag };
        *self.flags.entry(name.to_string()).or_default() += 1;
    }

    fn finish(self, engine: &'static str) -> TestAnswer {
        TestAnswer {
            outcome: self.collector.finish(),
            flags: self.flags.into_iter().collect(),
            engine,
            compiled: None,
        }
    }
}

impl Visitor for Collected<'_> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        match visit {
            Visit::Complete(execution) => {
                self.collector.add(|observable| observe(execution, observable));
                execution.flags().iter().filter(|flag| *flag != UNDEFINED).for_each(|flag| self.flag(flag));
                if execution.has_race() {
                    self.flag(UNDEFINED);
                }
            }
            Visit::Fault(_, found) | Visit::Memory(_, found, ..) => {
                self.fault = Some(found.message.clone());
                return ControlFlow::Break(());
            }
            Visit::Anew(_) => {
                self.collector = Collector::new(self.test);
                self.flags.clear();
            }
            Visit::Blocked(_) | Visit::Working(_) | Visit::Race(..) => {}
        }
        ControlFlow::Continue(())
    }
}

impl Axioms {
    /// A shipped model by name, or a cat file by path.
    pub fn load(name: &str) -> Result<Axioms, Error> {
        if let Ok(model) = name.parse() {
            return Ok(Axioms::shipped(model));
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "cat") && !path.is_file() {
            let known: Vec<&str> = Model::all().map(Model::name).collect();
            return Err(Error::Input(format!(
                "no model '{name}': give the path of a cat file or one of {}",
                known.join(", ")
            )));
        }
        let cat = CatModel::load(path)?;
        let stem = path.file_stem().map_or(name.to_string(), |stem| stem.to_string_lossy().into_owned());
        Ok(Axioms { name: stem, cat, compiles: false })
    }

    /// A model that ships with Porf.
    pub fn of(model: Model) -> &'static Axioms {
        static SHIPPED: OnceLock<Vec<OnceLock<Axioms>>> = OnceLock::new();
        let all = SHIPPED.get_or_init(|| Model::all().map(|_| OnceLock::new()).collect());
        all[model as usize].get_or_init(|| Axioms::shipped(model))
    }

    /// The model that a test is meant for, where none is asked for.
    pub fn default_for(test: &LitmusTest) -> &'static Axioms {
        Axioms::of(Model::default_for(test.language()))
    }

    /// A model from the text of a cat file.
    pub fn parse(name: &str, text: &str) -> Result<Axioms, Error> {
        let cat = CatModel::parse(name, text)?;
        Ok(Axioms { name: name.to_string(), cat, compiles: false })
    }

    /// The same model, but it takes C tests as they stand where it speaks of C: accesses are plain accesses of the
    /// machine, and seq_cst fences are full fences. That is how herd takes them.
    pub fn uncompiled(self) -> Axioms {
        Axioms { compiles: false, ..self }
    }

    /// How it takes a test: see [`mapping::reading`]. A user's own model takes every test as it stands.
    fn reading(&self, test: &LitmusTest) -> Result<Option<Machine>, Error> {
        match self.shipped_as() {
            None => Ok(None),
            Some(model) if !self.compiles && model.entry().languages.contains(&test.language()) => Ok(None),
            Some(model) => mapping::reading(test, model),
        }
    }

    /// Its name on the command line, or that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn shipped_as(&self) -> Option<Model> {
        self.cat.shipped_as()
    }

    fn shipped(model: Model) -> Axioms {
        Axioms { name: model.name().to_string(), cat: CatModel::shipped(model), compiles: true }
    }

    /// Whether the writes to a location are in one order. In a text of the user's, they are.
    fn orders_writes(&self) -> bool {
        self.shipped_as().is_none_or(Model::orders_writes)
    }

    /// When two executions of a test count as the same: without an order of all writes, if they agree on rf.
    fn equivalence(&self) -> Equivalence {
        if self.orders_writes() { Equivalence::Mo } else { Equivalence::Rf }
    }
}

fn observe_candidate(
    test: &LitmusTest,
    execution: &CandidateExecution<'_, '_>,
    observable: &Observable,
) -> u64 {
    match observable {
        Observable::Register { thread, reg, .. } => execution.register(*thread, *reg),
        Observable::Location { address, size, .. } => {
            execution.memory(&test.program, Access { location: Location(*address), size: *size })
        }
    }
}
