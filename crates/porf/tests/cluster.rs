//! A search by workers that die, answer twice or answer too late gives what one worker alone gives.

use porf::{
    Answer, Assignment, Budget, Checkpoint, Equivalence, Error, Inbox, Input, Job, LoadOptions, Model,
    PartOutcome, Reductions, Remote, RemoteEvent, Report, Request, verify, work,
};
use porf_explore::Rest;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What may go wrong, in percent.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// A worker dies before it has answered.
    die: u64,
    /// It answers, and then is said to be dead.
    late: u64,
    /// It answers twice.
    twice: u64,
    /// The driver is interrupted after an answer.
    interrupt: u64,
}

/// Workers in threads, with faults.
struct Simulated<'s> {
    slots: usize,
    faults: Faults,
    random: Mutex<u64>,
    desk: Arc<Desk>,
    to: Mutex<Sender<Option<Message>>>,
    from: Mutex<Receiver<RemoteEvent>>,
    /// Events that come before those of the workers.
    first: Mutex<VecDeque<RemoteEvent>>,
    interrupt: &'s AtomicBool,
    lost: AtomicUsize,
    /// Parts of the search for executions with cycles.
    cyclic: AtomicUsize,
}

#[derive(Default)]
struct Desk {
    hurried: AtomicU64,
}

#[derive(Clone)]
enum Message {
    Job(String),
    Task(Box<Assignment>),
}

impl<'s> Simulated<'s> {
    /// All that is sent goes through text, as it does between machines.
    fn new(slots: usize, faults: Faults, seed: u64, interrupt: &'s AtomicBool) -> Simulated<'s> {
        let (to, inbox) = channel::<Option<Message>>();
        let (sender, from) = channel();
        let desk = Arc::new(Desk::default());
        let mut workers: Vec<Sender<Message>> = Vec::new();
        for _ in 0..slots {
            let (to, messages) = channel();
            let mut worker = Worker { messages, reports: sender.clone(), desk: desk.clone(), job: None };
            std::thread::spawn(move || worker.run());
            workers.push(to);
        }
        std::thread::spawn(move || {
            let mut turn = 0;
            while let Ok(Some(message)) = inbox.recv() {
                match message {
                    Message::Job(_) => workers.iter().for_each(|worker| drop(worker.send(message.clone()))),
                    Message::Task(_) => {
                        turn += 1;
                        let _ = workers[turn % workers.len()].send(message);
                    }
                }
            }
        });
        Simulated {
            slots,
            faults,
            random: Mutex::new(seed),
            desk,
            to: Mutex::new(to),
            from: Mutex::new(from),
            first: Mutex::default(),
            interrupt,
            lost: AtomicUsize::new(0),
            cyclic: AtomicUsize::new(0),
        }
    }

    fn chance(&self, percent: u64) -> bool {
        let mut state = self.random.lock().unwrap();
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) % 100 < percent
    }

    fn send(&self, message: Message) {
        let _ = self.to.lock().unwrap().send(Some(message));
    }
}

struct Worker {
    messages: Receiver<Message>,
    reports: Sender<RemoteEvent>,
    desk: Arc<Desk>,
    job: Option<String>,
}

impl Worker {
    fn run(&mut self) {
        let mut text = String::new();
        loop {
            if text.is_empty() {
                assert!(Inbox::next(self).is_none(), "a task before the job");
            } else {
                work(&Job::read(&text).unwrap(), 1, self).unwrap();
            }
            match self.job.take() {
                Some(job) => text = job,
                None => return,
            }
        }
    }
}

impl Inbox for Worker {
    fn next(&mut self) -> Option<Assignment> {
        match self.messages.recv().ok()? {
            Message::Task(task) => {
                let text = serde_json::to_string(&task).unwrap();
                Some(serde_json::from_str(&text).unwrap())
            }
            Message::Job(text) => {
                self.job = Some(text);
                None
            }
        }
    }

