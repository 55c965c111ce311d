//! Shuttle's schedulers, by name: which executions there are is Porf's matter.

/// A scheduler.
pub trait Scheduler {}

macro_rules! schedulers {
    ($($name:ident($($parameter:ident: $type:ty),*);)*) => {
        $(
            #[derive(Debug)]
            pub struct $name(());

            impl $name {
                #[allow(clippy::new_without_default)]
                pub fn new($($parameter: $type),*) -> $name {
                    $(let _ = $parameter;)*
                    $name(())
                }
            }

            impl Scheduler for $name {}
        )*
    };
}

schedulers! {
    RandomScheduler(iterations: usize);
    PctScheduler(depth: usize, iterations: usize);
    DfsScheduler(iterations: Option<usize>, allow_random_data: bool);
    RoundRobinScheduler(iterations: usize);
}

impl RandomScheduler {
    pub fn new_from_seed(_seed: u64, _iterations: usize) -> RandomScheduler {
        RandomScheduler(())
    }
}

impl PctScheduler {
    pub fn new_from_seed(_seed: u64, _depth: usize, _iterations: usize) -> PctScheduler {
        PctScheduler(())
    }
}
