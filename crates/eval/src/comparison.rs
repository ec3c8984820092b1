//! Whether two tensors are as close as an expectation asks, and where they differ.

use std::fmt;

use artifact_ir::float;
use artifact_ir::types::ElementType;

use crate::scalar::Scalar;
use crate::tensor::{Tensor, index_at};

/// How close two elements must be. Not-a-number equals not-a-number under every rule. The parts of a complex number are
/// compared on their own; [`Self::Relative`] is also content with the modulus, as `numpy.allclose` is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closeness {
    /// Equal; the two zeros are.
    Equal,
    /// Equal if exact, else at most this far apart.
    Absolute(f64),
    /// Integers and booleans equal; floats at most `atol + rtol * |want|` apart.
    Relative {
        /// Absolute part.
        atol: f64,
        /// Part that grows with the expected value.
        rtol: f64,
    },
    /// A distance in units in the last place within these bounds, see [`ulp_distance`].
    Ulp {
        /// Smallest distance.
        min: u64,
        /// Largest distance.
        max: u64,
    },
}

impl Closeness {
    fn accepts(self, ty: ElementType, got: Scalar, want: Scalar) -> bool {
        match (got, want) {
            (Scalar::Float(got), Scalar::Float(want)) => self.accepts_float(ty, got, want),
            (Scalar::Complex(re, im), Scalar::Complex(want_re, want_im)) => {
                let part = ty.part();
                let parts = self.accepts_float(part, re, want_re) && self.accepts_float(part, im, want_im);
                parts || self.accepts_distance((re - want_re).hypot(im - want_im), want_re.hypot(want_im))
            }
            (got, want) => got == want,
        }
    }

    /// Whether two complex numbers that are `distance` apart are near, where the expected one has the modulus `want`.
    fn accepts_distance(self, distance: f64, want: f64) -> bool {
        match self {
            Self::Relative { atol, rtol } => distance.is_finite() && distance <= atol + rtol * want,
            Self::Equal | Self::Absolute(_) | Self::Ulp { .. } => false,
        }
    }

    fn accepts_float(self, ty: ElementType, got: f64, want: f64) -> bool {
        if let Self::Ulp { min, max } = self {
            return (min..=max).contains(&ulp_distance(ty, got, want));
        }
        if got == want || (got.is_nan() && want.is_nan()) {
            return true;
        }
        let tolerance = match self {
            Self::Absolute(tolerance) => tolerance,
            Self::Relative { atol, rtol } => atol + rtol * want.abs(),
            Self::Equal | Self::Ulp { .. } => return false,
        };
        got.is_finite() && want.is_finite() && (got - want).abs() <= tolerance
    }
}

/// The number of values of `ty` between two values of it: the difference of the encodings where the signs agree, the sum of
/// the distances to zero where they do not. Two not-a-numbers are 0 apart; otherwise a value that is not finite is infinitely
/// far, `u64::MAX`, from every other.
#[must_use]
pub fn ulp_distance(ty: ElementType, a: f64, b: f64) -> u64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0;
    }
    if !a.is_finite() || !b.is_finite() {
        return u64::MAX;
    }
    let magnitude = |value: f64| float::encode(ty, value.abs()).unwrap_or(0);
    let (below, above) = (magnitude(a), magnitude(b));
    if a.is_sign_negative() == b.is_sign_negative() {
        below.abs_diff(above)
    } else {
        below + above
    }
}

/// How two tensors differ.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// They are not of one type.
    Types {
        /// What came.
        got: String,
        /// What was expected.
        want: String,
    },
    /// Some elements differ.
    Elements {
        /// How many.
        count: usize,
        /// How many elements there are.
        total: usize,
        /// The first few.
        first: Vec<DifferentElement>,
    },
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferentElement {
    /// Where.
    pub index: Vec<usize>,
    /// What came.
    pub got: Scalar,
    /// What was expected.
    pub want: Scalar,
    /// The distance in units in the last place, the larger one of a complex number's parts; `None` for integers.
    pub ulp: Option<u64>,
}

/// How many different elements are described.
const DESCRIBED: usize = 4;

/// How `got` differs from `want`; `None` when it is as close as asked.
#[must_use]
pub fn difference(got: &Tensor, want: &Tensor, closeness: Closeness) -> Option<Difference> {
    if got.shape() != want.shape() || got.storage() != want.storage() {
        return Some(Difference::Types {
            got: got.ty().to_string(),
            want: want.ty().to_string(),
        });
    }
    let (ty, shape) = (got.storage(), got.shape());
    let mut count = 0;
    let mut first = Vec::new();
    for (position, (got, want)) in got.scalars().zip(want.scalars()).enumerate() {
        if closeness.accepts(ty, got, want) {
            continue;
        }
        count += 1;
        if first.len() < DESCRIBED {
            let index = index_at(position, &shape);
            let ulp = element_distance(ty, got, want);
            first.push(DifferentElement {
                index,
                got,
                want,
                ulp,
            });
        }
    }
    let total = got.len();
    (count > 0).then_some(Difference::Elements { count, total, first })
}

