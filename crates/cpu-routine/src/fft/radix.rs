//! Transforms of lengths with small prime factors (Stockham's self-sorting form).

use super::lanes::{Numbers, Real, Root};
use crate::level::leveled;

/// Largest prime factor that is done by a sum of its own.
const PRIME_MAX: usize = 13;

/// The stages of a transform.
#[derive(Debug)]
pub(super) struct Plan<T> {
    length: usize,
    stages: Vec<Stage<T>>,
}

#[derive(Debug)]
struct Stage<T> {
    radix: usize,
    /// For each block, the roots that the parts other than the first are multiplied with.
    twiddles: Vec<Root<T>>,
    /// The roots of unity of the radix.
    roots: Vec<Root<T>>,
}

/// The next factor of a length; `None` when its prime factors are too large.
fn factor(length: usize) -> Option<usize> {
    [4, 2, 3, 5]
        .into_iter()
        .chain((7..=PRIME_MAX).step_by(2))
        .find(|radix| length.is_multiple_of(*radix))
}

/// Whether a length has small prime factors only.
pub(super) fn has(length: usize) -> bool {
    let mut rest = length;
    while rest > 1 {
        match factor(rest) {
            Some(radix) => rest /= radix,
            None => return false,
        }
    }
    true
}

impl<T: Real> Plan<T> {
    /// `None` when a prime factor is too large.
    pub(super) fn new(length: usize) -> Option<Self> {
        let mut stages = Vec::new();
        let mut rest = length;
        while rest > 1 {
            let radix = factor(rest)?;
            let blocks = rest / radix;
            let twiddle = |block: usize| (1..radix).map(move |part| Root::new(block * part, rest));
            stages.push(Stage {
                radix,
                twiddles: (0..blocks).flat_map(twiddle).collect(),
                roots: (0..radix).map(|part| Root::new(part, radix)).collect(),
            });
            rest = blocks;
        }
        Some(Self { length, stages })
    }

    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Transforms what is in `values`; the result is in whichever of the two slices is returned as the first. Both are of the
    /// length.
    pub(super) fn run<'a>(
        &self,
        values: &'a mut [Numbers<T>],
        other: &'a mut [Numbers<T>],
    ) -> (&'a mut [Numbers<T>], &'a mut [Numbers<T>]) {
        let (mut from, mut to) = (values, other);
        let mut stride = 1;
        for stage in &self.stages {
            stage.run(stride, from, to);
            (from, to) = (to, from);
            stride *= stage.radix;
        }
        (from, to)
    }
}

impl<T: Real> Stage<T> {
    fn run(&self, stride: usize, from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        match self.radix {
            2 => two::<T>(stride, &self.twiddles, from, to),
            3 => three::<T>(stride, &self.twiddles, from, to),
            4 => four::<T>(stride, &self.twiddles, from, to),
            8 => eight::<T>(stride, &self.twiddles, &self.roots, from, to),
            5 => five::<T>(stride, &self.twiddles, &self.roots, from, to),
            _ => any::<T>(stride, &self.twiddles, &self.roots, from, to),
        }
    }
}

leveled! {
    fn two[T: Real](stride: usize, twiddles: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let half = from.len() / 2;
        let (low, high) = from.split_at(half);
        let blocks = low.chunks_exact(stride).zip(high.chunks_exact(stride)).zip(twiddles);
        for (to, ((low, high), twiddle)) in to.chunks_exact_mut(2 * stride).zip(blocks) {
            let (first, second) = to.split_at_mut(stride);
            for at in 0..stride {
                first[at] = low[at] + high[at];
                second[at] = (low[at] - high[at]).by(*twiddle);
            }
        }
    }
}

leveled! {
    fn three[T: Real](stride: usize, twiddles: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let part = from.len() / 3;
        let sine = T::of(0.75_f64.sqrt());
        for (block, to) in to.chunks_exact_mut(3 * stride).enumerate() {
            let [first, second] = [twiddles[2 * block], twiddles[2 * block + 1]];
            for at in 0..stride {
                let [a, b, c] = [0, 1, 2].map(|which| from[which * part + block * stride + at]);
                let (sum, difference) = (b + c, (b - c).scaled(sine).turned());
                let middle = a - sum.scaled(T::of(0.5));
                to[at] = a + sum;
                to[stride + at] = (middle + difference).by(first);
                to[2 * stride + at] = (middle - difference).by(second);
            }
        }
    }
}

