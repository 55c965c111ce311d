//! No certificate of an unsafe system is ever confirmed: not by a negated quantifier, not by a process too many, not
//! that of a safe sister, not random cubes, not random laws, not nothing at all.

mod generator;
mod seeds;

use generator::{Generator, Shape};
use porf_param::certificate::cube::{Cell, Cube, Drained, Late, Literal, Moment, Place};
use porf_param::certificate::{self, Certificate, Refusal, Solver};
use porf_param::explore::{Limits, explore};
use porf_param::law::{Count, Law, Witness};
use porf_param::system::{INT, System};
use porf_param::{Approximation, Memory, Request, load, prove};
use porf_verdict::Verdict;

fn z3() -> Vec<Solver> {
    let found: Vec<Solver> = Solver::installed().into_iter().filter(|s| s.name() == "z3").collect();
    if found.is_empty() {
        eprintln!("skipped: z3 is not installed");
    }
    found
}

fn cube(processes: u8, literals: Vec<Literal>) -> Cube {
    Cube { processes, literals, moments: Vec::new(), drained: Vec::new() }
}

/// `name[p] = value`, for process p of the cube.
fn is(system: &System, name: &str, process: u8, value: &str) -> Literal {
    let symbol = system.symbols.iter().position(|s| s.name == name).expect("a symbol");
    let at = system.constructors(system.symbols[symbol].ty).iter().position(|v| v == value);
    Literal::In(Place::Cell(Cell::new(symbol, &[process])), 1 << at.expect("a value"))
}

