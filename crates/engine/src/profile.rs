//! Where the time of a call went.

use std::time::Duration;

use artifact_ir::diagnostic::SourceOffset;

use crate::work::Work;

/// One step of a call: an operation, a kernel, a routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileStep {
    /// What it is: the full name of an operation, or that of a kernel with the operations in it.
    pub name: String,
    /// Who does it: `interpret`, `kernel`, `routine`.
    pub kind: &'static str,
    /// The first of its operations in the file that the program was read from.
    pub source: SourceOffset,
    /// How often it ran.
    pub calls: u64,
    /// How long all of these took, steps inside it apart.
    pub time: Duration,
    /// What all of these did.
    pub work: Work,
}

/// The steps of a call in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Every step that ran.
    pub steps: Vec<ProfileStep>,
    /// How long the whole call took.
    pub total: Duration,
}
