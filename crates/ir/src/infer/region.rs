//! Regions that reduce (spec: `reduce_c6`, `reduce_window_c13`, `scatter_c23`, `select_and_scatter_c10`, `all_reduce_c5`,
//! `reduce_scatter_c7`).

use std::borrow::Borrow;

use super::compatible;
use super::operand::any_tensor;
use crate::types::{Dim, Element, ElementClass, ElementType, TensorType, Type};
use crate::verify::context::{OpResult, RegionTypes, ensure};

/// What a reducer works on.
pub(super) struct Reducer<'a, T = TensorType> {
    /// The tensors whose elements are reduced.
    pub(super) inputs: &'a [&'a TensorType],
    /// The types that accumulation starts from, one per input.
    pub(super) initial: &'a [T],
    /// Sizes that arguments may have; empty when they must be scalars.
    pub(super) sizes: &'a [Dim],
}

/// Checks a region that takes accumulators, then elements, and returns accumulators; gives the accumulators' elements.
pub(super) fn check<T: Borrow<TensorType>>(
    reducer: &Reducer<'_, T>,
    region: &RegionTypes,
) -> OpResult<Vec<Element>> {
    let count = reducer.inputs.len();
    ensure!(
        region.arguments.len() == 2 * count,
        "the reducing region must take {} arguments, but takes {}",
        2 * count,
        region.arguments.len()
    );
    ensure!(
        region.returns.len() == count,
        "the reducing region must return {count} tensors, but returns {}",
        region.returns.len()
    );
    let (accumulators, elements) = region.arguments.split_at(count);
    let mut result = Vec::with_capacity(count);
    let triples = accumulators.iter().zip(elements).zip(&region.returns);
    for (index, ((accumulator, element), returned)) in triples.enumerate() {
        let returned = any_tensor(returned, "what a reducing region returns")?;
        let accumulator = any_tensor(accumulator, "an argument of a reducing region")?;
        let element = any_tensor(element, "an argument of a reducing region")?;
        check_one(reducer, index, [accumulator, element, returned])?;
        result.push(returned.element.clone());
    }
    Ok(result)
}

fn check_one<T: Borrow<TensorType>>(
    reducer: &Reducer<'_, T>,
    index: usize,
    [accumulator, element, returned]: [&TensorType; 3],
) -> OpResult<()> {
    ensure!(
        compatible::shapes(returned, accumulator) && returned.element == accumulator.element,
        "argument {index} of the reducing region, '{accumulator}', must have the type that it returns, '{returned}'"
    );
    ensure!(
        compatible::shapes(returned, element) && same_but_precision(&returned.element, &element.element),
        "argument {} of the reducing region, '{element}', must have the type that it returns, '{returned}'",
        reducer.inputs.len() + index
    );
    let (initial, input) = (reducer.initial[index].borrow(), reducer.inputs[index]);
    ensure!(
        compatible::shapes(initial, returned),
        "the reducing region returns the shape of '{returned}', but the initial value has that of '{initial}'"
    );
    ensure!(
        promotes(&initial.element, &returned.element),
        "the initial value '{initial}' cannot be promoted to what the reducing region returns, '{returned}'"
    );
    ensure!(
        promotes(&input.element, &element.element),
        "the input '{input}' cannot be promoted to argument {} of the reducing region, '{element}'",
        reducer.inputs.len() + index
    );
    ensure!(
        element.rank() <= reducer.sizes.len(),
        "argument {} of the reducing region, '{element}', must have a rank of at most {}",
        reducer.inputs.len() + index,
        reducer.sizes.len()
    );
    let mut sizes = reducer.sizes.iter();
    ensure!(
        element
            .dims
            .iter()
            .all(|dim| sizes.any(|size| size.compatible(dim))),
        "argument {} of the reducing region, '{element}', does not have the shape of a part of the input '{input}'",
        reducer.inputs.len() + index
    );
    Ok(())
}

/// Equal, or both floats.
fn same_but_precision(a: &Element, b: &Element) -> bool {
    let float = |element: &Element| element.as_plain().is_some_and(ElementType::is_float);
    a == b || (float(a) && float(b))
}

/// Equal, or floats of any precision, in shape and element.
pub(super) fn same_tensor_but_precision(a: &TensorType, b: &TensorType) -> bool {
    compatible::shapes(a, b) && same_but_precision(&a.element, &b.element)
}

/// Whether `from` may be accumulated in `to` (spec, `is_promotable`): one kind of number, and `to` is not narrower. Floats
/// of any precision promote to each other, as upstream has it.
pub(super) fn promotes(from: &Element, to: &Element) -> bool {
    let (a, b) = match (from, to) {
        (Element::Plain(a), Element::Plain(b)) => (*a, *b),
        (Element::Quantized(a), Element::Quantized(b)) if a.expressed == b.expressed => {
            (a.storage, b.storage)
        }
        _ => return false,
    };
    match (a.class(), b.class()) {
        (ElementClass::Float, ElementClass::Float) => true,
        (ElementClass::Complex, ElementClass::Complex) => a.bits() <= b.bits(),
        // `i1` is an integer of one bit to upstream, signs aside.
        _ if is_integral(a) && is_integral(b) => a.bits() <= b.bits(),
        _ => false,
    }
}

const fn is_integral(element: ElementType) -> bool {
    element.is_integer() || element.is_boolean()
}

/// Scalars with the elements of the tensors.
pub(super) fn scalars(tensors: &[&TensorType]) -> Vec<TensorType> {
    tensors
        .iter()
        .map(|tensor| TensorType::of_static(&[], tensor.element.clone()))
        .collect()
}

/// Checks that a region returns one boolean scalar.
pub(super) fn check_predicate(what: &str, region: &RegionTypes) -> OpResult<()> {
    let boolean = Type::tensor(&[], ElementType::I1);
    ensure!(
        matches!(region.returns.as_slice(), [only] if *only == boolean),
        "{what} must return one value of type '{boolean}', but returns {}",
        compatible::quoted(&region.returns)
    );
    Ok(())
}
