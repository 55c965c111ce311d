//! Random tests in C: atomic accesses of every order, fences, read-modify-writes, branches.
//!
//! A test is a function of its seed. It is small enough for brute force: at most four threads, nine accesses and
//! four writes to a variable, whose orders are all tried. All accesses are atomic, so that none has a data race.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A generator of numbers (xorshift*): the same ones everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const READ: [&str; 4] = ["relaxed", "relaxed", "acquire", "seq_cst"];
const WRITE: [&str; 4] = ["relaxed", "relaxed", "release", "seq_cst"];
const BOTH: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const FENCE: [&str; 4] = ["acquire", "release", "acq_rel", "seq_cst"];

/// How many writes a variable may have.
const MOST_WRITES: usize = 4;

/// The test with a number. It asks about registers and final memory.
pub fn random_c(seed: u64) -> super::Test {
    written(seed, true)
}

/// The same test, asking about registers only; `None` if it reads nothing.
pub fn random_c_registers(seed: u64) -> Option<super::Test> {
    let test = written(seed, false);
    (!test.text.contains("exists ()")).then_some(test)
}

fn written(seed: u64, memory: bool) -> super::Test {
    let random = &mut Random::new(seed);
    let threads = random.pick(&[2, 2, 2, 3, 3, 4]);
    let variables: &[&str] = random.pick(&[&["x", "y"][..], &["x", "y"], &["x"], &["x", "y", "z"]]);
    let name = format!("random-{seed}");
    let mut text = format!("C {name}\n{{}}\n");
    let mut observed: Vec<(String, usize)> = Vec::new();
    let mut left = 9 - threads;
    let mut writes = BTreeMap::new();
    for thread in 0..threads {
        let parameters: Vec<String> = variables.iter().map(|name| format!("atomic_int *{name}")).collect();
        let _ = write!(text, "\nP{thread}({}) {{\n", parameters.join(", "));
        let count = 1 + random.below(left.min(3) + 1).min(left);
        left -= count - 1;
        let mut registers = 0;
        for _ in 0..count {
            let variable = random.pick(variables);
            let value = 1 + random.below(2);
            let register = format!("r{registers}");
            let kind = random.below(12);
            let written = writes.entry(variable).or_insert(0);
            let reads_only = *written == MOST_WRITES && kind != 6;
            *written += usize::from(!reads_only && kind >= 4 && kind != 6);
            match if reads_only { 0 } else { kind } {
                0..4 => {
                    let order = random.pick(&READ);
                    let _ = writeln!(
                        text,
                        "  int {register} = atomic_load_explicit({variable}, memory_order_{order});"
                    );
                    observed.push((format!("{thread}:{register}"), random.below(3)));
                    registers += 1;
                }
                4 | 5 => {
                    let (order, operation) = (random.pick(&BOTH), random.pick(&["fetch_add", "exchange"]));
                    let _ = writeln!(
                        text,
                        "  int {register} = atomic_{operation}_explicit({variable}, {value}, memory_order_{order});"
                    );
                    observed.push((format!("{thread}:{register}"), random.below(3)));
                    registers += 1;
                }
                6 => {
                    let _ = writeln!(text, "  atomic_thread_fence(memory_order_{});", random.pick(&FENCE));
                }
                kind => {
                    let order = random.pick(&WRITE);
                    let store = format!("atomic_store_explicit({variable}, {value}, memory_order_{order});");
                    if kind == 7 && registers > 0 {
                        let _ = writeln!(text, "  if (r{}) {{\n    {store}\n  }}", random.below(registers));
                    } else {
                        let _ = writeln!(text, "  {store}");
                    }
                }
            }
        }
        text.push_str("}\n");
    }
    let finals: Vec<(String, usize)> =
        variables.iter().map(|name| (name.to_string(), random.below(3))).collect();
    if memory {
        observed.extend(finals);
    }
    let atoms: Vec<String> = observed.iter().map(|(what, value)| format!("{what}={value}")).collect();
    // Some of what is observed is asked for, all of it is shown.
    let asked = 1 + random.below(3);
    let _ = write!(text, "\nlocations [");
    observed.iter().for_each(|(what, _)| {
        let _ = write!(text, "{what}; ");
    });
    let _ = write!(text, "]\nexists ({})\n", atoms[..asked.min(atoms.len())].join(" /\\ "));
    super::Test { name, text }
}
