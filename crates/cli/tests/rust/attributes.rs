//! Tests with the attributes that libtest knows.

#[cfg(test)]
mod tests {
    #[test]
    fn plain() {
        assert_eq!(1 + 1, 2);
    }

    #[test]
    #[should_panic]
    fn panics() {
        panic!("so it is");
    }

    #[test]
    #[should_panic(expected = "bounds")]
    fn panics_with_a_message() {
        panic!("out of bounds");
    }

    #[test]
    #[ignore]
    fn ignored() {
        panic!("not run");
    }

    #[test]
    #[ignore = "too slow"]
    fn ignored_for_a_reason() {
        panic!("not run");
    }

    #[test]
    fn result() -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn fails_with_a_result() -> Result<(), String> {
        Err("no".to_string())
    }
}
