//! Calls that wait for the outside world.
//!
//! While other threads can run, a thread that would block on a descriptor lets them ([`crate::ask`]); only when
//! nobody else can does the process really wait.

use crate::ask::{self, until};
use crate::call::{CALLER, caller};
use crate::channel;
use crate::descriptor;
use crate::interpose;
use crate::library::touch;
use crate::real;
use crate::signal;
use crate::sys;
use crate::world::{Step, is_running, visible, world};
use porf_sample::race::Kind;

/// Waits until the descriptor is ready, as far as other threads allow; false if a signal came first.
pub unsafe fn until_ready(fd: i32, events: i16) -> bool {
    let mut question = libc::pollfd { fd, events, revents: 0 };
    let ready = until(None, true, |milliseconds| {
        if milliseconds < 0 {
            // Nobody else can do anything: the call itself waits.
            return 1;
        }
        // SAFETY: a local.
        let ready = unsafe {
            sys::syscall(libc::SYS_poll, [&raw mut question as usize, 1, milliseconds as usize, 0, 0, 0])
        };
        if ready == 0 && never_waits(fd) { 1 } else { ready.max(0) as i32 }
    });
    ready > 0
}

fn never_waits(fd: i32) -> bool {
    // SAFETY: asks the kernel about a descriptor.
    let flags = unsafe { sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]) };
    flags > 0 && flags as i32 & libc::O_NONBLOCK != 0
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
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty, reads $buffer:expr $(, waits $waits:expr)? $(, makes $made:path)?) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> $ret {
            // SAFETY: the program's own call; the buffer is the one it passes.
            unsafe {
                let pc = caller();
                if is_running() $(&& $waits)? && !until_ready($fd, libc::POLLIN) {
                    return -1;
                }
                *CALLER.get() = pc;
                descriptor::used($fd);
                let result = real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> $ret);
                if result >= 0 {
                    channel::acquire($fd);
                    *CALLER.get() = pc;
                    $buffer.access(Kind::Write, result as usize);
                    $($made(result);)?
                }
                result
            }
        }
    };
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty, writes $buffer:expr $(, waits $waits:expr)?) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> $ret {
            // SAFETY: the program's own call; the buffer is the one it passes.
            unsafe {
                let pc = caller();
                if is_running() $(&& $waits)? && !until_ready($fd, libc::POLLOUT) {
                    return -1;
                }
                *CALLER.get() = pc;
                descriptor::used($fd);
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
transfer!(recv_inner recv(fd, buffer: usize, count: usize, flags: i32) -> isize, reads Buffer::Bytes(buffer, count), waits flags & libc::MSG_DONTWAIT == 0);
transfer!(recvmsg_inner recvmsg(fd, message: usize, flags: i32) -> isize, reads Buffer::Message(message), waits flags & libc::MSG_DONTWAIT == 0);
transfer!(recvfrom_inner recvfrom(fd, buffer: usize, count: usize, flags: i32, from: usize, length: usize) -> isize, reads Buffer::Bytes(buffer, count), waits flags & libc::MSG_DONTWAIT == 0);
transfer!(eventfd_read_inner eventfd_read(fd, value: usize) -> i32, reads Buffer::None);
transfer!(accept_inner accept(fd, address: usize, length: usize) -> i32, reads Buffer::None, makes descriptor::opened);
transfer!(accept4_inner accept4(fd, address: usize, length: usize, flags: i32) -> i32, reads Buffer::None, makes descriptor::opened);
transfer!(pwrite_inner pwrite(fd, buffer: usize, count: usize, offset: i64) -> isize, writes Buffer::Bytes(buffer, count));
transfer!(sendto_inner sendto(fd, buffer: usize, count: usize, flags: i32, to: usize, length: u32) -> isize, writes Buffer::Bytes(buffer, count), waits flags & libc::MSG_DONTWAIT == 0);
transfer!(eventfd_write_inner eventfd_write(fd, value: u64) -> i32, writes Buffer::None);

/// Puts bytes into a descriptor that may take a part of them only, piece by piece of at most so many bytes: a call for
/// all would wait in the kernel, where no other thread could make room.
unsafe fn put(fd: i32, parts: &[libc::iovec], most: usize, piece: impl Fn(&[libc::iovec]) -> isize) -> isize {
    let total: usize = parts.iter().map(|part| part.iov_len).sum();
    let mut rest = parts.to_vec();
    let mut done = 0;
    // SAFETY: the program's own call; the buffers are those it passes.
    unsafe {
        let pc = caller();
        loop {
            if !until_ready(fd, libc::POLLOUT) {
                return if done > 0 { done as isize } else { -1 };
            }
            *CALLER.get() = pc;
            if done == 0 {
                descriptor::used(fd);
                Buffer::Parts(parts.as_ptr() as usize, parts.len()).access(Kind::Read, usize::MAX);
            }
            channel::release(fd);
            let result = piece(&beginning(&rest, most));
            if result < 0 && *libc::__errno_location() == libc::EAGAIN && !never_waits(fd) {
                continue;
            }
            if result < 0 {
                return if done > 0 { done as isize } else { result };
            }
            done += result as usize;
            if done >= total || never_waits(fd) {
                return done as isize;
            }
            drop_first(&mut rest, result as usize);
        }
    }
}

/// The parts up to so many bytes.
fn beginning(parts: &[libc::iovec], most: usize) -> Vec<libc::iovec> {
    let mut left = most;
    let mut taken = Vec::with_capacity(parts.len());
    for part in parts {
        if left == 0 {
            break;
        }
        taken.push(libc::iovec { iov_base: part.iov_base, iov_len: part.iov_len.min(left) });
        left -= part.iov_len.min(left);
    }
    taken
}

/// The parts without their first bytes.
fn drop_first(parts: &mut Vec<libc::iovec>, bytes: usize) {
    let mut left = bytes;
    parts.retain_mut(|part| {
        let gone = part.iov_len.min(left);
        left -= gone;
        part.iov_base = part.iov_base.wrapping_byte_add(gone);
        part.iov_len -= gone;
        part.iov_len > 0
    });
}

/// How many bytes a descriptor is given at once: a pipe that takes anything takes so many.
fn at_once(fd: i32) -> usize {
    const PIPE: usize = 4096;
    let is_pipe = channel::mode_of(fd) & libc::S_IFMT == libc::S_IFIFO;
    if is_pipe && !never_waits(fd) { PIPE } else { usize::MAX }
}

unsafe fn put_parts(fd: i32, parts: &[libc::iovec]) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        let is_socket = channel::mode_of(fd) & libc::S_IFMT == libc::S_IFSOCK;
        put(fd, parts, at_once(fd), |parts| {
            if is_socket {
                let mut message: libc::msghdr = std::mem::zeroed();
                (message.msg_iov, message.msg_iovlen) = (parts.as_ptr().cast_mut(), parts.len());
                return send_message(fd, &message, libc::MSG_DONTWAIT);
            }
            real!(writev(fd: i32 = fd, p: usize = parts.as_ptr() as usize, n: i32 = parts.len() as i32) -> isize)
        })
    }
}

