//! The neighbour of a number in its format.

use artifact_ir::float;
use artifact_ir::types::ElementType;

use super::Refusal;
use crate::number::little_endian;
use crate::term::Term;

/// The neighbour of `x` towards `y`, by the bits of its encoding: those of a magnitude count up.
pub(super) fn next_after<'g>(x: Term<'g>, y: Term<'g>) -> Result<Term<'g>, Refusal> {
    let element = x.element();
    let integer = match element.bits() {
        4 => ElementType::UI4,
        8 => ElementType::UI8,
        16 => ElementType::UI16,
        32 => ElementType::UI32,
        64 => ElementType::UI64,
        _ => return Err(Refusal::Element(element)),
    };
    let format = element.float_format().ok_or(Refusal::Element(element))?;
    let sign_bit = if format.signed { 1 << (format.bits - 1) } else { 0 };
    let graph = x.graph();
    let number = |bits: u64| graph.splat_bytes(x, &integer.into(), &little_endian(integer, bits));
    let bits = x.bitcast(integer);
    // Formats differ in whether they have zero and comparisons of their own; `f32` and `f64` hold all of them.
    let [wide_x, wide_y] = [x, y].map(super::widened);
    let grows = (wide_y.gt(wide_x)).eq(wide_x.above(0.0));
    let moved = (bits + number(1)).when(grows, bits - number(1));
    let smallest = number(1 | sign_bit).when(wide_y.below(0.0), number(1));
    let next = smallest.when(wide_x.is(0.0), moved).bitcast(element);
    let next = y.when(wide_x.eq(wide_y), next);
    if float::encode(element, f64::NAN).is_none() {
        return Ok(next);
    }
    Ok(next.unless(wide_x.is_nan() | wide_y.is_nan(), f64::NAN))
}
