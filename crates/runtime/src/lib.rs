//! What a program built by `porf cc` links: the compilers' ThreadSanitizer interface and the blocking
//! part of libc, on top of the memory model of `porf-sample`.
//!
//! The program's threads are fibers of one kernel thread ([`fiber`]), each on the thread-local storage of
//! a parked kernel thread. Every atomic access, lock and thread operation is a scheduling point
//! ([`world`]). When the first thread is created the process is copied aside; executions run from there,
//! one after another ([`repeat`]). Before that point the program is sequential and runs untouched.
//!
//! Two kinds of state: what lies in `.data`, `.bss` and the program's heap ([`heap`]) is rolled back
//! between executions with the rest of the program; what lies in the Rust heap ([`memory`]) stays and is
//! reset explicitly. No Rust thread-locals: they would move with the borrowed storage.
//!
//! Limits: x86-64 Linux with glibc. See docs/limits.md.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::missing_safety_doc, reason = "every exported function is the C function of that name")]

mod allocation;
mod annotate;
mod ask;
mod atomic;
mod call;
mod channel;
mod coroutine;
mod cxx;
mod descriptor;
mod fiber;
mod finding;
mod format;
mod futex;
mod heap;
mod hooks;
mod identity;
mod io;
mod java;
mod lend;
mod libatomic;
mod library;
mod locate;
mod lock;
mod maps;
mod memory;
mod minimise;
mod modules;
mod openmp;
mod operators;
mod order;
mod plain;
mod process;
mod repeat;
mod report;
mod sanitizer;
mod settled;
mod shadow;
mod signal;
mod standalone;
mod symbolize;
mod sync;
mod sys;
mod syscall;
mod thread;
mod time;
mod timer;
mod trace;
mod unwind;
mod wait;
mod world;
