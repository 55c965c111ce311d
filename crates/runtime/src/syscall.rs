//! `__sanitizer_syscall_pre_…` and `…_post_…`: what a program says of the system calls that it makes by itself.
//!
//! Those that read, write, open and close are seen as if they had been made by libc's functions. The others are accepted
//! and change nothing. A process that forks this way is one more process: see [`crate::process`].
//!
//! Limits: what the other calls access for the program is not seen.

use crate::call::caller;
use crate::channel;
use crate::descriptor;
use crate::entry;
use crate::library::touch;
use crate::process;
use crate::world::is_running;
use porf_sample::race::Kind;

fn used(fd: i32) {
    if is_running() {
        descriptor::used(fd);
    }
}

/// After a call that reads: the bytes were written, and so was what their writer had seen.
fn has_read(count: isize, fd: i32, buffer: usize) {
    if is_running() && count > 0 {
        touch(buffer, count as usize, Kind::Write);
        channel::acquire(fd);
    }
}

extern "C" fn pre_read(fd: i32) {
    used(fd);
}

extern "C" fn post_read(count: isize, fd: i32, buffer: usize) {
    has_read(count, fd, buffer);
}

extern "C" fn pre_write(fd: i32, buffer: usize, count: usize) {
    if is_running() {
        descriptor::used(fd);
        touch(buffer, count, Kind::Read);
        channel::release(fd);
    }
}

extern "C" fn post_pipe(failed: isize, ends: *const i32) {
    if is_running() && failed == 0 {
        touch(ends as usize, 8, Kind::Write);
        // SAFETY: the kernel has filled in both.
        unsafe {
            descriptor::opened(*ends);
            descriptor::opened(*ends.add(1));
        }
    }
}

extern "C" fn pre_close(fd: i32) {
    descriptor::closes(fd);
    if is_running() {
        channel::release(fd);
    }
}

extern "C" fn post_open(fd: isize) {
    if is_running() {
        descriptor::opened(fd as i32);
    }
}

extern "C" fn pre_fork() {
    process::will_fork();
}

extern "C" fn post_fork(child: i32) {
    process::has_forked(child);
}

extern "C" fn nothing() {
    let _ = caller();
}

entry! {
    __sanitizer_syscall_pre_impl_read => pre_read; __sanitizer_syscall_post_impl_read => post_read;
    __sanitizer_syscall_pre_impl_pread64 => pre_read; __sanitizer_syscall_post_impl_pread64 => post_read;
    __sanitizer_syscall_pre_impl_write => pre_write; __sanitizer_syscall_post_impl_write => nothing;
    __sanitizer_syscall_pre_impl_pwrite64 => pre_write; __sanitizer_syscall_post_impl_pwrite64 => nothing;
    __sanitizer_syscall_pre_impl_pipe => nothing; __sanitizer_syscall_post_impl_pipe => post_pipe;
    __sanitizer_syscall_pre_impl_pipe2 => nothing; __sanitizer_syscall_post_impl_pipe2 => post_pipe;
    __sanitizer_syscall_pre_impl_close => pre_close; __sanitizer_syscall_post_impl_close => nothing;
    __sanitizer_syscall_pre_impl_fork => pre_fork; __sanitizer_syscall_post_impl_fork => post_fork;
    __sanitizer_syscall_pre_impl_vfork => pre_fork; __sanitizer_syscall_post_impl_vfork => post_fork;
    __sanitizer_syscall_pre_impl_dup => pre_read; __sanitizer_syscall_post_impl_dup => post_open;
    __sanitizer_syscall_pre_impl_dup2 => pre_read; __sanitizer_syscall_post_impl_dup2 => nothing;
    __sanitizer_syscall_pre_impl_dup3 => pre_read; __sanitizer_syscall_post_impl_dup3 => nothing;
    __sanitizer_syscall_pre_impl_open => nothing; __sanitizer_syscall_post_impl_open => post_open;
    __sanitizer_syscall_pre_impl_openat => nothing; __sanitizer_syscall_post_impl_openat => post_open;
    __sanitizer_syscall_pre_impl_creat => nothing; __sanitizer_syscall_post_impl_creat => post_open;
}

/// Accepted, and nothing more.
macro_rules! accepted {
    ($($name:literal)*) => {
        std::arch::global_asm!(
            ".text",
            $(concat!(".globl __sanitizer_syscall_pre_impl_", $name),
            concat!(".globl __sanitizer_syscall_post_impl_", $name),
            concat!("__sanitizer_syscall_pre_impl_", $name, ":"),
            concat!("__sanitizer_syscall_post_impl_", $name, ":"),)*
            "ret",
        );
    };
}

