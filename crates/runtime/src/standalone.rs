//! A program that runs without `porf sample`: what it found, on standard error, and the status it ends with.
//!
//! `PORF_OPTIONS`, or else `TSAN_OPTIONS`, of the environment: `exitcode=N` is the status of a program that would end
//! with 0 but has a finding (66 if not said, 0 changes nothing), `halt_on_error=1` ends it at the first. Other options
//! are ignored. Functions and lines are asked of binutils' `addr2line`, where there is one.

use crate::modules;
use crate::sys::{self, Global};
use crate::world::world;
use porf_sample::protocol::{Finding, FindingKind};
use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::Ordering;

struct Options {
    exit_code: i32,
    halt_on_error: bool,
}

static OPTIONS: Global<Options> = Global::new(Options { exit_code: 66, halt_on_error: false });

/// Reads the options from the environment, which `getenv` does not know yet where we begin.
pub unsafe fn read_options(environment: *mut *mut c_char) {
    // SAFETY: strings of the environment; one kernel thread.
    unsafe {
        let Some(given) = value(environment, "PORF_OPTIONS").or_else(|| value(environment, "TSAN_OPTIONS"))
        else {
            return;
        };
        for option in given.split([':', ',', ' ']) {
            match option.split_once('=') {
                Some(("exitcode", code)) => (*OPTIONS.get()).exit_code = code.parse().unwrap_or(66),
                Some(("halt_on_error", yes)) => {
                    (*OPTIONS.get()).halt_on_error = matches!(yes, "1" | "true" | "yes");
                }
                _ => {}
            }
        }
    }
}

/// The value of a variable of the environment.
unsafe fn value(environment: *mut *mut c_char, name: &str) -> Option<String> {
    let mut at = environment;
    // SAFETY: a list of strings that ends with a null pointer.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_string_lossy();
            if let Some((key, value)) = entry.split_once('=')
                && key == name
            {
                return Some(value.to_string());
            }
            at = at.add(1);
        }
    }
    None
}

/// A finding was made: is it the last?
pub fn found() {
    // SAFETY: one kernel thread.
    if unsafe { (*OPTIONS.get()).halt_on_error } {
        sys::exit_now(end(0));
    }
}

/// Tells what was found; the status to end with instead of this one.
pub fn end(status: i32) -> i32 {
    /// More are counted only: each takes processes to tell its places.
    const TOLD: usize = 20;
    // SAFETY: initialised.
    let shared = unsafe { world() }.shared();
    let count = shared.progress.finding_count.load(Ordering::Relaxed) as usize;
    for finding in &shared.findings[..count.min(TOLD)] {
        tell(finding);
    }
    if count > TOLD {
        sys::write_error(&format!("porf: and {} more\n", count - TOLD));
    }
    if count == 0 {
        return status;
    }
    sys::write_error("porf: `porf sample -- PROGRAM` runs more executions\n");
    // SAFETY: one kernel thread.
    let code = unsafe { (*OPTIONS.get()).exit_code };
    if status == 0 { code } else { status }
}

fn tell(finding: &Finding) {
    let what = FindingKind::from_number(finding.kind).map_or("finding", FindingKind::title);
    let message = CStr::from_bytes_until_nul(&finding.message).ok().and_then(|text| text.to_str().ok());
    sys::write_error(&format!("porf: {what} {}\n", message.unwrap_or("")));
    for stack in &finding.stacks[..finding.stack_count as usize] {
        sys::write_error(&format!("  {}\n", stack.thread));
        for &frame in &stack.frames[..(stack.length as usize).min(8)] {
            // The call is before the return address.
            if let Some((file, place)) = modules::file_at(frame as usize - 1) {
                tell_place(&file, place);
            }
        }
    }
}

/// Function, file and line of a place in a file, or the place itself.
fn tell_place(file: &str, place: usize) {
    let place = format!("{place:#x}");
    if !ask(&["addr2line", "-Cfpe", file, &place]) {
        sys::write_error(&format!("    {file}+{place}\n"));
    }
}

/// Runs a command whose output goes to standard error, indented; whether there is such a command.
fn ask(words: &[&str]) -> bool {
    let words: Vec<CString> = words.iter().filter_map(|word| CString::new(*word).ok()).collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    sys::write_error("    ");
    // SAFETY: the child only executes; the parent waits for it.
    unsafe {
        let child = sys::syscall(libc::SYS_fork, [0; 6]);
        if child == 0 {
            sys::syscall(libc::SYS_dup2, [2, 1, 0, 0, 0, 0]);
            libc::execvp(pointers[0], pointers.as_ptr());
            sys::exit_now(127);
        }
        let mut status = 0i32;
        child > 0
            && sys::syscall(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0]) > 0
            && status == 0
    }
}
