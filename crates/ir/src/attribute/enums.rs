//! Enumerations of the dialect (ODS: `StablehloEnums.td`).

use std::fmt;
use std::str::FromStr;

/// Text that is not a case of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownCase {
    text: String,
    cases: &'static [&'static str],
}

impl fmt::Display for UnknownCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of {}", self.text, self.cases.join(", "))
    }
}

impl std::error::Error for UnknownCase {}

macro_rules! string_enums {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the cases are named as the dialect names them")]
        pub enum $name { $($variant,)* }

        impl $name {
            const CASES: &'static [&'static str] = &[$($text,)*];

            /// The dialect's spelling.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownCase;

            fn from_str(text: &str) -> Result<Self, UnknownCase> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(UnknownCase { text: text.to_owned(), cases: Self::CASES }),
                }
            }
        }
    )*};
}

string_enums! {
    /// `#stablehlo<comparison_direction ..>`.
    ComparisonDirection { Eq = "EQ", Ne = "NE", Ge = "GE", Gt = "GT", Le = "LE", Lt = "LT", }
    /// `#stablehlo<comparison_type ..>`.
    ComparisonType {
        NoType = "NOTYPE", Float = "FLOAT", TotalOrder = "TOTALORDER", Signed = "SIGNED", Unsigned = "UNSIGNED",
    }
    /// `#stablehlo<precision ..>`.
    Precision { Default = "DEFAULT", High = "HIGH", Highest = "HIGHEST", }
    /// `#stablehlo<fft_type ..>`.
    FftType { Fft = "FFT", Ifft = "IFFT", Rfft = "RFFT", Irfft = "IRFFT", }
    /// `#stablehlo<transpose ..>`.
    Transpose {
        Invalid = "TRANSPOSE_INVALID", NoTranspose = "NO_TRANSPOSE", Transpose = "TRANSPOSE", Adjoint = "ADJOINT",
    }
    /// `#stablehlo<rng_distribution ..>`.
    RngDistribution { Uniform = "UNIFORM", Normal = "NORMAL", }
    /// `#stablehlo<rng_algorithm ..>`.
    RngAlgorithm { Default = "DEFAULT", ThreeFry = "THREE_FRY", Philox = "PHILOX", }
    /// `#stablehlo.result_accuracy_mode<..>`.
    ResultAccuracyMode { Default = "DEFAULT", Highest = "HIGHEST", Tolerance = "TOLERANCE", }
    /// The calling convention of a custom call; an `i32` attribute in text.
    CustomCallApiVersion {
        Unspecified = "API_VERSION_UNSPECIFIED",
        Original = "API_VERSION_ORIGINAL",
        StatusReturning = "API_VERSION_STATUS_RETURNING",
        StatusReturningUnified = "API_VERSION_STATUS_RETURNING_UNIFIED",
        TypedFfi = "API_VERSION_TYPED_FFI",
    }
}

impl CustomCallApiVersion {
    /// The number in text and bytecode.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The convention with that number.
    #[must_use]
    pub const fn from_number(number: i128) -> Option<Self> {
        Some(match number {
            0 => Self::Unspecified,
            1 => Self::Original,
            2 => Self::StatusReturning,
            3 => Self::StatusReturningUnified,
            4 => Self::TypedFfi,
            _ => return None,
        })
    }
}
