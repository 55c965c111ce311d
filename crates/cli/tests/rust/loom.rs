//! Models written for loom. The expectations are those of Rust's memory model and of loom's documentation, one
//! per test and in the same order.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{mpsc, Arc, Condvar, Mutex, Notify, RwLock};
use loom::thread;

loom::lazy_static! {
    static ref LAZY: AtomicUsize = AtomicUsize::new(7);
}

loom::thread_local! {
    static LOCAL: std::cell::Cell<usize> = std::cell::Cell::new(1);
}

struct Shared {
    cell: UnsafeCell<usize>,
    flag: AtomicBool,
}

// SAFETY: wrong where the tests say so.
unsafe impl Sync for Shared {}

fn publish(store: Ordering) {
    loom::model(move || {
        let shared = Arc::new(Shared { cell: UnsafeCell::new(0), flag: AtomicBool::new(false) });
        let writer = shared.clone();
        let thread = thread::spawn(move || {
            writer.cell.with_mut(|cell| unsafe { *cell = 1 });
            writer.flag.store(true, store);
        });
        if shared.flag.load(Ordering::Acquire) {
            assert_eq!(shared.cell.with(|cell| unsafe { *cell }), 1);
        }
        thread.join().unwrap();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two executions, and one that skips the model.
    // expect: ok (3 executions)
    #[test]
    fn released() {
        publish(Ordering::Release);
    }

    // expect: FAILED
    #[test]
    fn relaxed() {
        publish(Ordering::Relaxed);
    }

    // One violation is enough for a model that should panic.
    // expect: ok (as it should panic)
    #[test]
    #[should_panic]
    fn relaxed_as_expected() {
        publish(Ordering::Relaxed);
    }

    // An access to a cell counts, even if nothing is read or written.
    // expect: FAILED
    #[test]
    fn empty_access() {
        loom::model(|| {
            let shared = Arc::new(Shared { cell: UnsafeCell::new(0), flag: AtomicBool::new(false) });
            let other = shared.clone();
            let thread = thread::spawn(move || other.cell.with_mut(|_| ()));
            shared.cell.with(|_| ());
            thread.join().unwrap();
        });
    }

    // Each of the two models is explored, and what is behind them is not run.
    // expect: FAILED
    #[test]
    fn second_model() {
        loom::model(|| ());
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(1);
        builder.check(|| panic!());
    }

    // expect: ok (1 execution)
    #[test]
    fn all_executions_together() {
        let sum = std::sync::Arc::new(std::sync::Mutex::new(0));
        let inner = sum.clone();
        loom::model(move || *inner.lock().unwrap() += 1);
        assert_eq!(*sum.lock().unwrap(), 1);
    }

    // A thread that nobody joins must end, too.
    // expect: FAILED
    #[test]
    fn left_behind() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            thread::spawn(move || notify.wait());
        });
    }

    // expect: ok (2 executions)
    #[test]
    fn notified() {
        loom::model(|| {
            let notify = Arc::new(Notify::new());
            let other = notify.clone();
            let thread = thread::spawn(move || other.notify());
            notify.wait();
            thread.join().unwrap();
        });
    }

    // Either sender comes first.
    // expect: FAILED
    #[test]
    fn channel() {
        loom::model(|| {
            let (sender, receiver) = mpsc::channel();
            let other = sender.clone();
            let one = thread::spawn(move || other.send(1).unwrap());
            let two = thread::spawn(move || sender.send(2).unwrap());
            let received = (receiver.recv().unwrap(), receiver.recv().unwrap());
            one.join().unwrap();
            two.join().unwrap();
            assert!(receiver.recv().is_err());
            assert_eq!(received, (1, 2));
        });
    }

    // expect: ok (2 executions)
    #[test]
    fn ready() {
        loom::model(|| {
            let waker = loom::future::AtomicWaker::new();
            let polled = std::cell::Cell::new(0);
            let value = loom::future::block_on(std::future::poll_fn(|context| {
                polled.set(polled.get() + 1);
                waker.register_by_ref(context.waker());
                match polled.get() {
                    1 => {
                        waker.wake();
                        std::task::Poll::Pending
                    }
                    _ => std::task::Poll::Ready(polled.get()),
                }
            }));
            assert_eq!(value, 2);
        });
    }

    // Polled while the waker is taken, again and again: that ends.
    // expect: ok
    #[test]
    fn woken_by_another_thread() {
        loom::model(|| {
            let shared = Arc::new((AtomicBool::new(false), loom::future::AtomicWaker::new()));
            let other = shared.clone();
            thread::spawn(move || {
                other.0.store(true, Ordering::Relaxed);
                other.1.wake();
            });
            loom::future::block_on(std::future::poll_fn(move |context| {
                shared.1.register_by_ref(context.waker());
                match shared.0.load(Ordering::Relaxed) {
                    true => std::task::Poll::Ready(()),
                    false => std::task::Poll::Pending,
                }
            }));
        });
    }

    // expect: ok (2 executions)
    #[test]
    fn the_rest_of_the_api() {
        loom::model(|| {
            loom::stop_exploring();
            loom::explore();
            assert_eq!(LAZY.load(Ordering::Relaxed), 7);
            LOCAL.with(|local| local.set(2));
            assert_eq!(LOCAL.with(|local| local.get()), 2);
            let mut number = AtomicUsize::new(1);
            number.with_mut(|number| *number += 1);
            assert_eq!(unsafe { number.unsync_load() }, 2);
            assert_eq!(number.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(old * 2)), Ok(2));
            assert_eq!(number.into_inner(), 4);
            let cell = UnsafeCell::new(1);
            unsafe { *cell.get_mut().deref() += 1 };
            assert_eq!(unsafe { *cell.get().deref() }, 2);
            let track = loom::alloc::Track::new(3);
            assert_eq!(track.into_inner(), 3);
            let (mutex, condition) = (Mutex::new(1), Condvar::new());
            condition.notify_one();
            assert_eq!(*mutex.lock().unwrap() + *RwLock::new(1).read().unwrap(), 2);
            let shared = Arc::from_std(std::sync::Arc::new(5));
            assert_eq!(Arc::try_unwrap(shared).unwrap(), 5);
            thread::Builder::new().name("named".into()).spawn(|| ()).unwrap().join().unwrap();
        });
    }
}