unsafe extern "C" fn write_inner(fd: i32, buffer: usize, count: usize) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        if !is_running() {
            return real!(write(fd: i32 = fd, b: usize = buffer, n: usize = count) -> isize);
        }
        put_parts(fd, &[libc::iovec { iov_base: buffer as *mut _, iov_len: count }])
    }
}

unsafe extern "C" fn writev_inner(fd: i32, parts: usize, count: i32) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        if !is_running() || count <= 0 {
            return real!(writev(fd: i32 = fd, p: usize = parts, n: i32 = count) -> isize);
        }
        put_parts(fd, std::slice::from_raw_parts(parts as *const libc::iovec, count as usize))
    }
}

unsafe fn send_message(fd: i32, message: *const libc::msghdr, flags: i32) -> isize {
    // SAFETY: the program's own call.
    unsafe { real!(sendmsg(fd: i32 = fd, m: *const libc::msghdr = message, f: i32 = flags) -> isize) }
}

/// What goes with the message goes with its first piece.
unsafe extern "C" fn sendmsg_inner(fd: i32, message: *const libc::msghdr, flags: i32) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        if !is_running() {
            return send_message(fd, message, flags);
        }
        let parts = match (*message).msg_iovlen {
            0 => &[],
            count => std::slice::from_raw_parts((*message).msg_iov, count),
        };
        if flags & libc::MSG_DONTWAIT != 0 {
            descriptor::used(fd);
            Buffer::Message(message as usize).access(Kind::Read, usize::MAX);
            channel::release(fd);
            return send_message(fd, message, flags);
        }
        let is_first = std::cell::Cell::new(true);
        put(fd, parts, usize::MAX, |parts| {
            let mut part = *message;
            (part.msg_iov, part.msg_iovlen) = (parts.as_ptr().cast_mut(), parts.len());
            if !is_first.get() {
                (part.msg_control, part.msg_controllen) = (std::ptr::null_mut(), 0);
            }
            let sent = send_message(fd, &part, flags | libc::MSG_DONTWAIT);
            is_first.set(is_first.get() && sent < 0);
            sent
        })
    }
}

unsafe fn send_now(fd: i32, buffer: usize, count: usize, flags: i32) -> isize {
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the program's own call.
    unsafe { real!(send(fd: i32 = fd, b: usize = buffer, n: usize = count, f: i32 = flags) -> isize) }
}

