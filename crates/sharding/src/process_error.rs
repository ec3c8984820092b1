//! What is wrong with the processes of a sharding, or with the data of one.

use std::fmt;

use crate::error::ShardingError;

/// Why there is no such sharding over processes, or the data of a process do not fit it. `Display` is a lowercase fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessError {
    /// Not every device has one process.
    Devices {
        /// Devices of the mesh.
        devices: u64,
        /// Devices whose process is said.
        processes: u64,
    },
    /// No device of the mesh belongs to the process.
    NoDevice(u32),
    /// Along a dimension processes hold different numbers of parts, or parts that are only in part the same: no size of the array
    /// follows from that of their data, and it has to be given.
    NotUniform {
        /// Which.
        dimension: usize,
    },
    /// The size of a dimension of the array does not fit 64 bits.
    TooLarge {
        /// Which.
        dimension: usize,
    },
    /// The data of a process have another rank than the array.
    LocalRank {
        /// Dimensions of the data.
        local: usize,
        /// Dimensions of the array.
        array: usize,
    },
    /// The data of a process are neither as large as the array nor as what the process holds of it.
    LocalSize {
        /// Along which dimension.
        dimension: usize,
        /// The size of the data.
        local: u64,
        /// What the process holds.
        held: u64,
        /// The size of the array.
        array: u64,
    },
    /// The sharding does not fit the array.
    Sharding(ShardingError),
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Devices { devices, processes } => {
                write!(
                    f,
                    "the mesh has {devices} devices, and the processes of {processes} are given"
                )
            }
            Self::NoDevice(process) => write!(f, "no device of the mesh belongs to process {process}"),
            Self::NotUniform { dimension } => write!(
                f,
                "processes hold parts of dimension {dimension} that are neither the same nor apart, so the shape of the array has to be given"
            ),
            Self::TooLarge { dimension } => {
                write!(
                    f,
                    "dimension {dimension} of the array is larger than can be counted"
                )
            }
            Self::LocalRank { local, array } => {
                write!(
                    f,
                    "the data of a process have {local} dimensions, and the array has {array}"
                )
            }
            Self::LocalSize {
                dimension,
                local,
                held,
                array,
            } => write!(
                f,
                "dimension {dimension} of the data of a process has the size {local}, which is neither the {held} that it holds nor the {array} of the array"
            ),
            Self::Sharding(_) => f.write_str("the sharding does not fit the array"),
        }
    }
}

impl std::error::Error for ProcessError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sharding(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ShardingError> for ProcessError {
    fn from(error: ShardingError) -> Self {
        Self::Sharding(error)
    }
}
