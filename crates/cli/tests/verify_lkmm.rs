//! Kernel code under the Linux-kernel model: litmus tests as C programs with `lkmm.h`.
//!
//! Every test of the tree that can be written so becomes a function for each thread and one that runs
//! them and asserts that the proposition does not hold. The expectations are those of the litmus tests.

use porf::{Axioms, Engine, litmus};
use porf_corpus::words::{replace_word, word_positions};
use porf_frontend_litmus::parse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is about the end of a control dependency, which programs do not have: a store after it is refused.
const REFUSED: [&str; 1] = ["ctrl-end"];

#[test]
fn c_programs_do_what_the_litmus_tests_say() {
    let corpus = porf_corpus::expected::folder("litmus/lkmm");
    let expected: BTreeMap<String, BTreeMap<String, String>> = porf_corpus::expected::expected("litmus/lkmm");
    let mut source = String::from("#include <assert.h>\n#include <pthread.h>\n#include <lkmm.h>\n");
    let mut tests = Vec::new();
    for name in expected.keys() {
        let text = std::fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
        if let Some(program) = program(&text, tests.len()) {
            source.push_str(&program);
            tests.push(name);
        }
    }
    assert!(tests.len() >= 150, "only {} of {} tests are C programs", tests.len(), expected.len());
    let directory = Directory::new("litmus");
    let file = compile(&directory.0, &source);
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    let lkmm = Axioms::load("lkmm").unwrap();
    let full = std::env::var_os("PORF_FULL").is_some();
    for (index, name) in tests.iter().enumerate() {
        if !full && index % 2 == 1 {
            continue;
        }
        let observation = &expected[*name]["lkmm"];
        let output = verify(&file, &["--entry", &format!("test{index}")]);
        // What the model flags, races above all, is a violation of a program.
        let text = std::fs::read_to_string(corpus.join(format!("{name}.litmus"))).unwrap();
        let flags = litmus(&parse(name, &text).unwrap(), &lkmm, Engine::Explore { unroll: 2 }).unwrap().flags;
        let code = if observation == "Never" && flags.is_empty() { 0 } else { 1 };
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if message.contains("not supported") {
            refused.push(name);
        } else if output.status.code() != Some(code) {
            let out = String::from_utf8_lossy(&output.stdout).into_owned();
            wrong.push(format!("{name}: {observation}, but {:?} {message}{out}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    refused.retain(|name| !REFUSED.contains(&name.as_str()));
    assert!(refused.is_empty(), "{refused:?}");
}

/// A test as C functions whose names end in its index; `None` if it has pointers to pointers or initial values.
fn program(text: &str, index: usize) -> Option<String> {
    let initial = text.split_once('{')?.1.split_once('}')?.0;
    if initial.replace("=0", "").contains('=') {
        return None;
    }
    let mut out = String::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    let (mut threads, mut count) = (String::new(), 0);
    let parts = text.split("\nP").skip(1).filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    for (thread, part) in parts.enumerate() {
        let (head, rest) = part.split_once('{')?;
        let (body, _) = rest.split_once("\n}")?;
        let parameters = head.split_once('(')?.1.rsplit_once(')')?.0;
        let mut declarations = String::new();
        for parameter in parameters.split(',') {
            let (kind, name) = parameter.trim().split_once('*')?;
            let (kind, name) = (kind.trim().to_string(), name.trim().to_string());
            if name.contains('*') {
                return None;
            }
            let _ = writeln!(declarations, "    {kind} *{name} = &g{index}_{name};");
            if !variables.iter().any(|(_, known)| *known == name) {
                variables.push((kind, name));
            }
        }
        let mut results = String::new();
        for register in (0..10).map(|number| format!("r{number}")) {
            if word_positions(body, &register).next().is_some() {
                if !body.contains(&format!("int {register}")) && !body.contains(&format!("*{register}")) {
                    let _ = writeln!(declarations, "    int {register} = 0;");
                }
                let _ = writeln!(out, "static long o{index}_{thread}_{register};");
                let _ = writeln!(results, "    o{index}_{thread}_{register} = {register};");
            }
        }
        let _ = writeln!(
            threads,
            "static void *t{index}_{thread}(void *unused) {{\n{declarations}{body}\n{results}    return 0;\n}}"
        );
        count += 1;
    }
    for (kind, variable) in &variables {
        let _ = writeln!(out, "static {kind} g{index}_{variable};");
    }
    let proposition = proposition(text, index, &variables)?;
    let _ = write!(out, "{threads}int test{index}(void) {{\n    pthread_t t[{count}];\n");
    for thread in 0..count {
        let _ = writeln!(out, "    pthread_create(&t[{thread}], 0, t{index}_{thread}, 0);");
    }
    for thread in 0..count {
        let _ = writeln!(out, "    pthread_join(t[{thread}], 0);");
    }
    let _ = writeln!(out, "    assert(!({proposition}));\n    return 0;\n}}");
    Some(out)
}

/// `exists (0:r0=1 /\ x=2)` as an expression of C.
fn proposition(text: &str, index: usize, variables: &[(String, String)]) -> Option<String> {
    let start = text.rfind("exists")? + "exists".len();
    let mut out = text[start..].trim().replace("/\\", "&&").replace("\\/", "||").replace('~', "!");
    out = out.replace('=', "==").replace(['[', ']'], "");
    for (kind, variable) in variables {
        let field = if kind == "atomic_t" { ".counter" } else { "" };
        out = replace_word(&out, variable, &format!("g{index}_{variable}{field}"));
    }
    for thread in 0..8 {
        out = out.replace(&format!("{thread}:r"), &format!("o{index}_{thread}_r"));
    }
    (!out.contains(':') && !out.contains("not")).then_some(out)
}

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <lkmm.h>\n";
const MAIN: &str = "int main(void) { pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, q, 0);\n\
    pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";

#[test]
fn primitives_work() {
    let program = "atomic_t n; int x; spinlock_t l; \
        int main(void) {\n\
          atomic_set(&n, 5); atomic_inc(&n); atomic_add(3, &n); atomic_sub(2, &n); assert(atomic_read(&n) == 7);\n\
          assert(atomic_add_return(3, &n) == 10 && atomic_fetch_sub(4, &n) == 10 && atomic_read(&n) == 6);\n\
          assert(atomic_fetch_and(3, &n) == 6 && atomic_fetch_or(8, &n) == 2 && atomic_xchg(&n, 1) == 10);\n\
          assert(atomic_dec_and_test(&n) && !atomic_inc_not_zero(&n) && atomic_add_negative(-1, &n));\n\
          assert(atomic_cmpxchg(&n, -1, 4) == -1 && atomic_cmpxchg_relaxed(&n, 3, 9) == 4);\n\
          assert(atomic_add_unless(&n, 2, 5) && atomic_read(&n) == 6);\n\
          assert(xchg(&x, 3) == 0 && cmpxchg(&x, 3, -2) == 3 && cmpxchg(&x, 3, 1) == -2);\n\
          int *p = 0; rcu_assign_pointer(p, &x); assert(*rcu_dereference(p) == -2);\n\
          assert(spin_trylock(&l) && !spin_trylock(&l) && spin_is_locked(&l)); spin_unlock(&l);\n\
          spin_lock(&l); spin_unlock(&l); smp_store_mb(x, 2); assert(READ_ONCE(x) == 2); }\n";
    // Between two assertions something must order what they read before what comes next.
    check(&format!("{HEAD}{}", program.replace(";\n", "; smp_mb();\n")), "lkmm", 0);
}

#[test]
fn control_ends_with_the_if() {
    let program = |read: &str, write: &str| {
        format!(
            "{HEAD}int x, y, a, b; void *p(void *u) {{ int r = {read}; if (r) b = 1; {write}; a = r; return 0; }}\n\
             void *q(void *u) {{ int r = READ_ONCE(y); smp_mb(); WRITE_ONCE(x, 1); return 0; }}\n{MAIN}"
        )
    };
    // The store after the `if` is not ordered, which the search cannot do; where something else orders it, it can.
    let text = check(&program("READ_ONCE(x)", "WRITE_ONCE(y, 1)"), "lkmm", 2);
    assert!(text.contains("program.c:4") && text.contains("not supported"), "{text}");
    check(&program("smp_load_acquire(&x)", "WRITE_ONCE(y, 1)"), "lkmm", 0);
    check(&program("READ_ONCE(x)", "smp_store_release(&y, 1)"), "lkmm", 0);
    check(&program("READ_ONCE(x)", "smp_mb(); WRITE_ONCE(y, 1)"), "lkmm", 0);
    check(&program("READ_ONCE(x)", "if (r) WRITE_ONCE(y, 1)"), "lkmm", 0);
}

#[test]
fn races_are_found() {
    let program = |write: &str| {
        format!(
            "{HEAD}int x, f; void *p(void *u) {{ x = 1; {write}; return 0; }}\n\
             void *q(void *u) {{ if (smp_load_acquire(&f)) assert(x == 1); return 0; }}\n{MAIN}"
        )
    };
    check(&program("smp_store_release(&f, 1)"), "lkmm", 0);
    let text = check(&program("WRITE_ONCE(f, 1)"), "lkmm", 1);
    assert!(text.contains("data-race") || text.contains("assertion"), "{text}");
}

#[test]
fn what_is_not_of_the_kernel_is_refused() {
    let program = format!(
        "{HEAD}#include <stdatomic.h>\n_Atomic int x; void *p(void *u) {{ x = 1; return 0; }}\n\
         void *q(void *u) {{ return 0; }}\n{MAIN}"
    );
    let text = check(&program, "lkmm", 2);
    assert!(text.contains("program.c:5: a seq_cst access"), "{text}");
    let program =
        format!("{HEAD}void *p(void *u) {{ smp_mb(); return 0; }}\nvoid *q(void *u) {{ return 0; }}\n{MAIN}");
    let text = check(&program, "armv8", 2);
    assert!(text.contains("program.c:4: a primitive of the Linux kernel"), "{text}");
}

/// What was published is freed after a grace period: no reader is left.
#[test]
fn memory_is_freed_after_a_grace_period() {
    let program = |wait: &str, publish: &str| {
        format!(
            "{HEAD}struct node {{ int data; }};\nstruct node *head;\n\
             void *p(void *u) {{ struct node *old = rcu_dereference_protected(head, 1);\n\
               struct node *new = kmalloc(sizeof *new, GFP_KERNEL); WRITE_ONCE(new->data, 2);\n\
               {publish}; {wait}; kfree(old); return 0; }}\n\
             void *q(void *u) {{ rcu_read_lock(); struct node *node = rcu_dereference(head);\n\
               int data = READ_ONCE(node->data); rcu_read_unlock();\n\
               assert(data == 1 || data == 2); return 0; }}\n\
             int main(void) {{ head = kzalloc(sizeof *head, GFP_KERNEL); head->data = 1;\n\
               pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, q, 0);\n\
               pthread_join(s, 0); pthread_join(t, 0); kfree(head); }}\n"
        )
    };
    let publish = "rcu_assign_pointer(head, new)";
    check(&program("synchronize_rcu()", publish), "lkmm", 0);
    let text = check(&program("", publish), "lkmm", 1);
    assert!(text.contains("access to memory that another thread frees"), "{text}");
    let text = check(&program("synchronize_rcu()", "WRITE_ONCE(head, new)"), "lkmm", 1);
    assert!(text.contains("assertion") || text.contains("never written"), "{text}");
}

fn check(program: &str, model: &str, code: i32) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let directory = Directory::new(&NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    let source = directory.0.join("program.c");
    std::fs::write(&source, program).unwrap();
    let output = verify(&source, &["--model", model]);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}\n{program}");
    text
}

fn verify(file: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.arg("verify");
    if !args.contains(&"--model") {
        command.args(["--model", "lkmm"]);
    }
    command.args(args).arg(file).output().unwrap()
}

/// Gone when it is no longer used.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("porf-lkmm-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Bitcode with debug information, by the compiler that `porf verify` would use.
fn compile(directory: &Path, source: &str) -> PathBuf {
    let (input, output) = (directory.join("tests.c"), directory.join("tests.bc"));
    std::fs::write(&input, source).unwrap();
    let clang = porf_frontend_llvm::find_clang().expect("clang");
    let status = Command::new(clang)
        .args(["-w", "-O0", "-Xclang", "-disable-O0-optnone", "-g", "-emit-llvm", "-c", "-isystem"])
        .arg(porf_frontend_llvm::include_directory().unwrap())
        .arg("-o")
        .args([&output, &input])
        .status()
        .unwrap();
    assert!(status.success(), "clang does not take the tests");
    output
}
