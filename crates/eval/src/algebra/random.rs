//! `rng` and `rng_bit_generator`.

use std::sync::Arc;

use artifact_ir::attribute::{RngAlgorithm, RngDistribution};
use artifact_ir::float::round_to;
use artifact_ir::op::{Rng, RngBitGenerator};
use artifact_ir::types::{ElementClass, ElementType, TensorType};

use super::axes::{check_same, check_shape, count, integers, offsets, strides};
use super::gather::spread;
use super::region::single;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, shape_of};

/// Spec, "rng_bit_generator", with the bits of XLA: `THREE_FRY` is Threefry-2x32 with 20 rounds on a state of key and
/// counter, `PHILOX` is Philox-4x32 with 10 rounds on a state of key and a counter of one or two words, `DEFAULT` is
/// `PHILOX`, as on XLA's CPU backend.
pub(super) fn rng_bit_generator(
    op: &RngBitGenerator,
    state: &Tensor,
    types: &[Arc<TensorType>],
) -> Result<Vec<Tensor>, EvalError> {
    let [state_type, output_type] = types else {
        return Err(EvalError::invalid_input(format!(
            "expected 2 results, found {}",
            types.len()
        )));
    };
    let words: Vec<u64> = integers(state)?.into_iter().map(|word| word as u64).collect();
    check_shape(state_type, &[words.len()])?;
    let shape = shape_of(output_type);
    check_shape(output_type, &shape)?;
    let element = output_type.element.storage();
    if element.is_complex() || element.is_boolean() {
        return Err(EvalError::unsupported(format!(
            "there are no random bits of type {element}"
        )));
    }
    let wide = element.bits() == 64;
    let (next, bits) = match (op.rng_algorithm, &words[..]) {
        (RngAlgorithm::ThreeFry, [key, counter]) if wide => threefry_wide(*key, *counter, count(&shape)),
        (RngAlgorithm::ThreeFry, [key, counter]) => threefry_narrow(*key, *counter, &shape),
        (RngAlgorithm::Philox | RngAlgorithm::Default, [key, counter @ ..])
            if matches!(counter.len(), 1 | 2) =>
        {
            philox(*key, counter, count(&shape), wide)
        }
        (algorithm, words) => {
            return Err(EvalError::unsupported(format!(
                "{algorithm} does not take a state of {} words",
                words.len()
            )));
        }
    };
    let next: Vec<Scalar> = next.into_iter().map(|word| Scalar::Int(word.into())).collect();
    let mask = u64::MAX >> (64 - element.bits());
    let of_bits = |bits: &u64| Scalar::decode(element, &(bits & mask).to_le_bytes()[..element.bytes()]);
    let bits: Vec<Scalar> = bits.iter().map(of_bits).collect();
    Ok(vec![
        Tensor::from_scalars(Arc::clone(state_type), &next)?,
        Tensor::from_scalars(Arc::clone(output_type), &bits)?,
    ])
}

