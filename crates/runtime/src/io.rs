//! Calls that wait for the outside world.
//!
//! While other threads can run, a thread that would block on a descriptor lets them; only when nobody
//! else can does the process really wait.

use crate::call::{CALLER, caller};
use crate::channel;
use crate::interpose;
use crate::library::touch;
use crate::real;
use crate::signal::{self, Interrupted};
use crate::sys;
use crate::world::{Step, give_way, is_running, visible, world};
use porf_sample::race::Kind;

/// Waits until the descriptor is ready, as far as other threads allow; false if a signal came first.
unsafe fn until_ready(fd: i32, events: i16) -> bool {
    visible(Step::Other);
    let mut question = libc::pollfd { fd, events, revents: 0 };
    loop {
        // SAFETY: a poll that returns at once.
        let ready = unsafe { sys::syscall(libc::SYS_poll, [&raw mut question as usize, 1, 0, 0, 0, 0]) };
        // SAFETY: running.
        let w = unsafe { world() };
        if ready != 0 || (w.runnable.len() == 1 && w.next_deadline == u64::MAX) {
            return true;
        }
        if w.runnable.len() == 1 {
            let until = w.next_deadline;
            crate::world::block("for input", Some(until));
            // SAFETY: running.
            if unsafe { world() }.fiber().interrupted == Interrupted::Returns {
                sys::set_errno(libc::EINTR);
                return false;
            }
        } else {
            give_way();
        }
        crate::thread::test_cancel();
    }
}

/// The bytes that a call reads or writes for its caller.
enum Buffer {
    /// At most so many.
    Bytes(usize, usize),
    /// Described by a list of parts.
    Parts(usize, usize),
    /// Described by a message header.
    Message(usize),
    None,
}

impl Buffer {
    /// Notes the access; `most` bytes of the buffer are concerned.
    unsafe fn access(&self, kind: Kind, most: usize) {
        // SAFETY: the caller's structures.
        unsafe {
            match *self {
                Buffer::Bytes(start, length) => touch(start, length.min(most), kind),
                Buffer::Parts(list, count) => {
                    let mut left = most;
                    for part in std::slice::from_raw_parts(list as *const libc::iovec, count) {
                        touch(part.iov_base as usize, part.iov_len.min(left), kind);
                        left = left.saturating_sub(part.iov_len);
                    }
                }
                Buffer::Message(header) => {
                    let header = &*(header as *const libc::msghdr);
                    Buffer::Parts(header.msg_iov as usize, header.msg_iovlen).access(kind, most);
                }
                Buffer::None => {}
            }
        }
    }
}

/// A call that takes something from a descriptor, or puts something into it.
macro_rules! transfer {
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty, reads $buffer:expr) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> $ret {
            // SAFETY: the program's own call; the buffer is the one it passes.
            unsafe {
                let pc = caller();
                if is_running() && !until_ready($fd, libc::POLLIN) {
                    return -1;
                }
                let result = real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> $ret);
                if result >= 0 {
                    channel::acquire($fd);
                    *CALLER.get() = pc;
                    $buffer.access(Kind::Write, result as usize);
                }
                result
            }
        }
    };
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty, writes $buffer:expr) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> $ret {
            // SAFETY: the program's own call; the buffer is the one it passes.
            unsafe {
                let pc = caller();
                if is_running() && !until_ready($fd, libc::POLLOUT) {
                    return -1;
                }
                *CALLER.get() = pc;
                $buffer.access(Kind::Read, usize::MAX);
                channel::release($fd);
                real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> $ret)
            }
        }
    };
}

transfer!(read_inner read(fd, buffer: usize, count: usize) -> isize, reads Buffer::Bytes(buffer, count));
transfer!(readv_inner readv(fd, parts: usize, count: i32) -> isize, reads Buffer::Parts(parts, count as usize));
transfer!(pread_inner pread(fd, buffer: usize, count: usize, offset: i64) -> isize, reads Buffer::Bytes(buffer, count));
transfer!(recv_inner recv(fd, buffer: usize, count: usize, flags: i32) -> isize, reads Buffer::Bytes(buffer, count));
transfer!(recvmsg_inner recvmsg(fd, message: usize, flags: i32) -> isize, reads Buffer::Message(message));
transfer!(recvfrom_inner recvfrom(fd, buffer: usize, count: usize, flags: i32, from: usize, length: usize) -> isize, reads Buffer::Bytes(buffer, count));
transfer!(eventfd_read_inner eventfd_read(fd, value: usize) -> i32, reads Buffer::None);
transfer!(accept_inner accept(fd, address: usize, length: usize) -> i32, reads Buffer::None);
transfer!(accept4_inner accept4(fd, address: usize, length: usize, flags: i32) -> i32, reads Buffer::None);
transfer!(write_inner write(fd, buffer: usize, count: usize) -> isize, writes Buffer::Bytes(buffer, count));
transfer!(writev_inner writev(fd, parts: usize, count: i32) -> isize, writes Buffer::Parts(parts, count as usize));
transfer!(pwrite_inner pwrite(fd, buffer: usize, count: usize, offset: i64) -> isize, writes Buffer::Bytes(buffer, count));
transfer!(send_inner send(fd, buffer: usize, count: usize, flags: i32) -> isize, writes Buffer::Bytes(buffer, count));
transfer!(sendmsg_inner sendmsg(fd, message: usize, flags: i32) -> isize, writes Buffer::Message(message));
transfer!(sendto_inner sendto(fd, buffer: usize, count: usize, flags: i32, to: usize, length: u32) -> isize, writes Buffer::Bytes(buffer, count));
transfer!(eventfd_write_inner eventfd_write(fd, value: u64) -> i32, writes Buffer::None);

