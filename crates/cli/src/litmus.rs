//! A litmus test, a model, an engine: the answer.

use porf_cat::Model as CatModel;
use porf_event::{Dialect, Location, ThreadId};
use porf_explore::{Equivalence, Visit};
use porf_frontend_litmus::{Collector, LitmusTest, Observable, Outcome};
use porf_oracle::{CatJudge, Execution};
use porf_report::litmus::Facts;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// What enumerates the executions of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Brute force over candidate executions.
    Oracle { unroll: u32 },
    /// Each execution once; brute force for the models that the search cannot treat.
    Explore { unroll: u32 },
}

/// What a model says of a test.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// Flags raised, with the number of executions.
    pub flags: Vec<(String, u64)>,
    /// What enumerated the executions: `explore` or `oracle`.
    pub engine: &'static str,
}

/// A memory model: one of ours, or a user's cat file.
pub struct Model {
    name: String,
    cat: CatModel,
    shipped: bool,
}

/// The model that a test is meant for, where none is asked for.
pub fn default_model(test: &LitmusTest) -> &'static Model {
    static MODELS: OnceLock<BTreeMap<&'static str, Model>> = OnceLock::new();
    let name = match test.dialect {
        Dialect::C if is_kernel_code(&test.text) => "lkmm",
        Dialect::C => "rc11",
        Dialect::AArch64 => "armv8",
        Dialect::Arm => "armv7",
        Dialect::Ppc => "power",
        Dialect::RiscV => "riscv",
        Dialect::X86 => "tso",
    };
    let models = MODELS.get_or_init(|| {
        let names = ["lkmm", "rc11", "armv8", "armv7", "power", "riscv", "tso"];
        names.into_iter().map(|name| (name, Model::load(name).expect("a shipped model"))).collect()
    });
    &models[name]
}

/// All executions of a test that a model allows.
pub fn answer(test: &LitmusTest, model: &Model, engine: Engine) -> Result<Answer, String> {
    let unroll = match engine {
        Engine::Oracle { unroll } => unroll,
        Engine::Explore { unroll } => match model.fast().filter(|_| is_explored(test, model)) {
            // What the search cannot do, brute force may.
            Some(fast) if matches!(test.dialect, Dialect::AArch64 | Dialect::RiscV) => {
                match explored(test, fast, unroll) {
                    Ok(Some(answer)) => return Ok(answer),
                    _ => unroll,
                }
            }
            Some(fast) => match explored(test, fast, unroll)? {
                Some(answer) => return Ok(answer),
                None => unroll,
            },
            None => match woven(test, model, unroll) {
                Ok(answer) => return Ok(answer),
                Err(_) => unroll,
            },
        },
    };
    let mut judge = CatJudge::new(&model.cat);
    let mut collector = Collector::new(test);
    let mut flags: BTreeMap<String, u64> = BTreeMap::new();
    porf_oracle::enumerate(&test.program, &mut judge, unroll, |execution, judge| {
        collector.add(|observable| observe(test, execution, observable));
        if judge.outcome().flags != 0 {
            for flag in judge.flags() {
                *flags.entry(flag).or_default() += 1;
            }
        }
        if judge.outcome().undefined {
            // The shipped models leave nothing undefined but races.
            let name = if model.shipped { "data-race" } else { "undefined" };
            *flags.entry(name.to_string()).or_default() += 1;
        }
        true
    })
    .map_err(|refusal| refusal.to_string())?;
    match judge.error() {
        Some(diagnostic) => Err(diagnostic.to_string()),
        None => {
            Ok(Answer { outcome: collector.finish(), flags: flags.into_iter().collect(), engine: "oracle" })
        }
    }
}

/// The same by exploration, for models that are known by their cat text.
fn woven(test: &LitmusTest, model: &Model, unroll: u32) -> Result<Answer, porf_explore::Error> {
    let mut collector = Collector::new(test);
    let mut flags: BTreeMap<String, u64> = BTreeMap::new();
    let mut fault = None;
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                collector.add(|observable| seen(execution, observable));
                for flag in execution.flags() {
                    // The shipped models leave nothing undefined but races.
                    let name = if model.shipped && flag == "undefined" { "data-race" } else { flag };
                    *flags.entry(name.to_string()).or_default() += 1;
                }
            }
            Visit::Fault(_, found) | Visit::Memory(_, found, ..) => {
                fault = Some(found.message.clone());
                return ControlFlow::Break(());
            }
            Visit::Blocked(_) | Visit::Working(_) | Visit::Race(..) => {}
        }
        ControlFlow::Continue(())
    };
    let options = porf_explore::Options { unroll: Some(unroll), ..Default::default() };
    porf_explore::explore_cat(&test.program, &model.cat, &options, &mut visitor)?;
    match fault {
        Some(fault) => Err(porf_explore::Error::Unsupported(fault)),
        None => {
            Ok(Answer { outcome: collector.finish(), flags: flags.into_iter().collect(), engine: "explore" })
        }
    }
}

