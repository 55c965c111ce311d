//! OpenMP, as gcc compiles it: calls of libgomp's functions (`GOMP_*`, `omp_*`), answered here.
//!
//! libgomp itself waits by system calls of its own and orders its threads by atomics that nobody sees. Here a team
//! is the thread that meets a parallel region and threads of the sampler, which are kept for the next region. A
//! task waits in its team's list until some thread of the team waits for tasks or at a barrier.
//!
//! Order: what is before a region, a barrier, a task's creation happens before what follows in the other threads, as
//! the standard says (OpenMP 5.2, 1.4.4); handing out iterations orders nothing.
//!
//! Limits: a region inside of a region has one thread. A task with dependences runs at once, after all tasks of its
//! parent. Cancellation and teams on devices are not there, clang's interface (`__kmpc_*`) neither.

mod lock;
mod share;
mod task;

use crate::call::{CALLER, caller};
use crate::interpose;
use crate::sys::Global;
use crate::world::{Step, block, is_running, visible, world};
use porf_event::ThreadId;
use porf_sample::View;
use share::Share;
use task::{Task, run_task};

/// So many threads has a team if nobody says another number.
const THREADS: u32 = 4;

type Region = unsafe extern "C" fn(usize);

/// A thread's part in its team.
#[derive(Clone, Copy, Default)]
pub struct Member {
    /// The team's number plus one; 0 outside of parallel regions.
    team: u32,
    number: u32,
    /// Shared constructs met so far.
    shares: usize,
    /// The part of an ordered loop that it has.
    piece: u64,
    /// What it runs: its number for the region itself, the size of the team and more for a task.
    task: u32,
    /// The group that tasks created now belong to; 0 is none.
    group: u32,
    /// Regions around this one.
    nested: u32,
}

#[derive(Default)]
pub struct OpenMp {
    teams: Vec<Team>,
    /// Threads that wait for a region.
    idle: Vec<ThreadId>,
}

struct Team {
    region: Region,
    data: usize,
    size: u32,
    arrived: u32,
    round: u32,
    /// What those who arrived had seen, and what those of the round before had.
    gathered: View,
    released: View,
    shares: Vec<Share>,
    tasks: Vec<Task>,
    /// Tasks that are not done.
    open: u32,
    /// Those that nobody runs yet.
    ready: Vec<u32>,
    /// Per group of tasks the one around it.
    groups: Vec<u32>,
    /// Who waits at the barrier, for tasks, or for a turn.
    waiting: Vec<ThreadId>,
}

impl OpenMp {
    pub fn reset(&mut self) {
        self.teams.clear();
        self.idle.clear();
    }
}

fn me() -> &'static mut Member {
    // SAFETY: running; given up before the next switch by every user.
    &mut unsafe { world() }.fiber().member
}

/// The team of the running thread.
fn team() -> Option<&'static mut Team> {
    if !is_running() {
        return None;
    }
    let number = me().team.checked_sub(1)?;
    // SAFETY: running; given up before the next switch by every user.
    Some(&mut unsafe { world() }.openmp.teams[number as usize])
}

// ---- regions ----

unsafe fn parallel(region: Region, data: usize, threads: u32, share: Option<Share>) {
    // SAFETY: the compiler's function and what it wants.
    unsafe {
        let shares = usize::from(share.is_some());
        if is_running() && me().team != 0 {
            // A region inside of a region: one thread, with constructs of its own.
            let outer = *me();
            world().openmp.teams.push(Team::new(region, data, 1, share));
            let team = world().openmp.teams.len() as u32;
            *me() = Member { team, nested: outer.nested + 1, shares, ..Member::default() };
            region(data);
            barrier();
            *me() = outer;
            return;
        }
        let size = if threads == 0 { wanted() } else { threads };
        let pc = caller();
        if size == 1 && share.is_none() && !is_running() {
            // Nobody else is there, and the constructs inside know that.
            return region(data);
        }
        crate::thread::begin();
        let w = world();
        w.openmp.teams.push(Team::new(region, data, size, share));
        let number = w.openmp.teams.len() as u32;
        *me() = Member { team: number, shares, ..Member::default() };
        let w = world();
        w.engine.release(w.current, &mut w.openmp.teams[number as usize - 1].released);
        w.refresh();
        for place in 1..size {
            let member = Member { team: number, number: place, shares, task: place, ..Member::default() };
            let w = world();
            match w.openmp.idle.pop() {
                Some(thread) => {
                    w.fibers[thread.as_usize()].member = member;
                    w.wake(thread);
                }
                None => {
                    *CALLER.get() = pc;
                    crate::thread::create_member(work, member);
                }
            }
        }
        visible(Step::Other);
        region(data);
        barrier();
        let team = &mut world().openmp.teams[number as usize - 1];
        (team.shares, team.tasks) = (Vec::new(), Vec::new());
        *me() = Member::default();
    }
}

