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
            .and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
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
    /// On which side of the range the file is. Who reports it knows more of the file, and says what to do.
    pub fn check(&self, window: Window) -> Result<(), OutOfRange> {
        if window.written < self.oldest {
            return Err(OutOfRange::TooOld);
        }
        if window.oldest_reader > self.newest {
            return Err(OutOfRange::TooNew);
        }
        Ok(())
    }
}

impl fmt::Display for ReaderRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.oldest, self.newest)
    }
}

/// On which side of a reader's range a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfRange {
    /// Below the oldest that is read.
    TooOld,
    /// Above the newest that is read.
    TooNew,
}

/// `major.minor.patch` of a program format, such as a StableHLO (VHLO) version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramVersion {
    /// Breaking changes.
    pub major: u32,
    /// Additions to the operations or to the encoding.
    pub minor: u32,
    /// Changes that no file shows.
    pub patch: u32,
}

impl ProgramVersion {
    /// `major.minor.patch`.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for ProgramVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for ProgramVersion {
    type Err = ParseProgramVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut numbers = text.split('.').map(number::<u32>);
        match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
            (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => {
                Ok(Self::new(major, minor, patch))
            }
            _ => Err(ParseProgramVersionError(text.to_owned())),
        }
    }
}

/// A number as a version writes it: digits without a sign and without leading zeros, so that a version has one text.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

/// Text that is not `MAJOR.MINOR.PATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseProgramVersionError(String);

impl fmt::Display for ParseProgramVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a version of the form MAJOR.MINOR.PATCH", self.0)
    }
}

impl std::error::Error for ParseProgramVersionError {}

/// The program versions that a reader understands, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramRange {
    /// The oldest version.
    pub oldest: ProgramVersion,
    /// The newest version.
    pub newest: ProgramVersion,
}

impl ProgramRange {
    /// Whether a program of `version` may be read.
    ///
    /// # Errors
    /// On which side of the range the version is.
    pub fn check(&self, version: ProgramVersion) -> Result<(), OutOfRange> {
        if version < self.oldest {
            return Err(OutOfRange::TooOld);
        }
        if version > self.newest {
            return Err(OutOfRange::TooNew);
        }
        Ok(())
    }
}

impl fmt::Display for ProgramRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.oldest, self.newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, oldest_reader: &str) -> Result<(), OutOfRange> {
        let reader = ReaderRange {
            oldest: FormatVersion::new(1, 0),
            newest: FormatVersion::new(1, 3),
        };
        reader.check(Window {
            written: written.parse().unwrap(),
            oldest_reader: oldest_reader.parse().unwrap(),
        })
    }

    #[test]
    fn windows() {
        assert_eq!(check("1.0", "1.0"), Ok(()));
        assert_eq!(
            check("1.9", "1.3"),
            Ok(()),
            "a newer writer may still write for us"
        );
        assert_eq!(check("2.0", "1.4"), Err(OutOfRange::TooNew));
        assert_eq!(check("0.9", "0.9"), Err(OutOfRange::TooOld));
    }

    #[test]
    fn text() {
        assert_eq!("1.20".parse(), Ok(FormatVersion::new(1, 20)));
        for wrong in ["1", "70000.0", "1.2.3", "+1.0", "01.0", "1.", ""] {
            assert!(wrong.parse::<FormatVersion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn program_versions() {
        let version = |text: &str| text.parse::<ProgramVersion>().unwrap();
        assert_eq!(version("1.20.0"), ProgramVersion::new(1, 20, 0));
        assert!(version("1.9.9") < version("1.13.0"), "numbers, not texts");
        for wrong in [
            "1.20",
            "1.20.0.0",
            "1.-2.0",
            "1.+2.0",
            "01.2.0",
            "1..0",
            "",
            "4294967296.0.0",
        ] {
            assert!(wrong.parse::<ProgramVersion>().is_err(), "{wrong}");
        }
        let range = ProgramRange {
            oldest: version("0.9.0"),
            newest: version("1.20.0"),
        };
        assert_eq!(range.check(version("0.9.0")), Ok(()));
        assert_eq!(range.check(version("0.8.9")), Err(OutOfRange::TooOld));
        assert_eq!(range.check(version("1.20.1")), Err(OutOfRange::TooNew));
    }
}
