//! Targets of machine code: named levels of processors.

use std::fmt;

use artifact_cpu_tile::Level;

/// A level of processors that code is made for. It is a part of what identifies a compiled module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// AVX2, FMA, F16C, BMI: x86-64-v3 of the psABI.
    X86_64V3,
    /// AVX-512 F, BW, CD, DQ, VL besides: x86-64-v4.
    X86_64V4,
}

impl Target {
    /// All targets, lowest first.
    pub const ALL: [Self; 2] = [Self::X86_64V3, Self::X86_64V4];

    /// The highest target that this machine runs; `None` where it runs none.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Self::ALL.into_iter().rev().find(|target| target.is_supported())
    }

    /// Whether this machine runs code for it.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.level().is_supported()
    }

    /// The target of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Its name, as the psABI has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64V3 => "x86-64-v3",
            Self::X86_64V4 => "x86-64-v4",
        }
    }

    /// The routines for it.
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::X86_64V3 => Level::X86_64V3,
            Self::X86_64V4 => Level::X86_64V4,
        }
    }

    /// What the code generator may use. It has no vectors beyond 128 bits, so that both levels compile alike.
    pub(crate) const fn features(self) -> &'static [&'static str] {
        const V3: &[&str] = &[
            "has_sse3",
            "has_ssse3",
            "has_cmpxchg16b",
            "has_sse41",
            "has_sse42",
            "has_avx",
            "has_avx2",
            "has_fma",
            "has_bmi1",
            "has_bmi2",
            "has_popcnt",
            "has_lzcnt",
        ];
        const V4: &[&str] = &[
            "has_sse3",
            "has_ssse3",
            "has_cmpxchg16b",
            "has_sse41",
            "has_sse42",
            "has_avx",
            "has_avx2",
            "has_fma",
            "has_bmi1",
            "has_bmi2",
            "has_popcnt",
            "has_lzcnt",
            "has_avx512f",
            "has_avx512dq",
            "has_avx512vl",
        ];
        match self {
            Self::X86_64V3 => V3,
            Self::X86_64V4 => V4,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
