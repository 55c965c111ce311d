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

    // Each value, and one that skips the model.
    // expect: ok (4 executions)
    #[test]
    fn random_numbers() {
        use shuttle::rand::{thread_rng, Rng};
        shuttle::check_random(|| assert!(thread_rng().gen_range(-1..=1) < 2), 10);
    }

    // One of them is 2.
    // expect: FAILED
    #[test]
    fn random_number_is_not_2() {
        use shuttle::rand::{thread_rng, Rng};
        shuttle::check_random(|| assert!(!thread_rng().gen::<bool>() || thread_rng().gen_range(0..3u8) != 2), 10);
    }

    // expect: ok (2 executions)
    #[test]
    fn names() {
        use shuttle::annotations::WithName;
        use shuttle::current::{get_name_for_task, me, set_name_for_task};
        shuttle::check_dfs(
            || {
                let value = AtomicUsize::new(1).with_name("one");
                assert_eq!(set_name_for_task(me(), "first"), None);
                let other = thread::spawn(me).join().unwrap();
                assert_eq!(value.load(Ordering::Relaxed), 1);
                assert!(other != me() && get_name_for_task(other).is_none());
                assert_eq!(get_name_for_task(me()), Some("first".into()));
            },
            None,
        );
    }

    // expect: ok (
    #[test]
    fn aborted() {
        shuttle::check_dfs(
            || {
                let task = future::spawn(async { 7 });
                let handle = task.abort_handle();
                handle.abort();
                assert!(handle.is_finished());
                assert!(future::block_on(task).is_err());
            },
            None,
        );
    }
}
