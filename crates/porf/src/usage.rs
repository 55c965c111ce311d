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
    // "VmHWM:   12345 kB"; 0 where there is no such file.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
