//! Why a routine did not do its work.

use std::fmt;

use artifact_ir::types::ElementType;

/// A routine that was not carried out. After [`Self::Stopped`] its results hold anything; otherwise they are untouched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutineError {
    /// Shapes or attributes that do not fit each other.
    Mismatch {
        /// The routine.
        routine: &'static str,
        /// What does not fit, as a lowercase fragment.
        what: String,
    },
    /// Element types that the routine does not compute with.
    Unsupported {
        /// The routine.
        routine: &'static str,
        /// One of the types.
        element: ElementType,
    },
    /// The system gives no memory for a workspace of so many bytes.
    Memory(usize),
    /// The flag of the caller was raised while the routine ran.
    Stopped,
}

impl RoutineError {
    pub(crate) fn mismatch(routine: &'static str, what: impl Into<String>) -> Self {
        Self::Mismatch {
            routine,
            what: what.into(),
        }
    }

    pub(crate) const fn unsupported(routine: &'static str, element: ElementType) -> Self {
        Self::Unsupported { routine, element }
    }
}

impl fmt::Display for RoutineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { routine, what } => write!(f, "{routine}: {what}"),
            Self::Unsupported { routine, element } => {
                write!(
                    f,
                    "{routine}: there is no routine for elements of type {element}; interpret it"
                )
            }
            Self::Memory(bytes) => write!(f, "there is no memory for a workspace of {bytes} bytes"),
            Self::Stopped => f.write_str("stopped: the run was cancelled or its time is over"),
        }
    }
}

impl std::error::Error for RoutineError {}

/// Refuses sizes that must be the same and are not.
pub(crate) fn check_same(
    routine: &'static str,
    what: &str,
    found: &[usize],
    expected: &[usize],
) -> Result<(), RoutineError> {
    if found == expected {
        return Ok(());
    }
    Err(RoutineError::mismatch(
        routine,
        format!("{what} must be {expected:?}, found {found:?}"),
    ))
}
