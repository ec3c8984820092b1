//! Shapes and element types to draw from.

use artifact_ir::types::ElementType::{
    self, BF16, C64, C128, F16, F32, F64, I1, I2, I4, I8, I16, I32, I64, UI2, UI4, UI8, UI16, UI32, UI64,
};

use super::draft::Setting;
use crate::choices::Choices;

/// Sizes around the widths of vectors and tiles.
const SIZES: &[u64] = &[3, 1, 2, 5, 7, 8, 16, 17, 33, 64, 65, 130, 0];

/// Sizes around those of the segments that reductions are cut into.
const LONG: &[u64] = &[1000, 1023, 4095, 4096, 4097, 5000];

/// Sizes that make arrays large.
const LARGE: &[u64] = &[130, 65, 257, 400, 1000, 3, 4097, 20_000, 33_000];

pub(super) const FLOATS: &[ElementType] = &[F32, F64, F16, BF16];
pub(super) const COMPLEX: &[ElementType] = &[C64, C128];
pub(super) const INTEGERS: &[ElementType] = &[I32, I64, I8, I16, UI8, UI16, UI32, UI64, I4, UI4, I2, UI2];
pub(super) const INDICES: &[ElementType] = &[I32, I64, I8, I16, UI8, UI16, UI32, UI64];

/// Any element type, the common ones more often.
pub(super) fn element(choices: &Choices) -> ElementType {
    *choices.weighted(&[
        (24, F32),
        (8, F64),
        (8, F16),
        (8, BF16),
        (14, I32),
        (8, I1),
        (5, I64),
        (4, I8),
        (4, UI8),
        (3, I16),
        (3, UI16),
        (4, UI32),
        (3, UI64),
        (2, I4),
        (2, UI4),
        (1, I2),
        (1, UI2),
        (5, C64),
        (3, C128),
        (1, ElementType::F8E4M3FN),
        (1, ElementType::F8E5M2),
    ])
}

/// A shape of at most so many dimensions, and not too many elements.
pub(super) fn shape(choices: &Choices, setting: &Setting, rank_max: usize) -> Vec<u64> {
    let rank = *choices.weighted(&[(4, 1), (6, 2), (3, 3), (2, 0), (1, 4)]);
    let mut shape: Vec<u64> = Vec::new();
    let mut left = setting.elements_max / 2;
    for _ in 0..rank.min(rank_max) {
        let long = choices.once_in(24);
        let sizes = match () {
            () if setting.is_large => LARGE,
            () if long => LONG,
            () => SIZES,
        };
        let size = *choices.pick(sizes);
        let size = if size > left { left.clamp(1, 3) } else { size };
        left /= size.max(1);
        shape.push(size);
    }
    shape
}
