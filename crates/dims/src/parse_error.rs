//! Errors of reading dimension text, with the place.

use std::fmt;

use artifact_core::limit::LimitExceeded;

use crate::expr::ExprError;
use crate::variable::NameError;

/// Characters of the text that are quoted on either side of the place.
const CONTEXT: usize = 30;

/// A dimension text that cannot be read: what, where and why.
///
/// `Display` is one line; [`ParseError::snippet`] shows the place with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    offset: usize,
    excerpt: String,
    caret: usize,
    problem: ParseProblem,
}

/// What is wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseProblem {
    /// The grammar asks for something else here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What may come here.
        expected: &'static str,
        /// What comes.
        found: String,
    },
    /// No whole number, or one that does not fit in 64 bits.
    #[error("'{text}' is not a whole number of 64 bits: {help}")]
    Number {
        /// The text.
        text: String,
        /// What to write.
        help: &'static str,
    },
    /// A name that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// `_` or `...` without a shape to take the size from.
    #[error("'{placeholder}' takes its size from a known shape and none was given: write a name or a number")]
    Placeholder {
        /// The placeholder.
        placeholder: &'static str,
    },
    /// A placeholder past the end of the known shape.
    #[error(
        "cannot resolve placeholder '{placeholder}' because we parsed {parsed} already and 'like' shape has only \
         {rank} dimensions"
    )]
    PlaceholderPastEnd {
        /// The placeholder.
        placeholder: &'static str,
        /// Dimensions before it.
        parsed: usize,
        /// Dimensions of the known shape.
        rank: usize,
    },
    /// A placeholder for a dimension of which nothing is known.
    #[error("'{placeholder}' stands for dimension {dimension}, whose size is not known: write a name")]
    PlaceholderUnknown {
        /// The placeholder.
        placeholder: &'static str,
        /// The dimension, from 0.
        dimension: usize,
    },
    /// A number that is not the known size.
    #[error("different size {written} for dimension {dimension} of known size {known}")]
    DifferentSize {
        /// The number written.
        written: i64,
        /// The dimension, from 0.
        dimension: usize,
        /// The size known.
        known: i64,
    },
    /// Fewer or more dimensions than the known shape.
    #[error("{written} dimensions are written and the known shape has {known}")]
    DifferentRank {
        /// Dimensions written.
        written: usize,
        /// Dimensions known.
        known: usize,
    },
    /// The text is read but the expression cannot be formed.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// Too much of something.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl ParseError {
    /// Locates a problem at a byte of the text.
    pub(crate) fn new(text: &str, offset: usize, problem: impl Into<ParseProblem>) -> Self {
        let offset = floor_boundary(text, offset.min(text.len()));
        let start = (text[..offset].char_indices().rev().take(CONTEXT).last()).map_or(offset, |(at, _)| at);
        let end = (text[offset..].char_indices().nth(CONTEXT)).map_or(text.len(), |(at, _)| offset + at);
        Self {
            offset,
            excerpt: text[start..end].replace(char::is_control, " "),
            caret: text[start..offset].chars().count(),
            problem: problem.into(),
        }
    }

    /// Where the problem is, in bytes from the start of the text.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &ParseProblem {
        &self.problem
    }

    /// Two lines: the text around the place, and a caret below the place.
    #[must_use]
    pub fn snippet(&self) -> String {
        format!("{}\n{}^", self.excerpt, " ".repeat(self.caret))
    }
}

/// The largest position of a character that is not past `offset`.
fn floor_boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            offset,
            excerpt,
            caret,
            problem,
        } = self;
        let before: String = excerpt.chars().take(*caret).collect();
        let after: String = excerpt.chars().skip(*caret).collect();
        write!(
            f,
            "syntax error in dimension text at byte {offset}: {problem} (parsed '{before}', remaining '{after}')"
        )
    }
}

impl std::error::Error for ParseError {}