    fn report(&mut self, report: Report) {
        let text = serde_json::to_string(&report).unwrap();
        let _ = self.reports.send(RemoteEvent::Report(Box::new(serde_json::from_str(&text).unwrap())));
    }

    fn hurried(&self) -> u64 {
        self.desk.hurried.load(Ordering::Relaxed)
    }
}

impl Remote for Simulated<'_> {
    fn begin(&self, job: &Job) -> Result<(), Error> {
        self.send(Message::Job(job.write()?));
        Ok(())
    }

    fn assign(&self, assignment: &Assignment) -> Result<(), Error> {
        // Short slices: many parts, many chances for faults.
        let milliseconds = match assignment.part.beginnings() {
            [] if self.chance(50) => 1,
            [] => 20,
            _ => {
                self.cyclic.fetch_add(1, Ordering::Relaxed);
                assignment.milliseconds
            }
        };
        self.send(Message::Task(Box::new(Assignment { milliseconds, ..assignment.clone() })));
        Ok(())
    }

    fn hurry(&self, id: u64) -> Result<(), Error> {
        self.desk.hurried.store(id, Ordering::Relaxed);
        Ok(())
    }

    fn next(&self, wait: Duration) -> RemoteEvent {
        if let Some(event) = self.first.lock().unwrap().pop_front() {
            return event;
        }
        let Ok(event) = self.from.lock().unwrap().recv_timeout(wait) else { return RemoteEvent::Nothing };
        let RemoteEvent::Report(report) = event else { return event };
        if self.chance(self.faults.interrupt) {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        if self.chance(self.faults.die) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return RemoteEvent::Lost(report.id);
        }
        if self.chance(self.faults.late) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            let id = report.id;
            self.first.lock().unwrap().push_back(RemoteEvent::Report(report));
            return RemoteEvent::Lost(id);
        }
        if self.chance(self.faults.twice) {
            self.first.lock().unwrap().push_back(RemoteEvent::Report(report.clone()));
        }
        RemoteEvent::Report(report)
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn end(&self) {
        let _ = self.to.lock().unwrap().send(None);
    }
}

/// Threads that increment a variable: n! executions.
fn increments(threads: usize) -> Input {
    let mut text = "program inc\nglobal x\nfn inc() { x.fetch_add(1, rlx) }\n".to_string();
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = inc()\n"));
    Input::new(porf_ir::parse(&text).unwrap())
}

/// Each thread reads what the one before it writes, and adds that to a sum, which is complete only with a cycle.
fn ring(threads: usize, last: &str) -> Input {
    let names: Vec<String> = (0..threads).map(|thread| format!("x{thread}")).collect();
    let mut text = format!("program ring\nglobal n, {}\n", names.join(", "));
    for (at, name) in names.iter().enumerate() {
        let next = &names[(at + 1) % threads];
        text +=
            &format!("thread P{at} {{\nr = {name}.rlx\n{next}.rlx = 1\no = n.fetch_add(r, rlx)\n{last}}}\n");
    }
    Input::new(porf_ir::parse(&text).unwrap())
}

fn corpus(name: &str, flags: &[&str]) -> Input {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/programs").join(name);
    let flags = flags.iter().map(|flag| flag.to_string()).collect();
    Input::load(&[path], &LoadOptions { flags, ..LoadOptions::default() }).unwrap()
}

fn litmus(name: &str) -> Input {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus").join(name);
    Input::load(&[path], &LoadOptions::default()).unwrap()
}

type Counts = (String, u64, u64, u64, usize);

fn counts(answer: &Answer) -> Counts {
    let Answer { executions, blocked, events, found, .. } = answer;
    (format!("{:?}", answer.verdict.word()), *executions, *blocked, *events, found.len())
}

