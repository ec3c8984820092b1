//! Named limits: what a file or a peer may ask for, checked before anything is allocated or looped over.

use std::fmt;

/// An inclusive upper bound with a name that error messages can quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    max: u64,
    unit: &'static str,
}

impl Limit {
    /// Declares a limit: `name` as the user reads it, `max` inclusive, `unit` in the plural.
    #[must_use]
    pub const fn new(name: &'static str, max: u64, unit: &'static str) -> Self {
        Self { name, max, unit }
    }

    /// The largest value allowed.
    #[must_use]
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// Refuses a value over the limit.
    ///
    /// # Errors
    /// [`LimitExceeded`] when `value` is over [`Limit::max`].
    pub fn check(&self, value: u64) -> Result<(), LimitExceeded> {
        if value > self.max {
            Err(LimitExceeded { limit: *self, value })
        } else {
            Ok(())
        }
    }
}

/// A value that is over a [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitExceeded {
    limit: Limit,
    value: u64,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { name, max, unit } = self.limit;
        write!(f, "{name} is {} {unit}, over the limit of {max}", self.value)
    }
}

impl std::error::Error for LimitExceeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inclusive() {
        const DEPTH: Limit = Limit::new("nesting depth", 3, "levels");
        assert_eq!(DEPTH.check(3), Ok(()));
        assert_eq!(
            DEPTH.check(4).unwrap_err().to_string(),
            "nesting depth is 4 levels, over the limit of 3"
        );
    }
}
