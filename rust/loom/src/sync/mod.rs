//! `std::sync`, as loom has it.

mod arc;
pub mod atomic;
pub mod mpsc;
mod notify;

pub use arc::Arc;
pub use notify::Notify;
pub use std::sync::{
    Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult,
};
