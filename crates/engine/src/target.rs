//! What machine a module is compiled for.

use std::fmt;
use std::sync::Arc;

use crate::error::EngineError;

/// A named level of machine, such as `x86-64-v3`, `sm_90` or `portable`: never a list of features, so that machines that differ in
/// what nobody uses share what was compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(Arc<str>);

/// Longest name.
const NAME_BYTES_MAX: usize = 64;

impl Target {
    /// A level by its name.
    ///
    /// # Errors
    /// Invalid input for a name that is empty, longer than 64 bytes, or has other characters than lower-case ASCII letters, digits
    /// and `-_.+`.
    pub fn new(name: &str) -> Result<Self, EngineError> {
        let usable = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.+".contains(&byte);
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(usable) {
            let shown: String = name.chars().take(NAME_BYTES_MAX).collect();
            return Err(EngineError::invalid_input(format!(
                "{shown:?} is no name of a target: it has 1 to {NAME_BYTES_MAX} lower-case ASCII letters, digits and `-_.+`"
            )));
        }
        Ok(Self(name.into()))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A target that an engine compiles for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSupport {
    /// The target.
    pub target: Target,
    /// What this machine lacks to run what is compiled for it, as a lowercase fragment; `None` where it runs.
    pub missing: Option<String>,
}
