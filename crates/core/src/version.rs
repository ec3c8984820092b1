//! Format versions and the check that says who can read what.
//!
//! A major version breaks; a minor version adds. A reader reads its own major version up to its own minor version,
//! and says which tool is needed when it cannot.

use std::fmt;
use std::str::FromStr;

/// `major.minor` of a format, such as the container's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion {
    /// Breaking changes.
    pub major: u16,
    /// Additions that an older reader of the same major version can refuse by number.
    pub minor: u16,
}

impl FormatVersion {
    /// `major.minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Text that is not `MAJOR.MINOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseVersionError(String);

impl fmt::Display for ParseVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a version of the form MAJOR.MINOR", self.0)
    }
}

impl std::error::Error for ParseVersionError {}

impl FromStr for FormatVersion {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parsed
            .map(|(major, minor)| Self { major, minor })
            .ok_or_else(|| ParseVersionError(text.to_owned()))
    }
}

/// What a file says about itself: the version that it was written with, and the oldest reader that understands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Version of the writer's format.
    pub written: FormatVersion,
    /// The oldest format version whose reader may read the file.
    pub oldest_reader: FormatVersion,
}

/// The versions that a reader understands, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderRange {
    /// Oldest format version that it reads.
    pub oldest: FormatVersion,
    /// Its own format version.
    pub newest: FormatVersion,
}

impl ReaderRange {
    /// Whether a file with `window` may be read.
    ///
    /// # Errors
    /// [`Incompatible`] names both sides and the remedy.
    pub fn check(&self, window: Window) -> Result<(), Incompatible> {
        if window.written < self.oldest {
            return Err(Incompatible {
                file: window,
                reader: *self,
                reason: Reason::FileTooOld,
            });
        }
        if window.oldest_reader > self.newest {
            return Err(Incompatible {
                file: window,
                reader: *self,
                reason: Reason::FileTooNew,
            });
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    FileTooOld,
    FileTooNew,
}

/// A file that this reader must not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incompatible {
    file: Window,
    reader: ReaderRange,
    reason: Reason,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, reader, reason } = self;
        write!(f, "the file has format version {}", file.written)?;
        match reason {
            Reason::FileTooOld => write!(
                f,
                ", this tool reads {} to {}; export it again, or use a tool that still reads {}",
                reader.oldest, reader.newest, file.written
            ),
            Reason::FileTooNew => write!(
                f,
                " and needs a reader of {} or newer, this tool reads {} to {}; upgrade the tool",
                file.oldest_reader, reader.oldest, reader.newest
            ),
        }
    }
}

impl std::error::Error for Incompatible {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, oldest_reader: &str) -> Result<(), String> {
        let reader = ReaderRange {
            oldest: FormatVersion::new(1, 0),
            newest: FormatVersion::new(1, 3),
        };
        let window = Window {
            written: written.parse().unwrap(),
            oldest_reader: oldest_reader.parse().unwrap(),
        };
        reader.check(window).map_err(|error| error.to_string())
    }

    #[test]
    fn windows() {
        assert_eq!(check("1.0", "1.0"), Ok(()));
        assert_eq!(
            check("1.9", "1.3"),
            Ok(()),
            "a newer writer may still write for us"
        );
        let too_new = "the file has format version 2.0 and needs a reader of 1.4 or newer, this tool reads 1.0 to 1.3; upgrade the tool";
        assert_eq!(check("2.0", "1.4"), Err(too_new.to_owned()));
        assert!(check("0.9", "0.9").unwrap_err().contains("export it again"));
    }

    #[test]
    fn text() {
        assert_eq!("1.20".parse(), Ok(FormatVersion::new(1, 20)));
        assert!("1".parse::<FormatVersion>().is_err());
        assert!("70000.0".parse::<FormatVersion>().is_err());
    }
}