fn element_distance(ty: ElementType, got: Scalar, want: Scalar) -> Option<u64> {
    match (got, want) {
        (Scalar::Float(got), Scalar::Float(want)) => Some(ulp_distance(ty, got, want)),
        (Scalar::Complex(re, im), Scalar::Complex(want_re, want_im)) => {
            let part = ty.part();
            Some(ulp_distance(part, re, want_re).max(ulp_distance(part, im, want_im)))
        }
        _ => None,
    }
}

/// `3 of 12 elements differ: [0, 1] is 1.0, expected 2.0 (8388608 ulp), ...`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Types { got, want } => write!(f, "the value is {got}, expected {want}"),
            Self::Elements { count, total, first } => {
                write!(f, "{count} of {total} elements differ:")?;
                for (position, element) in first.iter().enumerate() {
                    let separator = if position > 0 { "," } else { "" };
                    write!(f, "{separator} {element}")?;
                }
                if *count > first.len() {
                    f.write_str(", ...")
                } else {
                    Ok(())
                }
            }
        }
    }
}

impl fmt::Display for DifferentElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            index,
            got,
            want,
            ulp,
        } = self;
        write!(f, "{index:?} is {got}, expected {want}")?;
        match ulp {
            None => Ok(()),
            Some(u64::MAX) => f.write_str(" (infinitely far)"),
            Some(ulp) => write!(f, " ({ulp} ulp)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let check = |a: f64, b: f64, distance: u64| {
            assert_eq!(ulp_distance(ElementType::F32, a, b), distance, "{a} {b}");
            assert_eq!(ulp_distance(ElementType::F32, b, a), distance, "{b} {a}");
        };
        let tiny = f64::from(f32::from_bits(1));
        check(1.0, 1.0, 0);
        check(1.0, f64::from(1.0_f32.next_up()), 1);
        check(0.0, -0.0, 0);
        check(tiny, -tiny, 2);
        check(-0.0, tiny, 1);
        check(f64::NAN, f64::NAN, 0);
        check(f64::NAN, 1.0, u64::MAX);
        check(f64::INFINITY, f64::INFINITY, 0);
        check(f64::INFINITY, f64::from(f32::MAX), u64::MAX);
    }

    #[test]
    fn rules() {
        let check = |rule: Closeness, got: f64, want: f64, accepted: bool| {
            let (got, want) = (Scalar::Float(got), Scalar::Float(want));
            assert_eq!(
                rule.accepts(ElementType::F64, got, want),
                accepted,
                "{rule:?} {got:?} {want:?}"
            );
        };
        check(Closeness::Equal, 0.0, -0.0, true);
        check(Closeness::Equal, f64::NAN, f64::NAN, true);
        check(Closeness::Equal, 1.0, 1.0_f64.next_up(), false);
        check(Closeness::Absolute(0.5), 1.0, 1.5, true);
        check(Closeness::Absolute(0.5), 1.0, 1.6, false);
        check(Closeness::Absolute(f64::INFINITY), f64::INFINITY, 1.0, false);
        check(Closeness::Relative { atol: 0.0, rtol: 0.1 }, 11.0, 10.0, true);
        check(Closeness::Relative { atol: 0.0, rtol: 0.1 }, 9.0, 8.0, false);
        let wide = Closeness::Relative { atol: 0.1, rtol: 0.1 };
        check(wide, f64::INFINITY, f64::INFINITY, true);
        check(wide, 1.0, f64::INFINITY, false);
        check(Closeness::Ulp { min: 1, max: 1 }, 1.0, 1.0, false);
        check(Closeness::Ulp { min: 0, max: 1 }, 1.0, 1.0_f64.next_up(), true);
    }

    /// A small part beside a large one is judged by the modulus where the rule is relative.
    #[test]
    fn complex_modulus() {
        let (got, want) = (Scalar::Complex(100.0, 0.5), Scalar::Complex(100.0, 0.0));
        let accepts = |rule: Closeness| rule.accepts(ElementType::C128, got, want);
        assert!(accepts(Closeness::Relative {
            atol: 0.0,
            rtol: 0.01
        }));
        assert!(!accepts(Closeness::Relative {
            atol: 0.0,
            rtol: 0.001
        }));
        assert!(!accepts(Closeness::Absolute(0.1)));
    }
}
