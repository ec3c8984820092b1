//! `fft`.

use std::f64::consts::PI;
use std::sync::Arc;

use artifact_ir::attribute::FftType;
use artifact_ir::op::Fft;
use artifact_ir::types::TensorType;

use super::axes::{check_same, check_shape, count, offsets, others, pick, strides};
use super::number::{Complex, Number, numbers};
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, shape_of};

/// Spec, "fft". Computed in `f64` whatever the element type, in O(n log n) for every length.
pub(super) fn fft(op: &Fft, operand: &Tensor, ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let shape = operand.shape();
    let rank = shape.len();
    let Some(first) = rank
        .checked_sub(op.fft_length.len())
        .filter(|first| *first < rank)
    else {
        return Err(EvalError::invalid_input(
            "a transform needs at least one dimension and at most those of its operand",
        ));
    };
    let last = rank - 1;
    let halved = |size: usize| if size == 0 { 0 } else { size / 2 + 1 };
    let declared = shape_of(ty);
    let mut result = shape.clone();
    match op.fft_type {
        FftType::Fft | FftType::Ifft => {}
        FftType::Rfft => result[last] = halved(shape[last]),
        FftType::Irfft => {
            result[last] = declared.last().copied().unwrap_or(0);
            check_same(
                "half the result's last dimension and the operand's",
                &[halved(result[last])],
                &shape[last..],
            )?;
        }
    }
    check_shape(ty, &result)?;

    let mut lines = Lines {
        shape,
        values: numbers::<Complex>(operand)?,
    };
    if count(&result) > 0 {
        match op.fft_type {
            FftType::Fft => (first..rank)
                .rev()
                .for_each(|axis| lines.transform(axis, Direction::Forward)),
            FftType::Ifft => (first..rank).for_each(|axis| lines.transform(axis, Direction::Inverse)),
            FftType::Rfft => {
                (first..rank)
                    .rev()
                    .for_each(|axis| lines.transform(axis, Direction::Forward));
                lines.map(last, result[last], |mut line| {
                    line.truncate(result[last]);
                    line
                });
            }
            FftType::Irfft => {
                (first..last).for_each(|axis| lines.transform(axis, Direction::Inverse));
                lines.map(last, result[last], |line| mirrored(&line, result[last]));
                lines.transform(last, Direction::Inverse);
            }
        }
    }
    let real = ty.element.storage().is_float();
    let scalar = |value: &Complex| {
        if real {
            Scalar::Float(value.re)
        } else {
            value.to_scalar()
        }
    };
    let scalars: Vec<Scalar> = lines.values.iter().map(scalar).collect();
    Ok(Tensor::from_scalars(Arc::clone(ty), &scalars)?)
}

/// The spectrum of a real signal from its first half: the rest is the conjugate in reverse.
fn mirrored(half: &[Complex], length: usize) -> Vec<Complex> {
    let conjugate = |value: Complex| Complex::new(value.re, -value.im);
    (0..length)
        .map(|index| {
            half.get(index)
                .copied()
                .unwrap_or_else(|| conjugate(half[length - index]))
        })
        .collect()
}

/// A tensor that is transformed line by line.
struct Lines {
    shape: Vec<usize>,
    values: Vec<Complex>,
}

impl Lines {
    /// Replaces each line along `axis` by what `f` makes of it, which is of length `length`.
    fn map(&mut self, axis: usize, length: usize, mut f: impl FnMut(Vec<Complex>) -> Vec<Complex>) {
        let kept = others(&[axis], self.shape.len());
        let from = strides(&self.shape);
        let mut shape = self.shape.clone();
        shape[axis] = length;
        let to = strides(&shape);
        let lines = pick(&shape, &kept);
        let mut values = vec![Complex::ZERO; count(&shape)];
        for (read, write) in offsets(&lines, &pick(&from, &kept)).zip(offsets(&lines, &pick(&to, &kept))) {
            let line = (0..self.shape[axis])
                .map(|index| self.values[read + index * from[axis]])
                .collect();
            for (index, value) in f(line).into_iter().enumerate() {
                values[write + index * to[axis]] = value;
            }
        }
        *self = Self { shape, values };
    }

