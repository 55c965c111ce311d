//! The task that runs: its number and its name.
//!
//! Missing are labels, tags and vector clocks. Nothing is known of steps: to reset their count does nothing.

use std::fmt;
use std::sync::Mutex;

/// The number of a task: threads count from 0 in the order of their creation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(usize);

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match get_name_for_task(*self) {
            Some(name) => write!(f, "{name:?}({})", self.0),
            None => f.debug_tuple("TaskId").field(&self.0).finish(),
        }
    }
}

impl From<usize> for TaskId {
    fn from(number: usize) -> TaskId {
        TaskId(number)
    }
}

impl From<TaskId> for usize {
    fn from(id: TaskId) -> usize {
        id.0
    }
}

/// The name of a task.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskName(String);

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for TaskName {
    fn from(name: String) -> TaskName {
        TaskName(name)
    }
}

impl From<&str> for TaskName {
    fn from(name: &str) -> TaskName {
        TaskName(name.to_string())
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> String {
        name.0
    }
}

impl<'a> From<&'a TaskName> for &'a String {
    fn from(name: &'a TaskName) -> &'a String {
        &name.0
    }
}

/// Those that were given.
static NAMES: Mutex<Vec<(TaskId, TaskName)>> = Mutex::new(Vec::new());

fn names<R>(f: impl FnOnce(&mut Vec<(TaskId, TaskName)>) -> R) -> R {
    f(&mut NAMES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// The task that calls this.
pub fn me() -> TaskId {
    // std shows the number of a thread, "ThreadId(1)", and gives it in no other way.
    let shown = format!("{:?}", std::thread::current().id());
    let digits = shown.chars().filter_map(|digit| digit.to_digit(10));
    TaskId(digits.fold(0, |number, digit| 10 * number + digit as usize).saturating_sub(1))
}

/// The task that calls this.
pub fn get_current_task() -> Option<TaskId> {
    Some(me())
}

/// The name that a task was given.
pub fn get_name_for_task(id: TaskId) -> Option<TaskName> {
    names(|names| names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone()))
}

/// Gives a task a name; its name before.
pub fn set_name_for_task(id: TaskId, name: impl Into<TaskName>) -> Option<TaskName> {
    let name = name.into();
    names(|names| match names.iter_mut().find(|(known, _)| *known == id) {
        Some((_, old)) => Some(std::mem::replace(old, name)),
        None => {
            names.push((id, name));
            None
        }
    })
}

/// Accepted, and not needed.
pub fn reset_step_count() {}
