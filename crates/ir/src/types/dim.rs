//! The size of one dimension.

use std::fmt;

use artifact_dims::Expr;

/// A dimension size: known, an expression over dimension variables, or unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A known number of elements.
    Static(u64),
    /// An expression such as `2*b + 1`. Two that are the same are equal in every run; two that differ may be equal too.
    Symbolic(Expr),
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

    /// The size as an expression; `None` when it is unknown, or a number that no expression holds.
    #[must_use]
    pub fn expression(&self) -> Option<Expr> {
        match self {
            Self::Static(size) => i64::try_from(*size).ok().map(Expr::constant),
            Self::Symbolic(expression) => Some(expression.clone()),
            Self::Unknown => None,
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

/// A number when the expression is one that can be a size.
impl From<Expr> for Dim {
    fn from(expression: Expr) -> Self {
        match expression.as_constant().map(u64::try_from) {
            Some(Ok(size)) => Self::Static(size),
            _ => Self::Symbolic(expression),
        }
    }
}