/// Is unsafe, and the certificate is not confirmed.
fn rejected(text: &str, cubes: impl FnOnce(&System) -> Vec<Cube>) {
    let solvers = z3();
    if solvers.is_empty() {
        return;
    }
    let system = load(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    let found = (1..=3).any(|n| explore(&system, Memory::Sc, n, Limits::default()).trace.is_some());
    assert!(found, "the system is safe:\n{text}");
    let certificate =
        Certificate { memory: Memory::Sc, robust: false, cubes: cubes(&system), laws: Vec::new() };
    let result = certificate::check(&system, Memory::Sc, &certificate, &solvers);
    assert!(matches!(result, Err(Refusal::Obligation(_))), "{result:?} for\n{text}");
}

#[test]
fn a_negated_universal_guard_names_a_process() {
    let text = "type loc = A | B | C\narray PC[proc] : loc\n\
        init (p) { PC[p] = A }\nunsafe (p) { PC[p] = C }\n\
        transition t1 (p) requires { PC[p] = A } { PC[p] := B }\n\
        transition t2 (p) requires { PC[p] = A && not (forall_other k. PC[k] = A) } { PC[p] := C }\n";
    rejected(text, |system| vec![cube(1, vec![is(system, "PC", 0, "C")])]);
}

#[test]
fn a_negated_universal_unsafe_formula_names_a_process() {
    let text = "type loc = A | B | C\narray PC[proc] : loc\n\
        init (p) { PC[p] = A }\nunsafe (p) { PC[p] = B && not (forall_other k. PC[k] = A) }\n\
        transition t1 (p) requires { PC[p] = A } { PC[p] := B }\n";
    rejected(text, |_| Vec::new());
}

/// A witness may be a process that has a name already: then there need not be one more, of which a universal guard
/// would ask the impossible.
#[test]
fn a_witness_need_not_be_a_process_more() {
    let text = "type loc = A | B\narray PC[proc] : loc\narray X[proc] : bool\nvar T : proc\n\
        init (p) { PC[p] = A && X[p] = True }\nunsafe (p q) { PC[p] = B && PC[q] = A }\n\
        transition t (p) requires { (exists_other k. X[k] = True) && (forall_other j. T = j) } { PC[p] := B }\n";
    rejected(text, |system| vec![cube(2, vec![is(system, "PC", 0, "B"), is(system, "PC", 1, "A")])]);
}

#[test]
fn what_the_prover_refuses_is_refused() {
    let text = "type loc = A | B\narray PC[proc] : loc\nvar X : bool\n\
        init (p) { PC[p] = A && X = False }\nunsafe (p) { PC[p] = B && X = True }\n\
        transition t (p) requires { PC[p] = A && (forall_other k. exists_other j. PC[j] = A) } { PC[p] := B }\n";
    let system = load(text).expect("a system");
    let empty = |memory| Certificate { memory, robust: false, cubes: Vec::new(), laws: Vec::new() };
    for memory in [Memory::Sc, Memory::Tso] {
        assert!(prove(&system, Request { memory, ..Request::default() }).is_err());
        let result = certificate::obligations(&system, memory, &empty(memory));
        assert!(matches!(result, Err(Refusal::System(_))), "{memory:?}");
    }
}

/// A cube over memory itself would not be closed under commits.
#[test]
fn memory_itself_is_no_part_of_a_cube() {
    let text = "type loc = A | B\narray PC[proc] : loc\nweak var X : bool\n\
        init (p) { PC[p] = A && X = False }\nunsafe (p) { PC[p] = B && p@X = False }\n\
        transition t ([p]) requires { PC[p] = A } { PC[p] := B; X := True }\n";
    let system = load(text).expect("a system");
    let memory = Literal::In(Place::Cell(Cell::new(1, &[])), 1);
    let cubes = vec![cube(0, vec![memory])];
    let certificate = Certificate { memory: Memory::Tso, robust: false, cubes, laws: Vec::new() };
    let result = certificate::obligations(&system, Memory::Tso, &certificate);
    assert!(matches!(result, Err(Refusal::Certificate(_))));
}

/// Random unsafe systems: 200, or 5,000 with `PORF_FULL=1`, each with all its certificates. `PORF_SEEDS=240-1000`
/// takes those of a range of seeds.
#[test]
fn no_certificate_of_an_unsafe_system_is_confirmed() {
    let solvers = z3();
    if solvers.is_empty() {
        return;
    }
    let range = seeds::asked_for();
    let wanted = match range {
        Some(_) => usize::MAX,
        None if std::env::var_os("PORF_FULL").is_some() => 5_000,
        None => 200,
    };
    let (mut systems, mut certificates, mut borrowed, mut robust) = (0, 0, 0, 0);
    for seed in range.clone().unwrap_or(0..u64::MAX) {
        if systems == wanted {
            break;
        }
        let shapes: Vec<Shape> = Shape::ALL.into_iter().chain(Shape::OF_ALL).collect();
        let text = Generator::new(seed).system(shapes[seed as usize % shapes.len()]);
        let system = load(&text).expect("a random system");
        for memory in Memory::BUFFERED.into_iter().filter(|memory| *memory == Memory::Sc || system.has_weak())
        {
            let limits = Limits { states: 3_000, buffer: 2, initial: 200, ..Limits::default() };
            if !(2..=3).any(|n| explore(&system, memory, n, limits).trace.is_some()) {
                continue;
            }
            systems += 1;
            let mut random = Generator::new(seed ^ 0xCE27);
            let mut tried: Vec<Certificate> = Vec::new();
            let weak = memory != Memory::Sc;
            let mut add = |robust, cubes, laws| tried.push(Certificate { memory, robust, cubes, laws });
            add(false, Vec::new(), Vec::new());
            add(weak, Vec::new(), Vec::new());
            for round in 0..4 {
                let cubes = (0..round + random.below(3)).map(|_| random_cube(&system, memory, &mut random));
                let cubes = cubes.collect();
                let laws = (0..random.below(3)).filter_map(|_| random_law(&system, &mut random)).collect();
                add(false, cubes, laws);
            }
            let sister = sister(&text, memory);
            borrowed += usize::from(sister.is_some());
            tried.extend(sister);
            // The system may be safe under sequential consistency, so that not being robust is all that is wrong.
            if weak {
                let (cubes, laws) = under_sc(&system);
                robust += usize::from(!cubes.is_empty());
                tried.push(Certificate { memory, robust: true, cubes, laws });
            }
            for certificate in tried {
                certificates += 1;
                match certificate::check(&system, memory, &certificate, &solvers) {
                    Err(Refusal::Obligation(_) | Refusal::Certificate(_)) => {}
                    other => panic!("seed {seed}, {memory:?}: {other:?} of {certificate:?}\n{text}"),
                }
            }
            if systems == wanted {
                break;
            }
        }
    }
    eprintln!(
        "{systems} unsafe systems, {certificates} certificates, {borrowed} of a safe sister, \
         {robust} of sequential consistency"
    );
    assert!(range.is_some() || robust > 0, "no system is safe under sequential consistency alone");
    assert!(range.is_some() || borrowed * 5 > systems, "hardly any sister is safe: {borrowed} of {systems}");
}

/// The cubes that prove a version of the system that lacks one transition, so that it is safe.
fn sister(text: &str, memory: Memory) -> Option<Certificate> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).rev().filter(|at| lines[*at].starts_with("transition")).find_map(|left_out| {
        let mut less = lines.clone();
        less.remove(left_out);
        let system = load(&less.join("\n")).ok()?;
        let request = Request {
            memory,
            approximation: Approximation::Auto,
            max_nodes: 60,
            max_work: 3_000_000,
            certifiable: true,
            ..Request::default()
        };
        let answer = prove(&system, request).ok()?;
        match answer.verdict {
            Verdict::Safe(_) => certificate::of(memory, &answer),
            _ => None,
        }
    })
}

/// The proof under sequential consistency, if there is one.
fn under_sc(system: &System) -> (Vec<Cube>, Vec<Law>) {
    let memory = Memory::Sc;
    let request =
        Request { memory, max_nodes: 60, max_work: 3_000_000, certifiable: true, ..Request::default() };
    let answer = prove(system, request).expect("a system");
    let found = certificate::of(memory, &answer).expect("no reads");
    (found.cubes, found.laws)
}

