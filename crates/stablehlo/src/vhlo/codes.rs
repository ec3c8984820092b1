//! Numbers of attributes, types and enumerations in bytecode, with the first version that has them.

use artifact_ir::attribute::{
    ComparisonDirection, ComparisonType, CustomCallApiVersion, FftType, Precision, ResultAccuracyMode,
    RngAlgorithm, RngDistribution, StablehloAttribute, Transpose,
};
use artifact_ir::types::ElementType;

use super::Version;

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $code:literal $since:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant = $code,)* }

        impl $name {
            pub(crate) const fn from_code(code: u64) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The first version that has it.
            pub(crate) const fn since(self) -> Version {
                match self { $(Self::$variant => const { Version::literal($since) },)* }
            }
        }
    };
}

codes! {
    /// Attributes of VHLO.
    AttributeCode {
        Array = 1 "0.9",
        Boolean = 2 "0.9",
        ComparisonDirection = 3 "0.9",
        ComparisonType = 4 "0.9",
        CustomCallApiVersion = 5 "0.9",
        Dictionary = 6 "0.9",
        FftType = 7 "0.9",
        Float = 8 "0.9",
        Integer = 9 "0.9",
        OutputOperandAlias = 10 "0.9",
        Precision = 11 "0.9",
        RngAlgorithm = 12 "0.9",
        RngDistribution = 13 "0.9",
        String = 14 "0.9",
        Tensor = 15 "0.9",
        Transpose = 16 "0.9",
        Type = 17 "0.9",
        TypeExtensions = 18 "0.9",
        ResultAccuracyMode = 19 "1.9",
        ResultAccuracy = 20 "1.9",
        SubAxisInfo = 21 "1.16",
        AxisRef = 22 "1.16",
        ReplicaGroupMeshAxes = 23 "1.16",
        MeshAxis = 24 "1.16",
        Mesh = 25 "1.16",
    }
}

codes! {
    /// Types of VHLO that are not element types.
    TypeCode {
        Complex = 1 "0.9",
        Function = 8 "0.9",
        RankedTensor = 20 "0.9",
        RankedTensorWithEncoding = 21 "0.9",
        Token = 22 "0.9",
        Tuple = 23 "0.9",
        UniformQuantized = 24 "0.9",
        UnrankedTensor = 25 "0.9",
        Witness = 26 "0.9",
        UniformQuantizedPerAxis = 30 "0.18",
        None = 33 "1.6",
        RankedBuffer = 41 "1.13",
        Future = 42 "1.15",
    }
}

/// Element types: code and first version. Complex ones are [`TypeCode::Complex`] of their parts.
const ELEMENTS: &[(ElementType, u8, Version)] = &[
    (ElementType::I1, 0, Version::literal("0.9")),
    (ElementType::BF16, 2, Version::literal("0.9")),
    (ElementType::F16, 3, Version::literal("0.9")),
    (ElementType::F32, 4, Version::literal("0.9")),
    (ElementType::F64, 5, Version::literal("0.9")),
    (ElementType::F8E4M3FN, 6, Version::literal("0.9")),
    (ElementType::F8E5M2, 7, Version::literal("0.9")),
    (ElementType::Index, 9, Version::literal("0.9")),
    (ElementType::I4, 10, Version::literal("0.9")),
    (ElementType::I8, 11, Version::literal("0.9")),
    (ElementType::I16, 12, Version::literal("0.9")),
    (ElementType::I32, 13, Version::literal("0.9")),
    (ElementType::I64, 14, Version::literal("0.9")),
    (ElementType::UI4, 15, Version::literal("0.9")),
    (ElementType::UI8, 16, Version::literal("0.9")),
    (ElementType::UI16, 17, Version::literal("0.9")),
    (ElementType::UI32, 18, Version::literal("0.9")),
    (ElementType::UI64, 19, Version::literal("0.9")),
    (ElementType::F8E4M3FNUZ, 27, Version::literal("0.10")),
    (ElementType::F8E5M2FNUZ, 28, Version::literal("0.10")),
    (ElementType::F8E4M3B11FNUZ, 29, Version::literal("0.11")),
    (ElementType::I2, 31, Version::literal("1.2")),
    (ElementType::UI2, 32, Version::literal("1.2")),
    (ElementType::TF32, 34, Version::literal("1.6")),
    (ElementType::F8E4M3, 35, Version::literal("1.7")),
    (ElementType::F8E3M4, 36, Version::literal("1.7")),
    (ElementType::F4E2M1FN, 37, Version::literal("1.8")),
    (ElementType::F6E2M3FN, 38, Version::literal("1.8")),
    (ElementType::F6E3M2FN, 39, Version::literal("1.8")),
    (ElementType::F8E8M0FNU, 40, Version::literal("1.8")),
];

/// The element type with a code.
pub(crate) fn element_of(code: u64) -> Option<ElementType> {
    let found = ELEMENTS.iter().find(|(_, own, _)| u64::from(*own) == code);
    found.map(|(element, _, _)| *element)
}

/// Code and first version of an element type; `None` for a complex one.
pub(crate) fn code_of(element: ElementType) -> Option<(u8, Version)> {
    let found = ELEMENTS.iter().find(|(own, _, _)| *own == element);
    found.map(|(_, code, since)| (*code, *since))
}

macro_rules! enumerations {
    ($($name:ident { $($variant:ident = $number:literal,)* })*) => {
        /// The case of an enumeration with a number; `None` for an attribute that is no enumeration, or an unknown number.
        pub(crate) const fn case_of(code: AttributeCode, number: u64) -> Option<StablehloAttribute> {
            match (code, number) {
                $($((AttributeCode::$name, $number) => Some(StablehloAttribute::$name($name::$variant)),)*)*
                _ => None,
            }
        }

        /// Attribute and number of a case; `None` for an attribute that is no enumeration.
        pub(crate) const fn number_of(attribute: &StablehloAttribute) -> Option<(AttributeCode, u64)> {
            match attribute {
                $($(StablehloAttribute::$name($name::$variant) => Some((AttributeCode::$name, $number)),)*)*
                _ => None,
            }
        }
    };
}

enumerations! {
    ComparisonDirection { Eq = 0, Ne = 1, Ge = 2, Gt = 3, Le = 4, Lt = 5, }
    ComparisonType { NoType = 0, Float = 1, TotalOrder = 2, Signed = 3, Unsigned = 4, }
    CustomCallApiVersion {
        Unspecified = 0, Original = 1, StatusReturning = 2, StatusReturningUnified = 3, TypedFfi = 4,
    }
    FftType { Fft = 0, Ifft = 1, Rfft = 2, Irfft = 3, }
    Precision { Default = 0, High = 1, Highest = 2, }
    RngAlgorithm { Default = 0, ThreeFry = 1, Philox = 2, }
    RngDistribution { Uniform = 1, Normal = 2, }
    Transpose { Invalid = 0, NoTranspose = 1, Transpose = 2, Adjoint = 3, }
    ResultAccuracyMode { Default = 0, Highest = 1, Tolerance = 2, }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_code() {
        for element in ElementType::ALL {
            match code_of(*element) {
                Some((code, _)) => assert_eq!(element_of(u64::from(code)), Some(*element)),
                None => assert!(element.is_complex(), "{element}"),
            }
        }
        let both =
            (0..=42).filter(|code| element_of(*code).is_some() == TypeCode::from_code(*code).is_some());
        assert_eq!(
            both.count(),
            0,
            "each of 0 to 42 is an element or another type, never both"
        );
    }
}
