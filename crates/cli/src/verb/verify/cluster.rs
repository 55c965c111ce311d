//! The way from a search to its workers: lines to and from whoever starts them (`docs/cluster.md`).

use porf::{Assignment, Error, Job, Remote, RemoteEvent};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Two descriptors: `5,6`.
pub fn descriptors(text: &str) -> Result<(i32, i32), String> {
    let numbers = text.split_once(',').and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
    numbers.filter(|(one, two)| *one > 2 && *two > 2 && one != two).ok_or("two descriptors: 5,6".to_string())
}

pub struct Cluster {
    events: Mutex<Receiver<RemoteEvent>>,
    output: Mutex<File>,
    slots: Arc<AtomicUsize>,
}

impl Cluster {
    pub fn new((input, output): (i32, i32)) -> Cluster {
        // SAFETY: whoever started this process gave it these descriptors for this purpose alone; an argument
        // that names others ends in failed reads and writes.
        let (input, output) = unsafe { (File::from_raw_fd(input), File::from_raw_fd(output)) };
        let (sender, events) = channel();
        let slots = Arc::new(AtomicUsize::new(0));
        let known = slots.clone();
        std::thread::spawn(move || listen(input, &known, &sender));
        Cluster { events: Mutex::new(events), output: Mutex::new(output), slots }
    }

    fn send(&self, line: &str) -> Result<(), Error> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = output.write_all(line.as_bytes());
        sent.map_err(|error| Error::Input(format!("the way to the workers is closed: {error}")))
    }
}

/// Reads until there is nothing more to come.
fn listen(input: File, slots: &AtomicUsize, sender: &Sender<RemoteEvent>) {
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        let event = heard(&line, slots).unwrap_or_else(RemoteEvent::Broken);
        if sender.send(event).is_err() {
            return;
        }
    }
    let _ = sender.send(RemoteEvent::Closed);
}

fn heard(line: &str, slots: &AtomicUsize) -> Result<RemoteEvent, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let wrong =
        |error: &dyn std::fmt::Display| format!("a message that makes no sense ({error}): {line:.200}");
    match word {
        "report" => {
            let report = serde_json::from_str(rest).map_err(|error| wrong(&error))?;
            Ok(RemoteEvent::Report(Box::new(report)))
        }
        "lost" => rest.parse().map(RemoteEvent::Lost).map_err(|error| wrong(&error)),
        "slots" => {
            let number = rest.parse().map_err(|error: std::num::ParseIntError| wrong(&error))?;
            slots.store(number, Ordering::Relaxed);
            Ok(RemoteEvent::Nothing)
        }
        "failed" => Err(rest.to_string()),
        _ => Err(wrong(&"unknown word")),
    }
}

impl Remote for Cluster {
    fn begin(&self, job: &Job) -> Result<(), Error> {
        self.send(&format!("job {}\n", job.write()?))
    }

    fn assign(&self, assignment: &Assignment) -> Result<(), Error> {
        let text = serde_json::to_string(assignment).map_err(|error| Error::Input(error.to_string()))?;
        self.send(&format!("task {} {text}\n", assignment.id))
    }

    fn hurry(&self, id: u64) -> Result<(), Error> {
        self.send(&format!("hurry {id}\n"))
    }

    fn next(&self, wait: Duration) -> RemoteEvent {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        match events.recv_timeout(wait) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => RemoteEvent::Nothing,
            Err(RecvTimeoutError::Disconnected) => RemoteEvent::Closed,
        }
    }

    fn end(&self) {
        // Who does not hear it has ended already.
        let _ = self.send("stop\n");
    }

    fn slots(&self) -> usize {
        self.slots.load(Ordering::Relaxed)
    }
}
