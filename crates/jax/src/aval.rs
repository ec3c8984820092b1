//! The types of arguments and results.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use artifact_dims::{Expr, ParseError};

use crate::DType;

/// The type of an argument or a result: what JAX calls a `ShapedArray`. Weak types are not stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbstractValue {
    /// The dimensions, the major one first.
    pub shape: Vec<Dimension>,
    /// The type of an element.
    pub dtype: DType,
    /// Where the array lives.
    pub memory_space: MemorySpace,
}

/// Where an array lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemorySpace {
    /// In the device's memory. Files of schemas before 5 mean this.
    #[default]
    Device,
    /// In the host's memory.
    Host,
    /// Anywhere.
    Any,
}

/// One dimension: a number or an expression over named sizes, and the text that says so. Cheap to clone.
///
/// The text is kept because JAX compares and prints dimensions in its own form. Equality is that of the texts; whether two
/// dimensions are of one size is a question for [`artifact_dims::Scope::eq`].
#[derive(Clone)]
pub struct Dimension {
    text: Arc<str>,
    expr: Expr,
}

impl Dimension {
    /// As JAX prints it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says. All variables of a file are of one scope, without constraints; each is at least 1.
    #[must_use]
    pub const fn expr(&self) -> &Expr {
        &self.expr
    }
}

impl FromStr for Dimension {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let expr = text.parse()?;
        Ok(Self {
            text: text.into(),
            expr,
        })
    }
}

impl From<Expr> for Dimension {
    fn from(expr: Expr) -> Self {
        Self {
            text: expr.to_string().into(),
            expr,
        }
    }
}

impl PartialEq for Dimension {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Dimension {}

impl Hash for Dimension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dimension({})", self.text)
    }
}