/// The transform of four numbers.
#[inline(always)]
fn quarter<T: Real>([a, b, c, d]: [Numbers<T>; 4]) -> [Numbers<T>; 4] {
    let (even, odd) = (a + c, b + d);
    let (even_rest, odd_rest) = (a - c, (b - d).turned());
    [even + odd, even_rest + odd_rest, even - odd, even_rest - odd_rest]
}

leveled! {
    fn four[T: Real](stride: usize, twiddles: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let part = from.len() / 4;
        for (block, to) in to.chunks_exact_mut(4 * stride).enumerate() {
            let factors = &twiddles[3 * block..3 * block + 3];
            for at in 0..stride {
                let [a, b, c, d] = quarter([0, 1, 2, 3].map(|which| from[which * part + block * stride + at]));
                to[at] = a;
                to[stride + at] = b.by(factors[0]);
                to[2 * stride + at] = c.by(factors[1]);
                to[3 * stride + at] = d.by(factors[2]);
            }
        }
    }
}

leveled! {
    fn eight[T: Real](stride: usize, twiddles: &[Root<T>], roots: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let part = from.len() / 8;
        for (block, to) in to.chunks_exact_mut(8 * stride).enumerate() {
            let factors = &twiddles[7 * block..7 * block + 7];
            for at in 0..stride {
                let number = |which: usize| from[which * part + block * stride + at];
                let pairs = [0, 1, 2, 3].map(|which| (number(which), number(which + 4)));
                let even = quarter(pairs.map(|(low, high)| low + high));
                let [a, b, c, d] = pairs.map(|(low, high)| low - high);
                let odd = quarter([a, b.by(roots[1]), c.turned(), d.by(roots[3])]);
                to[at] = even[0];
                for pair in 0..4 {
                    to[(2 * pair + 1) * stride + at] = odd[pair].by(factors[2 * pair]);
                    if pair > 0 {
                        to[2 * pair * stride + at] = even[pair].by(factors[2 * pair - 1]);
                    }
                }
            }
        }
    }
}

leveled! {
    fn five[T: Real](stride: usize, twiddles: &[Root<T>], roots: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let part = from.len() / 5;
        let (one, two) = (roots[1], roots[2]);
        for (block, to) in to.chunks_exact_mut(5 * stride).enumerate() {
            let factors = &twiddles[4 * block..4 * block + 4];
            for at in 0..stride {
                let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|which| from[which * part + block * stride + at]);
                let (outer, inner) = (b + e, c + d);
                let (outer_rest, inner_rest) = (b - e, c - d);
                let near = a + outer.scaled(one.re) + inner.scaled(two.re);
                let far = a + outer.scaled(two.re) + inner.scaled(one.re);
                // The roots' imaginary parts are negative; times -i of their absolute values.
                let near_turn = (outer_rest.scaled(-one.im) + inner_rest.scaled(-two.im)).turned();
                let far_turn = (outer_rest.scaled(-two.im) - inner_rest.scaled(-one.im)).turned();
                to[at] = a + outer + inner;
                to[stride + at] = (near + near_turn).by(factors[0]);
                to[2 * stride + at] = (far + far_turn).by(factors[1]);
                to[3 * stride + at] = (far - far_turn).by(factors[2]);
                to[4 * stride + at] = (near - near_turn).by(factors[3]);
            }
        }
    }
}

leveled! {
    fn any[T: Real](stride: usize, twiddles: &[Root<T>], roots: &[Root<T>], from: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let radix = roots.len();
        let part = from.len() / radix;
        for (block, to) in to.chunks_exact_mut(radix * stride).enumerate() {
            for at in 0..stride {
                for result in 0..radix {
                    let mut sum = from[block * stride + at];
                    for which in 1..radix {
                        sum = sum + from[which * part + block * stride + at].by(roots[which * result % radix]);
                    }
                    to[result * stride + at] = match result.checked_sub(1) {
                        Some(factor) => sum.by(twiddles[block * (radix - 1) + factor]),
                        None => sum,
                    };
                }
            }
        }
    }
}
