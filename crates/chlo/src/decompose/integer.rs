//! The high half of a product of integers.

use artifact_ir::op::Binary;
use artifact_ir::types::ElementType;

use crate::graph::Graph;
use crate::term::Term;

/// The high half of the product: of the widened numbers where there is a type of twice the width.
pub(super) fn mulhi<'g>(a: Term<'g>, b: Term<'g>) -> Term<'g> {
    let element = a.element();
    let bits = i64::from(element.bits());
    let is_signed = element.is_signed_integer();
    if bits == 64 {
        return mulhi_of_words(a, b);
    }
    let (wide, shift) = if is_signed {
        (ElementType::I64, Binary::ShiftRightArithmetic)
    } else {
        (ElementType::UI64, Binary::ShiftRightLogical)
    };
    let product = a.convert(wide) * b.convert(wide);
    let high = product.binary(shift, number(product, bits));
    high.convert(element)
}

/// Of 64-bit numbers, by halves of 32 bits: the product of the numbers without sign, from which each factor is taken where the
/// other is negative.
fn mulhi_of_words<'g>(a: Term<'g>, b: Term<'g>) -> Term<'g> {
    let halves = |x: Term<'g>| {
        let high = x.binary(Binary::ShiftRightLogical, number(x, 32));
        [high, x & number(x, 0xFFFF_FFFF)]
    };
    let ([a_high, a_low], [b_high, b_low]) = (halves(a), halves(b));
    let [carry, _] = halves(a_low * b_low);
    let [middle_high, middle_low] = halves(a_high * b_low + carry);
    let [carry, _] = halves(a_low * b_high + middle_low);
    let high = a_high * b_high + middle_high + carry;
    if !a.element().is_signed_integer() {
        return high;
    }
    let zero = number(a, 0);
    let correction = |sign: Term<'g>, other: Term<'g>| other.when(sign.lt(zero), zero);
    high - correction(a, b) - correction(b, a)
}

/// An integer in the shape and type of `like`.
fn number<'g>(like: Term<'g>, value: i64) -> Term<'g> {
    let graph: &'g Graph = like.graph();
    let element = like.element();
    let bytes = value.to_le_bytes();
    graph.splat_bytes(like, &element.into(), &bytes[..element.bytes()])
}
