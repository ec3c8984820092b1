//! Operations that apply a region over elements or windows.

use super::compatible::{self, ensure_shapes};
use super::element::Elements;
use super::extent::{Extents, extent, extents, like, result_like, results_of, tensor_of};
use super::operand::{Tensors, any_tensor};
use super::positions;
use super::region::{self, Reducer};
use super::window::{self, WindowAttributes};
use crate::op::{Map, Reduce, ReduceWindow, Reduction, SelectAndScatter, Sort};
use crate::types::{Dim, Element, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Reduction, cx: &OpContext<'_>) -> OpResult {
    match op {
        Reduction::Map(op) => map(op, cx),
        Reduction::Reduce(op) => reduce(op, cx),
        Reduction::ReduceWindow(op) => reduce_window(op, cx),
        Reduction::SelectAndScatter(op) => select_and_scatter(op, cx),
        Reduction::Sort(op) => sort(op, cx),
    }
}

fn map(op: &Map, cx: &OpContext<'_>) -> OpResult {
    let inputs = cx.tensors_from(0, Elements::ANY)?;
    let region = cx.region(0)?;
    // C1.
    ensure_shapes(&inputs)?;
    let [first, ..] = inputs.as_slice() else {
        return Err(OpError::new("expects at least one operand (C1)"));
    };
    let in_order = op
        .dimensions
        .iter()
        .enumerate()
        .all(|(index, dimension)| *dimension == index as i64);
    ensure!(
        in_order && op.dimensions.len() == first.rank(),
        "expects dimensions to be all of [0, {}) in order, but got {:?} (C3)",
        first.rank(),
        op.dimensions
    );
    ensure!(
        region.arguments.len() == inputs.len(),
        "expects a computation of {} arguments, but it takes {} (C4)",
        inputs.len(),
        region.arguments.len()
    );
    for (index, (argument, input)) in region.arguments.iter().zip(&inputs).enumerate() {
        let scalar = Type::from(TensorType::of_static(&[], input.element.clone()));
        ensure!(
            *argument == scalar,
            "argument {index} of the computation must be '{scalar}', but is '{argument}' (C4)"
        );
    }
    let [returned] = region.returns.as_slice() else {
        let count = region.returns.len();
        return Err(OpError::new(format!(
            "the computation must return one value, but returns {count} (C4)"
        )));
    };
    let returned = any_tensor(returned, "what the computation returns")?;
    ensure!(
        returned.rank() == 0,
        "the computation must return a scalar, but returns '{returned}' (C4)"
    );
    Ok(result_like(cx, first, returned.element.clone()))
}

/// Inputs and as many initial values (`reduce_i2`, `reduce_window_c1`).
fn halves<'a>(cx: &OpContext<'a>) -> OpResult<(Tensors<'a>, Tensors<'a>)> {
    let count = cx.operands.len() / 2;
    ensure!(
        count > 0 && cx.operands.len() == 2 * count,
        "expects at least one input and as many initial values as inputs, but has {} operands",
        cx.operands.len()
    );
    let mut inputs = cx.tensors_from(0, Elements::ANY)?;
    let initial = inputs.drain(count..).collect();
    for other in &inputs[1..] {
        ensure!(
            compatible::shapes(inputs[0], other),
            "expects inputs of one shape, but got '{}' and '{other}'",
            inputs[0]
        );
    }
    Ok((inputs, initial))
}

fn reduce(op: &Reduce, cx: &OpContext<'_>) -> OpResult {
    // C1, C3.
    let (inputs, initial) = halves(cx)?;
    // C4, C5.
    positions::ensure_unique("dimensions", &op.dimensions)?;
    let reduced = positions::dimensions("dimensions", &op.dimensions, inputs[0].rank())?;
    let kept = positions::others(inputs[0].rank(), &[&reduced]);
    let sizes: Vec<Dim> = kept.iter().map(|dim| inputs[0].dims[*dim].clone()).collect();
    // C2, C6.
    let reducer = Reducer {
        inputs: &inputs,
        initial: &initial,
        sizes: &sizes,
    };
    let elements = region::check(&reducer, cx.region(0)?)?;
    // C7, C8.
    let kept: Extents = kept.iter().map(|dim| extent(inputs[0], *dim)).collect();
    Ok(results_of(cx, &kept, elements.iter().cloned()))
}

