//! Happens-before through descriptors: what is written to a pipe, a socket or a file happens before what is
//! read from it.
//!
//! A channel is what the kernel calls a file: both ends of a pipe and every copy of a descriptor have the same
//! device and inode. All sockets are one channel, and so are all event, timer and signal descriptors, which
//! share an inode. This orders more than the kernel does, never less.

use crate::sys;
use crate::world::{is_running, world};
use porf_sample::View;

#[derive(Default)]
pub struct Channels {
    known: Vec<Channel>,
    used: usize,
}

struct Channel {
    file: (u64, u64),
    view: View,
}

/// All sockets.
const SOCKETS: (u64, u64) = (u64::MAX, 0);

impl Channels {
    pub fn reset(&mut self) {
        self.used = 0;
    }

    fn of(&mut self, file: (u64, u64)) -> &mut View {
        let place = self.known[..self.used].iter().position(|channel| channel.file == file);
        let place = place.unwrap_or_else(|| {
            if self.used == self.known.len() {
                self.known.push(Channel { file, view: View::default() });
            }
            self.known[self.used].file = file;
            self.known[self.used].view.clear();
            self.used += 1;
            self.used - 1
        });
        &mut self.known[place].view
    }
}

fn file_of(fd: i32) -> Option<(u64, u64)> {
    // SAFETY: fills in a local.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let known = sys::syscall(libc::SYS_fstat, [fd as usize, &raw mut status as usize, 0, 0, 0, 0]) == 0;
        let is_socket = status.st_mode & libc::S_IFMT == libc::S_IFSOCK;
        known.then_some(if is_socket { SOCKETS } else { (status.st_dev, status.st_ino) })
    }
}

/// The kind of file behind a descriptor, and its permissions; 0 if there is none.
pub fn mode_of(fd: i32) -> u32 {
    // SAFETY: fills in a local.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        sys::syscall(libc::SYS_fstat, [fd as usize, &raw mut status as usize, 0, 0, 0, 0]);
        status.st_mode
    }
}

/// Before a write: what the thread did so far happens before who reads it.
pub fn release(fd: i32) {
    if is_running()
        && let Some(file) = file_of(fd)
    {
        // SAFETY: running.
        let w = unsafe { world() };
        w.changed();
        w.engine.release(w.current, w.channels.of(file));
        w.refresh();
    }
}

/// After a read.
pub fn acquire(fd: i32) {
    if is_running()
        && let Some(file) = file_of(fd)
    {
        // SAFETY: running.
        let w = unsafe { world() };
        w.changed();
        w.engine.acquire(w.current, w.channels.of(file));
        w.refresh();
    }
}

/// After a wait on a set of descriptors that are not known here: any of them may have been the one.
pub fn acquire_any() {
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.changed();
        for channel in &w.channels.known[..w.channels.used] {
            w.engine.acquire(w.current, &channel.view);
        }
        w.refresh();
    }
}
