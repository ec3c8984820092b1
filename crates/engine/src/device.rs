//! What a program runs on.

use std::fmt;

/// A device of an engine, by number. Numbers are unique among the devices of all processes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u32);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A device that this process can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub id: DeviceId,
    /// What it is, for people: `x86-64-v4, 8 threads`.
    pub description: String,
    /// Its memory in bytes, where the engine knows it.
    pub memory_bytes: Option<u64>,
}
