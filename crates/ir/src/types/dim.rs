//! The size of one dimension.

use std::fmt;
use std::sync::Arc;

/// A dimension size: known, an expression over dimension variables, or unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A known number of elements.
    Static(u64),
    /// An expression such as `2*b + 1`. Equal symbolic sizes are equal in every run.
    Symbolic(SymbolicDim),
    /// `?`: nothing is known before the program runs.
    Unknown,
}

impl Dim {
    /// The size, when it is a number.
    #[must_use]
    pub const fn as_static(&self) -> Option<u64> {
        match self {
            Self::Static(size) => Some(*size),
            Self::Symbolic(_) | Self::Unknown => None,
        }
    }

    /// Whether the size is a number.
    #[must_use]
    pub const fn is_static(&self) -> bool {
        matches!(self, Self::Static(_))
    }

    /// Whether some run could give both the same size. Only two different numbers cannot.
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Static(a), Self::Static(b)) => a == b,
            _ => true,
        }
    }
}

/// MLIR's spelling: a number or `?`. The text format has no place for an expression.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(size) => write!(f, "{size}"),
            Self::Symbolic(_) | Self::Unknown => f.write_str("?"),
        }
    }
}

/// An expression over dimension variables, in canonical form. Equality is of that form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolicDim(Arc<str>);

impl SymbolicDim {
    /// Wraps an expression that is already in canonical form.
    #[must_use]
    pub fn from_canonical(expression: &str) -> Self {
        Self(expression.into())
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
