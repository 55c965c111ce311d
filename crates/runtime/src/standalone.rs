//! A program that runs without `porf sample`: what it found, on standard error, and the status it ends with.
//!
//! `PORF_OPTIONS`, or else `TSAN_OPTIONS`, of the environment: `exitcode=N` is the status of a program that would end
//! with 0 but has a finding (66 if not said, 0 changes nothing), `halt_on_error=1` ends it at the first,
//! `log_path=FILE` has them told in a file, `history=N` keeps N stores of each atomic object (all, if N is 0), and
//! `suppressions=FILE` and others of [`Settings`] leave findings out. The program itself may have the functions
//! `__tsan_default_options` and `__tsan_default_suppressions`. Functions and lines are asked of binutils' `addr2line`,
//! where there is one.

use crate::hooks;
use crate::locate;
use crate::modules;
use crate::sys::{self, Global};
use crate::world::world;
use porf_sample::protocol::{Finding, FindingKind};
use porf_sample::suppress::{Settings, Suppressions};
use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::Ordering;

struct Wishes {
    settings: Settings,
    suppressions: Suppressions,
    /// The rules that left out a finding.
    matched: Vec<String>,
}

static WISHES: Global<Option<Wishes>> = Global::new(None);

/// Where findings are told: a descriptor, and its path.
static REPORT: Global<(usize, Option<CString>)> = Global::new((2, None));

/// Tells of findings in a file from now on: `path` and the number of the process, or `stdout` or `stderr`.
pub fn report_to(path: &str) {
    let descriptor = match path {
        "stdout" => 1,
        "stderr" => 2,
        _ => {
            // SAFETY: a system call without arguments.
            let process = unsafe { sys::syscall(libc::SYS_getpid, [0; 6]) };
            let Ok(name) = CString::new(format!("{path}.{process}")) else { return };
            let flags = (libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC) as usize;
            // SAFETY: opens a file.
            let file =
                unsafe { sys::syscall(libc::SYS_open, [name.as_ptr() as usize, flags, 0o660, 0, 0, 0]) };
            if file < 0 {
                sys::fail(&format!("porf: cannot write {path}.{process}\n"));
            }
            file as usize
        }
    };
    // SAFETY: one kernel thread.
    unsafe { *REPORT.get() = (descriptor, CString::new(path).ok()) };
}

/// The same for a descriptor that is open.
pub fn report_to_descriptor(descriptor: usize) {
    // SAFETY: one kernel thread.
    unsafe { *REPORT.get() = (descriptor, None) };
}

/// Where findings are told.
pub fn report_path() -> *const c_char {
    // SAFETY: one kernel thread; a text that stays until it is replaced.
    unsafe { (*REPORT.get()).1.as_ref().map_or(c"stderr".as_ptr(), |path| path.as_ptr()) }
}

/// Tells of a finding, or something about it.
pub fn say(text: &str) {
    // SAFETY: one kernel thread; the text is valid for its length.
    unsafe {
        let descriptor = (*REPORT.get()).0;
        sys::syscall(libc::SYS_write, [descriptor, text.as_ptr() as usize, text.len(), 0, 0, 0]);
    }
}

/// How many stores of each atomic object are kept, if that is said: 0 for all.
pub fn history() -> Option<u64> {
    wishes().settings.history
}

/// Reads what the environment, which `getenv` does not know yet where we begin, and the program itself say.
pub unsafe fn read_options(environment: *mut *mut c_char) {
    let mut settings = Settings::default();
    let mut suppressions = Suppressions::default();
    // SAFETY: strings of the environment; one kernel thread.
    unsafe {
        settings.read(&default_text(hooks::default_options()));
        let given = value(environment, "PORF_OPTIONS").or_else(|| value(environment, "TSAN_OPTIONS"));
        settings.read(&given.unwrap_or_default());
        let read = |path: &str| {
            let bytes = sys::read_file(path).ok_or_else(|| format!("cannot read {path}"))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let file = settings.suppressions.as_deref().map_or(Ok(String::new()), read);
        let all = file.and_then(|text| {
            suppressions.add(&text)?;
            suppressions.add(&default_suppressions())
        });
        if let Err(error) = all {
            sys::fail(&format!("porf: suppressions: {error}\n"));
        }
        suppressions.add_options(&settings);
        if let Some(path) = &settings.log_path {
            report_to(path);
        }
        *WISHES.get() = Some(Wishes { settings, suppressions, matched: Vec::new() });
    }
}

fn wishes() -> &'static mut Wishes {
    let none = || Wishes {
        settings: Settings::default(),
        suppressions: Suppressions::default(),
        matched: Vec::new(),
    };
    // SAFETY: one kernel thread.
    unsafe { (*WISHES.get()).get_or_insert_with(none) }
}

/// The suppressions that are part of the program.
pub fn default_suppressions() -> String {
    default_text(hooks::default_suppressions())
}

/// What the program's own options switch off, as a text of suppressions.
pub fn default_off() -> String {
    let mut settings = Settings::default();
    settings.read(&default_text(hooks::default_options()));
    settings.as_suppressions()
}

fn default_text(function: Option<extern "C" fn() -> *const c_char>) -> String {
    let text = function.map_or(std::ptr::null(), |function| function());
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the program returns a string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
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
    if wishes().settings.halt_on_error {
        let status = end(0);
        if status != 0 {
            sys::exit_now(status);
        }
    }
}

