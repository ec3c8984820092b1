//! Why a task failed, as one message for the person who ran it.

use std::fmt;

/// What a task returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// A message that says what failed, where, and what to do. Tasks end on the first one; there is nothing to match on.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Adds what was being done to an error from the standard library or a parser.
pub(crate) trait During<T> {
    /// Turns the error into a [`Failure`] that reads `cannot WHAT: error`.
    fn during(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> During<T> for Result<T, E> {
    fn during(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failure::new(format!("cannot {}: {error}", what())))
    }
}

/// Everything that a check found, in the order found.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    /// Records one finding about a place (`path` or `path:line`).
    pub(crate) fn push(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.0.push(format!("{place}: {message}"));
    }

    /// Fails with all findings, or passes when there is none.
    pub(crate) fn into_outcome(self, check: &str) -> Outcome {
        if self.0.is_empty() {
            return Ok(());
        }
        let count = self.0.len();
        let noun = if count == 1 { "finding" } else { "findings" };
        Err(Failure::new(format!(
            "{check}: {count} {noun}\n  {}",
            self.0.join("\n  ")
        )))
    }

    /// The findings as text, for tests.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> &[String] {
        &self.0
    }
}
