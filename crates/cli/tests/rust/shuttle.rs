//! Tests written for Shuttle. The expectations are those of Rust's memory model, one per test and in the same
//! order.

#[cfg(test)]
mod tests {
    use shuttle::sync::atomic::{AtomicUsize, Ordering};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::{future, thread};

    // Two executions, and one that skips the model.
    // expect: ok (3 executions)
    #[test]
    fn locked() {
        shuttle::check_random(
            || {
                let lock = Arc::new(Mutex::new(0));
                let other = lock.clone();
                let thread = thread::spawn(move || *other.lock().unwrap() += 1);
                *lock.lock().unwrap() += 1;
                thread.join().unwrap();
                assert_eq!(*lock.lock().unwrap(), 2);
            },
            100,
        );
    }

    // Shuttle's memory is sequentially consistent, and this passes there.
    // expect: FAILED
    #[test]
    fn store_buffering() {
        shuttle::check_dfs(
            || {
                let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
                let (x2, y2) = (x.clone(), y.clone());
                let thread = thread::spawn(move || {
                    x2.store(1, Ordering::Release);
                    y2.load(Ordering::Acquire)
                });
                y.store(1, Ordering::Release);
                let here = x.load(Ordering::Acquire);
                assert!(here + thread.join().unwrap() > 0);
            },
            None,
        );
    }

    // expect: ok (2 executions)
    #[test]
    fn tasks() {
        let config = shuttle::Config::new();
        let runner = shuttle::Runner::new(shuttle::scheduler::RandomScheduler::new(10), config);
        runner.run(|| {
            let value = future::block_on(async {
                future::yield_now().await;
                7
            });
            assert_eq!(value, 7);
        });
    }
}