/// By workers with faults; how many were lost.
fn simulated(
    input: &Input,
    request: &Request<'_>,
    faults: Faults,
    slots: usize,
    seed: u64,
) -> (Answer, usize) {
    let interrupt = AtomicBool::new(false);
    let remote = Simulated::new(slots, faults, seed, &interrupt);
    let answer = verify(input, &Request { remote: Some(&remote), ..*request }).unwrap();
    (answer, remote.lost.into_inner())
}

const FAULTS: Faults = Faults { die: 4, late: 4, twice: 10, interrupt: 0 };

#[test]
fn counts_are_those_of_one_worker() {
    let tree = Request { reductions: Reductions::NONE, ..Request::new(Model::Rc11) };
    let cases = [
        (increments(7), tree),
        (corpus("ainc.c", &["-DN=6"]), tree),
        (corpus("ainc.c", &["-DN=6"]), Request::new(Model::Rc11)),
        (corpus("mpmc.c", &[]), Request::new(Model::Sc)),
        (corpus("lamport.c", &[]), Request::new(Model::Imm)),
        (corpus("barrier.c", &[]), Request::new(Model::Rc11)),
        (corpus("memory.c", &[]), Request { all: true, ..Request::new(Model::Rc11) }),
        (corpus("fib_bench.c", &[]), Request { equivalence: Equivalence::Rf, ..Request::new(Model::Rc11) }),
    ];
    for (input, request) in cases {
        let name = &input.program.name;
        let alone = counts(&verify(&input, &request).unwrap());
        for (slots, seed) in [(1, 1), (3, 2), (3, 3)] {
            let (answer, _) = simulated(&input, &request, FAULTS, slots, seed);
            assert_eq!(counts(&answer), alone, "{name} under {}, {slots} workers", request.model);
        }
    }
}

#[test]
fn workers_are_lost_in_the_midst() {
    let input = increments(7);
    let request = Request { reductions: Reductions::NONE, ..Request::new(Model::Rc11) };
    let mut lost = 0;
    for seed in 1..=4 {
        let (answer, gone) = simulated(&input, &request, FAULTS, 2, seed);
        assert_eq!((answer.executions, answer.blocked), (5040, 0));
        lost += gone;
    }
    assert!(lost > 0, "no fault was met");
}

/// Executions with cycles in po | rf begin where workers found them, or are searched for in the whole program.
#[test]
fn load_buffering_is_found_by_the_second_search() {
    let mut cyclic = 0;
    for name in ["c11/3.LB+rlx+rlx+rlx.litmus", "aarch64/3.LB+po+po+po.litmus"] {
        let input = litmus(name);
        for model in [Model::Imm, Model::Armv8] {
            let request = Request::new(model);
            let (Ok(alone), Ok(kept)) =
                (verify(&input, &request), verify(&input, &Request { jobs: 2, ..request }))
            else {
                continue;
            };
            assert_eq!(counts(&alone), counts(&kept));
            let (answer, _) = simulated(&input, &request, FAULTS, 2, 7);
            assert_eq!(counts(&answer), counts(&alone), "{name} under {model}");
            cyclic += 1;
        }
    }
    assert!(cyclic > 1);
}

/// Every execution counts once, from however many beginnings it is found, by whomever, however often. Each thread
/// reads 0 or 1, and all orders of the increments are possible: 2^n · n! executions, of which n! have the cycle.
#[test]
fn the_second_search_is_handed_out() {
    let folder = Folder::new("ring");
    let path = folder.0.join("checkpoint");
    let input = ring(4, "");
    let request = Request { reductions: Reductions::NONE, ..Request::new(Model::Imm) };
    let (mut handed_out, mut lost, mut interrupted) = (0, 0, 0);
    for seed in 1..=4 {
        for round in 0.. {
            let checkpoint = Some(Checkpoint { path: &path, interval: Duration::from_millis(10) });
            let faults = Faults { die: 10, late: 10, twice: 20, interrupt: 10 };
            let interrupt = AtomicBool::new(false);
            let remote = Simulated::new(3, faults, seed + 10 * round, &interrupt);
            let elsewhere = Some(&remote as &dyn Remote);
            let request = Request { remote: elsewhere, interrupt: Some(&interrupt), checkpoint, ..request };
            let answer = verify(&input, &request).unwrap();
            handed_out += remote.cyclic.into_inner();
            lost += remote.lost.into_inner();
            if answer.verdict.word() == "safe" {
                assert_eq!((answer.executions, answer.blocked), (16 * 24, 0));
                assert!(!path.exists());
                break;
            }
            interrupted += 1;
            assert!(round < 1000, "no end");
        }
    }
    assert!(handed_out > 8 && lost > 0 && interrupted > 0, "{handed_out} {lost} {interrupted}");
}