/// Low and high half.
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// A word from low and high half.
const fn word([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn threefry([mut a, mut b]: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
    a = a.wrapping_add(keys[0]);
    b = b.wrapping_add(keys[1]);
    for group in 0..5_usize {
        for rotation in ROTATIONS[group % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(rotation) ^ a;
        }
        a = a.wrapping_add(keys[(group + 1) % 3]);
        b = b
            .wrapping_add(keys[(group + 2) % 3])
            .wrapping_add(group as u32 + 1);
    }
    [a, b]
}

/// Words of 64 bits: one counter each.
fn threefry_wide(key: u64, counter: u64, count: usize) -> (Vec<u64>, Vec<u64>) {
    let bits = |index: usize| word(threefry(halves(counter.wrapping_add(index as u64)), halves(key)));
    (
        vec![key, counter.wrapping_add(count as u64)],
        (0..count).map(bits).collect(),
    )
}

/// Words of 32 bits, of which narrower types take the low ones: one counter for two neighbours along one dimension, the first
/// of even size or else the first of the largest.
fn threefry_narrow(key: u64, counter: u64, shape: &[usize]) -> (Vec<u64>, Vec<u64>) {
    let of = |index: usize| threefry(halves(counter.wrapping_add(index as u64)), halves(key));
    let even = shape.iter().position(|size| size.is_multiple_of(2));
    let largest = || (0..shape.len()).rev().max_by_key(|dim| shape[*dim]);
    let Some(split) = even.or_else(largest) else {
        return (vec![key, counter.wrapping_add(1)], vec![of(0)[0].into()]);
    };
    let mut half = shape.to_vec();
    half[split] = shape[split].div_ceil(2);
    // Twice the position in the half shape: steps along the other dimensions, and two by two along the split one.
    let steps = strides(&half);
    let mut others = steps.clone();
    others[split] = 0;
    let along = spread(&[split], &[1], shape.len());
    let bits = |(base, index): (usize, usize)| u64::from(of(base + index / 2 * steps[split])[index % 2]);
    let bits = offsets(shape, &others)
        .zip(offsets(shape, &along))
        .map(bits)
        .collect();
    (vec![key, counter.wrapping_add(count(&half) as u64)], bits)
}

/// Philox-4x32 with 10 rounds (as above).
fn philox_block([mut a, mut b, mut c, mut d]: [u32; 4], [mut k, mut l]: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [low, high] = halves(u64::from(a) * 0xD251_1F53);
        let [other_low, other_high] = halves(u64::from(c) * 0xCD9E_8D57);
        (a, b, c, d) = (other_high ^ b ^ k, other_low, high ^ d ^ l, low);
        k = k.wrapping_add(0x9E37_79B9);
        l = l.wrapping_add(0xBB67_AE85);
    }
    [a, b, c, d]
}

/// Blocks of 128 bits, cut into words in order. A counter of one word is the low half of one whose high half is the key, and
/// only its low half is kept.
fn philox(key: u64, counter: &[u64], count: usize, wide: bool) -> (Vec<u64>, Vec<u64>) {
    let (low, high) = match counter {
        [low, high] => (*low, *high),
        other => (other.first().copied().unwrap_or(0), key),
    };
    let counter_at = |index: u64| {
        let (low, carry) = low.overflowing_add(index);
        (low, high.wrapping_add(carry.into()))
    };
    let block = |index: u64| {
        let (low, high) = counter_at(index);
        let ([a, b], [c, d]) = (halves(low), halves(high));
        philox_block([a, b, c, d], halves(key))
    };
    let per_block = if wide { 2 } else { 4 };
    let blocks = count.div_ceil(per_block) as u64;
    let words = |index: u64| {
        let [a, b, c, d] = block(index);
        if wide {
            vec![word([a, b]), word([c, d])]
        } else {
            [a, b, c, d].map(u64::from).to_vec()
        }
    };
    let (next_low, next_high) = counter_at(blocks);
    let next = [key, next_low, next_high][..=counter.len()].to_vec();
    (next, (0..blocks).flat_map(words).take(count).collect())
}

/// Spec, "rng", whose generator each implementation chooses: here Threefry-2x32 with key 0 counts through the elements, so
/// that the same operation gives the same numbers in every run. Where `a < b` does not hold, every element is `a`.
pub(super) fn rng(op: &Rng, a: &Tensor, b: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    check_same("the shapes of the parameters", &a.shape(), &b.shape())?;
    check_shape(ty, &shape_of(ty))?;
    let element = ty.element.storage();
    let (a, b) = (single(a)?, single(b)?);
    let draw = |position: usize, attempt: u32| {
        word(threefry(
            halves(position as u64 | u64::from(attempt) << 48),
            [0, 0],
        ))
    };
    let generate: Box<dyn Fn(usize) -> Scalar> = match (op.rng_distribution, a, b) {
        (RngDistribution::Uniform, Scalar::Float(a), Scalar::Float(b)) => {
            Box::new(move |position| Scalar::Float(uniform(element, a, b, |attempt| draw(position, attempt))))
        }
        (RngDistribution::Uniform, a, b) if element.class() != ElementClass::Complex => {
            let (a, b) = (a.as_int().unwrap_or(0), b.as_int().unwrap_or(0));
            let range = (b - a).max(1);
            Box::new(move |position| Scalar::Int(a + i128::from(draw(position, 0)) % range))
        }
        (RngDistribution::Normal, Scalar::Float(mean), Scalar::Float(deviation)) => {
            Box::new(move |position| {
                Scalar::Float(mean + deviation * normal(draw(position, 0), draw(position, 1)))
            })
        }
        (distribution, ..) => {
            return Err(EvalError::unsupported(format!(
                "there is no {distribution} distribution of {element}"
            )));
        }
    };
    Ok(Tensor::from_fn(Arc::clone(ty), generate)?)
}

/// A number in [0, 1) of 53 random bits.
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number in [a, b) after rounding to a type. One that rounds to `b` is drawn again: that it happens 64 times is as good as
/// impossible unless there is nothing but `a` to draw.
fn uniform(element: ElementType, a: f64, b: f64, draw: impl Fn(u32) -> u64) -> f64 {
    let number = |attempt| round_to(element, a + (b - a) * fraction(draw(attempt)));
    (0..64)
        .map(number)
        .find(|number| *number >= a && *number < b)
        .unwrap_or(a)
}

/// A number of the standard normal distribution (Box and Muller).
fn normal(first: u64, second: u64) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * (1.0 - fraction(first)).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * fraction(second)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{floats_of, ints_of, show, ty};

    fn generate(algorithm: RngAlgorithm, state: &[i64], element: ElementType, shape: &[u64]) -> [String; 2] {
        let op = RngBitGenerator {
            rng_algorithm: algorithm,
        };
        let state = ints_of(ElementType::UI64, &[state.len() as u64], state);
        let results = rng_bit_generator(&op, &state, &[Arc::clone(state.ty()), ty(shape, element)]).unwrap();
        [show(&results[0]), show(&results[1])]
    }

    /// Known answers of the algorithms' authors (Random123, `kat_vectors`).
    #[test]
    fn known_answers() {
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(
            threefry([0x243f_6a88, 0x85a3_08d3], [0x1319_8a2e, 0x0370_7344]),
            [0xc492_3a9c, 0x483d_f7a0]
        );
        assert_eq!(
            philox_block([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox_block([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox_block(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    /// The example of the specification, which XLA computed.
    #[test]
    fn threefry_words() {
        assert_eq!(
            generate(RngAlgorithm::ThreeFry, &[1, 2], ElementType::UI64, &[2, 2]),
            [
                "1 6",
                "9236835810183407956 16087790271692313299 18212823393184779219 2658481902456610144"
            ]
        );
        assert_eq!(
            generate(RngAlgorithm::ThreeFry, &[3, 3], ElementType::UI64, &[]),
            ["3 4", "3349939604322698703"]
        );
    }

    #[test]
    fn threefry_halves_are_interleaved() {
        let halves: Vec<[u32; 2]> = (0..4).map(|index| threefry([7 + index, 0], [5, 0])).collect();
        let narrow = |element, shape: &[u64]| generate(RngAlgorithm::ThreeFry, &[5, 7], element, shape);
        let text = |order: &[(usize, usize)]| {
            order
                .iter()
                .map(|(index, half)| halves[*index][*half].to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(narrow(ElementType::UI32, &[4]), ["5 9".to_owned(), text(&pairs)]);
        assert_eq!(
            narrow(ElementType::UI32, &[3]),
            ["5 9".to_owned(), text(&pairs[..3])]
        );
        assert_eq!(
            narrow(ElementType::UI32, &[]),
            ["5 8".to_owned(), text(&pairs[..1])]
        );
        // The second dimension is the even one.
        let rows = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)];
        assert_eq!(
            narrow(ElementType::UI32, &[3, 2]),
            ["5 10".to_owned(), text(&rows)]
        );
        let columns = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)];
        assert_eq!(
            narrow(ElementType::UI32, &[2, 3]),
            ["5 10".to_owned(), text(&columns)]
        );
        let low = (halves[0][0] as u8).to_string();
        assert_eq!(narrow(ElementType::UI8, &[]), ["5 8".to_owned(), low]);
    }

    #[test]
    fn philox_blocks() {
        let block = |low: u32, high: u32| philox_block([low, 0, high, 0], [1, 0]);
        let text = |words: &[u32]| words.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let six = [block(2, 3), block(3, 3)].concat();
        assert_eq!(
            generate(RngAlgorithm::Philox, &[1, 2, 3], ElementType::UI32, &[6]),
            ["1 4 3".to_owned(), text(&six[..6])]
        );
        assert_eq!(
            generate(RngAlgorithm::Default, &[1, 2], ElementType::UI32, &[2]),
            ["1 3".to_owned(), text(&block(2, 1)[..2])]
        );
        let [a, b, ..] = block(2, 3);
        assert_eq!(
            generate(RngAlgorithm::Philox, &[1, 2, 3], ElementType::UI64, &[1]),
            ["1 3 3".to_owned(), word([a, b]).to_string()]
        );
        let carried = generate(RngAlgorithm::Philox, &[1, -1, 3], ElementType::UI32, &[1]);
        assert_eq!(carried[0], "1 0 4");
    }

    #[test]
    fn distributions() {
        let draw = |rng_distribution, a: &Tensor, b: &Tensor| {
            rng(&Rng { rng_distribution }, a, b, &ty(&[4096], a.storage())).unwrap()
        };
        let values = |tensor: &Tensor| -> Vec<f64> {
            let value = |scalar: Scalar| {
                scalar
                    .as_float()
                    .or(scalar.as_int().map(|value| value as f64))
                    .unwrap()
            };
            tensor.scalars().map(value).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let uniform = values(&draw(
            RngDistribution::Uniform,
            &floats_of(ElementType::BF16, &[], &[-1.0]),
            &floats_of(ElementType::BF16, &[], &[3.0]),
        ));
        assert!(uniform.iter().all(|value| (-1.0..3.0).contains(value)));
        assert!((mean(&uniform) - 1.0).abs() < 0.1);
        let dice = draw(
            RngDistribution::Uniform,
            &ints_of(ElementType::I8, &[], &[-3]),
            &ints_of(ElementType::I8, &[], &[3]),
        );
        let dice = values(&dice);
        assert!((-3..3).all(|face| dice.iter().filter(|value| **value == f64::from(face)).count() > 500));
        assert_eq!(dice.iter().filter(|value| **value >= 3.0).count(), 0);
        let normal = values(&draw(
            RngDistribution::Normal,
            &floats_of(ElementType::F64, &[], &[10.0]),
            &floats_of(ElementType::F64, &[], &[2.0]),
        ));
        let squares: Vec<f64> = normal.iter().map(|value| (value - 10.0).powi(2)).collect();
        assert!((mean(&normal) - 10.0).abs() < 0.15 && (mean(&squares) - 4.0).abs() < 0.4);
    }
}
