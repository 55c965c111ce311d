//! What this process has used so far.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time that all threads of this process have run.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The largest resident set.
pub(crate) fn peak_bytes() -> u64 {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// A line `VmHWM:   12345 kB` of a file, in bytes; 0 where there is no such file.
fn kilobytes(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The resident set now; 0 where that cannot be found out. It is asked often: this file is short.
pub(crate) fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// The memory of this machine, or what this process may have of it; 0 where that cannot be found out.
pub(crate) fn machine_bytes() -> u64 {
    let total = kilobytes("/proc/meminfo", "MemTotal:");
    // A container has less. "max" is no number.
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limit = |path: &&str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    limits.iter().filter_map(limit).fold(total, u64::min)
}