/// A violation in an execution with a cycle does not travel. It is found once more where the search is driven.
#[test]
fn a_violation_in_the_second_search() {
    let input = ring(3, "s = o + r\nassert s != 3\n");
    for all in [false, true] {
        let request = Request { reductions: Reductions::NONE, all, ..Request::new(Model::Imm) };
        let alone = verify(&input, &request).unwrap();
        let (answer, _) = simulated(&input, &request, FAULTS, 2, 5);
        assert_eq!((answer.verdict.word(), alone.verdict.word()), ("violated", "violated"));
        if all {
            assert_eq!(counts(&answer), counts(&alone));
        }
    }
}

#[test]
fn a_budget_in_executions_is_kept_to_the_letter() {
    let input = increments(7);
    let budget = Budget { executions: Some(1234), ..Budget::default() };
    let request = Request { reductions: Reductions::NONE, budget, ..Request::new(Model::Rc11) };
    let (answer, _) = simulated(&input, &request, FAULTS, 3, 5);
    assert_eq!((answer.verdict.word(), answer.executions), ("inconclusive", 1234));
}

#[test]
fn a_violation_ends_the_search() {
    let input = corpus("ainc.c", &["-DN=7", "-DBUG_NOT_ATOMIC"]);
    let request = Request { reductions: Reductions::NONE, ..Request::new(Model::Rc11) };
    let (answer, _) = simulated(&input, &request, FAULTS, 2, 5);
    assert_eq!(answer.verdict.word(), "violated");
    assert!(answer.found[0].shown.is_some());
}

/// Workers that are given all the time they want, and what the driver does once it knows of a violation.
struct Witnessed<'s> {
    workers: Simulated<'s>,
    /// The first report that tells of a violation.
    report: Mutex<Option<serde_json::Value>>,
    /// What is given out, asked for or waited for after it.
    after: AtomicUsize,
    ended: AtomicUsize,
}

impl Witnessed<'_> {
    fn count(&self) {
        if self.report.lock().unwrap().is_some() {
            self.after.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Remote for Witnessed<'_> {
    fn begin(&self, job: &Job) -> Result<(), Error> {
        self.workers.begin(job)
    }
    fn assign(&self, assignment: &Assignment) -> Result<(), Error> {
        self.count();
        self.workers
            .send(Message::Task(Box::new(Assignment { milliseconds: 3_600_000, ..assignment.clone() })));
        Ok(())
    }
    fn hurry(&self, id: u64) -> Result<(), Error> {
        self.count();
        self.workers.hurry(id)
    }
    fn next(&self, wait: Duration) -> RemoteEvent {
        self.count();
        let event = self.workers.next(wait);
        if let RemoteEvent::Report(report) = &event {
            let report = serde_json::to_value(report).unwrap();
            let noted = &report["outcome"]["Left"]["noted"];
            if noted["violations"].as_array().is_some_and(|violations| !violations.is_empty()) {
                self.report.lock().unwrap().get_or_insert(report);
            }
        }
        event
    }
    fn slots(&self) -> usize {
        self.workers.slots
    }
    fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.workers.end();
    }
}

