//! What is wrong with a mesh, a spec, or an array that is cut by them.

use std::fmt;

use artifact_core::limit::LimitExceeded;

/// Why there is no such mesh or sharding, or it does not fit an array. `Display` is a lowercase fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardingError {
    /// An axis has no name, or that of another one.
    AxisName(String),
    /// An axis has the size 0.
    EmptyAxis(String),
    /// Too many axes, devices or dimensions.
    Limit(LimitExceeded),
    /// The device numbers of a mesh are not each of its devices once.
    DeviceOrder,
    /// The mesh has no such axis.
    UnknownAxis(String),
    /// No sub-axis of the axis: its size is below 2, or its sizes do not divide that of the axis.
    SubAxis(String),
    /// Two sub-axes of one axis, which cannot be cut so that both are its parts.
    NotNested {
        /// The later one.
        axis: String,
        /// The one before it.
        other: String,
    },
    /// Two dimensions, or two places of one, are cut along the same axis.
    UsedTwice(String),
    /// The spec says something of more dimensions than the array has.
    Rank {
        /// Dimensions of the spec.
        spec: usize,
        /// Dimensions of the array.
        array: usize,
    },
    /// A dimension cannot be cut into parts of one size.
    Uneven {
        /// Which.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The parts.
        parts: u64,
    },
    /// The bytes of an array or of a part are not as many as its shape says.
    Bytes {
        /// How many they should be; `None` for more than can be counted.
        expected: Option<u64>,
        /// How many they are.
        actual: u64,
    },
    /// A part that does not lie within the array.
    Outside,
}

impl fmt::Display for ShardingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AxisName(name) if name.is_empty() => f.write_str("an axis of a mesh has no name"),
            Self::AxisName(name) => write!(f, "two axes of a mesh are called `{name}`"),
            Self::EmptyAxis(name) => write!(f, "the axis `{name}` of a mesh has the size 0"),
            Self::Limit(exceeded) => exceeded.fmt(f),
            Self::DeviceOrder => f.write_str("the device numbers of a mesh are not each number from 0 once"),
            Self::UnknownAxis(name) => write!(f, "the mesh has no axis `{name}`"),
            Self::SubAxis(text) => write!(
                f,
                "{text} is no part of the axis: its size is 2 at least, and both numbers together divide that of the axis"
            ),
            Self::NotNested { axis, other } => {
                write!(f, "{axis} and {other} are not parts of one cut of the axis")
            }
            Self::UsedTwice(name) => write!(f, "the axis `{name}` cuts an array twice"),
            Self::Rank { spec, array } => {
                write!(f, "the spec is for {spec} dimensions, and the array has {array}")
            }
            Self::Uneven {
                dimension,
                size,
                parts,
            } => {
                write!(
                    f,
                    "dimension {dimension} of size {size} cannot be cut into {parts} parts of one size"
                )
            }
            Self::Bytes {
                expected: Some(expected),
                actual,
            } => {
                write!(f, "{expected} bytes are expected, and there are {actual}")
            }
            Self::Bytes {
                expected: None,
                actual,
            } => {
                write!(
                    f,
                    "more bytes are expected than can be counted, and there are {actual}"
                )
            }
            Self::Outside => f.write_str("a part lies outside of its array"),
        }
    }
}

impl std::error::Error for ShardingError {}

impl From<LimitExceeded> for ShardingError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}
