//! Releases: when this one was made, for how long files are read, and what the readers of each container version know.
//!
//! The date of a release is a constant and not the clock, so that equal exports by one release are equal bytes.

use artifact_core::date::Date;
use artifact_core::version::{FormatVersion, ProgramRange, ProgramVersion};

/// Years for which every later release reads what a release wrote, from the writer's release date on.
pub const SUPPORT_YEARS: u16 = 5;

/// The date of this release, which its files carry. Changed with the version of the workspace, by hand.
pub const RELEASED: Date = date(2026, 11, 30);

/// The feature of files whose constraints on dimensions must not be ignored.
pub const SYMBOLIC_DIMENSIONS: &str = "symbolic-dimensions";

/// The first release that reads a container version, and what it reads besides.
#[derive(Clone, Copy, Debug)]
pub struct ReaderRelease {
    /// The container version.
    pub container: FormatVersion,
    /// Version of the product.
    pub version: &'static str,
    /// When it was released.
    pub released: Date,
    /// The features that it knows, by name.
    pub features: &'static [&'static str],
    /// The program formats that it reads.
    pub programs: &'static [ReadableProgram],
}

/// A program format and the versions of it that are read. The container only compares names and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadableProgram {
    /// As in [`crate::manifest::ProgramFormat::name`].
    pub name: &'static str,
    /// Both ends included.
    pub versions: ProgramRange,
}

/// The StableHLO (VHLO) versions of five years: 0.9.0 is the first portable one (2023-03).
const STABLEHLO: ProgramRange = ProgramRange {
    oldest: ProgramVersion::new(0, 9, 0),
    newest: ProgramVersion::new(1, 20, 0),
};

/// One row a container version since 1.0, oldest first; previews have none. A new version is a new last row: rows stay as
/// they were released.
pub const READER_RELEASES: &[ReaderRelease] = &[ReaderRelease {
    container: FormatVersion::new(1, 0),
    version: "0.1.0",
    released: date(2026, 11, 30),
    features: &[SYMBOLIC_DIMENSIONS],
    programs: &[
        ReadableProgram {
            name: "stablehlo-bytecode",
            versions: STABLEHLO,
        },
        // Of files that previews wrote.
        ReadableProgram {
            name: "stablehlo-text",
            versions: STABLEHLO,
        },
    ],
}];

/// Evaluated by the compiler: a day that does not exist does not compile.
const fn date(year: u16, month: u8, day: u8) -> Date {
    match Date::new(year, month, day) {
        Some(date) => date,
        None => panic!("the calendar has no such day"),
    }
}

/// What this release reads.
pub(crate) const fn current() -> &'static ReaderRelease {
    // The table is a constant with a row, which a test compares with the version that is written.
    &READER_RELEASES[READER_RELEASES.len() - 1]
}

/// The first of `releases` whose readers know `feature`.
pub(crate) fn first_with(releases: &[ReaderRelease], feature: &str) -> Option<FormatVersion> {
    let mut known = releases
        .iter()
        .filter(|release| release.features.contains(&feature));
    known.next().map(|release| release.container)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::CONTAINER_VERSION;

    #[test]
    fn the_table_ends_with_this_version_and_only_grows() {
        assert_eq!(current().container, CONTAINER_VERSION);
        assert!(current().released <= RELEASED);
        for pair in READER_RELEASES.windows(2) {
            let [older, newer] = pair else { unreachable!() };
            assert!(older.container < newer.container && older.released <= newer.released);
            assert!(older.features.iter().all(|name| newer.features.contains(name)));
        }
    }

    #[test]
    fn a_feature_is_known_since() {
        const TABLE: &[ReaderRelease] = &[
            ReaderRelease {
                features: &["a"],
                ..READER_RELEASES[0]
            },
            ReaderRelease {
                container: FormatVersion::new(1, 1),
                features: &["a", "b"],
                ..READER_RELEASES[0]
            },
        ];
        assert_eq!(first_with(TABLE, "a"), Some(FormatVersion::new(1, 0)));
        assert_eq!(first_with(TABLE, "b"), Some(FormatVersion::new(1, 1)));
        assert_eq!(first_with(TABLE, "c"), None);
    }
}
