//! What arrays of JAX are in a program: most are tensors of the same element; keys and tangents without bits are not.

use artifact_ir::types::{Element, ElementType};
use artifact_jax::DType;

/// Tensors that stand for arrays of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Physical {
    /// Their element.
    pub(crate) element: ElementType,
    /// A last dimension that the array has not: the words of a key.
    pub(crate) words: Option<u64>,
}

/// What an array of `dtype` is in a program.
pub(crate) const fn physical(dtype: DType) -> Physical {
    let (element, words) = match dtype {
        // A tangent without bits is passed as booleans that nobody reads.
        DType::Bool | DType::F0 => (ElementType::I1, None),
        DType::I4 => (ElementType::I4, None),
        DType::I8 => (ElementType::I8, None),
        DType::I16 => (ElementType::I16, None),
        DType::I32 => (ElementType::I32, None),
        DType::I64 => (ElementType::I64, None),
        DType::Ui4 => (ElementType::UI4, None),
        DType::Ui8 => (ElementType::UI8, None),
        DType::Ui16 => (ElementType::UI16, None),
        DType::Ui32 => (ElementType::UI32, None),
        DType::Ui64 => (ElementType::UI64, None),
        DType::F16 => (ElementType::F16, None),
        DType::F32 => (ElementType::F32, None),
        DType::F64 => (ElementType::F64, None),
        DType::C64 => (ElementType::C64, None),
        DType::C128 => (ElementType::C128, None),
        DType::Bf16 => (ElementType::BF16, None),
        DType::F8E4m3b11fnuz => (ElementType::F8E4M3B11FNUZ, None),
        DType::F8E4m3fn => (ElementType::F8E4M3FN, None),
        DType::F8E4m3fnuz => (ElementType::F8E4M3FNUZ, None),
        DType::F8E5m2 => (ElementType::F8E5M2, None),
        DType::F8E5m2fnuz => (ElementType::F8E5M2FNUZ, None),
        DType::F8E4m3 => (ElementType::F8E4M3, None),
        DType::F8E3m4 => (ElementType::F8E3M4, None),
        DType::F8E8m0fnu => (ElementType::F8E8M0FNU, None),
        DType::F4E2m1fn => (ElementType::F4E2M1FN, None),
        DType::KeyFry => (ElementType::UI32, Some(2)),
        DType::KeyRbg | DType::KeyUnsafeRbg => (ElementType::UI32, Some(4)),
    };
    Physical { element, words }
}

/// The array of JAX that a tensor of a program is; `None` for an element that JAX's files have no name for.
pub(crate) fn dtype_of(element: &Element) -> Option<DType> {
    Some(match element.as_plain()? {
        ElementType::I1 => DType::Bool,
        ElementType::I4 => DType::I4,
        ElementType::I8 => DType::I8,
        ElementType::I16 => DType::I16,
        ElementType::I32 => DType::I32,
        ElementType::I64 => DType::I64,
        ElementType::UI4 => DType::Ui4,
        ElementType::UI8 => DType::Ui8,
        ElementType::UI16 => DType::Ui16,
        ElementType::UI32 => DType::Ui32,
        ElementType::UI64 => DType::Ui64,
        ElementType::F16 => DType::F16,
        ElementType::F32 => DType::F32,
        ElementType::F64 => DType::F64,
        ElementType::C64 => DType::C64,
        ElementType::C128 => DType::C128,
        ElementType::BF16 => DType::Bf16,
        ElementType::F8E4M3B11FNUZ => DType::F8E4m3b11fnuz,
        ElementType::F8E4M3FN => DType::F8E4m3fn,
        ElementType::F8E4M3FNUZ => DType::F8E4m3fnuz,
        ElementType::F8E5M2 => DType::F8E5m2,
        ElementType::F8E5M2FNUZ => DType::F8E5m2fnuz,
        ElementType::F8E4M3 => DType::F8E4m3,
        ElementType::F8E3M4 => DType::F8E3m4,
        ElementType::F8E8M0FNU => DType::F8E8m0fnu,
        ElementType::F4E2M1FN => DType::F4E2m1fn,
        _ => return None,
    })
}
