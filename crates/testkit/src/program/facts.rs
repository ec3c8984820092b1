//! What is known of the elements of a value, whatever the inputs are: between which numbers they lie, and how far two evaluators
//! that are both right may be apart.
//!
//! This is what keeps differences between engines free of false alarms. A value of which `error` is 0 has the same bits everywhere,
//! NaN apart; only such a value may be compared, rounded, sorted by, or used as an index. Where rounding differs (transcendental
//! functions, sums in another order), the error is bounded from above through every operation that follows.

use artifact_ir::types::ElementType;

/// What is known of all elements of a value; of a complex one, of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// No finite element is less.
    pub low: f64,
    /// No finite element is more.
    pub high: f64,
    /// Every finite element is a whole number.
    pub whole: bool,
    /// Elements may be infinite or NaN.
    pub special: bool,
    /// NaNs may have any payload and sign.
    pub any_nan: bool,
    /// How far an element may be from what exact arithmetic gives; 0 where its bits are the same everywhere.
    pub error: f64,
}

impl Facts {
    /// Bits that are the same everywhere, and of which no more is known.
    pub const ANY: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        whole: false,
        special: true,
        any_nan: false,
        error: 0.0,
    };

    /// Exact numbers between two.
    #[must_use]
    pub const fn between(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            whole: false,
            special: false,
            any_nan: false,
            error: 0.0,
        }
    }

    /// Whole numbers between two.
    #[must_use]
    pub const fn whole(low: f64, high: f64) -> Self {
        Self {
            whole: true,
            ..Self::between(low, high)
        }
    }

    /// What the type alone tells.
    #[must_use]
    pub fn of(element: ElementType) -> Self {
        let bits = element.bits();
        match () {
            () if element.is_boolean() => Self::whole(0.0, 1.0),
            () if element.is_signed_integer() => {
                let limit = 2_f64.powi(bits as i32 - 1);
                Self::whole(-limit, limit)
            }
            () if element.is_unsigned_integer() => Self::whole(0.0, 2_f64.powi(bits as i32)),
            () => Self::ANY,
        }
    }

    /// Whether the bits are the same everywhere.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.error == 0.0
    }

    /// The largest absolute value.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether it is finite and lies between two numbers.
    #[must_use]
    pub fn is_within(&self, low: f64, high: f64) -> bool {
        !self.special && low <= self.low && self.high <= high
    }

    /// What holds for elements of either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            whole: self.whole && other.whole,
            special: self.special || other.special,
            any_nan: self.any_nan || other.any_nan,
            error: self.error.max(other.error),
        }
    }

    /// With other bounds.
    #[must_use]
    pub const fn with_bounds(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
    }

    /// With this error.
    #[must_use]
    pub const fn with_error(self, error: f64) -> Self {
        Self { error, ..self }
    }

    /// The result of an operation that rounds correctly, or not at all, so that exact operands give exact results. Beyond the
    /// largest number of the type, results are infinite.
    #[must_use]
    pub fn rounded(self, element: ElementType) -> Self {
        let overflows = !fits(self.magnitude(), element);
        let inexact = self.error > 0.0;
        Self {
            special: self.special || overflows,
            any_nan: self.any_nan || self.special || overflows,
            error: if inexact {
                self.error + unit(element) * self.magnitude()
            } else {
                0.0
            },
            ..self
        }
    }

    /// The sum of `count` of these, in any order, each partial sum rounded; `None` where that may overflow. Sums of small whole
    /// numbers are exact.
    #[must_use]
    pub fn sum(&self, count: u64, element: ElementType) -> Option<Self> {
        let count = count as f64;
        let size = count * self.magnitude();
        let bounds = self.with_bounds((count * self.low).min(0.0), (count * self.high).max(0.0));
        let bounds = Self {
            any_nan: self.any_nan || self.special,
            ..bounds
        };
        if self.is_exact() && self.whole && size <= whole_max(element) {
            return Some(bounds);
        }
        if self.special || !fits(size * 2.0, element) {
            return None;
        }
        let error = count * self.error + (count + 1.0) * unit(element) * size;
        Some(Self {
            whole: false,
            error: error.max(smallest(element)),
            ..bounds
        })
    }

    /// The product of two.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let corners = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        // An unknown bound times 0 is unknown.
        let low = corners.iter().fold(f64::INFINITY, |low, corner| low.min(*corner));
        let high = corners
            .iter()
            .fold(f64::NEG_INFINITY, |high, corner| high.max(*corner));
        let is_known = corners.iter().all(|corner| !corner.is_nan());
        let both = self.or(other);
        let bounds = if is_known {
            [low, high]
        } else {
            [Self::ANY.low, Self::ANY.high]
        };
        Self {
            error: if both.error > 0.0 {
                // A product that is 0 may still have either sign.
                let spread = self.error * other.magnitude() + other.error * self.magnitude();
                (spread + self.error * other.error).max(f64::MIN_POSITIVE)
            } else {
                0.0
            },
            ..both.with_bounds(bounds[0], bounds[1])
        }
    }
}

/// Half the distance between 1 and the next number.
pub(super) fn unit(element: ElementType) -> f64 {
    match element.part().float_format() {
        Some(format) => 2_f64.powi(-(format.mantissa_bits as i32) - 1),
        None => 0.0,
    }
}

/// Up to here every whole number is an element.
pub(super) fn whole_max(element: ElementType) -> f64 {
    match element.part().float_format() {
        Some(format) => 2_f64.powi(format.mantissa_bits as i32 + 1),
        None => f64::INFINITY,
    }
}

/// Whether numbers of this size are finite in a type.
pub(super) fn fits(size: f64, element: ElementType) -> bool {
    size <= largest(element)
}

/// Somewhat less than the largest number.
pub(super) fn largest(element: ElementType) -> f64 {
    match element.part() {
        ElementType::F16 => 60_000.0,
        ElementType::BF16 | ElementType::F32 => 3e38,
        ElementType::F64 => 1e308,
        // Formats of eight bits: nothing is said of them.
        element if element.is_float() => 0.0,
        _ => f64::INFINITY,
    }
}

/// The smallest normal number, of which errors of smaller ones are a part.
pub(super) fn smallest(element: ElementType) -> f64 {
    match element.part().float_format() {
        Some(format) => 2_f64.powi(1 - format.bias),
        None => 0.0,
    }
}