/// What an observable is at the end of an execution.
fn seen(execution: &porf_explore::Execution<'_, '_>, observable: &Observable) -> u64 {
    match observable {
        Observable::Register { thread, reg, .. } => execution.state(ThreadId(*thread as u16)).register(*reg),
        Observable::Location { address, size, .. } => execution.memory(*address, *size),
    }
}

/// Whether the fast checkers speak of the events of a test: those of C11, and x86's, whose accesses and
/// fences they read as the cat files do, and those of the machine whose model it is. In other languages a fence
/// or an exclusive access has a meaning that only the cat files know.
fn is_explored(test: &LitmusTest, model: &Model) -> bool {
    match test.dialect {
        Dialect::C => !is_kernel_code(&test.text),
        Dialect::X86 => true,
        Dialect::AArch64 => model.name == "armv8",
        Dialect::RiscV => model.name == "riscv",
        _ => false,
    }
}

/// The same by exploration; `None` if the explorer cannot treat the test.
fn explored(test: &LitmusTest, model: porf_explore::Model, unroll: u32) -> Result<Option<Answer>, String> {
    let mut collector = Collector::new(test);
    let (mut races, mut fault) = (0, None);
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                races += u64::from(execution.has_race());
                collector.add(|observable| seen(execution, observable));
            }
            Visit::Fault(_, found) | Visit::Memory(_, found, ..) => {
                fault = Some(found.message.clone());
                return ControlFlow::Break(());
            }
            Visit::Blocked(_) | Visit::Working(_) | Visit::Race(..) => {}
        }
        ControlFlow::Continue(())
    };
    let options = porf_explore::Options { unroll: Some(unroll), ..Default::default() };
    match porf_explore::explore(&test.program, model, Equivalence::Mo, &options, &mut visitor) {
        Ok(_) => {}
        Err(porf_explore::Error::Unsupported(_)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let flags = if races > 0 { vec![("data-race".to_string(), races)] } else { Vec::new() };
    Ok(Some(Answer { outcome: collector.finish(), flags, engine: "explore" }))
}

impl Answer {
    pub fn facts(&self) -> Facts<'_> {
        Facts { outcome: &self.outcome, flags: &self.flags, engine: self.engine }
    }
}

impl Model {
    /// A shipped model by name, or a cat file by path.
    pub fn load(name: &str) -> Result<Model, String> {
        if let Some(cat) = CatModel::builtin(name) {
            return Ok(Model { name: name.to_string(), cat, shipped: true });
        }
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "cat") && !path.is_file() {
            let known: Vec<&str> = porf_cat::models().iter().map(|entry| entry.name).collect();
            return Err(format!(
                "no model '{name}': give the path of a cat file or one of {}",
                known.join(", ")
            ));
        }
        let cat = CatModel::load(path).map_err(|diagnostic| diagnostic.to_string())?;
        let stem = path.file_stem().map_or(name.to_string(), |stem| stem.to_string_lossy().into_owned());
        Ok(Model { name: stem, cat, shipped: false })
    }

    /// A model from the text of a cat file.
    pub fn parse(name: &str, text: &str) -> Result<Model, String> {
        let cat = CatModel::parse(name, text).map_err(|diagnostic| diagnostic.to_string())?;
        Ok(Model { name: name.to_string(), cat, shipped: false })
    }

    /// Whether the explorer has a checker for it.
    pub fn is_fast(&self) -> bool {
        self.fast().is_some()
    }

    pub(crate) fn cat(&self) -> &CatModel {
        &self.cat
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fast checker for the same axioms, if there is one that sees co.
    fn fast(&self) -> Option<porf_explore::Model> {
        let fast = if self.shipped { self.name.parse().ok() } else { None };
        fast.filter(|model| *model != porf_explore::Model::Wrc11)
    }
}

fn observe(test: &LitmusTest, execution: &Execution<'_, '_>, observable: &Observable) -> u64 {
    match observable {
        Observable::Register { thread, reg, .. } => execution.register(*thread, *reg),
        Observable::Location { address, size, .. } => execution
            .memory(Location(*address))
            .unwrap_or_else(|| test.program.initial_value(*address, *size)),
    }
}

/// Whether C code uses the Linux kernel's primitives rather than C11's.
fn is_kernel_code(text: &str) -> bool {
    let words = [
        "READ_ONCE",
        "WRITE_ONCE",
        "smp_",
        "rcu_",
        "spin_",
        "xchg",
        "atomic_add",
        "atomic_sub",
        "atomic_inc",
        "atomic_dec",
        "atomic_read",
        "atomic_set",
    ];
    words.iter().any(|word| text.contains(word)) && !text.contains("memory_order")
}