/// Who reads until the end of a pipe sees what was done before its other end was closed.
macro_rules! ending {
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*)) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> i32 {
            if is_running() {
                visible(Step::Other);
                channel::release($fd);
            }
            // SAFETY: the program's own call, passed on with its arguments.
            unsafe { real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> i32) }
        }
    };
}

ending!(close_inner close(fd));
ending!(shutdown_inner shutdown(fd, how: i32));
ending!(connect_inner connect(fd, address: usize, length: u32));

/// Asks with `ready` (0 is not yet) until something is, virtual time has passed the deadline, or nobody
/// else can do anything; then `ready` is asked with true, to really wait.
fn until(waiting: &'static str, deadline: Option<u64>, mut ready: impl FnMut(bool) -> i32) -> i32 {
    visible(Step::Other);
    loop {
        let answer = ready(false);
        // SAFETY: running.
        let w = unsafe { world() };
        if answer != 0 || deadline.is_some_and(|deadline| w.time >= deadline) {
            return answer;
        }
        if signal::are_waiting() && signal::deliver() {
            sys::set_errno(libc::EINTR);
            return -1;
        }
        if w.runnable.len() > 1 {
            give_way();
            continue;
        }
        match (deadline, w.next_deadline) {
            (None, u64::MAX) => return ready(true),
            (deadline, next) => {
                crate::world::block(waiting, Some(deadline.unwrap_or(u64::MAX).min(next)));
                // SAFETY: running.
                if unsafe { world() }.fiber().interrupted != Interrupted::No {
                    sys::set_errno(libc::EINTR);
                    return -1;
                }
            }
        }
        crate::thread::test_cancel();
    }
}

/// The virtual time after so many milliseconds; negative is never.
fn after(milliseconds: i32) -> Option<u64> {
    // SAFETY: running.
    (milliseconds >= 0).then(|| unsafe { world() }.time + milliseconds as u64 * 1_000_000)
}

unsafe fn after_timespec(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    (!time.is_null()).then(|| unsafe { crate::time::deadline_after(time) })
}

unsafe fn poll_until(list: usize, count: u64, deadline: Option<u64>) -> i32 {
    // SAFETY: the caller's list.
    unsafe {
        let ready = until(
            "in poll",
            deadline,
            |wait| real!(poll(l: usize = list, n: u64 = count, t: i32 = if wait { -1 } else { 0 }) -> i32),
        );
        if ready > 0 {
            for one in std::slice::from_raw_parts(list as *const libc::pollfd, count as usize) {
                if one.revents != 0 {
                    channel::acquire(one.fd);
                }
            }
        }
        ready
    }
}

unsafe extern "C" fn poll_inner(list: usize, count: u64, timeout: i32) -> i32 {
    // SAFETY: the caller's list.
    unsafe {
        if !is_running() {
            return real!(poll(l: usize = list, n: u64 = count, t: i32 = timeout) -> i32);
        }
        poll_until(list, count, after(timeout))
    }
}

/// The signal mask is ignored while others run.
unsafe extern "C" fn ppoll_inner(list: usize, count: u64, time: *const libc::timespec, mask: usize) -> i32 {
    // SAFETY: the caller's list.
    unsafe {
        if !is_running() {
            return real!(ppoll(l: usize = list, n: u64 = count, t: *const libc::timespec = time, m: usize = mask) -> i32);
        }
        poll_until(list, count, after_timespec(time))
    }
}

type Sets = [*mut libc::fd_set; 3];

