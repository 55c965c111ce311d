//! `porf work`: does parts of searches that somebody else drives (`docs/cluster.md`).
//!
//! Reads lines from standard input: `job JSON`, `task ID JSON`, `hurry ID`. Answers each task by one line on
//! standard output: `report JSON`; a job that does not fit by `failed MESSAGE`. Ends with its input.

use porf::{Assignment, Inbox, Job, PROTOCOL, Report};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Do parts of searches that `porf-cluster` drives
#[derive(clap::Args)]
pub struct Args {
    /// How many workers this machine has: each may use its share of the memory
    #[arg(long, default_value_t = 1)]
    share: u64,
}

enum Message {
    Job(String),
    Task(Box<Assignment>),
    Wrong(String),
}

pub fn run(args: &Args) -> ExitCode {
    say(&format!("porf {} protocol {PROTOCOL}", env!("CARGO_PKG_VERSION")));
    let hurried = Arc::new(AtomicU64::new(0));
    let (sender, messages) = channel();
    let wanted = hurried.clone();
    std::thread::spawn(move || {
        listen(&wanted, &sender);
        // Nobody is there any more to hear of what is being done.
        std::process::exit(0);
    });
    let mut desk = Desk { messages, hurried, job: None, wrong: None };
    let mut job: Option<Job> = None;
    loop {
        let done = match &job {
            Some(job) => porf::work(job, args.share, &mut desk).map_err(|error| error.to_string()),
            None => match desk.next() {
                Some(task) => Err(format!("task {} without a job", task.id)),
                None => Ok(()),
            },
        };
        let next = desk.job.take().map(|text| Job::read(&text).map_err(|error| error.to_string()));
        match (done, desk.wrong.take(), next) {
            (Err(message), ..) | (_, Some(message), _) | (_, _, Some(Err(message))) => {
                say(&format!("failed {}", message.replace('\n', " ")));
                return ExitCode::from(2);
            }
            (_, _, Some(Ok(read))) => job = Some(read),
            (_, _, None) => return ExitCode::SUCCESS,
        }
    }
}

struct Desk {
    messages: Receiver<Message>,
    hurried: Arc<AtomicU64>,
    /// A job that comes next.
    job: Option<String>,
    wrong: Option<String>,
}

impl Inbox for Desk {
    fn next(&mut self) -> Option<Assignment> {
        match self.messages.recv().ok()? {
            Message::Task(task) => return Some(*task),
            Message::Job(text) => self.job = Some(text),
            Message::Wrong(message) => self.wrong = Some(message),
        }
        None
    }

    fn report(&mut self, report: Report) {
        match serde_json::to_string(&report) {
            Ok(text) => say(&format!("report {text}")),
            Err(error) => say(&format!("failed {error}")),
        }
    }

    fn hurried(&self) -> u64 {
        self.hurried.load(Ordering::Relaxed)
    }
}

/// Reads until there is nothing more to come.
fn listen(hurried: &AtomicU64, sender: &Sender<Message>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let message = match word {
            "hurry" => {
                hurried.store(rest.parse().unwrap_or(0), Ordering::Relaxed);
                continue;
            }
            "job" => Message::Job(rest.to_string()),
            "task" => {
                let text = rest.split_once(' ').map_or("", |(_, text)| text);
                match serde_json::from_str(text) {
                    Ok(task) => Message::Task(Box::new(task)),
                    Err(error) => Message::Wrong(format!("a task that makes no sense: {error}")),
                }
            }
            _ => Message::Wrong(format!("a message that makes no sense: {word:.40}")),
        };
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// One line; whoever does not hear it any more ends the process.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let said = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
    if said.is_err() {
        std::process::exit(0);
    }
}
