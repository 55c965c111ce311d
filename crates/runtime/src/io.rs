//! Calls that wait for the outside world.
//!
//! While other threads can run, a thread that would block on a descriptor lets them; only when nobody
//! else can does the process really wait.

use crate::entry;
use crate::real;
use crate::sys;
use crate::world::{give_way, is_running, world};

/// Waits until the descriptor is ready, as far as other threads allow.
unsafe fn until_ready(fd: i32, events: i16) {
    crate::atomic::tracked();
    let mut question = libc::pollfd { fd, events, revents: 0 };
    loop {
        // SAFETY: a poll that returns at once.
        let ready = unsafe { sys::syscall(libc::SYS_poll, [&raw mut question as usize, 1, 0, 0, 0, 0]) };
        // SAFETY: running.
        let w = unsafe { world() };
        if ready != 0 || (w.runnable.len() == 1 && w.next_deadline == u64::MAX) {
            return;
        }
        if w.runnable.len() == 1 {
            let until = w.next_deadline;
            crate::world::block("for input", Some(until));
        } else {
            give_way();
        }
    }
}

macro_rules! patient {
    ($inner:ident $real:ident($fd:ident, $events:expr $(, $arg:ident: $ty:ty)*) -> $ret:ty) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> $ret {
            unsafe {
                if is_running() {
                    until_ready($fd, $events);
                }
                real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> $ret)
            }
        }
    };
}

patient!(read_inner read(fd, libc::POLLIN, buffer: usize, count: usize) -> isize);
patient!(readv_inner readv(fd, libc::POLLIN, parts: usize, count: i32) -> isize);
patient!(write_inner write(fd, libc::POLLOUT, buffer: usize, count: usize) -> isize);
patient!(recv_inner recv(fd, libc::POLLIN, buffer: usize, count: usize, flags: i32) -> isize);
patient!(recvmsg_inner recvmsg(fd, libc::POLLIN, message: usize, flags: i32) -> isize);
patient!(recvfrom_inner recvfrom(fd, libc::POLLIN, buffer: usize, count: usize, flags: i32, from: usize, length: usize) -> isize);
patient!(accept_inner accept(fd, libc::POLLIN, address: usize, length: usize) -> i32);
patient!(accept4_inner accept4(fd, libc::POLLIN, address: usize, length: usize, flags: i32) -> i32);

unsafe extern "C" fn poll_inner(list: usize, count: u64, timeout: i32) -> i32 {
    // SAFETY: the caller's list.
    unsafe {
        if !is_running() {
            return real!(poll(l: usize = list, n: u64 = count, t: i32 = timeout) -> i32);
        }
        let deadline = (timeout >= 0).then(|| world().time + timeout as u64 * 1_000_000);
        loop {
            let ready = real!(poll(l: usize = list, n: u64 = count, t: i32 = 0) -> i32);
            let w = world();
            if ready != 0 || deadline.is_some_and(|deadline| w.time >= deadline) {
                return ready;
            }
            if w.runnable.len() > 1 {
                give_way();
                continue;
            }
            match (deadline, w.next_deadline) {
                (None, u64::MAX) => return real!(poll(l: usize = list, n: u64 = count, t: i32 = -1) -> i32),
                (deadline, next) => {
                    let until = deadline.unwrap_or(u64::MAX).min(next);
                    crate::world::block("in poll", Some(until));
                }
            }
        }
    }
}

unsafe extern "C" fn waitpid_inner(process: i32, status: usize, options: i32) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe {
        if !is_running() {
            return real!(waitpid(p: i32 = process, s: usize = status, o: i32 = options) -> i32);
        }
        loop {
            let quick = options | libc::WNOHANG;
            let result = real!(waitpid(p: i32 = process, s: usize = status, o: i32 = quick) -> i32);
            if result != 0 || options & libc::WNOHANG != 0 {
                return result;
            }
            if world().runnable.len() == 1 {
                return real!(waitpid(p: i32 = process, s: usize = status, o: i32 = options) -> i32);
            }
            give_way();
        }
    }
}

unsafe extern "C" fn wait_inner(status: usize) -> i32 {
    unsafe { waitpid_inner(-1, status, 0) }
}

entry! {
    read => read_inner; readv => readv_inner; write => write_inner; recv => recv_inner; recvmsg => recvmsg_inner;
    recvfrom => recvfrom_inner; accept => accept_inner; accept4 => accept4_inner; poll => poll_inner;
    waitpid => waitpid_inner; wait => wait_inner;
}
