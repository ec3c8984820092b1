//! Intervals of integers with ends that may be infinite. Every operation rounds outwards: the result contains each value
//! that the operands can give, and what overflows becomes infinite.

use crate::division::floor_wide;

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Low,
    Finite(i128),
    High,
}

/// All integers from `min` to `max`, inclusive. Empty when `min > max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) min: End,
    pub(crate) max: End,
}

impl End {
    /// The number, when the end is finite.
    pub(crate) const fn finite(self) -> Option<i128> {
        match self {
            Self::Finite(value) => Some(value),
            Self::Low | Self::High => None,
        }
    }

    const fn sign(self) -> i128 {
        match self {
            Self::Low => -1,
            Self::Finite(value) => value.signum(),
            Self::High => 1,
        }
    }

    const fn infinite(sign: i128) -> Self {
        match sign {
            ..=-1 => Self::Low,
            0 => Self::Finite(0),
            1.. => Self::High,
        }
    }

    /// None on overflow.
    fn times(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => a.checked_mul(b).map(Self::Finite),
            _ => Some(Self::infinite(self.sign() * other.sign())),
        }
    }

    /// The floor of the quotient, or of its limit. The divisor is not 0.
    fn floordiv(self, divisor: Self) -> Option<Self> {
        match (self, divisor) {
            (Self::Finite(a), Self::Finite(b)) => floor_wide(a, b).map(Self::Finite),
            (_, Self::Finite(b)) => Some(Self::infinite(self.sign() * b.signum())),
            _ if self.sign() * divisor.sign() < 0 => Some(Self::Finite(-1)),
            _ => Some(Self::Finite(0)),
        }
    }
}

impl Interval {
    pub(crate) const ALL: Self = Self {
        min: End::Low,
        max: End::High,
    };

    pub(crate) const fn point(value: i128) -> Self {
        Self::between(value, value)
    }

    pub(crate) const fn between(min: i128, max: i128) -> Self {
        Self {
            min: End::Finite(min),
            max: End::Finite(max),
        }
    }

    pub(crate) const fn at_least(min: i128) -> Self {
        Self {
            min: End::Finite(min),
            max: End::High,
        }
    }

    pub(crate) const fn at_most(max: i128) -> Self {
        Self {
            min: End::Low,
            max: End::Finite(max),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.min > self.max
    }

    /// The number, when there is only one.
    pub(crate) fn as_point(self) -> Option<i128> {
        if self.min == self.max {
            self.min.finite()
        } else {
            None
        }
    }

    pub(crate) fn contains(self, value: i128) -> bool {
        self.min <= End::Finite(value) && End::Finite(value) <= self.max
    }

    /// Whether all values are at least `bound`.
    pub(crate) fn is_at_least(self, bound: i128) -> bool {
        self.min >= End::Finite(bound)
    }

    /// Whether all values are at most `bound`.
    pub(crate) fn is_at_most(self, bound: i128) -> bool {
        self.max <= End::Finite(bound)
    }

    pub(crate) fn intersect(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }

    fn hull(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    pub(crate) fn add(self, other: Self) -> Self {
        let end = |a: End, b: End| a.finite().zip(b.finite()).and_then(|(a, b)| a.checked_add(b));
        Self {
            min: end(self.min, other.min).map_or(End::Low, End::Finite),
            max: end(self.max, other.max).map_or(End::High, End::Finite),
        }
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        self.corners(other, End::times)
    }

    pub(crate) fn scale(self, scale: i128) -> Self {
        self.mul(Self::point(scale))
    }

    /// The square, which has no sign.
    pub(crate) fn square(self) -> Self {
        self.mul(self).intersect(Self::at_least(0))
    }

    /// The floor of the quotient wherever the divisor is not 0.
    pub(crate) fn floordiv(self, divisor: Self) -> Self {
        let part = |side: Self| {
            let divisor = divisor.intersect(side);
            if divisor.is_empty() {
                divisor
            } else {
                self.corners(divisor, End::floordiv)
            }
        };
        part(Self::at_least(1)).hull(part(Self::at_most(-1)))
    }

    /// The larger of the value and 0.
    pub(crate) fn positive_part(self) -> Self {
        Self {
            min: self.min.max(End::Finite(0)),
            max: self.max.max(End::Finite(0)),
        }
    }

    /// The hull of an operation that is monotonic in each operand.
    fn corners(self, other: Self, operation: impl Fn(End, End) -> Option<End>) -> Self {
        let (mut min, mut max) = (End::High, End::Low);
        for (a, b) in [
            (self.min, other.min),
            (self.min, other.max),
            (self.max, other.min),
            (self.max, other.max),
        ] {
            let Some(value) = operation(a, b) else {
                return Self::ALL;
            };
            (min, max) = (min.min(value), max.max(value));
        }
        Self { min, max }
    }
}