unsafe extern "C" fn send_inner(fd: i32, buffer: usize, count: usize, flags: i32) -> isize {
    // SAFETY: the program's own call.
    unsafe {
        if !is_running() || flags & libc::MSG_DONTWAIT != 0 {
            if is_running() {
                descriptor::used(fd);
                touch(buffer, count, Kind::Read);
                channel::release(fd);
            }
            return real!(send(fd: i32 = fd, b: usize = buffer, n: usize = count, f: i32 = flags) -> isize);
        }
        let part = libc::iovec { iov_base: buffer as *mut _, iov_len: count };
        put(fd, &[part], usize::MAX, |parts| {
            send_now(fd, parts[0].iov_base as usize, parts[0].iov_len, flags)
        })
    }
}

/// Who reads until the end of a pipe sees what was done before its other end was closed.
macro_rules! ending {
    ($inner:ident $real:ident($fd:ident $(, $arg:ident: $ty:ty)*) $how:ident) => {
        unsafe extern "C" fn $inner($fd: i32 $(, $arg: $ty)*) -> i32 {
            let pc = caller();
            if is_running() {
                visible(Step::Other);
                // SAFETY: one kernel thread.
                unsafe { *CALLER.get() = pc };
                descriptor::$how($fd);
                channel::release($fd);
            }
            // SAFETY: the program's own call, passed on with its arguments.
            unsafe { real!($real($fd: i32 = $fd $(, $arg: $ty = $arg)*) -> i32) }
        }
    };
}

ending!(close_inner close(fd) closes);
ending!(shutdown_inner shutdown(fd, how: i32) used);
ending!(connect_now connect(fd, address: usize, length: u32) used);

unsafe extern "C" fn connect_inner(fd: i32, address: usize, length: u32) -> i32 {
    ask::expect_peers();
    // SAFETY: the program's own call; the descriptor waits again when the caller has it back.
    unsafe {
        if !is_running() || never_waits(fd) {
            return connect_now(fd, address, length);
        }
        let flags = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
        let set = |flags: usize| {
            sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_SETFL as usize, flags, 0, 0, 0])
        };
        if flags < 0 {
            return connect_now(fd, address, length);
        }
        set(flags as usize | libc::O_NONBLOCK as usize);
        let result = connect_in_time(fd, address, length);
        let error = *libc::__errno_location();
        set(flags as usize);
        sys::set_errno(error);
        result
    }
}

/// Connects a descriptor that does not wait: other threads run until the other side is there.
unsafe fn connect_in_time(fd: i32, address: usize, length: u32) -> i32 {
    // SAFETY: the program's own call.
    unsafe {
        if connect_now(fd, address, length) == 0 {
            return 0;
        }
        match *libc::__errno_location() {
            // A queue of the other side is full.
            libc::EAGAIN => {
                let done = until(None, true, |milliseconds| {
                    match real!(connect(fd: i32 = fd, a: usize = address, l: u32 = length) -> i32) {
                        0 => 1,
                        _ if *libc::__errno_location() == libc::EAGAIN => sleep_a_little(milliseconds),
                        _ => -1,
                    }
                });
                if done > 0 { 0 } else { -1 }
            }
            libc::EINPROGRESS => {
                if !until_ready(fd, libc::POLLOUT) {
                    sys::set_errno(libc::EINTR);
                    return -1;
                }
                let (mut error, mut size) = (0i32, size_of::<i32>() as u32);
                let (option, value) = (libc::SO_ERROR, (&raw mut error).cast());
                libc::getsockopt(fd, libc::SOL_SOCKET, option, value, &mut size);
                sys::set_errno(error);
                if error == 0 { 0 } else { -1 }
            }
            _ => -1,
        }
    }
}

// What _FORTIFY_SOURCE makes of calls: the room in the buffer comes after its length.

unsafe extern "C" fn recv_checked(fd: i32, buffer: usize, count: usize, _room: usize, flags: i32) -> isize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { recv_inner(fd, buffer, count, flags) }
}

unsafe extern "C" fn recvfrom_checked(
    fd: i32,
    buffer: usize,
    count: usize,
    _room: usize,
    flags: i32,
    from: usize,
    length: usize,
) -> isize {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { recvfrom_inner(fd, buffer, count, flags, from, length) }
}

unsafe extern "C" fn listen_inner(fd: i32, most: i32) -> i32 {
    ask::expect_peers();
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(listen(fd: i32 = fd, m: i32 = most) -> i32) }
}

