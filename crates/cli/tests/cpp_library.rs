//! Parts of the C++ library that are not in its headers, each in a program with two threads: what the
//! programs assert holds, and a wrong assertion of the same kind does not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Name, headers, globals, body of main; `RESULT` must be 7 at the end.
const PROGRAMS: &[(&str, &str, &str, &str)] = &[
    (
        "list",
        "list thread",
        "",
        "std::list<int> l{4, 1}; std::thread t([&] { l.push_back(2); l.sort(); l.reverse(); }); t.join();
         std::list<int> m; m.splice(m.begin(), l); m.remove(1);
         RESULT = m.front() + m.back() + int(m.size()) - 1 + int(l.size());",
    ),
    (
        "map",
        "map set thread mutex",
        "std::mutex m; std::map<int, int> tree; std::set<int> s{5, 2, 9, 1, 7};",
        "auto add = [](int k) { std::lock_guard<std::mutex> g(m); tree[k] = k; };
         std::thread t(add, 3); add(1); t.join(); add(2);
         int order = 0; for (auto &p : tree) order = order * 10 + p.first;
         for (int k : {5, 1, 9}) s.erase(k);
         assert(order == 123 && *s.begin() == 2 && *s.rbegin() == 7 && tree.count(2) && !tree.count(4));
         tree.erase(1); tree.erase(3); tree.erase(2); assert(tree.empty()); RESULT = *--s.end();",
    ),
    (
        "unordered",
        "string thread unordered_map",
        "std::unordered_map<std::string, int> u;",
        "std::thread t([] { for (int i = 0; i < 4; i++) u[std::string(1, char('a' + i))] = i; }); t.join();
         RESULT = int(u.size()) + u[\"d\"] + int(u.count(\"z\"));",
    ),
    (
        "future",
        "future",
        "",
        "std::promise<int> p; auto f = p.get_future(); std::thread t([&] { p.set_value(3); });
         auto g = std::async(std::launch::async, [] { return 4; });
         RESULT = f.get() + g.get(); t.join();",
    ),
    (
        "once",
        "mutex thread",
        "std::once_flag flag; int n;",
        "auto f = [] { std::call_once(flag, [] { n += 7; }); };
         std::thread t(f); f(); t.join(); RESULT = n;",
    ),
    (
        "stream",
        "iostream string thread",
        "",
        "std::thread t([] { std::cout << \"x = \" << 3 << ' ' << 2.5 << std::string(\"s\") << std::endl; });
         t.join(); RESULT = 7;",
    ),
    (
        "wait",
        "atomic thread",
        "std::atomic<int> a{0}; int d;",
        "std::thread t([] { d = 7; a.store(1, std::memory_order_release); a.notify_one(); });
         a.wait(0, std::memory_order_acquire); RESULT = d; t.join();",
    ),
    (
        "latch",
        "latch thread",
        "int d[3];",
        "std::latch l(3);
         auto f = [&](int i) { d[i] = 1; l.arrive_and_wait(); assert(d[0] + d[1] + d[2] == 3); };
         std::thread t(f, 0), u(f, 1); d[2] = 1; l.count_down(); l.wait();
         RESULT = d[0] + d[1] + 5; t.join(); u.join();",
    ),
    (
        "barrier",
        "barrier thread",
        "int d[3];",
        "std::barrier b(3);
         auto f = [&](int i) { d[i] = 1; b.arrive_and_wait(); assert(d[0] + d[1] + d[2] == 3); b.arrive_and_wait(); };
         std::thread t(f, 0), u(f, 1); f(2); RESULT = d[0] + d[1] + 5; t.join(); u.join();",
    ),
    (
        "barrier with a completion",
        "barrier thread",
        "int d[2], sum, rounds;",
        "auto done = []() noexcept { sum += d[0] + d[1]; rounds++; };
         std::barrier b(2, done);
         auto f = [&](int i) { for (int k = 1; k <= 2; k++) { d[i] = k; b.arrive_and_wait(); assert(rounds >= k); } };
         std::thread t(f, 0); f(1); t.join(); RESULT = sum + rounds - 1;",
    ),
    (
        "barrier that a thread leaves",
        "barrier thread",
        "int d;",
        "std::barrier b(2);
         std::thread t([&] { d = 4; b.arrive_and_drop(); });
         b.arrive_and_wait(); int first = d; b.arrive_and_wait(); b.arrive_and_wait(); RESULT = first + 3; t.join();",
    ),
    (
        "barrier in two steps",
        "barrier thread",
        "int d;",
        "std::barrier b(2);
         std::thread t([&] { d = 7; (void)b.arrive(); });
         auto token = b.arrive(); b.wait(std::move(token)); RESULT = d; t.join();",
    ),
    (
        "semaphores",
        "chrono semaphore thread",
        "int d;",
        "std::counting_semaphore<4> s{0}; std::binary_semaphore m{1};
         auto f = [&] { m.acquire(); d++; m.release(); s.release(); };
         std::thread t(f), u(f); s.acquire(); s.acquire(); assert(!s.try_acquire());
         assert(!s.try_acquire_for(std::chrono::milliseconds(1))); RESULT = d + 5; t.join(); u.join();",
    ),
    (
        "semaphore",
        "semaphore thread",
        "std::binary_semaphore s{0}; int d;",
        "std::thread t([] { d = 7; s.release(); }); s.acquire(); RESULT = d; t.join();",
    ),
    (
        "shared_mutex",
        "mutex shared_mutex thread",
        "std::shared_mutex m; int d;",
        "std::thread t([] { std::unique_lock<std::shared_mutex> l(m); d += 3; });
         { std::shared_lock<std::shared_mutex> l(m); assert(d == 0 || d == 3); } t.join(); RESULT = d + 4;",
    ),
    (
        "atomic_ref",
        "atomic thread",
        "int x;",
        "auto f = [] { std::atomic_ref<int>(x).fetch_add(3); }; std::thread t(f); f(); t.join(); RESULT = x + 1;",
    ),
    (
        "vocabulary",
        "array functional memory optional thread variant vector",
        "",
        "std::function<int(int)> f = [](int x) { return x + 1; }; std::optional<int> o; std::variant<int, double> v = 2.5;
         auto u = std::make_unique<int>(4); std::vector<int> w{1, 2, 3};
         std::thread t([&] { o = f(1); v = 1; w.push_back(4); }); t.join();
         RESULT = *o + std::get<int>(v) + *u + int(w.size()) - 4;",
    ),
];

#[test]
fn the_library_works() {
    check("libstdc++", |_| true);
}

/// libc++ 14 has no `atomic_ref`; its streams are not supported.
#[test]
fn the_other_library_works() {
    if !has_libcxx() {
        println!("skipped: there is no libc++");
        return;
    }
    check("libc++", |name| !["stream", "atomic_ref"].contains(&name));
}

/// Verdicts that depend on the library's threads, locks, exceptions and pointers are the same with libc++. The full
/// run asks about every C++ program of the corpus.
#[test]
fn verdicts_are_the_same_with_the_other_library() {
    if !has_libcxx() {
        println!("skipped: there is no libc++");
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("corpus/verdicts");
    let full = std::env::var_os("PORF_FULL").is_some();
    let mut programs: Vec<PathBuf> = std::fs::read_dir(corpus).unwrap().map(|e| e.unwrap().path()).collect();
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    programs.sort();
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for path in &programs {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // clang 14 and libc++ 14 do not agree on coroutines.
        if name == "cpp-coroutine-ok" || !(full || SAMPLE.contains(&name)) {
            continue;
        }
        asked += 1;
        let text = std::fs::read_to_string(path).unwrap();
        let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).collect();
        let output = verify(path, &["--format", "json", "--no-hints"], "libc++");
        let told = String::from_utf8_lossy(&output.stdout);
        let answer: serde_json::Value = serde_json::from_str(&told).unwrap_or_default();
        let violation = &answer["violation"];
        let found = match violation["kind"].as_str() {
            Some(kind) => format!("{kind} {}", violation["location"]["line"]),
            None => answer["verdict"].as_str().unwrap_or_default().to_string(),
        };
        if !expected.contains(&found.as_str()) {
            let errors = String::from_utf8_lossy(&output.stderr);
            wrong.push(format!("{name}: {found}, not {}\n{errors}", expected.join(" or ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asked >= SAMPLE.len(), "{asked} programs");
}

/// One for each part of the library.
const SAMPLE: &[&str] = &[
    "cpp-condition-any-ok",
    "cpp-condition-never",
    "cpp-condition-wait-until-both",
    "cpp-exception-async-ok",
    "cpp-exception-leaks-lock",
    "cpp-future-wait-for-both",
    "cpp-lock-three-ok",
    "cpp-mutex-relock",
    "cpp-recursive-mutex-ok",
    "cpp-scoped-lock-ok",
    "cpp-shared-mutex-ok",
    "cpp-shared-ptr-ok",
    "cpp-static-ok",
    "cpp-thread-not-joined",
    "cpp-thread-race",
    "cpp-timed-mutex-may-fail",
];

fn has_libcxx() -> bool {
    let directory = std::env::temp_dir().join(format!("porf-libcxx-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("empty.cpp");
    std::fs::write(&file, "#include <cstddef>\nint main() {}\n").unwrap();
    let has = verify(&file, &[], "libc++").status.success();
    std::fs::remove_dir_all(&directory).unwrap();
    has
}

fn verify(file: &Path, options: &[&str], library: &str) -> Output {
    let library = format!("-stdlib={library}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_porf"));
    command.arg("verify").args(options).arg(file).args(["--", "-std=c++20", &library]).output().unwrap()
}

/// The programs that are `wanted` do what they should, with a library.
fn check(library: &str, wanted: impl Fn(&str) -> bool) {
    let directory = std::env::temp_dir().join(format!("porf-cpp-{library}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut wrong = Vec::new();
    for (name, headers, globals, body) in PROGRAMS.iter().filter(|(name, ..)| wanted(name)) {
        let includes: String = headers.split(' ').map(|header| format!("#include <{header}>\n")).collect();
        for (value, code) in [(7, 0), (8, 1)] {
            let source = format!(
                "#include <cassert>\n{includes}{globals}\nint RESULT;\nint main() {{\n{body}\nassert(RESULT == {value});\n}}\n"
            );
            let file = directory.join(format!("{name}.cpp"));
            std::fs::write(&file, source).unwrap();
            let output = verify(&file, &[], library);
            if output.status.code() != Some(code) {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                wrong.push(format!("{name} == {value}: {:?}\n{text}{errors}", output.status.code()));
            }
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
