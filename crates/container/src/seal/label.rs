//! What a signer says besides the signature: the scope and a comment. Both are signed.

use std::fmt;

use artifact_core::limit::LimitExceeded;

use crate::limits;

/// What a file is meant for, in the signer's words, such as `production/vision`: ASCII letters, digits and `._/-`. A trust
/// policy says for which scopes it believes a signer. An empty one is for nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(String);

impl Scope {
    /// Checks a text.
    ///
    /// # Errors
    /// When it is longer than [`limits::SEAL_SCOPE_BYTES`] or has other characters.
    pub fn new(text: impl Into<String>) -> Result<Self, LabelError> {
        let text = text.into();
        limits::SEAL_SCOPE_BYTES.check(text.len() as u64)?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
        if text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(LabelError::Scope)
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A remark for people, of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment(String);

impl Comment {
    /// Checks a text.
    ///
    /// # Errors
    /// When it is longer than [`limits::SEAL_COMMENT_BYTES`] or has a control character.
    pub fn new(text: impl Into<String>) -> Result<Self, LabelError> {
        let text = text.into();
        limits::SEAL_COMMENT_BYTES.check(text.len() as u64)?;
        if text.chars().any(char::is_control) {
            Err(LabelError::Comment)
        } else {
            Ok(Self(text))
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that a seal cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// The scope has a character that scopes do not have.
    #[error("a scope has ASCII letters, digits and `._/-` only")]
    Scope,
    /// The comment has a control character.
    #[error("a comment is one line without control characters")]
    Comment,
    /// It is too long.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}
