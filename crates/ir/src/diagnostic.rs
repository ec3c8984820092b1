//! Located findings about a program.

use std::fmt;

use crate::location::LocationId;

/// An offset in bytes into the file that a module was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceOffset(u32);

impl SourceOffset {
    /// For what was not read from a file.
    pub const NONE: Self = Self(u32::MAX);

    /// The offset; [`SourceOffset::NONE`] from 4 GiB on.
    #[must_use]
    pub fn new(offset: usize) -> Self {
        Self(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    /// The offset in bytes, if there is one.
    #[must_use]
    pub const fn get(self) -> Option<usize> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0 as usize)
        }
    }
}

/// Something wrong with a program: what, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, as a lowercase fragment that names the operation where there is one.
    pub message: String,
    /// Where in the file that was read.
    pub source: SourceOffset,
    /// Where in the program that was exported.
    pub location: LocationId,
}

impl Diagnostic {
    /// A finding at a place of the file.
    #[must_use]
    pub fn new(message: impl Into<String>, source: SourceOffset) -> Self {
        Self {
            message: message.into(),
            source,
            location: LocationId::UNKNOWN,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}
