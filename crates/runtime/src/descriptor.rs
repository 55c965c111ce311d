//! Races on descriptors: one thread closes what another uses or replaces.
//!
//! A descriptor has a place in the shadow ([`DESCRIPTOR_PLACES`]), which nothing else uses. A call that uses the
//! descriptor reads the place. Whoever opens a descriptor writes it, so that a use without synchronisation races with
//! the opening. Whoever closes it writes it too; then the place is new, since the kernel may give out the number at once,
//! to somebody who has nothing to do with the last owner.
//!
//! Limits: descriptors that libc or a library opens for itself are not seen until the program uses them.

use crate::call::{CALLER, caller};
use crate::heap;
use crate::interpose;
use crate::library::touch;
use crate::real;
use crate::world::{Step, is_running, visible, world};
use porf_sample::protocol::DESCRIPTOR_PLACES;
use porf_sample::race::Kind;

const PLACE: usize = 8;

fn place(fd: i32) -> Option<usize> {
    usize::try_from(fd).ok().map(|fd| DESCRIPTOR_PLACES as usize + fd * PLACE)
}

fn is_watched() -> bool {
    // SAFETY: running.
    is_running() && unsafe { world() }.is_called_by_program()
}

/// The program is about to use a descriptor.
pub fn used(fd: i32) {
    if let Some(place) = place(fd) {
        touch(place, PLACE, Kind::Read);
    }
}

/// A call has made a descriptor, or failed to.
pub fn opened(fd: i32) -> i32 {
    if is_running()
        && let Some(place) = place(fd)
    {
        heap::forget(place, PLACE);
        touch(place, PLACE, Kind::Write);
    }
    fd
}

/// The program is about to close a descriptor.
pub fn closes(fd: i32) {
    if let Some(place) = place(fd)
        && is_watched()
    {
        touch(place, PLACE, Kind::Write);
        heap::forget(place, PLACE);
    }
}

/// A call whose result is a new descriptor.
macro_rules! opening {
    ($($inner:ident $real:ident($($arg:ident: $ty:ty),*) $(uses $used:ident)?;)*) => {$(
        unsafe extern "C" fn $inner($($arg: $ty),*) -> i32 {
            // SAFETY: the program's own call, passed on with its arguments; those that it does not pass are ignored.
            unsafe {
                let pc = caller();
                $(used($used);)?
                let result = real!($real($($arg: $ty = $arg),*) -> i32);
                *CALLER.get() = pc;
                opened(result)
            }
        }
    )*};
}

opening! {
    open_inner open(path: usize, flags: i32, mode: u32);
    open64_inner open64(path: usize, flags: i32, mode: u32);
    openat_inner openat(directory: i32, path: usize, flags: i32, mode: u32);
    openat64_inner openat64(directory: i32, path: usize, flags: i32, mode: u32);
    creat_inner creat(path: usize, mode: u32);
    dup_inner dup(fd: i32) uses fd;
    socket_inner socket(domain: i32, sort: i32, protocol: i32);
    eventfd_inner eventfd(value: u32, flags: i32);
    epoll_create_inner epoll_create(size: i32);
    epoll_create1_inner epoll_create1(flags: i32);
    timerfd_inner timerfd_create(clock: i32, flags: i32);
    signalfd_inner signalfd(fd: i32, set: usize, flags: i32);
    inotify_inner inotify_init1(flags: i32);
    memfd_inner memfd_create(name: usize, flags: u32);
    mkstemp_inner mkstemp(template: usize);
    mkstemp64_inner mkstemp64(template: usize);
    mkostemp_inner mkostemp(template: usize, flags: i32);
}

/// The second descriptor becomes a copy of the first at once, so whoever uses it has the one or the other: that is no
/// race. To close it at the same time is one.
unsafe fn copy(from: i32, to: i32, call: impl FnOnce() -> i32) -> i32 {
    let pc = caller();
    if is_running() {
        visible(Step::Other);
        // SAFETY: one kernel thread.
        unsafe { *CALLER.get() = pc };
        used(from);
        used(to);
    }
    call()
}

unsafe extern "C" fn dup2_inner(from: i32, to: i32) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { copy(from, to, || real!(dup2(f: i32 = from, t: i32 = to) -> i32)) }
}

unsafe extern "C" fn dup3_inner(from: i32, to: i32, flags: i32) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { copy(from, to, || real!(dup3(f: i32 = from, t: i32 = to, o: i32 = flags) -> i32)) }
}

unsafe extern "C" fn fcntl_inner(fd: i32, command: i32, argument: usize) -> i32 {
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe {
        let pc = caller();
        used(fd);
        let result = real!(fcntl(fd: i32 = fd, c: i32 = command, a: usize = argument) -> i32);
        *CALLER.get() = pc;
        if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { opened(result) } else { result }
    }
}

unsafe extern "C" fn ioctl_inner(fd: i32, request: u64, argument: usize) -> i32 {
    used(fd);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(ioctl(fd: i32 = fd, r: u64 = request, a: usize = argument) -> i32) }
}

unsafe extern "C" fn fclose_inner(file: usize) -> i32 {
    // SAFETY: a stream of libc's.
    unsafe {
        let pc = caller();
        if is_running() && file != 0 {
            visible(Step::Other);
            *CALLER.get() = pc;
            closes(libc::fileno(file as *mut libc::FILE));
        }
        real!(fclose(f: usize = file) -> i32)
    }
}

interpose! {
    open => open_inner; open64 => open64_inner; openat => openat_inner; openat64 => openat64_inner; creat => creat_inner;
    creat64 => creat_inner; dup => dup_inner; dup2 => dup2_inner; dup3 => dup3_inner; socket => socket_inner;
    eventfd => eventfd_inner; epoll_create => epoll_create_inner; epoll_create1 => epoll_create1_inner;
    timerfd_create => timerfd_inner; signalfd => signalfd_inner; inotify_init1 => inotify_inner;
    memfd_create => memfd_inner; mkstemp => mkstemp_inner; mkstemp64 => mkstemp64_inner; mkostemp => mkostemp_inner;
    fcntl => fcntl_inner; fcntl64 => fcntl_inner; ioctl => ioctl_inner; fclose => fclose_inner;
}