/// A lock of a file: by one open description against another, so threads of one process can wait for each other.
unsafe extern "C" fn flock_inner(fd: i32, operation: i32) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe {
        let lock = |how: i32| real!(flock(fd: i32 = fd, o: i32 = how) -> i32);
        if !is_running() {
            return lock(operation);
        }
        if operation & libc::LOCK_UN != 0 {
            visible(Step::Other);
            channel::release(fd);
            return lock(operation);
        }
        if operation & libc::LOCK_NB != 0 {
            return lock(operation);
        }
        let got = until(None, true, |milliseconds| match lock(operation | libc::LOCK_NB) {
            0 => 1,
            _ if *libc::__errno_location() != libc::EWOULDBLOCK => -1,
            _ => sleep_a_little(milliseconds),
        });
        channel::acquire(fd);
        if got > 0 { 0 } else { -1 }
    }
}

/// Really waits, for an answer that cannot be waited for; 0.
fn sleep_a_little(milliseconds: i32) -> i32 {
    let most = if milliseconds < 0 { 10 } else { i64::from(milliseconds) };
    let time = libc::timespec { tv_sec: 0, tv_nsec: most.min(100) * 1_000_000 };
    if milliseconds != 0 {
        // SAFETY: a local.
        unsafe { sys::syscall(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0, 0, 0]) };
    }
    0
}

/// The answer of a wait before the first thread; if nothing came, time has passed.
fn alone(milliseconds: i32, answer: i32) -> i32 {
    if answer == 0 {
        crate::time::waited_alone(milliseconds);
    }
    answer
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
            deadline,
            false,
            |milliseconds| real!(poll(l: usize = list, n: u64 = count, t: i32 = milliseconds) -> i32),
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
            return alone(timeout, real!(poll(l: usize = list, n: u64 = count, t: i32 = timeout) -> i32));
        }
        poll_until(list, count, after(timeout))
    }
}

unsafe extern "C" fn ppoll_inner(list: usize, count: u64, time: *const libc::timespec, mask: usize) -> i32 {
    // SAFETY: the caller's list.
    unsafe {
        if !is_running() {
            return real!(ppoll(l: usize = list, n: u64 = count, t: *const libc::timespec = time, m: usize = mask) -> i32);
        }
        signal::masked(mask, || poll_until(list, count, after_timespec(time)))
    }
}

type Sets = [*mut libc::fd_set; 3];

/// A select that keeps the caller's sets until something is ready.
unsafe fn select_until(count: i32, sets: Sets, deadline: Option<u64>) -> i32 {
    // SAFETY: the caller's sets; the copies are locals.
    unsafe {
        until(deadline, false, |milliseconds| {
            let mut copies: [libc::fd_set; 3] = std::mem::zeroed();
            let mut pointers: Sets = [std::ptr::null_mut(); 3];
            for ((copy, pointer), &set) in copies.iter_mut().zip(&mut pointers).zip(&sets) {
                if !set.is_null() {
                    *copy = *set;
                    *pointer = copy;
                }
            }
            let mut some = libc::timeval { tv_sec: 0, tv_usec: i64::from(milliseconds) * 1000 };
            let time = if milliseconds < 0 { std::ptr::null_mut() } else { &raw mut some };
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
        let ready = signal::masked(mask, || select_until(count, [r, w, e], after_timespec(time)));
        cleared(ready, [r, w, e])
    }
}

unsafe extern "C" fn epoll_inner(fd: i32, events: usize, most: i32, timeout: i32) -> i32 {
    // SAFETY: the caller's array.
    unsafe {
        if !is_running() {
            return alone(
                timeout,
                real!(epoll_wait(d: i32 = fd, e: usize = events, m: i32 = most, t: i32 = timeout) -> i32),
            );
        }
        descriptor::used(fd);
        let ready = until(
            after(timeout),
            false,
            |milliseconds| real!(epoll_wait(d: i32 = fd, e: usize = events, m: i32 = most, t: i32 = milliseconds) -> i32),
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
        signal::masked(mask, || epoll_inner(fd, events, most, timeout))
    }
}

unsafe extern "C" fn waitpid_inner(process: i32, status: usize, options: i32) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe {
        if !is_running() {
            return real!(waitpid(p: i32 = process, s: usize = status, o: i32 = options) -> i32);
        }
        let quick = options | libc::WNOHANG;
        if options & libc::WNOHANG != 0 {
            return real!(waitpid(p: i32 = process, s: usize = status, o: i32 = quick) -> i32);
        }
        until(None, true, |milliseconds| {
            if milliseconds < 0 {
                return real!(waitpid(p: i32 = process, s: usize = status, o: i32 = options) -> i32);
            }
            match real!(waitpid(p: i32 = process, s: usize = status, o: i32 = quick) -> i32) {
                0 => sleep_a_little(milliseconds),
                result => result,
            }
        })
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
    waitpid => waitpid_inner; wait => wait_inner; listen => listen_inner; flock => flock_inner;
    __read_chk => read_inner; __pread_chk => pread_inner; __pread64_chk => pread_inner; __recv_chk => recv_checked;
    __recvfrom_chk => recvfrom_checked; __poll_chk => poll_inner; __ppoll_chk => ppoll_inner;
}
