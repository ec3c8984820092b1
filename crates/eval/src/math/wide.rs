//! Arithmetic with twice the precision of `f64`: a number is the sum of two.
//!
//! The algorithms are those of Dekker, Knuth and of Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic
//! building blocks of double-word arithmetic" (2017). Values are finite; a product must not overflow, and loses its low part
//! where it is under 2^-969, so callers scale first.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::scaling::{exponent, scale};

/// An unevaluated sum `high + low` with `|low|` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wide {
    high: f64,
    low: f64,
}

impl Wide {
    pub(super) const ZERO: Self = Self::new(0.0, 0.0);
    pub(super) const ONE: Self = Self::new(1.0, 0.0);
    pub(super) const PI: Self = Self::new(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
    pub(super) const LN_2: Self = Self::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
    pub(super) const LN_PI: Self = Self::new(1.144_729_885_849_400_2, 1.026_595_116_270_782_6e-17);
    pub(super) const HALF_LN_TWO_PI: Self = Self::new(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);
    pub(super) const TWO_OVER_SQRT_PI: Self =
        Self::new(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);
    pub(super) const EULER_GAMMA: Self = Self::new(0.577_215_664_901_532_9, -4.942_915_152_430_645e-18);

    /// A number from its parts, which must not overlap.
    pub(super) const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// The exact sum of two numbers.
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self::new(high, (a - (high - part)) + (b - part))
    }

    /// The exact product of two numbers.
    pub(super) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self::new(high, a.mul_add(b, -high))
    }

    /// The sum of two numbers of which the first is the larger.
    fn quick_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self::new(high, b - (high - a))
    }

    /// The sum of any terms, exact before its parts are rounded: cancellation costs nothing (Shewchuk's expansions).
    pub(super) fn exact_sum(terms: impl IntoIterator<Item = f64>) -> Self {
        let mut partials: Vec<f64> = Vec::new();
        for mut term in terms {
            let mut kept = 0;
            for index in 0..partials.len() {
                let Self { high, low } = Self::sum(term, partials[index]);
                if low != 0.0 {
                    partials[kept] = low;
                    kept += 1;
                }
                term = high;
            }
            partials.truncate(kept);
            partials.push(term);
        }
        partials
            .into_iter()
            .fold(Self::ZERO, |sum, partial| sum + Self::from(partial))
    }

    /// The parts, larger first.
    pub(super) const fn parts(self) -> [f64; 2] {
        [self.high, self.low]
    }

    /// The nearest `f64`.
    pub(super) const fn value(self) -> f64 {
        self.high
    }

    /// The magnitude.
    pub(super) fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The number times a power of two, exact unless it leaves the normal range.
    pub(super) fn scaled(self, by: i32) -> Self {
        Self::new(scale(self.high, by), scale(self.low, by))
    }

    /// The square root of a number that is not negative.
    pub(super) fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        // One step of Newton's method from the root of the high part; scaled so that no product leaves the range.
        let shift = exponent(self.high) / 2;
        let scaled = self.scaled(-2 * shift);
        let root = scaled.high.sqrt();
        let rest = scaled - Self::product(root, root);
        Self::quick_sum(root, rest.high / (2.0 * root)).scaled(shift)
    }

    /// The length of a vector, without overflow or underflow of the squares.
    pub(super) fn hypot(self, other: Self) -> Self {
        let largest = self.high.abs().max(other.high.abs());
        if largest == 0.0 {
            return Self::ZERO;
        }
        let shift = exponent(largest);
        let (a, b) = (self.scaled(-shift), other.scaled(-shift));
        (a * a + b * b).sqrt().scaled(shift)
    }

    /// e to a power whose result is in range.
    pub(super) fn exp(self) -> Self {
        const HALVINGS: i32 = 9;
        let steps = (self.high / std::f64::consts::LN_2).round();
        let reduced = (self - Self::LN_2 * Self::from(steps)).scaled(-HALVINGS);
        // e^r - 1 by its series for |r| under 0.0007, then (1 + p)^2 - 1 = p (2 + p) for each halving.
        let mut power = Self::ONE;
        let mut sum = Self::ZERO;
        for n in 1..=11 {
            power = power * reduced / Self::from(f64::from(n));
            sum = sum + power;
        }
        for _ in 0..HALVINGS {
            sum = sum * (Self::from(2.0) + sum);
        }
        (Self::ONE + sum).scaled(steps as i32)
    }

    /// The natural logarithm of a positive number; its error is relative to the larger of the result and 1.
    pub(super) fn ln(self) -> Self {
        let shift = exponent(self.high);
        let scaled = self.scaled(-shift);
        let start = Self::from(scaled.high.ln());
        // One step of Newton's method for e^y = x.
        let fraction = start + (scaled * (-start).exp() - Self::ONE);
        fraction + Self::LN_2 * Self::from(f64::from(shift))
    }

    /// Sine and cosine of pi times a number of at most one half.
    pub(super) fn sin_cos_pi(self) -> [Self; 2] {
        let angle = self * Self::PI;
        let square = angle * angle;
        let series = |first: Self, offset: u32| {
            let mut term = first;
            let mut sum = first;
            for n in 1..=18 {
                let even = 2 * n + offset;
                term = -(term * square / Self::from(f64::from(even * (even - 1))));
                sum = sum + term;
            }
            sum
        };
        [series(angle, 1), series(Self::ONE, 0)]
    }

    /// The logarithm of one plus the number, as `f64`.
    pub(super) fn ln_1p(self) -> f64 {
        self.high.ln_1p() + self.low / (1.0 + self.high)
    }
}

impl From<f64> for Wide {
    fn from(value: f64) -> Self {
        Self::new(value, 0.0)
    }
}

impl Neg for Wide {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let carried = Self::quick_sum(high.high, high.low + low.high);
        Self::quick_sum(carried.high, carried.low + low.low)
    }
}

impl Sub for Wide {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::add(self, -other)
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        Self::quick_sum(product.high, product.low + cross)
    }
}

impl Div for Wide {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        Self::quick_sum(first, second) + Self::from(rest.high / other.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, actual: Wide, expected: [f64; 2], tolerance: f64) {
        let error = (actual - Wide::new(expected[0], expected[1])).abs().value();
        assert!(error <= tolerance, "{name}: {actual:?}, not {expected:?}");
    }

    #[test]
    fn arithmetic() {
        let third = Wide::ONE / Wide::from(3.0);
        check("third", third, [1.0 / 3.0, 1.850_371_707_708_594e-17], 1e-32);
        check(
            "root",
            Wide::from(2.0).sqrt(),
            [std::f64::consts::SQRT_2, -9.667_293_313_452_913e-17],
            1e-31,
        );
        check("product", third * Wide::from(3.0), [1.0, 0.0], 1e-31);
        let cancelled = Wide::exact_sum([1e300, 1.0, 1e-300, -1e300, -1.0]);
        assert_eq!(cancelled.value(), 1e-300);
    }

    #[test]
    fn functions() {
        check(
            "e",
            Wide::ONE.exp(),
            [std::f64::consts::E, 1.445_646_891_729_250_2e-16],
            1e-31,
        );
        check(
            "ln 10",
            Wide::from(10.0).ln(),
            [std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16],
            1e-31,
        );
        let [sine, cosine] = Wide::from(0.25).sin_cos_pi();
        let half_root = Wide::from(0.5).sqrt();
        check("sine", sine, half_root.parts(), 1e-31);
        check("cosine", cosine, half_root.parts(), 1e-31);
        check(
            "hypot",
            Wide::from(3e300).hypot(Wide::from(4e300)),
            [5e300, 0.0],
            1e285,
        );
    }
}
