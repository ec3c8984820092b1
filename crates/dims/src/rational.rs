//! Exact fractions for the linear programs. Every operation is checked; None means that 128 bits are not enough.

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(crate) const ZERO: Self = Self::integer(0);
    pub(crate) const ONE: Self = Self::integer(1);

    pub(crate) const fn integer(value: i128) -> Self {
        Self {
            numerator: value,
            denominator: 1,
        }
    }

    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 1 {
            return Some(Self::integer(numerator));
        }
        let common = gcd_wide(numerator.unsigned_abs(), denominator.unsigned_abs());
        let common = i128::try_from(common).ok()?;
        if denominator == 0 {
            return None;
        }
        let signed = if denominator < 0 { -common } else { common };
        Some(Self {
            numerator: numerator.checked_div(signed)?,
            denominator: denominator.checked_div(signed)?,
        })
    }

    pub(crate) fn add(self, other: Self) -> Option<Self> {
        if self.denominator == other.denominator {
            return Self::new(self.numerator.checked_add(other.numerator)?, self.denominator);
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(
            left.checked_add(right)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    pub(crate) fn sub(self, other: Self) -> Option<Self> {
        self.add(Self {
            numerator: other.numerator.checked_neg()?,
            ..other
        })
    }

    pub(crate) fn mul(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    /// None also for the divisor 0.
    pub(crate) fn div(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.denominator)?,
            self.denominator.checked_mul(other.numerator)?,
        )
    }

    /// -1, 0 or 1.
    pub(crate) const fn sign(self) -> i128 {
        self.numerator.signum()
    }

    pub(crate) const fn as_integer(self) -> Option<i128> {
        if self.denominator == 1 {
            Some(self.numerator)
        } else {
            None
        }
    }

    pub(crate) const fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    pub(crate) const fn ceil(self) -> i128 {
        if self.denominator == 1 {
            self.numerator
        } else {
            self.floor() + 1
        }
    }

    pub(crate) fn less_than(self, other: Self) -> Option<bool> {
        if self.denominator == other.denominator {
            return Some(self.numerator < other.numerator);
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left < other.numerator.checked_mul(self.denominator)?)
    }
}

/// The greatest common divisor; 64-bit steps as soon as they are enough, because 128-bit division is slow.
pub(crate) fn gcd_wide(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(crate::arithmetic::gcd(a, b));
        }
        (a, b) = (b, a % b);
    }
    a
}
