//! Exit codes and the failures that lead to them.

use std::path::Path;
use std::process::ExitCode;

use artifact_container::compat::{Incompatible, IncompatibleKind};
use artifact_engine::{EngineError, ErrorKind};
use artifact_export::{ExportError, ExportErrorKind};

use serde_json::json;

use crate::{compatibility, output};

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

impl Exit {
    /// The permanent name of a failure that has no finer one.
    const fn kind(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::CheckFailed => "check-failed",
            Self::Usage => "usage",
            Self::BadInput => "bad-input",
            Self::Incompatible => "incompatible",
            Self::NotAllowed => "not-allowed",
            Self::Engine => "engine",
            Self::Internal => "internal",
        }
    }
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
    /// Whether the causes are beside each other, and not each that of the one before.
    are_causes_beside: bool,
    /// What was found in a file, in lines of their own: its places, and excerpts of it.
    findings: Option<String>,
    /// What to do.
    hint: Option<String>,
    /// Failures beside this one, none of which is the cause of another.
    others: Vec<Failure>,
    /// A file and a reader that do not fit, where that is what is wrong.
    incompatible: Option<Incompatible>,
}

impl Failure {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            causes: vec![what.into()],
            are_causes_beside: false,
            findings: None,
            hint: None,
            others: Vec::new(),
            incompatible: None,
        }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    pub(crate) fn input(what: impl Into<String>) -> Self {
        Self::new(Exit::BadInput, what)
    }

    pub(crate) fn version(what: impl Into<String>) -> Self {
        Self::new(Exit::Incompatible, what)
    }

    pub(crate) fn not_allowed(what: impl Into<String>) -> Self {
        Self::new(Exit::NotAllowed, what)
    }

    /// The engine does not do what is asked for.
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

    /// Adds causes none of which is that of another.
    pub(crate) fn because_of_each(mut self, errors: impl IntoIterator<Item: std::error::Error>) -> Self {
        self.causes
            .extend(errors.into_iter().map(|error| error.to_string()));
        self.are_causes_beside = true;
        self
    }

    /// Adds rendered findings, whose lines are printed as they are.
    pub(crate) fn findings(mut self, findings: impl Into<String>) -> Self {
        self.findings = Some(findings.into());
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
        let failure = Self::new(exit, format!("{} is refused", path.display())).because(error);
        match error.incompatibility() {
            Some(incompatible) => failure.incompatible(incompatible),
            None => failure,
        }
    }

    /// A file that this release, or this machine, cannot read or run.
    pub(crate) fn reader(path: &Path, incompatible: &Incompatible) -> Self {
        let what = format!("{} is refused", path.display());
        let failure = Self::new(Exit::Incompatible, what).because(incompatible);
        failure.incompatible(incompatible)
    }

    fn incompatible(mut self, incompatible: &Incompatible) -> Self {
        // The file is fine for another machine of this release.
        if incompatible.kind() == IncompatibleKind::PlatformNotOffered {
            self.exit = Exit::Engine;
        }
        self.hint = Some(incompatible.remedy());
        self.incompatible = Some(incompatible.clone());
        self
    }

    /// A run that stopped. `place` is the rendered place in the program.
    pub(crate) fn run(path: &Path, error: &EngineError, place: Option<String>) -> Self {
        Self::stopped("the run", path, error, place)
    }

    /// A compile that stopped.
    pub(crate) fn compile(path: &Path, error: &EngineError, place: Option<String>) -> Self {
        Self::stopped("the compile", path, error, place)
    }

    fn stopped(what: &str, path: &Path, error: &EngineError, place: Option<String>) -> Self {
        let exit = match error.kind() {
            ErrorKind::Unsupported | ErrorKind::Unavailable => Exit::Engine,
            ErrorKind::FailedCheck => Exit::CheckFailed,
            // What this process compiled itself.
            ErrorKind::Incompatible | ErrorKind::Internal => Exit::Internal,
            _ => Exit::BadInput,
        };
        let mut failure = Self::new(exit, format!("{what} of {} stopped", path.display())).because(error);
        failure.hint = match error.kind() {
            ErrorKind::StepLimit => Some("allow more with --max-steps".to_owned()),
            ErrorKind::MemoryLimit => Some("allow more with --memory-limit".to_owned()),
            ErrorKind::TimeLimit => Some("allow more with --time-limit".to_owned()),
            _ => None,
        };
        failure.causes.extend(place);
        failure
    }

    /// One failure of several: the first, with the others beside it.
    pub(crate) fn of_all(failures: Vec<Self>) -> Option<Self> {
        let mut failures = failures.into_iter();
        let mut first = failures.next()?;
        first.others.extend(failures);
        Some(first)
    }

    /// The end of a command that has done something with `count` files, each by itself: says each failure as it comes, and how
    /// many there were where others did not fail. The exit code is that of the first; `done` is what was done, as `converted`.
    pub(crate) fn end(failures: impl Iterator<Item = Self>, count: usize, done: &str) -> Outcome<Exit> {
        let mut first = None;
        let mut failed = 0;
        for failure in failures {
            if count == 1 {
                return Err(failure);
            }
            failure.print();
            failed += 1;
            first.get_or_insert(failure.exit);
        }
        match first {
            None => Ok(Exit::Ok),
            Some(exit) => Err(Self::new(
                exit,
                format!("{failed} of {count} files could not be {done}"),
            )),
        }
    }

    pub(crate) const fn exit(&self) -> Exit {
        self.exit
    }

    /// Failures beside the first that are printed.
    const OTHERS_MAX: usize = 31;

    /// What happened and why, without what is beside it.
    fn chain(&self) -> String {
        let lines = self.causes.iter().enumerate().map(|(index, cause)| {
            let label = match index {
                0 => "error: ",
                2.. if self.are_causes_beside => "  and by: ",
                _ => "  caused by: ",
            };
            // A name with a line break in it does not make a line of the message.
            let cause = shortened(cause).replace('\n', "\n    ");
            let findings = self.findings.as_ref().filter(|_| index == 0);
            let findings = findings.map_or(String::new(), |findings| format!("{}\n", findings.trim_end()));
            format!("{label}{cause}\n{findings}")
        });
        lines.collect()
    }

    /// Prints the failure to standard error.
    pub(crate) fn print(&self) {
        let mut text = self.chain();
        for other in self.others.iter().take(Self::OTHERS_MAX) {
            text.push_str(&other.chain());
        }
        let more = self.others.len().saturating_sub(Self::OTHERS_MAX);
        if more > 0 {
            text.push_str(&format!("error: and {more} more\n"));
        }
        if let Some(incompatible) = &self.incompatible {
            text.push_str(&format!("  written by: {}\n", incompatible.written_by()));
            text.push_str(&format!("  readable by: {}\n", incompatible.readable_by()));
        }
        if let Some(hint) = &self.hint {
            text.push_str("  help: ");
            text.push_str(&output::one_line(hint));
            text.push('\n');
        }
        output::notes(text.trim_end());
    }

    /// The failure for programs: `kind` and `exit_code` are permanent, texts are not.
    pub(crate) fn to_json(&self) -> String {
        let kind = self
            .incompatible
            .as_ref()
            .map(|incompatible| incompatible.kind().as_str());
        let error = json!({
            "kind": kind.unwrap_or_else(|| self.exit.kind()),
            "exit_code": self.exit as u8,
            "causes": self.all_causes(),
            "others": self.others.iter().map(Self::all_causes).collect::<Vec<_>>(),
            "help": self.hint,
            "incompatible": self.incompatible.as_ref().map(compatibility::incompatible_json),
        });
        json!({ "error": error }).to_string() + "\n"
    }

    /// The failure on one line, for a list of many.
    pub(crate) fn one_line(&self) -> String {
        self.all_causes()
            .join(": ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The causes, the first of them with the findings.
    fn all_causes(&self) -> Vec<String> {
        let mut causes = self.causes.clone();
        if let (Some(first), Some(findings)) = (causes.first_mut(), &self.findings) {
            first.push('\n');
            first.push_str(findings.trim_end());
        }
        causes
    }
}

/// A message with the text of a file in it is as long as the file likes.
fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    const BYTES_MAX: usize = 4096;
    if text.len() <= BYTES_MAX {
        return text.into();
    }
    let end = text.floor_char_boundary(BYTES_MAX);
    format!("{}... ({} bytes)", &text[..end], text.len()).into()
}
