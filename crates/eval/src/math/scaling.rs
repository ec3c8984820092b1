//! Powers of two: exponents of numbers and exact scaling.

/// The exponent `e` of a finite number that is not 0: `2^e <= |x| < 2^(e + 1)`, subnormal numbers included.
pub(super) fn exponent(x: f64) -> i32 {
    let raw = (x.to_bits() >> 52 & 0x7FF) as i32;
    if raw == 0 {
        // A subnormal number is a multiple of 2^-1074.
        let steps = x.to_bits() & ((1 << 52) - 1);
        63 - steps.leading_zeros() as i32 - 1074
    } else {
        raw - 1023
    }
}

/// `x * 2^exponent`, rounded at most once.
pub(super) fn scale(x: f64, exponent: i32) -> f64 {
    // Each half is a normal power of two. If the first product leaves the normal range, the second one is 0 or infinite.
    let first = exponent.clamp(-2200, 2200) / 2;
    let second = exponent.clamp(-2200, 2200) - first;
    scale_in_range(scale_in_range(x, first), second)
}

/// `x * 2^exponent` for exponents of at most 1100 either way.
fn scale_in_range(x: f64, exponent: i32) -> f64 {
    let clamped = exponent.clamp(-1022, 1023);
    let product = x * f64::from_bits(((clamped + 1023) as u64) << 52);
    if clamped == exponent {
        product
    } else {
        scale_in_range(product, exponent - clamped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents() {
        for (x, expected) in [
            (1.0, 0),
            (-1.5, 0),
            (0.75, -1),
            (f64::MAX, 1023),
            (5e-324, -1074),
            (f64::MIN_POSITIVE, -1022),
        ] {
            assert_eq!(exponent(x), expected, "{x}");
        }
    }

    #[test]
    fn scaling() {
        for (x, by, expected) in [
            (1.0, 10, 1024.0),
            (5e-324, 2097, 2.0_f64.powi(1023)),
            (f64::MAX, -2097, 1e-323),
            (1.0, -1074, 5e-324),
            (1.0, -1075, 0.0),
            (1.0, 1024, f64::INFINITY),
            (-3.0, 100_000, f64::NEG_INFINITY),
        ] {
            assert_eq!(scale(x, by), expected, "{x} {by}");
        }
    }
}