/// What a worker does: region after region.
extern "C" fn work(_: usize) -> usize {
    loop {
        // SAFETY: running; the compiler's function and what it wants.
        unsafe {
            let team = team().expect("a worker is called into a team");
            let (region, data) = (team.region, team.data);
            let w = world();
            let number = w.fiber().member.team as usize - 1;
            w.engine.acquire(w.current, &w.openmp.teams[number].released);
            w.refresh();
            region(data);
            barrier();
            let w = world();
            let current = w.current;
            w.fiber().member = Member::default();
            w.openmp.idle.push(current);
            while me().team == 0 {
                block("for a parallel region", None);
            }
        }
    }
}

impl Team {
    fn new(region: Region, data: usize, size: u32, share: Option<Share>) -> Team {
        Team {
            region,
            data,
            size,
            arrived: 0,
            round: 0,
            gathered: View::default(),
            released: View::default(),
            shares: share.into_iter().collect(),
            tasks: Vec::new(),
            open: 0,
            ready: Vec::new(),
            groups: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

/// The number of threads that the next team has.
fn wanted() -> u32 {
    // SAFETY: one kernel thread; a string of the environment.
    unsafe {
        if *ASKED.get() > 0 {
            return *ASKED.get();
        }
        let given = libc::getenv(c"OMP_NUM_THREADS".as_ptr());
        let given = if given.is_null() { 0 } else { libc::atoi(given) };
        if given > 0 { given as u32 } else { THREADS }
    }
}

fn wake_team() {
    // SAFETY: running.
    let w = unsafe { world() };
    let number = w.fiber().member.team as usize - 1;
    for thread in std::mem::take(&mut w.openmp.teams[number].waiting) {
        w.wake(thread);
    }
}

fn wait_in_team(what: &'static str) {
    // SAFETY: running.
    let w = unsafe { world() };
    let (current, number) = (w.current, w.fiber().member.team as usize - 1);
    w.openmp.teams[number].waiting.push(current);
    block(what, None);
    // SAFETY: as above, after the switch.
    unsafe { world() }.openmp.teams[number].waiting.retain(|&waiter| waiter != current);
}

unsafe extern "C" fn barrier() {
    if team().is_none() {
        return;
    }
    visible(Step::Other);
    // SAFETY: running.
    let w = unsafe { world() };
    let number = w.fiber().member.team as usize - 1;
    w.changed();
    w.engine.release(w.current, &mut w.openmp.teams[number].gathered);
    w.refresh();
    let team = &mut w.openmp.teams[number];
    team.arrived += 1;
    let round = team.round;
    loop {
        // SAFETY: running; reacquired after tasks and waits.
        let team = unsafe { &mut world().openmp.teams[number] };
        if team.round != round {
            break;
        }
        if run_task() {
            continue;
        }
        if team.arrived == team.size && team.open == 0 {
            team.arrived = 0;
            team.round += 1;
            team.released = std::mem::take(&mut team.gathered);
            wake_team();
            break;
        }
        wait_in_team("at a barrier");
    }
    // SAFETY: running.
    let w = unsafe { world() };
    w.engine.acquire(w.current, &w.openmp.teams[number].released);
    w.refresh();
}

unsafe extern "C" fn gomp_parallel(region: Region, data: usize, threads: u32, _flags: u32) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { parallel(region, data, threads, None) }
}

// ---- questions ----

/// The number of threads that the program asked for; rolled back with it.
static ASKED: Global<u32> = Global::new(0);

unsafe extern "C" fn thread_number() -> i32 {
    if is_running() { me().number as i32 } else { 0 }
}

unsafe extern "C" fn thread_count() -> i32 {
    team().map_or(1, |team| team.size as i32)
}

unsafe extern "C" fn most_threads() -> i32 {
    wanted() as i32
}

unsafe extern "C" fn set_threads(count: i32) {
    // SAFETY: one kernel thread.
    unsafe { *ASKED.get() = count.max(1) as u32 };
}

unsafe extern "C" fn in_parallel() -> i32 {
    team().map_or(0, |team| i32::from(team.size > 1))
}

unsafe extern "C" fn level() -> i32 {
    team().map_or(0, |_| 1 + me().nested as i32)
}

unsafe extern "C" fn no() -> bool {
    false
}

unsafe extern "C" fn barrier_cancel() -> bool {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { barrier() };
    false
}

interpose! {
    GOMP_parallel => gomp_parallel; GOMP_barrier => barrier; GOMP_barrier_cancel => barrier_cancel;
    GOMP_cancel => no; GOMP_cancellation_point => no; GOMP_loop_end => barrier;
    GOMP_loop_end_cancel => barrier_cancel; GOMP_sections_end => barrier;
    GOMP_sections_end_cancel => barrier_cancel; omp_get_thread_num => thread_number;
    omp_get_num_threads => thread_count; omp_get_max_threads => most_threads;
    omp_set_num_threads => set_threads; omp_get_num_procs => most_threads; omp_in_parallel => in_parallel;
    omp_get_level => level;
}