    /// Transforms each line along `axis`.
    fn transform(&mut self, axis: usize, direction: Direction) {
        let length = self.shape[axis];
        let plan = Plan::new(length);
        self.map(axis, length, |mut line| {
            plan.run(&mut line, direction);
            line
        });
    }
}

/// Which way a transform goes.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forward,
    Inverse,
}

/// A discrete Fourier transform of one length.
enum Plan {
    /// Length 0 or 1: nothing to do.
    Trivial,
    PowerOfTwo(PowerOfTwo),
    Bluestein(Bluestein),
}

impl Plan {
    fn new(length: usize) -> Self {
        match length {
            0 | 1 => Self::Trivial,
            _ if length.is_power_of_two() => Self::PowerOfTwo(PowerOfTwo::new(length)),
            _ => Self::Bluestein(Bluestein::new(length)),
        }
    }

    fn run(&self, line: &mut [Complex], direction: Direction) {
        // The inverse is the conjugate of the transform of the conjugate, over the length.
        let inverse = direction == Direction::Inverse;
        if inverse {
            line.iter_mut().for_each(|value| value.im = -value.im);
        }
        match self {
            Self::Trivial => {}
            Self::PowerOfTwo(plan) => plan.run(line),
            Self::Bluestein(plan) => plan.run(line),
        }
        if inverse {
            let length = line.len() as f64;
            line.iter_mut()
                .for_each(|value| *value = Complex::new(value.re / length, -value.im / length));
        }
    }
}

/// Cooley and Tukey's transform of radix 2.
struct PowerOfTwo {
    /// The first half of the roots of unity.
    roots: Vec<Complex>,
}

impl PowerOfTwo {
    fn new(length: usize) -> Self {
        let root = |index: usize| Complex::unit(-2.0 * PI * index as f64 / length as f64);
        Self {
            roots: (0..length / 2).map(root).collect(),
        }
    }

    fn run(&self, line: &mut [Complex]) {
        let length = line.len();
        let shift = usize::BITS - length.trailing_zeros();
        for index in 0..length {
            let other = index.reverse_bits() >> shift;
            if index < other {
                line.swap(index, other);
            }
        }
        let mut half = 1;
        while half < length {
            let step = length / (2 * half);
            for block in line.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (index, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let turned = b.multiply(self.roots[index * step]);
                    let sum = a.add(turned);
                    *b = Complex::new(a.re - turned.re, a.im - turned.im);
                    *a = sum;
                }
            }
            half *= 2;
        }
    }
}

/// Bluestein's transform: a convolution with a chirp, done by transforms of a power of two.
struct Bluestein {
    /// `exp(-i pi k^2 / n)`.
    chirp: Vec<Complex>,
    /// The transform of the conjugate chirp, laid out around index 0.
    filter: Vec<Complex>,
    inner: PowerOfTwo,
}

impl Bluestein {
    fn new(length: usize) -> Self {
        let chirp = |index: usize| {
            // Reduced before it is rounded: the square itself may exceed what `f64` holds exactly.
            let square = (index as u128 * index as u128 % (2 * length as u128)) as f64;
            Complex::unit(-PI * square / length as f64)
        };
        let chirp: Vec<Complex> = (0..length).map(chirp).collect();
        let padded = (2 * length - 1).next_power_of_two();
        let mut filter = vec![Complex::ZERO; padded];
        for (index, value) in chirp.iter().enumerate() {
            filter[index] = Complex::new(value.re, -value.im);
            filter[(padded - index) % padded] = filter[index];
        }
        let inner = PowerOfTwo::new(padded);
        inner.run(&mut filter);
        Self { chirp, filter, inner }
    }

