//! Tasks: they wait in a list of their team until one of its threads waits.

use super::share::Share;
use super::{Member, Region, me, team, wait_in_team, wake_team};
use crate::interpose;
use crate::world::{Step, give_way, is_running, visible, world};
use porf_sample::View;
use porf_sample::scheduler::Scheduler;

pub struct Task {
    function: Region,
    data: usize,
    /// The memory of the data.
    block: usize,
    /// As [`Member::task`].
    parent: u32,
    group: u32,
    /// What its creator had seen; then what it had.
    view: View,
    done: bool,
}

const FINAL: u32 = 2;
const DEPENDS: u32 = 8;

/// The data of a task, copied; where it lies, and the block to free.
unsafe fn copied(data: usize, copy: Option<Copier>, size: usize, alignment: usize) -> (usize, usize) {
    // SAFETY: a new block that is long enough.
    unsafe {
        let block = crate::heap::allocate(size + alignment.max(1));
        let to = block.next_multiple_of(alignment.max(1));
        match copy {
            Some(copy) => copy(to, data),
            None => std::ptr::copy_nonoverlapping(data as *const u8, to as *mut u8, size),
        }
        (to, block)
    }
}

type Copier = unsafe extern "C" fn(usize, usize);

#[allow(clippy::too_many_arguments, reason = "libgomp's function")]
unsafe extern "C" fn task(
    function: Region,
    data: usize,
    copy: Option<Copier>,
    size: usize,
    alignment: usize,
    deferred: bool,
    flags: u32,
) {
    // SAFETY: the compiler's functions and data.
    unsafe {
        if flags & DEPENDS != 0 {
            wait_for_children();
        }
        if !deferred || flags & (FINAL | DEPENDS) != 0 || team().is_none() {
            if copy.is_none() {
                return function(data);
            }
            let (data, block) = copied(data, copy, size, alignment);
            function(data);
            return crate::heap::free_quietly(block);
        }
        visible(Step::Other);
        let (data, block) = copied(data, copy, size, alignment);
        push_task(function, data, block);
    }
}

fn push_task(function: Region, data: usize, block: usize) {
    // SAFETY: running.
    let w = unsafe { world() };
    let Member { team, task, group, .. } = w.fiber().member;
    let mut view = View::default();
    w.changed();
    let team = &mut w.openmp.teams[team as usize - 1];
    w.engine.release(w.current, &mut view);
    team.ready.push(team.tasks.len() as u32);
    team.open += 1;
    team.tasks.push(Task { function, data, block, parent: task, group, view, done: false });
    w.refresh();
    wake_team();
}

/// Runs a task of the team that waits to be run, if there is one.
pub fn run_task() -> bool {
    let Some(team) = team() else { return false };
    if team.ready.is_empty() {
        return false;
    }
    // SAFETY: running.
    let w = unsafe { world() };
    let outer = w.fiber().member;
    let number = outer.team as usize - 1;
    let chosen = w.scheduler.choose(w.openmp.teams[number].ready.len());
    let team = &mut w.openmp.teams[number];
    let index = team.ready.swap_remove(chosen) as usize;
    let task = &team.tasks[index];
    let (function, data, block, group) = (task.function, task.data, task.block, task.group);
    w.engine.acquire(w.current, &task.view);
    let id = team.size + index as u32;
    w.refresh();
    w.fiber().member = Member { task: id, group, ..outer };
    // SAFETY: the compiler's function and the copy of its data, which nobody else has.
    unsafe {
        function(data);
        crate::heap::free_quietly(block);
    }
    // SAFETY: running.
    let w = unsafe { world() };
    let shares = w.fiber().member.shares;
    w.fiber().member = Member { shares, ..outer };
    w.changed();
    let team = &mut w.openmp.teams[number];
    w.engine.release(w.current, &mut team.tasks[index].view);
    w.engine.release(w.current, &mut team.gathered);
    team.tasks[index].done = true;
    team.open -= 1;
    w.refresh();
    wake_team();
    true
}

/// Until every task of these is done.
fn wait_for(these: impl Fn(&Task) -> bool) {
    if team().is_none_or(|team| team.tasks.is_empty()) {
        return;
    }
    visible(Step::Other);
    while team().is_some_and(|team| team.tasks.iter().any(|task| !task.done && these(task))) {
        if !run_task() {
            wait_in_team("for tasks");
        }
    }
    // SAFETY: running.
    let w = unsafe { world() };
    let number = w.fiber().member.team as usize - 1;
    for task in w.openmp.teams[number].tasks.iter().filter(|task| these(task)) {
        w.engine.acquire(w.current, &task.view);
    }
    w.refresh();
}

fn wait_for_children() {
    if is_running() {
        let task = me().task;
        wait_for(|child| child.parent == task);
    }
}

unsafe extern "C" fn task_wait() {
    wait_for_children();
}

unsafe extern "C" fn task_yield() {
    if is_running() && !run_task() {
        give_way();
    }
}

unsafe extern "C" fn group_start() {
    if let Some(team) = team() {
        team.groups.push(me().group);
        me().group = team.groups.len() as u32;
    }
}

unsafe extern "C" fn group_end() {
    if team().is_some() && me().group != 0 {
        let group = me().group;
        wait_for(|task| task.group == group);
        if let Some(team) = team() {
            me().group = team.groups[group as usize - 1];
        }
    }
}

const BY_GRAIN: u32 = 1 << 9;
const AT_ONCE_UNLESS: u32 = 1 << 10;
const NO_GROUP: u32 = 1 << 11;

#[allow(clippy::too_many_arguments, reason = "libgomp's function")]
unsafe extern "C" fn task_loop(
    function: Region,
    data: usize,
    copy: Option<Copier>,
    size: usize,
    alignment: usize,
    flags: u32,
    tasks: u64,
    _priority: i32,
    start: i64,
    end: i64,
    step: i64,
) {
    let total = (end - start + step - step.signum()) / step;
    if total <= 0 {
        return;
    }
    let threads = team().map_or(1, |team| i64::from(team.size));
    let asked = tasks as i64;
    let count = match flags & BY_GRAIN {
        _ if asked == 0 => threads,
        0 => asked,
        _ => (total / asked).max(1),
    };
    // SAFETY: the compiler's function and data: the bounds of a part come first in its copy.
    unsafe {
        group_start();
        let mut share = Share::of_loop(start, end, step, (total + count - 1) / count, false);
        while let Some((from, to)) = share.next(1) {
            let (data, block) = copied(data, copy, size, alignment);
            *(data as *mut [i64; 2]) = [from, to];
            if team().is_some() && flags & AT_ONCE_UNLESS != 0 && flags & FINAL == 0 {
                push_task(function, data, block);
            } else {
                function(data);
                crate::heap::free_quietly(block);
            }
        }
        if flags & NO_GROUP == 0 {
            group_end();
        } else if let Some(team) = team() {
            me().group = team.groups[me().group as usize - 1];
        }
    }
}

interpose! {
    GOMP_task => task; GOMP_taskwait => task_wait; GOMP_taskyield => task_yield; GOMP_taskloop => task_loop;
    GOMP_taskgroup_start => group_start; GOMP_taskgroup_end => group_end;
}
