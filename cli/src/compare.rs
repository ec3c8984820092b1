//! Comparison of results with expected ones.

use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::{Tensor, index_at};

/// How far apart floats may be: `|got - want| <= atol + rtol * |want|`. Integers and booleans must be equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
}

impl Tolerance {
    /// Whether a value is near enough. NaN equals NaN; infinities must be equal.
    fn accepts(self, got: Scalar, want: Scalar) -> bool {
        match (got, want) {
            (Scalar::Float(got), Scalar::Float(want)) => self.near(got, want),
            (Scalar::Complex(real, imag), Scalar::Complex(want_real, want_imag)) => {
                let distance = (real - want_real).hypot(imag - want_imag);
                let near = distance <= self.atol + self.rtol * want_real.hypot(want_imag);
                near || self.near(real, want_real) && self.near(imag, want_imag)
            }
            (got, want) => got == want,
        }
    }

    fn near(self, got: f64, want: f64) -> bool {
        let equal = got == want || got.is_nan() && want.is_nan();
        equal || want.is_finite() && (got - want).abs() <= self.atol + self.rtol * want.abs()
    }
}

/// The first and the number of differences between two tensors of one type; `None` when all elements are near enough.
pub(crate) fn difference(got: &Tensor, want: &Tensor, tolerance: Tolerance) -> Option<String> {
    if got.ty() != want.ty() {
        return Some(format!("it is a {}, expected a {}", got.ty(), want.ty()));
    }
    let apart = |(_, (got, want)): &(usize, (Scalar, Scalar))| !tolerance.accepts(*got, *want);
    let mut apart = got.scalars().zip(want.scalars()).enumerate().filter(apart);
    let (position, (first_got, first_want)) = apart.next()?;
    let count = 1 + apart.count();
    let index = index_at(position, &got.shape());
    let (got_text, want_text) = (scalar_text(first_got), scalar_text(first_want));
    Some(format!(
        "{count} of {} elements differ, the first at {index:?}: got {got_text}, expected {want_text}",
        got.len()
    ))
}

fn scalar_text(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => format!("{value:?}"),
        Scalar::Complex(real, imag) => format!("({real:?}, {imag:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule() {
        let tolerance = Tolerance {
            rtol: 0.1,
            atol: 0.01,
        };
        let accepts = |got, want| tolerance.accepts(Scalar::Float(got), Scalar::Float(want));
        assert!(accepts(1.1, 1.0) && accepts(0.01, 0.0) && accepts(f64::NAN, f64::NAN));
        assert!(accepts(f64::INFINITY, f64::INFINITY));
        assert!(!accepts(1.2, 1.0) && !accepts(1.0, f64::INFINITY) && !accepts(f64::NAN, 1.0));
        assert!(!tolerance.accepts(Scalar::Int(10), Scalar::Int(11)));
    }
}