fn reduce_window(op: &ReduceWindow, cx: &OpContext<'_>) -> OpResult {
    // C1 to C3.
    let (inputs, initial) = halves(cx)?;
    // C4, C5.
    positions::ensure_length(
        "window_dimensions",
        op.window_dimensions.len(),
        inputs[0].rank(),
        "the rank of the inputs",
    )?;
    let sizes = window::sizes(&op.window_dimensions)?;
    let attributes = WindowAttributes {
        strides: op.window_strides.as_deref(),
        padding: op.padding.as_ref(),
        base_dilations: op.base_dilations.as_deref(),
        dilations: op.window_dilations.as_deref(),
    };
    // C6 to C12.
    let windows = window::windows(&sizes, &attributes)?;
    // C13.
    let reducer = Reducer {
        inputs: &inputs,
        initial: &initial,
        sizes: &sizes,
    };
    let elements = region::check(&reducer, cx.region(0)?)?;
    // C14 to C16.
    let result = |(input, element): (&&TensorType, Element)| {
        let bases = extents(input);
        let outputs = bases
            .iter()
            .zip(&windows)
            .map(|(base, window)| window::output(base, window));
        Ok(tensor_of(&outputs.collect::<OpResult<Vec<_>>>()?, element))
    };
    inputs
        .iter()
        .zip(elements)
        .map(result)
        .collect::<OpResult<_>>()
        .map(Results::Inferred)
}

fn select_and_scatter(op: &SelectAndScatter, cx: &OpContext<'_>) -> OpResult {
    let (operand, source) = (cx.tensor(0, Elements::ANY)?, cx.tensor(1, Elements::ANY)?);
    let initial = cx.tensor(2, Elements::ANY)?;
    check_select(operand, cx)?;
    // C3, C10.
    let scattered = TensorType::of_static(&[], source.element.clone());
    let reducer = Reducer {
        inputs: &[&scattered],
        initial: std::slice::from_ref(initial),
        sizes: &[],
    };
    let elements = region::check(&reducer, cx.region(1)?)?;
    // C4, C5. Absent sizes are 1.
    let ones = vec![1; operand.rank()];
    let sizes = op.window_dimensions.as_ref().unwrap_or(&ones);
    positions::ensure_length(
        "window_dimensions",
        sizes.len(),
        operand.rank(),
        "the rank of the operand",
    )?;
    let attributes = WindowAttributes {
        strides: op.window_strides.as_deref(),
        padding: op.padding.as_ref(),
        ..WindowAttributes::default()
    };
    // C6 to C8.
    let windows = window::windows(&window::sizes(sizes)?, &attributes)?;
    let outputs = extents(operand)
        .iter()
        .zip(&windows)
        .map(|(base, window)| window::output(base, window))
        .collect::<OpResult<Vec<_>>>()?;
    let expected = tensor_of(&outputs, operand.element.clone());
    ensure!(
        region::same_tensor_but_precision(any_tensor(&expected, "the windows")?, source),
        "expects a source of type '{expected}', but got '{source}' (C1, C2)"
    );
    // C11, C12.
    Ok(Results::Inferred(
        elements
            .into_iter()
            .map(|element| like(operand, element))
            .collect(),
    ))
}

/// C9: `select` compares two scalars of the operand's element.
fn check_select(operand: &TensorType, cx: &OpContext<'_>) -> OpResult<()> {
    let select = cx.region(0)?;
    ensure!(
        select.arguments.len() == 2,
        "expects a select region of 2 arguments, but it takes {} (C9)",
        select.arguments.len()
    );
    let scalar = TensorType::of_static(&[], operand.element.clone());
    for (index, argument) in select.arguments.iter().enumerate() {
        let fits = argument
            .as_tensor()
            .is_some_and(|ty| region::same_tensor_but_precision(&scalar, ty));
        ensure!(
            fits,
            "argument {index} of the select region must be '{scalar}', but is '{argument}' (C9)"
        );
    }
    region::check_predicate("the select region", select)
}

fn sort(op: &Sort, cx: &OpContext<'_>) -> OpResult {
    let inputs = cx.tensors_from(0, Elements::ANY)?;
    let [first, ..] = inputs.as_slice() else {
        return Err(OpError::new("expects at least one operand (C1)"));
    };
    // C3.
    ensure_shapes(&inputs)?;
    let rank = first.rank() as i128;
    ensure!(
        (-rank..rank).contains(&i128::from(op.dimension)),
        "expects dimension to be in range [-{rank}, {rank}), but got {} (C4)",
        op.dimension
    );
    // C5.
    let comparator = cx.region(0)?;
    ensure!(
        comparator.arguments.len() == 2 * inputs.len(),
        "expects a comparator of {} arguments, but it takes {} (C5)",
        2 * inputs.len(),
        comparator.arguments.len()
    );
    for (index, argument) in comparator.arguments.iter().enumerate() {
        let scalar = Type::from(TensorType::of_static(&[], inputs[index / 2].element.clone()));
        ensure!(
            *argument == scalar,
            "argument {index} of the comparator must be '{scalar}', but is '{argument}' (C5)"
        );
    }
    region::check_predicate("the comparator", comparator)?;
    // C2.
    Ok(Results::Inferred(
        inputs.into_iter().map(|input| input.clone().into()).collect(),
    ))
}
