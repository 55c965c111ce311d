//! What only Porf can do. It knows these functions by this module's name and puts its own in their place;
//! their bodies are for programs that run natively.

/// Whether Porf explores the program.
#[inline(never)]
pub fn is_explored() -> bool {
    false
}

/// Both, in different executions. Natively: no.
#[inline(never)]
pub fn flip() -> bool {
    false
}

/// Executions in which this does not hold are of no interest. Natively: nothing.
#[inline(never)]
pub fn assume(_holds: bool) {}

/// How the test that calls this is to be explored, as JSON. It is read before the test runs.
#[inline(never)]
pub fn settings(_json: &'static str) {}
