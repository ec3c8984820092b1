//! Which scopes a key is believed for.

use crate::seal::Scope;

/// A scope, or the beginning of scopes followed by one `*`: `production/vision`, `production/*`, `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopePattern {
    text: Scope,
    is_beginning: bool,
}

impl ScopePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When a `*` stands elsewhere than at the end, or the rest is no scope.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (text, is_beginning) = match text.strip_suffix('*') {
            Some(beginning) => (beginning, true),
            None => (text, false),
        };
        let text = Scope::new(text).map_err(|_| PatternError)?;
        Ok(Self { text, is_beginning })
    }

    /// Whether `scope` is the one, or begins so.
    #[must_use]
    pub fn matches(&self, scope: &Scope) -> bool {
        if self.is_beginning {
            scope.as_str().starts_with(self.text.as_str())
        } else {
            *scope == self.text
        }
    }
}

/// A text that is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a scope has ASCII letters, digits and `._/-` only, and a `*` at its end stands for any scope that begins so"
)]
pub struct PatternError;
