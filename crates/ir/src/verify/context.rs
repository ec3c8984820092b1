//! What the rules of one operation see, and what they answer.

use std::fmt;

use crate::literal::Literal;
use crate::module::Module;
use crate::types::Type;

/// An operation's surroundings, apart from the operation itself.
#[derive(Clone, Copy, Debug)]
pub struct OpContext<'a> {
    /// Types of the operands. Their number has been checked against the operation's row.
    pub operands: &'a [&'a Type],
    /// The value of each operand that a constant makes; shorter than `operands` where nothing is known.
    pub constants: &'a [Option<&'a Literal>],
    /// Declared types of the results; empty when they are to be inferred.
    pub results: &'a [&'a Type],
    /// Signature of each region. Their number has been checked against the operation's row.
    pub regions: &'a [RegionTypes],
    /// The module, for symbols; `None` while an operation is built outside of one.
    pub module: Option<&'a Module>,
}

/// What a region is entered with and what its terminator returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionTypes {
    /// Types of the block's arguments.
    pub arguments: Vec<Type>,
    /// Types of the terminator's operands.
    pub returns: Vec<Type>,
}

/// What the rules of an operation say about its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// The types follow from the operands. The caller compares them with what was declared: they must be compatible
    /// (equal but for sizes that one side does not know).
    Inferred(Vec<Type>),
    /// The types are part of the program, and the declared ones have been checked.
    Declared,
}

/// A rule that an operation breaks: a lowercase fragment that reads after the operation's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError(String);

impl OpError {
    /// A broken rule.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpError {}

/// The types themselves.
pub(crate) fn owned(types: &[&Type]) -> Vec<Type> {
    types.iter().copied().cloned().collect()
}

/// The answer of the rules of an operation.
pub(crate) type OpResult<T = Results> = Result<T, OpError>;

/// Breaks a rule unless `condition` holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::verify::context::OpError::new(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;
