//! Versions of VHLO, which are those of StableHLO.

use std::fmt;
use std::str::FromStr;

/// A version of StableHLO, such as 1.20.0. The opset and the format change with major and minor; a patch changes neither
/// (openxla/stablehlo, `docs/vhlo.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the fields are named as in semantic versioning")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl Version {
    /// The oldest version that can be read and written.
    pub const MINIMUM: Self = Self::new(0, 9, 0);
    /// The newest version: that of the operations of `artifact_ir`.
    pub const CURRENT: Self = Self::new(1, 20, 0);

    /// A version by its numbers.
    #[must_use]
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// The same opset: patch 0.
    #[must_use]
    pub const fn opset(self) -> Self {
        Self::new(self.major, self.minor, 0)
    }

    /// Whether programs of this version can be read and written here.
    #[must_use]
    pub fn is_supported(self) -> bool {
        Self::MINIMUM <= self && self.opset() <= Self::CURRENT
    }

    /// The version of MLIR's bytecode that goes with it (openxla/stablehlo, `Version.cpp`).
    #[must_use]
    pub fn bytecode(self) -> u64 {
        match (self.major, self.minor) {
            (0, ..=9) => 0,
            (0, 10..=11) => 1,
            (0, 12..=13) => 3,
            (0, 14) => 4,
            _ => 6,
        }
    }

    /// `MAJOR.MINOR` or `MAJOR.MINOR.PATCH`, for the tables of this crate.
    ///
    /// # Panics
    /// On any other text, when it is evaluated at compile time.
    pub(super) const fn literal(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut parts = [0_u16; 3];
        let (mut part, mut at) = (0, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'.' => part += 1,
                digit => parts[part] = parts[part] * 10 + (digit - b'0') as u16,
            }
            at += 1;
        }
        Self::new(parts[0], parts[1], parts[2])
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Text that is not `MAJOR.MINOR.PATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseVersionError(String);

impl fmt::Display for ParseVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a version of StableHLO: expected MAJOR.MINOR.PATCH, such as {}",
            self.0,
            Version::CURRENT
        )
    }
}

impl std::error::Error for ParseVersionError {}

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if digits { part.parse().ok() } else { None }
        };
        let mut parts = text.split('.').map(number);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => {
                Ok(Self::new(major, minor, patch))
            }
            _ => Err(ParseVersionError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        assert_eq!("1.20.3".parse(), Ok(Version::new(1, 20, 3)));
        for wrong in ["", "1", "1.2", "1.2.3.4", "1.+2.3", "1..3", "70000.0.0", "v1.2.3"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytecode_versions() {
        let bytecode = |text: &str| text.parse::<Version>().unwrap().bytecode();
        let all = [
            "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.14.0", "0.15.0", "1.0.0", "1.20.0",
        ]
        .map(bytecode);
        assert_eq!(all, [0, 1, 1, 3, 4, 6, 6, 6]);
    }
}
