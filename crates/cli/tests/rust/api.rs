//! Tests that use the crate `porf-test`.

#[cfg(test)]
mod tests {
    // expect: ok (3 executions)
    #[test]
    fn each_choice() {
        assert!(porf::choose(3) < 3);
    }

    // expect: FAILED
    #[test]
    fn last_choice() {
        assert_ne!(porf::choose(5), 4);
    }

    // expect: ok (1 execution)
    #[test]
    fn assumed() {
        let chosen = porf::choose(4);
        porf::assume(chosen == 2);
        assert_eq!(chosen, 2);
    }

    // expect: ok (1 execution)
    #[test]
    fn natively() {
        assert_eq!(porf::choose(1), 0);
        porf::assume(true);
    }

    // A loop that the other thread never ends: without a bound there is no end to it.
    // expect: inconclusive
    #[porf::test(model = "c20", unroll = 2)]
    fn bounded() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        while COUNT.fetch_add(1, Ordering::Relaxed) < 10 {}
    }
}