    fn run(&self, line: &mut [Complex]) {
        let mut padded = vec![Complex::ZERO; self.filter.len()];
        for ((to, from), chirp) in padded.iter_mut().zip(&*line).zip(&self.chirp) {
            *to = from.multiply(*chirp);
        }
        self.inner.run(&mut padded);
        for (value, filter) in padded.iter_mut().zip(&self.filter) {
            let product = value.multiply(*filter);
            // Conjugated, so that the next transform is an inverse one.
            *value = Complex::new(product.re, -product.im);
        }
        self.inner.run(&mut padded);
        let scale = 1.0 / padded.len() as f64;
        for ((to, from), chirp) in line.iter_mut().zip(&padded).zip(&self.chirp) {
            *to = Complex::new(from.re, -from.im).multiply(*chirp).scale(scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::testing::{complexes, floats, show, ty};
    use artifact_ir::types::ElementType;

    /// Numbers without a pattern, the same in every run.
    fn signal(length: usize) -> Vec<Complex> {
        let part = |seed: usize| ((seed * seed * 7 + seed * 13) % 101) as f64 / 50.0 - 1.0;
        (0..length)
            .map(|index| Complex::new(part(index + 3), part(2 * index + 5)))
            .collect()
    }

    fn naive(line: &[Complex]) -> Vec<Complex> {
        let length = line.len();
        let term = |k: usize, n: usize| {
            line[n].multiply(Complex::unit(-2.0 * PI * (k * n % length) as f64 / length as f64))
        };
        (0..length)
            .map(|k| (0..length).map(|n| term(k, n)).fold(Complex::ZERO, Complex::add))
            .collect()
    }

    fn close(left: &[Complex], right: &[Complex]) -> bool {
        left.iter()
            .zip(right)
            .all(|(a, b)| (a.re - b.re).abs() < 1e-11 && (a.im - b.im).abs() < 1e-11)
    }

    #[test]
    fn every_length_agrees_with_the_definition() {
        for length in (0..40).chain([64, 97, 128, 210, 255]) {
            let mut line = signal(length);
            let plan = Plan::new(length);
            plan.run(&mut line, Direction::Forward);
            assert!(close(&line, &naive(&signal(length))), "length {length}");
            plan.run(&mut line, Direction::Inverse);
            assert!(close(&line, &signal(length)), "inverse of length {length}");
        }
    }

    fn check(fft_type: FftType, lengths: &[i64], operand: &Tensor, result: &Arc<TensorType>, expected: &str) {
        let op = Fft {
            fft_type,
            fft_length: lengths.to_vec(),
        };
        assert_eq!(show(&fft(&op, operand, result).unwrap()), expected);
    }

    #[test]
    fn kinds() {
        let c128 = |shape: &[u64]| ty(shape, ElementType::C128);
        let real = floats(&[4], &[1.0, 2.0, 3.0, 4.0]);
        let half = complexes(&[3], &[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]);
        check(FftType::Rfft, &[4], &real, &c128(&[3]), "(10,0) (-2,2) (-2,0)");
        check(
            FftType::Irfft,
            &[4],
            &half,
            &ty(&[4], ElementType::F64),
            "1 2 3 4",
        );
        let impulse = complexes(&[2, 2], &[(1.0, 0.0), (0.0, 0.0), (2.0, 0.0), (0.0, 0.0)]);
        check(
            FftType::Fft,
            &[2],
            &impulse,
            &c128(&[2, 2]),
            "(1,0) (1,0) (2,0) (2,0)",
        );
        check(
            FftType::Fft,
            &[2, 2],
            &impulse,
            &c128(&[2, 2]),
            "(3,0) (3,0) (-1,0) (-1,0)",
        );
        let ones = complexes(&[2], &[(1.0, 0.0), (1.0, 0.0)]);
        check(FftType::Ifft, &[2], &ones, &c128(&[2]), "(1,0) (0,0)");
        check(FftType::Rfft, &[0], &floats(&[2, 0], &[]), &c128(&[2, 0]), "");
    }

    /// Over two dimensions, a real transform and back.
    #[test]
    fn two_dimensions_round_trip() {
        let values: Vec<f64> = signal(15).iter().map(|value| value.re).collect();
        let op = |fft_type| Fft {
            fft_type,
            fft_length: vec![3, 5],
        };
        let spectrum = fft(
            &op(FftType::Rfft),
            &floats(&[3, 5], &values),
            &ty(&[3, 3], ElementType::C128),
        )
        .unwrap();
        let back = fft(&op(FftType::Irfft), &spectrum, &ty(&[3, 5], ElementType::F64)).unwrap();
        for (value, scalar) in values.iter().zip(back.scalars()) {
            assert!((value - scalar.as_float().unwrap()).abs() < 1e-12);
        }
    }
}
