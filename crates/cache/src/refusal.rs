//! Why bytes are not the entry that is looked for.

use std::fmt;

use artifact_core::limit::LimitExceeded;

use crate::entry::VERSION;
use crate::record::Key;

/// Why bytes are not the entry that is looked for. Each is a miss, and a reason that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// They do not begin as an entry does.
    NoEntry,
    /// They are of another version of the format.
    Version(u32),
    /// They end before they should, or later.
    Size {
        /// How many there should be.
        expected: u64,
        /// How many there are.
        actual: u64,
    },
    /// A size over its limit.
    Limit(LimitExceeded),
    /// The header, the stored bytes or the raw bytes have another digest than they should: damage.
    Damaged(&'static str),
    /// The header is whole, and not as one is written.
    Malformed(&'static str),
    /// The entry of another key.
    Key(Key),
    /// The entry of another namespace.
    Namespace(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("it is no cache entry"),
            Self::Version(version) => write!(f, "it is a cache entry of version {version}, not {VERSION}"),
            Self::Size { expected, actual } => write!(f, "it has {actual} bytes, and should have {expected}"),
            Self::Limit(exceeded) => exceeded.fmt(f),
            Self::Damaged(what) => write!(f, "its {what} is damaged"),
            Self::Malformed(what) => write!(f, "its {what} is malformed"),
            Self::Key(key) => write!(f, "it is the entry of another key, {key}"),
            Self::Namespace(namespace) => write!(f, "it is an entry of another namespace, {namespace:?}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<LimitExceeded> for Refusal {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}
