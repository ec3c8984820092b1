//! Exit codes and the failures that lead to them.

use std::path::Path;
use std::process::ExitCode;

use artifact_eval::{EvalError, EvalErrorKind};
use artifact_export::{ExportError, ExportErrorKind};

use crate::output;

/// What a command ended with. The numbers are documented and permanent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// A comparison or a check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file is wrong.
    BadInput = 3,
    /// A file needs another version of the tool.
    Incompatible = 4,
    /// A trust policy is not met.
    NotAllowed = 5,
    /// The engine does not do what the program asks for, or is not there.
    Engine = 6,
    /// A defect of this tool.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What a command returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// A failure: what, where, why, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// What happened, each cause on its own.
    causes: Vec<String>,
    /// What to do.
    hint: Option<String>,
}

impl Failure {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            causes: vec![what.into()],
            hint: None,
        }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self::new(Exit::BadInput, what)
    }

    pub(crate) fn not_allowed(what: impl Into<String>) -> Self {
        Self::new(Exit::NotAllowed, what)
    }

    pub(crate) fn engine(what: impl Into<String>) -> Self {
        Self::new(Exit::Engine, what)
    }

    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::new(Exit::Internal, what)
    }

    /// A file that could not be read or written.
    pub(crate) fn file(what: &str, path: &Path, error: &dyn std::error::Error) -> Self {
        Self::input(format!("{what} {}", path.display())).because(error)
    }

    /// Adds a cause and its own causes.
    pub(crate) fn because(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// An artifact or a program that cannot be exported or loaded.
    pub(crate) fn export(path: &Path, error: &ExportError) -> Self {
        let exit = match error.kind() {
            ExportErrorKind::Upgrade => Exit::Incompatible,
            _ => Exit::BadInput,
        };
        Self::new(exit, format!("{} is refused", path.display())).because(error)
    }

    /// A run that stopped. `place` is the rendered place in the program.
    pub(crate) fn eval(path: &Path, error: &EvalError, place: Option<String>) -> Self {
        let exit = match error.kind() {
            EvalErrorKind::Unsupported => Exit::Engine,
            EvalErrorKind::FailedCheck => Exit::CheckFailed,
            EvalErrorKind::InvalidInput
            | EvalErrorKind::Runtime
            | EvalErrorKind::Steps
            | EvalErrorKind::Bytes => Exit::BadInput,
        };
        let mut failure = Self::new(exit, format!("the run of {} stopped", path.display())).because(error);
        failure.hint = match error.kind() {
            EvalErrorKind::Steps => Some("allow more with --max-steps".to_owned()),
            EvalErrorKind::Bytes => Some("allow more with --max-bytes".to_owned()),
            _ => None,
        };
        failure.causes.extend(place);
        failure
    }

    /// One failure of several: with the causes of all, and what to do about the first.
    pub(crate) fn of_all(failures: Vec<Self>) -> Option<Self> {
        let mut failures = failures.into_iter();
        let mut all = failures.next()?;
        all.causes.extend(failures.flat_map(|failure| failure.causes));
        Some(all)
    }

    pub(crate) const fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints the failure to standard error.
    pub(crate) fn print(&self) {
        let mut text = String::new();
        for (index, cause) in self.causes.iter().enumerate() {
            text.push_str(if index == 0 { "error: " } else { "  caused by: " });
            text.push_str(cause);
            text.push('\n');
        }
        if let Some(hint) = &self.hint {
            text.push_str("  help: ");
            text.push_str(hint);
            text.push('\n');
        }
        output::note(text.trim_end());
    }

    /// The failure on one line, for a list of many.
    pub(crate) fn one_line(&self) -> String {
        self.causes
            .join(": ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }
}
