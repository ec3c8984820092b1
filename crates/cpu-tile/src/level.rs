//! Levels of processors.

use std::fmt;

/// What a processor must have to run a table of routines. The levels of x86-64 are those of its psABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Any processor of the architecture that this was compiled for.
    Portable,
    /// AVX2, FMA, F16C, BMI1, BMI2, LZCNT and MOVBE.
    X86_64V3,
    /// As `X86_64V3`, and AVX-512 F, BW, CD, DQ and VL.
    X86_64V4,
}

impl Level {
    /// All levels, each one a part of the next.
    pub const ALL: [Self; 3] = [Self::Portable, Self::X86_64V3, Self::X86_64V4];

    /// The highest level of this processor.
    #[must_use]
    pub fn detect() -> Self {
        let highest = Self::ALL.into_iter().rev().find(|level| level.is_supported());
        highest.unwrap_or(Self::Portable)
    }

    /// Whether this processor can run the level's routines.
    #[must_use]
    pub fn is_supported(self) -> bool {
        match self {
            Self::Portable => true,
            Self::X86_64V3 => has_v3(),
            Self::X86_64V4 => has_v3() && has_v4(),
        }
    }

    /// The level's name, as it stands in keys and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::X86_64V3 => "x86-64-v3",
            Self::X86_64V4 => "x86-64-v4",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn has_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_v4() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
const fn has_v3() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
const fn has_v4() -> bool {
    false
}
