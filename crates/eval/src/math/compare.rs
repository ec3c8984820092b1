//! Comparison of two elements (spec, "compare").

use std::cmp::Ordering;

use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::float::encode;
use artifact_ir::types::ElementType;

use crate::scalar::Scalar;

/// Whether `a` and `b`, elements of type `ty`, are in the relation `direction`.
pub(super) fn compare(
    direction: ComparisonDirection,
    kind: Option<ComparisonType>,
    ty: ElementType,
    a: Scalar,
    b: Scalar,
) -> bool {
    let total = kind == Some(ComparisonType::TotalOrder);
    holds(direction, order(total, ty, a, b))
}

fn holds(direction: ComparisonDirection, order: Option<Ordering>) -> bool {
    match direction {
        ComparisonDirection::Eq => order == Some(Ordering::Equal),
        // The only relation that holds between unordered numbers.
        ComparisonDirection::Ne => order != Some(Ordering::Equal),
        ComparisonDirection::Ge => order.is_some_and(Ordering::is_ge),
        ComparisonDirection::Gt => order.is_some_and(Ordering::is_gt),
        ComparisonDirection::Le => order.is_some_and(Ordering::is_le),
        ComparisonDirection::Lt => order.is_some_and(Ordering::is_lt),
    }
}

/// The order of two elements; complex numbers are ordered by real part, then by imaginary part.
fn order(total: bool, ty: ElementType, a: Scalar, b: Scalar) -> Option<Ordering> {
    let parts = |a: f64, b: f64| {
        if total {
            Some(total_order(ty.part(), a, b))
        } else {
            a.partial_cmp(&b)
        }
    };
    match (a, b) {
        (Scalar::Bool(a), Scalar::Bool(b)) => Some(a.cmp(&b)),
        (Scalar::Int(a), Scalar::Int(b)) => Some(a.cmp(&b)),
        (Scalar::Float(a), Scalar::Float(b)) => parts(a, b),
        (Scalar::Complex(a_re, a_im), Scalar::Complex(b_re, b_im)) => {
            let (real, imaginary) = (parts(a_re, b_re)?, parts(a_im, b_im)?);
            Some(real.then(imaginary))
        }
        _ => None,
    }
}

/// The total order of IEEE 754 on encodings in the format of `ty`: -NaN, -inf, .., -0, 0, .., inf, NaN.
pub(super) fn total_order(ty: ElementType, a: f64, b: f64) -> Ordering {
    let key = |value: f64| {
        let magnitude = encode(ty, value.abs()).unwrap_or(0) as i128;
        // A zero of either sign has magnitude 0, so the negative side is moved by one.
        if value.is_sign_negative() {
            -magnitude - 1
        } else {
            magnitude
        }
    };
    key(a).cmp(&key(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};

    /// All six relations, in the order EQ NE GE GT LE LT, as the letters that hold.
    fn relations(kind: Option<ComparisonType>, ty: ElementType, a: Scalar, b: Scalar) -> String {
        [Eq, Ne, Ge, Gt, Le, Lt]
            .into_iter()
            .filter(|direction| compare(*direction, kind, ty, a, b))
            .map(|direction| format!("{direction} "))
            .collect()
    }

    #[test]
    fn table() {
        let total = Some(ComparisonType::TotalOrder);
        let (f32, nan) = (ElementType::F32, Scalar::Float(f64::NAN));
        let (zero, minus_zero) = (Scalar::Float(0.0), Scalar::Float(-0.0));
        for (kind, ty, a, b, expected) in [
            (None, f32, nan, nan, "NE "),
            (total, f32, nan, nan, "EQ GE LE "),
            (None, f32, zero, minus_zero, "EQ GE LE "),
            (total, f32, zero, minus_zero, "NE GE GT "),
            (total, f32, nan, Scalar::Float(f64::INFINITY), "NE GE GT "),
            (
                total,
                f32,
                Scalar::Float(-f64::NAN),
                Scalar::Float(f64::NEG_INFINITY),
                "NE LE LT ",
            ),
            (
                None,
                ElementType::UI64,
                Scalar::Int(u64::MAX.into()),
                Scalar::Int(1),
                "NE GE GT ",
            ),
            (
                None,
                ElementType::C64,
                Scalar::Complex(1.0, 2.0),
                Scalar::Complex(1.0, 3.0),
                "NE LE LT ",
            ),
            (
                None,
                ElementType::I1,
                Scalar::Bool(false),
                Scalar::Bool(true),
                "NE LE LT ",
            ),
        ] {
            assert_eq!(relations(kind, ty, a, b), expected, "{kind:?} {a:?} {b:?}");
        }
    }
}