/// Tells what was found; the status to end with instead of this one.
pub fn end(status: i32) -> i32 {
    /// More are counted only: each takes processes to tell its places.
    const TOLD: usize = 20;
    // SAFETY: initialised.
    let shared = unsafe { world() }.shared();
    let count = shared.progress.finding_count.load(Ordering::Relaxed) as usize;
    let told = shared.findings[..count.min(TOLD)].iter().filter(|finding| tell(finding)).count();
    if count > TOLD {
        say(&format!("porf: and {} more\n", count - TOLD));
    }
    let matched = std::mem::take(&mut wishes().matched);
    if wishes().settings.print_suppressions && !matched.is_empty() {
        say(&format!("porf: Matched {} suppressions:\n", matched.len()));
        matched.iter().for_each(|rule| say(&format!("  {rule}\n")));
    }
    let failed = hooks::on_finalize().map_or(told != 0, |function| function((told != 0) as i32) != 0);
    if !failed {
        return status;
    }
    say("porf: `porf sample -- PROGRAM` runs more executions\n");
    if status == 0 { wishes().settings.exit_code } else { status }
}

/// Tells of a finding unless it is suppressed.
fn tell(finding: &Finding) -> bool {
    let kind = FindingKind::from_number(finding.kind);
    let message = CStr::from_bytes_until_nul(&finding.message).ok().and_then(|text| text.to_str().ok());
    let mut text =
        format!("porf: {} {}\n", kind.map_or("finding", FindingKind::title), message.unwrap_or(""));
    let mut names = Vec::new();
    for stack in &finding.stacks[..finding.stack_count as usize] {
        text.push_str(&format!("  {}\n", stack.thread));
        let (lines, more) = places(&stack.frames[..stack.length as usize]);
        text.push_str(&lines);
        names.extend(more);
    }
    let region = (finding.address != 0).then(|| locate::region(finding.address as usize)).flatten();
    if let Some(name) = region.map(|region| region.name).filter(|name| !name.is_empty()) {
        text.push_str(&format!("  in {name}\n"));
        names.push((name, false));
    }
    // `function at file:line` is told in one piece; a pattern may be for either.
    let parts = names.iter().flat_map(|(name, is_top)| {
        let line = name.trim_start_matches(" (inlined by) ");
        line.splitn(2, " at ").map(|part| (part, *is_top))
    });
    let Some(kind) = kind else {
        say(&text);
        return true;
    };
    let Wishes { suppressions, matched, .. } = wishes();
    let stacks = &finding.stacks[..finding.stack_count as usize];
    if !suppressions.allow_accesses(kind, stacks.iter().map(|stack| stack.access)) {
        return false;
    }
    match suppressions.matching(kind, message.unwrap_or(""), parts) {
        Some(rule) => {
            matched.push(rule);
            false
        }
        None => {
            say(&text);
            true
        }
    }
}

/// The innermost calls, a line for each, and their names with whether they are of the innermost one.
pub fn places(frames: &[u64]) -> (String, Vec<(String, bool)>) {
    let mut text = String::new();
    let mut names = Vec::new();
    for (depth, &frame) in frames.iter().take(8).enumerate() {
        // The call is before the return address.
        if let Some((file, place)) = modules::file_at(frame as usize - 1) {
            let place = format!("{place:#x}");
            let lines = ask(&["addr2line", "-Cfpie", &file, &place]);
            let lines = lines.unwrap_or_else(|| format!("{file}+{place}\n"));
            for line in lines.lines() {
                text.push_str(&format!("    {line}\n"));
                names.push((line.to_string(), depth == 0));
            }
            names.push((file, depth == 0));
        }
    }
    (text, names)
}

/// The output of a command; None if there is no such command.
pub fn ask(words: &[&str]) -> Option<String> {
    let words: Vec<CString> = words.iter().filter_map(|word| CString::new(*word).ok()).collect();
    let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let mut text = Vec::new();
    // SAFETY: the child only executes; the parent reads what it writes and waits for it.
    unsafe {
        let mut ends = [0i32; 2];
        sys::syscall(libc::SYS_pipe2, [ends.as_mut_ptr() as usize, libc::O_CLOEXEC as usize, 0, 0, 0, 0]);
        let [from, to] = ends.map(|end| end as usize);
        let child = sys::syscall(libc::SYS_fork, [0; 6]);
        if child == 0 {
            sys::syscall(libc::SYS_dup2, [to, 1, 0, 0, 0, 0]);
            libc::execvp(pointers[0], pointers.as_ptr());
            sys::exit_now(127);
        }
        sys::syscall(libc::SYS_close, [to, 0, 0, 0, 0, 0]);
        let mut buffer = [0u8; 512];
        loop {
            let count = sys::syscall(libc::SYS_read, [from, buffer.as_mut_ptr() as usize, 512, 0, 0, 0]);
            if count <= 0 {
                break;
            }
            text.extend_from_slice(&buffer[..count as usize]);
        }
        sys::syscall(libc::SYS_close, [from, 0, 0, 0, 0, 0]);
        let mut status = 0i32;
        let ended = child > 0
            && sys::syscall(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0]) > 0;
        (ended && status == 0).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}