accepted! {
    "accept" "accept4" "access" "acct" "add_key" "adjtimex" "alarm" "bdflush" "bind" "brk" "capget" "capset" "chdir"
    "chmod" "chown" "chown16" "chroot" "clock_adjtime" "clock_getres" "clock_gettime" "clock_nanosleep"
    "clock_settime" "connect" "delete_module" "epoll_create" "epoll_create1" "epoll_ctl" "epoll_pwait"
    "epoll_pwait2" "epoll_wait" "eventfd" "eventfd2" "exit" "exit_group" "faccessat" "fanotify_init" "fanotify_mark"
    "fchdir" "fchmod" "fchmodat" "fchown" "fchown16" "fchownat" "fcntl" "fcntl64" "fdatasync" "fgetxattr"
    "flistxattr" "flock" "fremovexattr" "fsetxattr" "fstat" "fstat64" "fstatat64" "fstatfs" "fstatfs64" "fsync"
    "ftruncate" "futimesat" "get_mempolicy" "get_robust_list" "getcpu" "getcwd" "getdents" "getdents64" "getegid"
    "getegid16" "geteuid" "geteuid16" "getgid" "getgid16" "getgroups" "getgroups16" "gethostname" "getitimer"
    "getpeername" "getpgid" "getpgrp" "getpid" "getppid" "getpriority" "getresgid" "getresgid16" "getresuid"
    "getresuid16" "getrlimit" "getrusage" "getsid" "getsockname" "getsockopt" "gettid" "gettimeofday" "getuid"
    "getuid16" "getxattr" "init_module" "inotify_add_watch" "inotify_init" "inotify_init1" "inotify_rm_watch"
    "io_cancel" "io_destroy" "io_getevents" "io_setup" "io_submit" "ioctl" "ioperm" "ioprio_get" "ioprio_set" "ipc"
    "kexec_load" "keyctl" "kill" "lchown" "lchown16" "lgetxattr" "link" "linkat" "listen" "listxattr" "llistxattr"
    "llseek" "lookup_dcookie" "lremovexattr" "lseek" "lsetxattr" "lstat" "lstat64" "madvise" "mbind" "migrate_pages"
    "mincore" "mkdir" "mkdirat" "mknod" "mknodat" "mlock" "mlockall" "mmap_pgoff" "mount" "move_pages" "mprotect"
    "mq_getsetattr" "mq_notify" "mq_open" "mq_timedreceive" "mq_timedsend" "mq_unlink" "mremap" "msgctl" "msgget"
    "msgrcv" "msgsnd" "msync" "munlock" "munlockall" "munmap" "name_to_handle_at" "nanosleep" "newfstat"
    "newfstatat" "newlstat" "newstat" "newuname" "ni_syscall" "nice" "old_getrlimit" "old_mmap" "old_readdir"
    "old_select" "oldumount" "olduname" "open_by_handle_at" "pause" "pciconfig_iobase" "pciconfig_read"
    "pciconfig_write" "perf_event_open" "personality" "pivot_root" "poll" "ppoll" "preadv" "prlimit64"
    "process_vm_readv" "process_vm_writev" "pselect6" "ptrace" "pwritev" "quotactl" "readlink" "readlinkat" "readv"
    "reboot" "recv" "recvfrom" "recvmmsg" "recvmsg" "remap_file_pages" "removexattr" "rename" "renameat"
    "request_key" "restart_syscall" "rmdir" "rt_sigaction" "rt_sigpending" "rt_sigprocmask" "rt_sigqueueinfo"
    "rt_sigtimedwait" "rt_tgsigqueueinfo" "sched_get_priority_max" "sched_get_priority_min" "sched_getaffinity"
    "sched_getparam" "sched_getscheduler" "sched_rr_get_interval" "sched_setaffinity" "sched_setparam"
    "sched_setscheduler" "sched_yield" "select" "semctl" "semget" "semop" "semtimedop" "send" "sendfile"
    "sendfile64" "sendmmsg" "sendmsg" "sendto" "set_mempolicy" "set_robust_list" "set_tid_address" "setdomainname"
    "setfsgid" "setfsgid16" "setfsuid" "setfsuid16" "setgid" "setgid16" "setgroups" "setgroups16" "sethostname"
    "setitimer" "setns" "setpgid" "setpriority" "setregid" "setregid16" "setresgid" "setresgid16" "setresuid"
    "setresuid16" "setreuid" "setreuid16" "setrlimit" "setsid" "setsockopt" "settimeofday" "setuid" "setuid16"
    "setxattr" "sgetmask" "shmat" "shmctl" "shmdt" "shmget" "shutdown" "sigaction" "sigaltstack" "signal" "signalfd"
    "signalfd4" "sigpending" "sigprocmask" "socket" "socketcall" "socketpair" "splice" "spu_create" "spu_run"
    "ssetmask" "stat" "stat64" "statfs" "statfs64" "stime" "swapoff" "swapon" "symlink" "symlinkat" "sync" "syncfs"
    "sysctl" "sysfs" "sysinfo" "syslog" "tee" "tgkill" "time" "timer_create" "timer_delete" "timer_getoverrun"
    "timer_gettime" "timer_settime" "timerfd_create" "timerfd_gettime" "timerfd_settime" "times" "tkill" "truncate"
    "umask" "umount" "uname" "unlink" "unlinkat" "unshare" "uselib" "ustat" "utime" "utimensat" "utimes" "vhangup"
    "vmsplice" "wait4" "waitid" "waitpid" "writev"
}
