//! C programs under a model that does not keep program order.

use std::process::Command;

/// Load buffering: the two threads see each other's write.
fn load_buffering(first: &str, second: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
         atomic_int x, y; int a, b;\n\
         void *p(void *u) {{ int r = atomic_load_explicit(&x, memory_order_relaxed);\n\
           atomic_store_explicit(&y, {first}, memory_order_relaxed); a = r; return 0; }}\n\
         void *q(void *u) {{ int r = atomic_load_explicit(&y, memory_order_relaxed);\n\
           atomic_store_explicit(&x, {second}, memory_order_relaxed); b = r; return 0; }}\n\
         int main(void) {{ pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, q, 0);\n\
           pthread_join(s, 0); pthread_join(t, 0); assert(!(a == 1 && b == 1)); }}\n"
    )
}

#[test]
fn load_buffering_is_seen() {
    check("lb", &load_buffering("1", "1"), "imm", 1);
    check("lb-rc11", &load_buffering("1", "1"), "rc11", 0);
}

#[test]
fn dependencies_are_kept() {
    check("lb-one", &load_buffering("r", "1"), "imm", 1);
    check("lb-both", &load_buffering("r", "r"), "imm", 0);
}

#[test]
fn messages_are_passed() {
    let program = |write: &str, read: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
             atomic_int data, flag;\n\
             void *p(void *u) {{ atomic_store_explicit(&data, 1, memory_order_relaxed);\n\
               atomic_store_explicit(&flag, 1, {write}); return 0; }}\n\
             void *q(void *u) {{ if (atomic_load_explicit(&flag, {read}))\n\
               assert(atomic_load_explicit(&data, memory_order_relaxed) == 1); return 0; }}\n\
             int main(void) {{ pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, q, 0);\n\
               pthread_join(s, 0); pthread_join(t, 0); }}\n"
        )
    };
    check("mp", &program("memory_order_release", "memory_order_acquire"), "imm", 0);
    check("mp-relaxed", &program("memory_order_relaxed", "memory_order_acquire"), "imm", 1);
}

#[test]
fn races_are_found() {
    let program = "#include <pthread.h>\nint x;\nvoid *p(void *u) { x = 1; return 0; }\n\
         int main(void) { pthread_t s; pthread_create(&s, 0, p, 0); x = 2; pthread_join(s, 0); }\n";
    check("race", program, "imm", 1);
}

/// Publication of an object: the reader sees it whole.
#[test]
fn allocated_memory() {
    let program = |before: &str, order: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
             int *_Atomic shared; atomic_int z;\n\
             void *p(void *u) {{ int *q = malloc(sizeof *q); *q = 1; {before}\n\
               atomic_store_explicit(&shared, q, {order}); return 0; }}\n\
             void *r(void *u) {{ int *q = atomic_load_explicit(&shared, memory_order_acquire);\n\
               if (q) assert(*q == 1);\n\
               atomic_store_explicit(&z, 1, memory_order_relaxed); return 0; }}\n\
             int main(void) {{ pthread_t s, t; pthread_create(&s, 0, p, 0); pthread_create(&t, 0, r, 0);\n\
               pthread_join(s, 0); pthread_join(t, 0); }}\n"
        )
    };
    check("object", &program("", "memory_order_release"), "imm", 0);
    check("object-race", &program("", "memory_order_relaxed"), "imm", 1);
}

/// Load buffering through allocated memory; what only such an execution does wrong is found.
#[test]
fn load_buffering_on_the_heap() {
    let program = |end: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
             struct pair {{ atomic_int x, y; }}; int a, b;\n\
             void *p(void *u) {{ struct pair *s = u; a = atomic_load_explicit(&s->x, memory_order_relaxed);\n\
               atomic_store_explicit(&s->y, 1, memory_order_relaxed); return 0; }}\n\
             void *q(void *u) {{ struct pair *s = u; b = atomic_load_explicit(&s->y, memory_order_relaxed);\n\
               atomic_store_explicit(&s->x, 1, memory_order_relaxed); return 0; }}\n\
             int main(void) {{ struct pair *s = calloc(1, sizeof *s); pthread_t t, v;\n\
               pthread_create(&t, 0, p, s); pthread_create(&v, 0, q, s);\n\
               pthread_join(t, 0); pthread_join(v, 0); int both = a == 1 && b == 1; {end} }}\n"
        )
    };
    let use_after = "free(s); if (both) return s->x;";
    let twice = "if (both) free(s); free(s);";
    for model in ["rc11", "imm", "armv8", "armv7", "power", "riscv"] {
        let (executions, code) = if model == "rc11" { (3, 0) } else { (4, 1) };
        let text = check(&format!("heap-{model}"), &program("free(s);"), model, 0);
        assert!(text.contains(&format!("{executions} executions")), "{text}");
        check(&format!("heap-assert-{model}"), &program("assert(!both); free(s);"), model, code);
        let text = check(&format!("heap-use-{model}"), &program(use_after), model, code);
        assert!(code == 0 || text.contains("access to memory that was freed"), "{text}");
        let text = check(&format!("heap-twice-{model}"), &program(twice), model, code);
        assert!(code == 0 || text.contains("memory is freed twice"), "{text}");
    }
}

