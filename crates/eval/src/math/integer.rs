//! Operations on integers and booleans.
//!
//! Values are `i128`, which holds every value of every type; results are wrapped to their type by the caller. Where the
//! specification leaves a result open, it is XLA's: division by 0 gives all ones, a remainder by 0 the dividend, and a shift by
//! the width or more what shifting bit by bit would give.

use artifact_ir::op::{Binary, Unary};
use artifact_ir::types::ElementType;

use crate::scalar::wrap;

/// One operand; `None` if the operation is not defined for integers.
pub(super) fn unary(op: &Unary, ty: ElementType, x: i128) -> Option<i128> {
    Some(match op {
        Unary::Abs => x.abs(),
        Unary::CountLeadingZeros => i128::from(bits_of(ty, x).leading_zeros() - (128 - ty.bits())),
        Unary::Negate => -x,
        Unary::Not => !x,
        Unary::Popcnt => i128::from(bits_of(ty, x).count_ones()),
        Unary::Sign => x.signum(),
        _ => return None,
    })
}

/// Two operands; `None` if the operation is not defined for integers.
pub(super) fn binary(op: &Binary, ty: ElementType, a: i128, b: i128) -> Option<i128> {
    Some(match op {
        Binary::Add => a + b,
        Binary::And => a & b,
        Binary::Divide => a.checked_div(b).unwrap_or(-1),
        Binary::Maximum => a.max(b),
        Binary::Minimum => a.min(b),
        // The product of two 64-bit numbers may be over `i128`; its low bits are right.
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Or => a | b,
        Binary::Power => power(ty, a, b),
        Binary::Remainder => a.checked_rem(b).unwrap_or(a),
        Binary::ShiftLeft => shift_amount(ty, b).map_or(0, |amount| a << amount),
        Binary::ShiftRightArithmetic => {
            // The sign bit of the pattern counts, whether the type is signed or not.
            let unused = 128 - ty.bits();
            let signed = a << unused >> unused;
            signed >> shift_amount(ty, b).unwrap_or(127)
        }
        Binary::ShiftRightLogical => {
            shift_amount(ty, b).map_or(0, |amount| (bits_of(ty, a) >> amount) as i128)
        }
        Binary::Subtract => a - b,
        Binary::Xor => a ^ b,
        Binary::Atan2 => return None,
    })
}

/// One boolean operand.
pub(super) const fn boolean_unary(op: &Unary, x: bool) -> Option<bool> {
    match op {
        Unary::Not => Some(!x),
        _ => None,
    }
}

/// Two boolean operands: a sum is `or`, a product is `and` (spec, "add" and "multiply").
pub(super) const fn boolean_binary(op: &Binary, a: bool, b: bool) -> Option<bool> {
    Some(match op {
        Binary::Add | Binary::Or | Binary::Maximum => a | b,
        Binary::Multiply | Binary::And | Binary::Minimum => a & b,
        Binary::Xor => a ^ b,
        _ => return None,
    })
}

/// The high half of the product.
pub(super) fn mulhi(ty: ElementType, a: i128, b: i128) -> i128 {
    if ty.is_signed_integer() {
        (a * b) >> ty.bits()
    } else {
        // Two unsigned 64-bit numbers have a product of 128 bits.
        ((a as u128).wrapping_mul(b as u128) >> ty.bits()) as i128
    }
}

/// The bit pattern, in the low bits.
fn bits_of(ty: ElementType, x: i128) -> u128 {
    let unused = 128 - ty.bits();
    (x as u128) << unused >> unused
}

/// The amount of a shift if it is less than the width; a negative amount is a huge unsigned one.
fn shift_amount(ty: ElementType, amount: i128) -> Option<u32> {
    u32::try_from(amount).ok().filter(|amount| *amount < ty.bits())
}

/// By squaring, each step wrapped. A negative power of anything but 1 and -1 is 0.
fn power(ty: ElementType, base: i128, power: i128) -> i128 {
    if power < 0 {
        return match (base, power % 2 == 0) {
            (1, _) | (-1, true) => 1,
            (-1, false) => -1,
            _ => 0,
        };
    }
    let (mut result, mut base, mut rest) = (1, base, power);
    while rest > 0 {
        if rest & 1 == 1 {
            result = wrap(ty, base.wrapping_mul(result));
        }
        base = wrap(ty, base.wrapping_mul(base));
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{I2, I4, I8, I64, UI4, UI8, UI64};

    fn check(op: Binary, ty: ElementType, a: i128, b: i128, expected: i128) {
        let actual = binary(&op, ty, a, b).map(|value| wrap(ty, value));
        assert_eq!(actual, Some(expected), "{op:?} {ty} {a} {b}");
    }

    #[test]
    fn open_results() {
        check(Binary::Divide, I8, 5, 0, -1);
        check(Binary::Divide, UI8, 5, 0, 255);
        check(Binary::Divide, I8, -128, -1, -128);
        check(Binary::Divide, I8, -7, 2, -3);
        check(Binary::Remainder, I8, 5, 0, 5);
        check(Binary::Remainder, I8, -128, -1, 0);
        check(Binary::Remainder, I8, -7, 2, -1);
        check(Binary::ShiftLeft, I8, 1, 8, 0);
        check(Binary::ShiftLeft, I8, 1, -1, 0);
        check(Binary::ShiftRightArithmetic, I8, -128, 100, -1);
        check(Binary::ShiftRightArithmetic, UI8, 128, 1, 0xC0);
        check(Binary::ShiftRightLogical, I8, -1, 1, 127);
        check(Binary::ShiftRightLogical, I8, -1, 8, 0);
    }

    #[test]
    fn wrapping() {
        check(Binary::Add, I4, 7, 1, -8);
        check(Binary::Multiply, UI64, u64::MAX.into(), u64::MAX.into(), 1);
        check(Binary::Power, I64, 3, 41, 3_i64.wrapping_pow(41).into());
        check(Binary::Power, I64, -1, -3, -1);
        check(Binary::Power, I64, 0, -3, 0);
        check(Binary::Power, UI4, 3, 3, 11);
        check(Binary::Power, I64, 0, 0, 1);
    }

    #[test]
    fn bits() {
        for (op, ty, x, expected) in [
            (Unary::Popcnt, I4, -1, 4),
            (Unary::Popcnt, I2, -2, 1),
            (Unary::CountLeadingZeros, I4, 1, 3),
            (Unary::CountLeadingZeros, UI8, 0, 8),
            (Unary::CountLeadingZeros, I64, -1, 0),
        ] {
            assert_eq!(unary(&op, ty, x), Some(expected), "{op:?} {ty} {x}");
        }
        assert_eq!(
            mulhi(UI64, u64::MAX.into(), u64::MAX.into()),
            i128::from(u64::MAX - 1)
        );
        assert_eq!(mulhi(I8, -64, 4), -1);
    }
}
