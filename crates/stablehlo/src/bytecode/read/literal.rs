//! Dense constants: the bytes of MLIR to those of `artifact_ir`, without a copy wherever they are the same.
//!
//! They differ in two ways: MLIR packs `i1` eight to a byte, and fills the upper bits of a signed sub-byte element with zeros,
//! where we have a byte each and the sign. One element stands for all where there is more than one.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::literal::{Literal, LiteralError};
use artifact_ir::types::{ElementType, TensorType};

/// The constant of type `ty` whose bytes in the file are `bytes`.
pub(super) fn literal(ty: &Arc<TensorType>, bytes: Blob) -> Result<Literal, LiteralError> {
    let count = ty.element_count().ok_or(LiteralError::NotStatic)?;
    let storage = ty.element.storage();
    if storage == ElementType::I1 {
        return booleans(ty, count, bytes);
    }
    let bytes = if storage.is_signed_integer() && storage.bits() < 8 {
        Blob::new(bytes.iter().map(|byte| extend(storage, *byte)).collect())
    } else {
        bytes
    };
    if bytes.len() == storage.bytes() && count != 1 {
        Literal::splat(Arc::clone(ty), &bytes)
    } else {
        Literal::dense(Arc::clone(ty), bytes)
    }
}

/// A signed element of fewer than 8 bits with its sign in the upper ones.
fn extend(storage: ElementType, byte: u8) -> u8 {
    let unused = 8 - storage.bits();
    (((byte << unused) as i8) >> unused) as u8
}

/// `i1`: all bits of one byte for the same value everywhere; eight to a byte, the first in the lowest bit; or, in old files, a
/// byte each.
fn booleans(ty: &Arc<TensorType>, count: u64, bytes: Blob) -> Result<Literal, LiteralError> {
    match *bytes {
        [0xFF] if count != 0 => return Literal::splat(Arc::clone(ty), &[1]),
        [0x00] if count > 1 => return Literal::splat(Arc::clone(ty), &[0]),
        _ => {}
    }
    let length = bytes.len() as u64;
    if length == count.div_ceil(8) && length != count {
        let bits = (0..count as usize).map(|index| (bytes[index / 8] >> (index % 8)) & 1);
        return Literal::dense(Arc::clone(ty), Blob::new(bits.collect()));
    }
    // One element each; true was written as all bits of the byte by some versions.
    let bits = bytes.iter().map(|byte| u8::from(*byte != 0)).collect();
    Literal::dense(Arc::clone(ty), Blob::new(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: &[u64], element: ElementType, bytes: &[u8], expected: Option<&[u8]>) {
        let ty = Arc::new(TensorType::of_static(shape, element));
        let literal = literal(&ty, Blob::new(bytes.to_vec())).ok();
        let elements = literal.map(|literal| {
            let count = literal.element_count() as usize;
            (0..count)
                .flat_map(|index| literal.element(index).unwrap().to_vec())
                .collect::<Vec<u8>>()
        });
        assert_eq!(elements.as_deref(), expected, "{bytes:?}");
    }

    #[test]
    fn booleans_in_every_form() {
        check(&[3], ElementType::I1, &[0xFF], Some(&[1, 1, 1]));
        check(&[3], ElementType::I1, &[0], Some(&[0, 0, 0]));
        check(&[3], ElementType::I1, &[0b110], Some(&[0, 1, 1]));
        check(&[9], ElementType::I1, &[1, 1], Some(&[1, 0, 0, 0, 0, 0, 0, 0, 1]));
        check(&[3], ElementType::I1, &[1, 0, 1], Some(&[1, 0, 1]));
        check(&[], ElementType::I1, &[0xFF], Some(&[1]));
        check(&[], ElementType::I1, &[1], Some(&[1]));
        check(&[0], ElementType::I1, &[], Some(&[]));
        check(&[17], ElementType::I1, &[1, 1], None);
    }

    #[test]
    fn sub_byte_elements_get_their_sign() {
        check(&[2], ElementType::I4, &[0x0F, 0x07], Some(&[0xFF, 0x07]));
        check(&[2], ElementType::UI4, &[0x0F, 0x07], Some(&[0x0F, 0x07]));
        check(&[2], ElementType::I2, &[0x03, 0x01], Some(&[0xFF, 0x01]));
    }

    #[test]
    fn others_are_as_they_stand() {
        check(&[2], ElementType::I16, &[1, 2], Some(&[1, 2, 1, 2]));
        check(&[1], ElementType::I16, &[1, 2], Some(&[1, 2]));
        check(&[2], ElementType::I16, &[1, 2, 3], None);
    }
}
