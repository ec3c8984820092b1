//! Why a program cannot be exported or loaded.

use artifact_container::compat::Incompatible;
use artifact_ir::diagnostic::Diagnostic;

/// What a caller can do about an [`ExportError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportErrorKind {
    /// The program or the file is wrong: correct it, or export it again.
    FixInput,
    /// The file needs another version of the tool.
    Upgrade,
    /// The file could not be read or written.
    Io,
}

/// A program that cannot be exported, or a file that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ExportError {
    kind: ExportErrorKind,
    what: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Findings about the program, when that is what is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl ExportError {
    /// Wrong input. `what` is a lowercase fragment.
    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self {
            kind: ExportErrorKind::FixInput,
            what: what.into(),
            source: None,
            diagnostics: Vec::new(),
        }
    }

    /// Wrong input, with the error that says why.
    pub(crate) fn because(
        what: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..Self::input(what)
        }
    }

    /// The same error, of a part of what was given.
    pub(crate) fn within(mut self, part: &str) -> Self {
        self.what = format!("{part}: {}", self.what);
        self
    }

    /// A program that does not verify.
    pub(crate) fn invalid(diagnostics: Vec<Diagnostic>) -> Self {
        let what = "the program breaks rules of StableHLO".to_owned();
        Self {
            kind: ExportErrorKind::FixInput,
            what,
            source: None,
            diagnostics,
        }
    }

    /// A program, or a file of one, of a version that it cannot be written or read as.
    pub(crate) fn version(error: impl std::fmt::Display) -> Self {
        Self {
            kind: ExportErrorKind::Upgrade,
            ..Self::input(error.to_string())
        }
    }

    /// A program that does not fit the shapes that it was given.
    pub(crate) fn shapes(diagnostics: Vec<Diagnostic>) -> Self {
        let what = diagnostics
            .first()
            .map_or_else(String::new, |first| first.message.clone());
        Self {
            diagnostics,
            ..Self::input(what)
        }
    }

    /// What does not fit between a file and a reader, where that is what is wrong.
    #[must_use]
    pub fn incompatibility(&self) -> Option<&Incompatible> {
        let source = self.source.as_deref()?;
        let of_container = || {
            source
                .downcast_ref::<artifact_container::Error>()?
                .incompatibility()
        };
        source.downcast_ref().or_else(of_container)
    }

    /// What a caller can do about it.
    #[must_use]
    pub const fn kind(&self) -> ExportErrorKind {
        self.kind
    }
}

impl From<artifact_container::Error> for ExportError {
    fn from(source: artifact_container::Error) -> Self {
        let kind = match source.kind() {
            artifact_container::ErrorKind::Upgrade => ExportErrorKind::Upgrade,
            artifact_container::ErrorKind::Io => ExportErrorKind::Io,
            _ => ExportErrorKind::FixInput,
        };
        let what = match kind {
            ExportErrorKind::Upgrade => "this tool cannot read the artifact",
            ExportErrorKind::Io => "the artifact could not be read or written",
            ExportErrorKind::FixInput => "the artifact is not sound",
        };
        Self {
            kind,
            what: what.to_owned(),
            source: Some(Box::new(source)),
            diagnostics: Vec::new(),
        }
    }
}

impl From<Incompatible> for ExportError {
    fn from(incompatible: Incompatible) -> Self {
        Self {
            kind: ExportErrorKind::Upgrade,
            what: "the file and its reader do not fit".to_owned(),
            source: Some(Box::new(incompatible)),
            diagnostics: Vec::new(),
        }
    }
}