/// A law over symbols that it may be about, if the system has such.
fn random_law(system: &System, random: &mut Generator) -> Option<Law> {
    let values = |symbol: usize| system.constructors(system.symbols[symbol].ty).len();
    let pick = |random: &mut Generator, dims: usize, enumerated: bool| {
        let fits = |at: &usize| {
            let symbol = &system.symbols[*at];
            symbol.dims == dims && if enumerated { values(*at) > 0 } else { symbol.ty == INT }
        };
        let symbols: Vec<usize> = (0..system.symbols.len()).filter(fits).collect();
        (!symbols.is_empty()).then(|| symbols[random.below(symbols.len())])
    };
    let array = pick(random, 1, true)?;
    if random.below(2) == 0
        && let Some(counter) = pick(random, 0, false)
    {
        // Mostly right at the start.
        let mut weights: Vec<i64> = (0..values(array)).map(|_| random.below(3) as i64 - 1).collect();
        weights[0] = if random.below(6) == 0 { weights[0] } else { 0 };
        let counters = vec![(counter, 1)];
        return Some(Law::Count(Count { counters, flags: Vec::new(), array, weights, total: 0 }));
    }
    let variable = pick(random, 0, true)?;
    let (value, set) = (random.below(values(variable)), 1 + random.below((1 << values(array)) - 1));
    Some(Law::Witness(Witness { variable, values: 1 << value, array, set: set as u64 }))
}

/// A cube of at most two literals over two processes, with a moment for each where memory is weak.
fn random_cube(system: &System, memory: Memory, random: &mut Generator) -> Cube {
    let held = |symbol: usize| {
        memory != Memory::Sc
            && system.symbols[symbol].weak
            && (system.transitions.iter())
                .any(|t| !t.locked && t.updates.iter().any(|update| update.symbol == symbol))
    };
    let symbols: Vec<usize> = (0..system.symbols.len())
        .filter(|symbol| !system.constructors(system.symbols[*symbol].ty).is_empty())
        .collect();
    let mut literals = Vec::new();
    let mut reads: Vec<Cell> = Vec::new();
    for _ in 0..1 + random.below(2) {
        let symbol = symbols[random.below(symbols.len())];
        let indices: Vec<u8> = (0..system.symbols[symbol].dims).map(|_| random.below(2) as u8).collect();
        let cell = Cell::new(symbol, &indices);
        let values = system.constructors(system.symbols[symbol].ty).len();
        let set = 1 << random.below(values);
        if held(symbol) {
            reads.push(cell);
            literals.push(Literal::In(Place::Read(random.below(2) as u8, cell), set));
        } else {
            literals.push(Literal::In(Place::Cell(cell), set));
        }
    }
    if reads.is_empty() {
        return cube(2, literals);
    }
    let moment = |process: u8, random: &mut Generator| Moment {
        process,
        before: if random.below(3) == 0 { vec![1 - process] } else { Vec::new() },
        late: if random.below(6) == 0 {
            vec![Late { location: reads[0], after: vec![1 - process] }]
        } else {
            Vec::new()
        },
    };
    let moments = vec![moment(0, random), moment(1, random)];
    let drained = (0..random.below(3))
        .map(|_| Drained {
            process: random.below(2) as u8,
            location: (random.below(2) == 0).then(|| reads[0]),
            by: vec![random.below(2) as u8],
        })
        .collect();
    Cube { processes: 2, literals, moments, drained }
}

/// The counter of a reader–writer lock that readers do not look at: its law holds, and the lock is wrong all the same.
/// A law that does not hold is rejected for itself.
#[test]
fn a_law_is_proved_or_rejected() {
    let solvers = z3();
    if solvers.is_empty() {
        return;
    }
    let file = |name: &str| {
        let path = format!("{}/../../corpus/prove/{name}", env!("CARGO_MANIFEST_DIR"));
        load(&std::fs::read_to_string(path).expect("a system of the corpus")).expect("a system")
    };
    for (right, wrong) in
        [("rw-counter.cub", "rw-counter-careless.cub"), ("german-data.cub", "german-data-stale.cub")]
    {
        let (right, wrong) = (file(right), file(wrong));
        // Candidates make a small certificate.
        let request = Request {
            memory: Memory::Sc,
            approximation: Approximation::Always,
            certifiable: true,
            ..Request::default()
        };
        let answer = prove(&right, request).expect("an answer");
        assert!(!answer.laws.is_empty(), "proved by a law");
        let whole = certificate::of(Memory::Sc, &answer).expect("a certificate");
        let result = certificate::check(&wrong, Memory::Sc, &whole, &solvers);
        assert!(matches!(result, Err(Refusal::Obligation(_))), "{result:?}");
        let less = Certificate { laws: Vec::new(), ..whole.clone() };
        let result = certificate::check(&right, Memory::Sc, &less, &solvers);
        assert!(matches!(result, Err(Refusal::Obligation(_))), "without its law: {result:?}");
        let mut other = whole.clone();
        for law in &mut other.laws {
            match law {
                Law::Count(count) => count.total += 1,
                Law::Witness(witness) => witness.set = !witness.set & 3,
            }
        }
        let result = certificate::check(&right, Memory::Sc, &other, &solvers);
        assert!(matches!(&result, Err(Refusal::Obligation(why)) if why.contains("law")), "{result:?}");
    }
}
