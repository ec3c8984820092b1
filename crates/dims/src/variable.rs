//! Dimension variables.

use std::fmt;
use std::sync::Arc;

use artifact_core::limit::LimitExceeded;

use crate::limits;

/// Words that name operations and cannot name variables.
pub(crate) const RESERVED: [&str; 4] = ["floordiv", "max", "min", "mod"];

/// The name of a dimension: an identifier as in Python, such as `b`, `_x` or `α`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(Arc<str>);

impl Variable {
    /// Takes a name.
    ///
    /// # Errors
    /// [`NameError`] when the text is no identifier, is reserved, or is longer than [`limits::NAME`].
    pub fn new(name: &str) -> Result<Self, NameError> {
        limits::NAME.check(name.len() as u64)?;
        let mut characters = name.chars();
        let identifier = characters.next().is_some_and(starts_name) && characters.all(continues_name);
        if !identifier || name == "_" {
            return Err(NameError::NotIdentifier {
                name: name.to_owned(),
            });
        }
        if RESERVED.contains(&name) {
            return Err(NameError::Reserved {
                name: name.to_owned(),
            });
        }
        Ok(Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// A variable for a number of which nothing is known, so that what it is in two places can be seen to be the same. It has
    /// no range and cannot be written, so that it differs from every other; it prints as `?0`.
    #[must_use]
    pub fn anonymous(number: u64) -> Self {
        Self(format!("?{number}").into())
    }

    /// Whether this is such a variable. No question about it is decided but by arithmetic.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.0.starts_with('?')
    }

    /// A variable that stands for this one and cannot be written, so that it differs from every other.
    pub(crate) fn sought(&self) -> Self {
        Self(format!("?{}", self.0).into())
    }

    /// The variable that such a variable stands for.
    pub(crate) fn unsought(&self) -> Option<Self> {
        self.0.strip_prefix('?').map(|name| Self(name.into()))
    }

    /// Whether this is such a variable.
    pub(crate) fn is_sought(&self) -> bool {
        self.0.starts_with('?')
    }
}

/// Whether a name may start with the character.
pub(crate) fn starts_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

/// Whether a name may contain the character after its first.
pub(crate) fn continues_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({self})")
    }
}

/// A text that cannot name a variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not letters, digits and underscores, starting with a letter or an underscore.
    #[error("'{name}' is not a name: use letters, digits and underscores, not starting with a digit")]
    NotIdentifier {
        /// The text.
        name: String,
    },
    /// One of the operations.
    #[error("'{name}' is an operation and cannot name a dimension: choose another name")]
    Reserved {
        /// The text.
        name: String,
    },
    /// Too long.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}