const HEAD: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
    #define L(v) atomic_load_explicit(&v, memory_order_relaxed)\n\
    #define S(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)\n\
    #define START(t, f) pthread_create(&t, 0, f, 0)\n#define END(t) pthread_join(t, 0)\n\
    atomic_int x, y, z, u, v; pthread_t a, b;\n";

/// An access and what frees its memory, both on the cycle: the one is before the other in po | rf and the other way
/// round, which is no order.
#[test]
fn memory_is_freed_on_a_cycle() {
    let program = format!(
        "{HEAD}int g; int *p, *q;\n\
         void *first(void *unused) {{ uintptr_t r = L(x), s = (uintptr_t)p, t = (uintptr_t)q;\n\
           free((void *)(t + (s - t) * r)); S(y, 1); return 0; }}\n\
         void *second(void *unused) {{ uintptr_t r = L(y), s = (uintptr_t)p, t = (uintptr_t)&g;\n\
           *(int *)(t + (s - t) * r) = 5; S(x, 1); return 0; }}\n\
         int main(void) {{ p = malloc(4); q = malloc(4); START(a, first); START(b, second); END(a); END(b); }}\n"
    );
    for model in ["imm", "armv8", "riscv", "power", "armv7"] {
        check(&format!("freed-on-a-cycle-{model}"), &program, model, 1);
    }
    check("freed-on-a-cycle-rc11", &program, "rc11", 0);
}

/// Larger executions than the checker can take are refused, not judged.
#[test]
fn many_events_are_refused() {
    let program = format!(
        "{HEAD}void *first(void *unused) {{ L(x); S(y, 1);\n\
           for (int i = 0; i < 80; i++) {{ int *p = malloc(4); free(p); }} return 0; }}\n\
         void *second(void *unused) {{ L(y); S(x, 1); return 0; }}\n\
         int main(void) {{ START(a, first); START(b, second); }}\n"
    );
    let text = check("many", &program, "imm", 2);
    assert!(text.contains("executions of more than 128 events under imm"), "{text}");
}

/// From a seed it looks as if a thread could not go on: its child does more than when the seed was cut out.
#[test]
fn a_seed_may_mislead() {
    let program = format!(
        "{HEAD}void *child(void *unused) {{ int r = L(z); if (r) S(z, 1); return 0; }}\n\
         void *first(void *unused) {{ L(x); int r = L(y); S(z, r * 0 + 2); return 0; }}\n\
         void *second(void *unused) {{ int r = L(y); pthread_t t; START(t, child); S(z, 1); END(t);\n\
           atomic_fetch_add_explicit(&z, 2, memory_order_relaxed); S(x, r + 1); return 0; }}\n\
         int main(void) {{ START(a, first); START(b, second); }}\n"
    );
    let text = check("mislead", &program, "imm", 0);
    assert!(text.contains("20 executions"), "{text}");
}

/// Threads have the same numbers before and after a search is broken off: nothing is counted twice.
#[test]
fn broken_off_and_taken_up_again() {
    let program = format!(
        "{HEAD}void *c(void *unused) {{ L(x); S(y, 1); return 0; }}\n\
         void *d(void *unused) {{ L(y); S(x, 1); return 0; }}\n\
         void *first(void *unused) {{ if (L(u)) L(u); pthread_t t; START(t, c); return 0; }}\n\
         void *second(void *unused) {{ if (L(v)) L(v); pthread_t t; START(t, d); return 0; }}\n\
         int main(void) {{ START(a, first); START(b, second); L(x); S(v, 1); S(u, 1); }}\n"
    );
    assert!(check("whole", &program, "imm", 0).contains("32 executions"));
    for budget in ["18", "27", "31"] {
        let checkpoint = std::env::temp_dir().join(format!("porf-imm-{}-{budget}.json", std::process::id()));
        let saved = ["--checkpoint", checkpoint.to_str().unwrap()];
        check_with("part", &program, "imm", &[&saved[..], &["--budget", budget]].concat(), 3);
        let text = check_with("part", &program, "imm", &saved, 0);
        assert!(text.contains("32 executions"), "{budget}: {text}");
    }
}

fn check(name: &str, program: &str, model: &str, code: i32) -> String {
    check_with(name, program, model, &[], code)
}

fn check_with(name: &str, program: &str, model: &str, arguments: &[&str], code: i32) -> String {
    let directory = std::env::temp_dir().join(format!("porf-imm-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = directory.join("program.c");
    std::fs::write(&source, program).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--model", model, source.to_str().unwrap()])
        .args(arguments)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{name}: {text}");
    let _ = std::fs::remove_dir_all(&directory);
    text
}
