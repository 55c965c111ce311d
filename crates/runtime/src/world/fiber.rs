//! A thread of the program, as the scheduler has it.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Runnable,
    Blocked,
    Finished,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Step {
    #[default]
    Other,
    /// A store that is neither a read-modify-write nor seq_cst.
    Store,
}

pub struct Fiber {
    pub context: usize,
    pub fs: usize,
    pub lender: usize,
    pub state: State,
    pub last_step: Step,
    /// What it waits for, in words for a report.
    pub waiting: &'static str,
    /// Virtual time at which a timed wait ends.
    pub deadline: Option<u64>,
    pub timed_out: bool,
    /// A signal came while it was blocked, and whether calls go on after its handler.
    pub interrupted: crate::signal::Interrupted,
    /// The lock that it has, whatever wakes it, before anything else: its place among the locks, and its number.
    pub awaits: Option<(usize, u64)>,
    /// Any signal that it does not block ends its wait, not only one sent to it.
    pub pauses: bool,
    /// It waits for the kernel, see [`crate::ask`].
    pub asks: Option<crate::ask::Asks>,
    pub start: Option<crate::thread::Start>,
    pub argument: usize,
    pub result: usize,
    pub detached: bool,
    pub joined: bool,
    pub cancelled: bool,
    pub cancel_disabled: bool,
    pub specific: Vec<usize>,
    pub destructors: Vec<(usize, usize)>,
    pub cleanups: Vec<usize>,
    pub calls: Vec<usize>,
    pub calls_top: usize,
    pub stack: usize,
    pub stack_size: usize,
    pub pending_signals: Vec<i32>,
    /// The signals it blocks.
    pub mask: crate::signal::Mask,
    /// Depth of stretches whose plain accesses are not to be checked.
    pub ignoring: i32,
    /// Where these stretches began.
    pub ignored_from: Vec<usize>,
    /// Depth of stretches in which its atomics and locks order nothing.
    pub unsynchronised: i32,
    /// The exception that ends the thread, see [`crate::unwind`].
    pub exit: crate::unwind::Exit,
    /// Its part in a team of OpenMP.
    pub member: crate::openmp::Member,
    /// The fiber of the program that it runs, see [`crate::coroutine`].
    pub coroutine: usize,
    /// The locks it holds, in the order in which it took them.
    pub held: Vec<crate::order::Held>,
    /// The steps at which it was created and has ended.
    pub life: (u64, u64),
    /// The calls by which it was created.
    pub created: Vec<usize>,
    /// Handlers that interrupt what it was doing.
    pub handlers: u32,
}

impl Fiber {
    pub fn new() -> Fiber {
        Fiber {
            context: 0,
            fs: 0,
            lender: usize::MAX,
            state: State::Runnable,
            last_step: Step::Other,
            waiting: "",
            deadline: None,
            timed_out: false,
            interrupted: crate::signal::Interrupted::No,
            awaits: None,
            pauses: false,
            asks: None,
            start: None,
            argument: 0,
            result: 0,
            detached: false,
            joined: false,
            cancelled: false,
            cancel_disabled: false,
            specific: Vec::new(),
            destructors: Vec::new(),
            cleanups: Vec::new(),
            calls: vec![0; crate::call::DEPTH],
            calls_top: 0,
            stack: 0,
            stack_size: 0,
            pending_signals: Vec::new(),
            mask: 0,
            ignoring: 0,
            ignored_from: Vec::new(),
            unsynchronised: 0,
            exit: crate::unwind::Exit::default(),
            member: crate::openmp::Member::default(),
            coroutine: 0,
            held: Vec::new(),
            life: (0, u64::MAX),
            created: Vec::new(),
            handlers: 0,
        }
    }

    /// Whether it waits for the end of another.
    pub fn is_joining(&self) -> bool {
        self.state == State::Blocked && self.waiting == crate::thread::JOINING
    }

    /// Whether it must end at the next cancellation point.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled && !self.cancel_disabled
    }

    /// A fiber about to begin, on the same stack and buffers.
    pub fn reset(&mut self) {
        self.state = State::Runnable;
        self.last_step = Step::Other;
        self.waiting = "";
        self.deadline = None;
        self.timed_out = false;
        self.interrupted = crate::signal::Interrupted::No;
        self.awaits = None;
        self.pauses = false;
        self.asks = None;
        self.result = 0;
        self.detached = false;
        self.joined = false;
        self.cancelled = false;
        self.cancel_disabled = false;
        self.specific.clear();
        self.destructors.clear();
        self.cleanups.clear();
        self.pending_signals.clear();
        self.ignoring = 0;
        self.ignored_from.clear();
        self.unsynchronised = 0;
        self.member = crate::openmp::Member::default();
        self.coroutine = 0;
        self.held.clear();
        self.life = (0, u64::MAX);
        self.created.clear();
        self.handlers = 0;
        self.calls_top = self.calls.as_ptr() as usize;
    }
}
