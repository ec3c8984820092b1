//! Quantized numbers, which come and go within one step: what is computed with are the numbers that they stand for.

use std::sync::Arc;

use artifact_ir::op::{Elementwise, Shape, Transpose};
use artifact_ir::types::{Element, ElementType, QuantizationParameters, QuantizedType, TensorType};

use super::control::EXACT;
use super::draft::{Draft, Made};
use super::movement::permutation;

/// Numbers quantized, moved, and back.
pub(super) fn quantize(draft: &mut Draft<'_, '_>) -> Made<()> {
    let operand = draft.find_or_make(&[ElementType::F32], |known| known.facts.is_exact())?;
    let storage = *draft.choices.pick(&[
        ElementType::I8,
        ElementType::UI8,
        ElementType::I16,
        ElementType::I4,
    ]);
    let (storage_min, storage_max) = QuantizedType::storage_range(storage);
    let scale = *draft.choices.pick(&[0.5, 0.0625, 3.0]);
    let zero_point = *draft.choices.pick(&[0, 3]);
    let quantized = Element::Quantized(Arc::new(QuantizedType {
        storage,
        storage_min,
        storage_max,
        expressed: ElementType::F32,
        axis: None,
        parameters: vec![QuantizationParameters::new(scale, zero_point)],
    }));
    let ty = TensorType {
        element: quantized,
        ..TensorType::clone(&operand.ty)
    };
    let mut id = draft
        .builder
        .op_with_types(Elementwise::UniformQuantize, &[operand.id], &[ty.into()])?[0];
    if draft.choices.flip() {
        let permutation = permutation(draft.choices, operand.rank());
        id = draft
            .builder
            .op(Shape::Transpose(Transpose { permutation }), &[id])?[0];
    }
    let id = draft.builder.op(Elementwise::UniformDequantize, &[id])?[0];
    draft.keep(id, EXACT);
    Ok(())
}