/// A select that keeps the caller's sets until something is ready.
unsafe fn select_until(count: i32, sets: Sets, deadline: Option<u64>) -> i32 {
    // SAFETY: the caller's sets; the copies are locals.
    unsafe {
        until("in select", deadline, |wait| {
            let mut copies: [libc::fd_set; 3] = std::mem::zeroed();
            let mut pointers: Sets = [std::ptr::null_mut(); 3];
            for ((copy, pointer), &set) in copies.iter_mut().zip(&mut pointers).zip(&sets) {
                if !set.is_null() {
                    *copy = *set;
                    *pointer = copy;
                }
            }
            let mut none = libc::timeval { tv_sec: 0, tv_usec: 0 };
            let time = if wait { std::ptr::null_mut() } else { &raw mut none };
            let [r, w, e] = pointers;
            let ready = real!(select(n: i32 = count, r: *mut libc::fd_set = r, w: *mut libc::fd_set = w, e: *mut libc::fd_set = e, t: *mut libc::timeval = time) -> i32);
            if ready > 0 {
                for (copy, &set) in copies.iter().zip(&sets) {
                    if !set.is_null() {
                        *set = *copy;
                        for fd in (0..count).filter(|&fd| libc::FD_ISSET(fd, copy)) {
                            channel::acquire(fd);
                        }
                    }
                }
            }
            ready
        })
    }
}

/// Nothing was ready in time: the sets are empty.
unsafe fn cleared(ready: i32, sets: Sets) -> i32 {
    if ready == 0 {
        for set in sets.into_iter().filter(|set| !set.is_null()) {
            // SAFETY: the caller's set.
            unsafe { libc::FD_ZERO(set) };
        }
    }
    ready
}

unsafe extern "C" fn select_inner(
    count: i32,
    r: *mut libc::fd_set,
    w: *mut libc::fd_set,
    e: *mut libc::fd_set,
    time: *mut libc::timeval,
) -> i32 {
    // SAFETY: the caller's sets and time.
    unsafe {
        if !is_running() {
            return real!(select(n: i32 = count, r: *mut libc::fd_set = r, w: *mut libc::fd_set = w, e: *mut libc::fd_set = e, t: *mut libc::timeval = time) -> i32);
        }
        let deadline = (!time.is_null())
            .then(|| world().time + (*time).tv_sec as u64 * 1_000_000_000 + (*time).tv_usec as u64 * 1000);
        cleared(select_until(count, [r, w, e], deadline), [r, w, e])
    }
}

unsafe extern "C" fn pselect_inner(
    count: i32,
    r: *mut libc::fd_set,
    w: *mut libc::fd_set,
    e: *mut libc::fd_set,
    time: *const libc::timespec,
    mask: usize,
) -> i32 {
    // SAFETY: the caller's sets and time.
    unsafe {
        if !is_running() {
            return real!(pselect(n: i32 = count, r: *mut libc::fd_set = r, w: *mut libc::fd_set = w, e: *mut libc::fd_set = e, t: *const libc::timespec = time, m: usize = mask) -> i32);
        }
        cleared(select_until(count, [r, w, e], after_timespec(time)), [r, w, e])
    }
}

unsafe extern "C" fn epoll_inner(fd: i32, events: usize, most: i32, timeout: i32) -> i32 {
    // SAFETY: the caller's array.
    unsafe {
        if !is_running() {
            return real!(epoll_wait(d: i32 = fd, e: usize = events, m: i32 = most, t: i32 = timeout) -> i32);
        }
        let ready = until(
            "in epoll_wait",
            after(timeout),
            |wait| real!(epoll_wait(d: i32 = fd, e: usize = events, m: i32 = most, t: i32 = if wait { -1 } else { 0 }) -> i32),
        );
        if ready > 0 {
            channel::acquire_any();
        }
        ready
    }
}

unsafe extern "C" fn epoll_p_inner(fd: i32, events: usize, most: i32, timeout: i32, mask: usize) -> i32 {
    // SAFETY: the caller's array.
    unsafe {
        if !is_running() {
            return real!(epoll_pwait(d: i32 = fd, e: usize = events, m: i32 = most, t: i32 = timeout, s: usize = mask) -> i32);
        }
        epoll_inner(fd, events, most, timeout)
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
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { waitpid_inner(-1, status, 0) }
}

interpose! {
    read => read_inner; readv => readv_inner; write => write_inner; recv => recv_inner; recvmsg => recvmsg_inner;
    recvfrom => recvfrom_inner; accept => accept_inner; accept4 => accept4_inner; poll => poll_inner;
    ppoll => ppoll_inner; select => select_inner; pselect => pselect_inner; epoll_wait => epoll_inner;
    epoll_pwait => epoll_p_inner; writev => writev_inner; send => send_inner; sendmsg => sendmsg_inner;
    sendto => sendto_inner; eventfd_read => eventfd_read_inner;
    eventfd_write => eventfd_write_inner; close => close_inner; shutdown => shutdown_inner; connect => connect_inner;
    pread => pread_inner; pread64 => pread_inner; pwrite => pwrite_inner; pwrite64 => pwrite_inner;
    waitpid => waitpid_inner; wait => wait_inner;
}
