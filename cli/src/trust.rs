//! The trust file of a command, and the time at which it counts.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use artifact_container::trust::{Assessment, Timestamp, TrustPolicy};
use artifact_container::{Container, ErrorKind, ReadOptions, limits};
use artifact_export::ExportError;

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::program::require_artifact;

/// A policy, where it comes from, and now.
pub(crate) struct Trust {
    path: PathBuf,
    policy: TrustPolicy,
    now: Timestamp,
}

impl Trust {
    /// Reads a trust file.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let refused = || Failure::input(format!("the trust file {} is refused", path.display()));
        let bytes = files::read(path, &limits::TRUST_FILE_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|error| refused().because(&error))?;
        let policy = TrustPolicy::parse(&text).map_err(|error| {
            refused()
                .because(&error)
                .hint("docs/signing.md says what it holds")
        })?;
        Ok(Self {
            path: path.to_owned(),
            policy,
            now: now()?,
        })
    }

    /// Opens an artifact that the policy admits.
    pub(crate) fn open(&self, path: &Path, options: &ReadOptions) -> Outcome<Container> {
        require_artifact(path, "--trust needs one: nothing else has seals")?;
        let opened = Container::open_trusted(path, options, &self.policy, self.now);
        opened.map(|(container, _)| container).map_err(|error| {
            if error.kind() != ErrorKind::Untrusted {
                return Failure::export(path, &ExportError::from(error));
            }
            let what = format!("{} is not trusted by {}", path.display(), self.path.display());
            let failure = Failure::not_allowed(what);
            match error.source() {
                Some(why) => failure.because(why),
                None => failure,
            }
        })
    }

    /// What the policy says of an open file.
    pub(crate) fn assess(&self, container: &Container) -> Result<Assessment, artifact_container::Error> {
        self.policy.assess(container, self.now)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a key counts depends on the time; it is read once, here, and given to the library"
)]
fn now() -> Outcome<Timestamp> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok());
    let wrong = || Failure::input("the clock of this machine is before 1970").hint("set it; keys have dates");
    seconds.map(Timestamp::from_unix_seconds).ok_or_else(wrong)
}
