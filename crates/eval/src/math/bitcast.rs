//! Reinterpretation of bits (spec, "bitcast_convert").

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType};

use crate::error::EvalError;
use crate::tensor::{TENSOR_BYTES, Tensor, TensorError, reserve};

/// The operand's bits under another type. Where widths differ, a row of narrow elements is one wide element, the first of them
/// its lowest bits.
pub(super) fn bitcast_convert(operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let (from, to) = (operand.storage(), ty.element.storage());
    let size = ty.byte_count().ok_or(TensorError::Overflow)?;
    TENSOR_BYTES.check(size)?;
    let mut bytes = reserve(size as usize)?;
    let elements = operand
        .bytes()
        .chunks_exact(from.bytes())
        .map(|element| low_bits(from, element));
    if from.bits() >= to.bits() {
        let parts = from.bits() / to.bits();
        for element in elements {
            (0..parts).for_each(|part| push(to, element >> (part * to.bits()), &mut bytes));
        }
    } else {
        let elements: Vec<u128> = elements.collect();
        for row in elements.chunks((to.bits() / from.bits()) as usize) {
            let joined = row
                .iter()
                .rev()
                .fold(0, |joined, element| joined << from.bits() | element);
            push(to, joined, &mut bytes);
        }
    }
    tensor_of_bytes(ty, bytes)
}

/// A tensor from its bytes in memory.
pub(super) fn tensor_of_bytes(ty: &Arc<TensorType>, bytes: Vec<u8>) -> Result<Tensor, EvalError> {
    let literal = Literal::dense(Arc::clone(ty), Blob::new(bytes));
    let literal = literal.map_err(|error| EvalError::runtime(error.to_string()))?;
    Ok(Tensor::from_literal(&literal)?)
}

/// The bits of an element in memory, without the extension of a sub-byte one.
fn low_bits(ty: ElementType, bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(wide) & mask(ty)
}

/// Appends an element as it lies in memory: whole bytes, signed sub-byte ones extended.
fn push(ty: ElementType, bits: u128, out: &mut Vec<u8>) {
    let bits = bits & mask(ty);
    let negative = ty.is_signed_integer() && bits >> (ty.bits() - 1) & 1 == 1;
    let extended = if negative { bits | !mask(ty) } else { bits };
    out.extend_from_slice(&extended.to_le_bytes()[..ty.bytes()]);
}

const fn mask(ty: ElementType) -> u128 {
    if ty.bits() >= 128 {
        u128::MAX
    } else {
        (1 << ty.bits()) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{C64, F32, I1, I4, I64, UI8};

    fn check(
        from: ElementType,
        shape: &[u64],
        bytes: &[u8],
        to: ElementType,
        to_shape: &[u64],
        expected: &[u8],
    ) {
        let ty = Arc::new(TensorType::of_static(shape, from));
        let literal = Literal::dense(ty, Blob::new(bytes.to_vec())).unwrap();
        let operand = Tensor::from_literal(&literal).unwrap();
        let result = bitcast_convert(&operand, &Arc::new(TensorType::of_static(to_shape, to))).unwrap();
        assert_eq!(result.bytes(), expected, "{from} to {to}");
    }

    #[test]
    fn widths() {
        check(I4, &[2], &[0xFF, 7], UI8, &[], &[0x7F]);
        check(UI8, &[], &[0x7F], I4, &[2], &[0xFF, 7]);
        check(I1, &[8], &[1, 0, 0, 0, 0, 0, 0, 1], UI8, &[], &[0x81]);
        check(
            C64,
            &[1],
            &[1, 2, 3, 4, 5, 6, 7, 8],
            I64,
            &[1],
            &[1, 2, 3, 4, 5, 6, 7, 8],
        );
        // A signalling NaN keeps its bits.
        check(
            I64,
            &[],
            &[1, 0, 0xA0, 0x7F, 2, 0, 0, 0],
            F32,
            &[2],
            &[1, 0, 0xA0, 0x7F, 2, 0, 0, 0],
        );
    }
}
