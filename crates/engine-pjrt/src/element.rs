//! Element types as PJRT numbers them (`PJRT_Buffer_Type`).

use std::ffi::c_int;

use artifact_ir::types::ElementType;

/// The number of an element type; `None` for those that PJRT has none for.
pub(crate) const fn number_of(element: ElementType) -> Option<c_int> {
    use ElementType as E;
    Some(match element {
        E::I1 => 1,
        E::I8 => 2,
        E::I16 => 3,
        E::I32 => 4,
        E::I64 => 5,
        E::UI8 => 6,
        E::UI16 => 7,
        E::UI32 => 8,
        E::UI64 => 9,
        E::F16 => 10,
        E::F32 => 11,
        E::F64 => 12,
        E::BF16 => 13,
        E::C64 => 14,
        E::C128 => 15,
        E::F8E5M2 => 16,
        E::F8E4M3FN => 17,
        E::F8E4M3B11FNUZ => 18,
        E::F8E5M2FNUZ => 19,
        E::F8E4M3FNUZ => 20,
        E::I4 => 21,
        E::UI4 => 22,
        // 23 is a token.
        E::I2 => 24,
        E::UI2 => 25,
        E::F8E4M3 => 26,
        E::F8E3M4 => 27,
        E::F8E8M0FNU => 28,
        E::F4E2M1FN => 29,
        E::Index | E::TF32 | E::F6E2M3FN | E::F6E3M2FN => return None,
    })
}