/// The worker that finds a violation tells of it after some more executions, however long its slice is, and the
/// driver then neither waits for others nor gives out anything.
#[test]
fn nothing_is_done_after_a_violation() {
    let input = corpus("ainc.c", &["-DN=9", "-DBUG_NOT_ATOMIC"]);
    let interrupt = AtomicBool::new(false);
    let remote = Witnessed {
        workers: Simulated::new(3, Faults::default(), 1, &interrupt),
        report: Mutex::default(),
        after: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    };
    let request = Request { reductions: Reductions::NONE, ..Request::new(Model::Rc11) };
    let answer = verify(&input, &Request { remote: Some(&remote), ..request }).unwrap();
    assert_eq!(answer.verdict.word(), "violated");
    assert_eq!((remote.after.into_inner(), remote.ended.into_inner()), (0, 1));
    let report = remote.report.into_inner().unwrap().unwrap();
    let noted = &report["outcome"]["Left"]["noted"];
    assert!(noted["after"].as_u64().unwrap() <= 1_100, "{noted}");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("porf-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Interrupted again and again, driven by turns from here and from elsewhere.
#[test]
fn one_checkpoint_for_both() {
    let folder = Folder::new("gather");
    let path = folder.0.join("checkpoint");
    let input = increments(8);
    let checkpoint = Some(Checkpoint { path: &path, interval: Duration::from_millis(10) });
    let request = Request { reductions: Reductions::NONE, checkpoint, ..Request::new(Model::Rc11) };
    let faults = Faults { interrupt: 10, ..FAULTS };
    for round in 0..10_000 {
        let interrupt = AtomicBool::new(false);
        let remote = Simulated::new(2, faults, round, &interrupt);
        let budget = Budget { time: Some(Duration::from_millis(20)), ..Budget::default() };
        let alone = Request { budget, ..request };
        let elsewhere = Request { remote: Some(&remote), interrupt: Some(&interrupt), ..request };
        let answer = verify(&input, if round % 4 == 3 { &alone } else { &elsewhere }).unwrap();
        // A budget may be used up by the last execution.
        if answer.verdict.word() == "safe" || !path.exists() {
            assert_eq!((answer.executions, answer.blocked), (40320, 0));
            // The search is long enough to be interrupted.
            assert!(round > 0 && !path.exists());
            return;
        }
    }
    panic!("no end");
}

/// A worker of another version, or a job that was changed on the way.
#[test]
fn a_job_that_does_not_fit_is_refused() {
    struct Listener(Mutex<String>);
    impl Remote for Listener {
        fn begin(&self, job: &Job) -> Result<(), Error> {
            *self.0.lock().unwrap() = job.write()?;
            Err(Error::Input("enough".to_string()))
        }
        fn assign(&self, _: &Assignment) -> Result<(), Error> {
            Ok(())
        }
        fn hurry(&self, _: u64) -> Result<(), Error> {
            Ok(())
        }
        fn next(&self, _: Duration) -> RemoteEvent {
            RemoteEvent::Nothing
        }
        fn slots(&self) -> usize {
            0
        }
        fn end(&self) {}
    }
    let listener = Listener(Mutex::default());
    let request = Request { remote: Some(&listener), ..Request::new(Model::Rc11) };
    assert!(verify(&increments(2), &request).is_err());
    let job = listener.0.into_inner().unwrap();
    assert!(Job::read(&job).is_ok());
    for (from, to, word) in [
        ("\"protocol\":2", "\"protocol\":3", "protocol 3"),
        ("\"model\":\"rc11\"", "\"model\":\"sc\"", "fingerprint"),
        ("\"name\":\"inc\"", "\"name\":\"dec\"", "fingerprint"),
    ] {
        let changed = job.replacen(from, to, 1);
        assert_ne!(changed, job);
        let error = Job::read(&changed).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let report = Report { id: 1, outcome: PartOutcome::Anew(Rest::whole()) };
    assert_eq!(serde_json::to_string(&report).unwrap().matches('\n').count(), 0);
}
