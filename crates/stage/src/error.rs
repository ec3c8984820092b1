//! What is wrong with a function that is being staged, and where.

use std::fmt;
use std::panic::Location;

/// The first mistake of a staged function: what, and at which line of the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    message: String,
    place: &'static Location<'static>,
}

impl StageError {
    pub(crate) fn new(message: impl Into<String>, place: &'static Location<'static>) -> Self {
        Self {
            message: message.into(),
            place,
        }
    }

    /// What is wrong, as a lowercase fragment.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where in the user's source.
    #[must_use]
    pub const fn place(&self) -> &'static Location<'static> {
        self.place
    }
}

/// `src/model.rs:12:20: message`.
impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for StageError {}
