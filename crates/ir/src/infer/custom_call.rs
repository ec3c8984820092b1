//! Custom calls: layouts, aliases and buffers (ODS: `CustomCallOp`).

use std::collections::HashSet;

use std::borrow::Borrow;

use super::compatible;
use crate::attribute::{Attribute, CustomCallApiVersion, OutputOperandAlias};
use crate::op::CustomCall;
use crate::types::Type;
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure, owned};

/// Longest layout that is read: no tensor has a rank near it.
const LAYOUT_MAX: usize = 1 << 10;

pub(super) fn rules(op: &CustomCall, cx: &OpContext<'_>) -> OpResult {
    check_layouts(op, cx)?;
    let outputs = output_type(cx);
    for alias in &op.output_operand_aliases {
        check_alias(alias, cx, &outputs)?;
    }
    check_backend_config(op)?;
    match op.call_target_name.as_str() {
        Some("CreateBuffer") => create_buffer(cx)?,
        Some("Pin") => pin(cx, true)?,
        Some("Unpin") => pin(cx, false)?,
        _ => check_buffers(op, cx, &outputs)?,
    }
    Ok(Results::Declared)
}

/// What output indices of aliases lead into: the only result, or the tuple of all.
fn output_type(cx: &OpContext<'_>) -> Type {
    match cx.results {
        [only] => Type::clone(only),
        many => Type::Tuple(owned(many).into()),
    }
}

/// Both lists of layouts or neither; one for each value; a permutation of its dimensions.
fn check_layouts(op: &CustomCall, cx: &OpContext<'_>) -> OpResult<()> {
    let (operands, results) = match (&op.operand_layouts, &op.result_layouts) {
        (None, None) => return Ok(()),
        (Some(operands), Some(results)) => (operands, results),
        _ => {
            return Err(OpError::new(
                "layouts must be given for both operands and results or for neither",
            ));
        }
    };
    check_layout_list("operand", cx.operands, operands)?;
    match cx.results {
        // The components of a single tuple have a layout each.
        [Type::Tuple(items)] => check_layout_list("result", items, results),
        types => check_layout_list("result", types, results),
    }
}

fn check_layout_list(role: &str, types: &[impl Borrow<Type>], layouts: &Attribute) -> OpResult<()> {
    let Attribute::Array(layouts) = layouts else {
        return Err(OpError::new(format!(
            "{role}_layouts must be an array of layouts"
        )));
    };
    ensure!(
        types.len() == layouts.len(),
        "the number of {role}s must match the number of {role} layouts, {} != {}",
        types.len(),
        layouts.len()
    );
    for (index, (ty, layout)) in types.iter().zip(layouts).enumerate() {
        let order = match layout {
            Attribute::Elements(literal) if literal.ty().rank() == 1 => literal.to_i64s(LAYOUT_MAX),
            _ => None,
        };
        let order = order
            .ok_or_else(|| OpError::new(format!("layout {index} of {role}s must be a vector of indices")))?;
        check_layout(role, index, ty.borrow(), &order)?;
    }
    Ok(())
}

fn check_layout(role: &str, index: usize, ty: &Type, order: &[i64]) -> OpResult<()> {
    let rank = match ty {
        Type::Tensor(tensor) | Type::Buffer(tensor) => tensor.rank(),
        Type::Tuple(_) => return Err(OpError::new("tuples are not supported with layouts")),
        _ => 0,
    };
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    ensure!(
        sorted.iter().copied().eq(0..rank as i64),
        "layout {order:?} of {role} #{index} of type '{ty}' must be a permutation of [0, {rank})"
    );
    Ok(())
}

/// The component of a type at tuple indices.
fn component<'a>(ty: &'a Type, indices: &[i64]) -> Option<&'a Type> {
    indices.iter().try_fold(ty, |ty, index| match ty {
        Type::Tuple(items) => items.get(usize::try_from(*index).ok()?),
        _ => None,
    })
}

fn check_alias(alias: &OutputOperandAlias, cx: &OpContext<'_>, outputs: &Type) -> OpResult<()> {
    let operand = usize::try_from(alias.operand_index)
        .ok()
        .and_then(|index| cx.operands.get(index));
    let operand = operand.ok_or_else(|| {
        OpError::new(format!(
            "expects operand_index in output_operand_aliases to be in range [0, {}), but got {}",
            cx.operands.len(),
            alias.operand_index
        ))
    })?;
    let operand_part = component(operand, &alias.operand_tuple_indices).ok_or_else(|| {
        OpError::new(format!(
            "operand_tuple_indices {:?} are out of bounds",
            alias.operand_tuple_indices
        ))
    })?;
    let output_part = component(outputs, &alias.output_tuple_indices).ok_or_else(|| {
        OpError::new(format!(
            "output_tuple_indices {:?} are out of bounds",
            alias.output_tuple_indices
        ))
    })?;
    ensure!(
        compatible::types(operand_part, output_part),
        "shapes mismatch in output_operand_aliases: the operand part is '{operand_part}', the output part '{output_part}'"
    );
    Ok(())
}

/// A dictionary for typed FFI, a string for the others.
fn check_backend_config(op: &CustomCall) -> OpResult<()> {
    let typed = op.api_version == CustomCallApiVersion::TypedFfi;
    let fits = match &op.backend_config {
        None => true,
        Some(Attribute::Dictionary(_)) => typed,
        Some(Attribute::String(_)) => !typed,
        Some(_) => false,
    };
    let expected = if typed { "dictionary" } else { "string" };
    ensure!(
        fits,
        "backend_config for api_version {} must be a {expected}",
        op.api_version
    );
    Ok(())
}

/// `CreateBuffer` makes a buffer out of nothing.
fn create_buffer(cx: &OpContext<'_>) -> OpResult<()> {
    ensure!(
        cx.operands.is_empty(),
        "CreateBuffer must have no operands, but has {}",
        cx.operands.len()
    );
    ensure!(
        matches!(cx.results, [Type::Buffer(_)]),
        "CreateBuffer must have one result, a memref, but has {}",
        compatible::quoted(cx.results)
    );
    Ok(())
}

/// `Pin` makes a buffer of a tensor, `Unpin` a tensor of a buffer.
fn pin(cx: &OpContext<'_>, to_buffer: bool) -> OpResult<()> {
    let (name, from, to) = if to_buffer {
        ("Pin", "tensor", "memref")
    } else {
        ("Unpin", "memref", "tensor")
    };
    let pair = match (cx.operands, cx.results) {
        ([Type::Tensor(from)], [Type::Buffer(to)]) if to_buffer => Some((from, to)),
        ([Type::Buffer(from)], [Type::Tensor(to)]) if !to_buffer => Some((from, to)),
        _ => None,
    };
    let fits = pair.is_some_and(|(from, to)| compatible::shapes(from, to) && from.element == to.element);
    ensure!(
        fits,
        "{name} must make one {to} of one {from} of the same type, but has {} and {}",
        compatible::quoted(cx.operands),
        compatible::quoted(cx.results)
    );
    Ok(())
}

/// Each buffer among the outputs aliases one operand, and each buffer operand at most one output.
fn check_buffers(op: &CustomCall, cx: &OpContext<'_>, outputs: &Type) -> OpResult<()> {
    let mut used_operands = HashSet::new();
    let mut used_outputs = HashSet::new();
    for alias in &op.output_operand_aliases {
        let operand = usize::try_from(alias.operand_index)
            .ok()
            .and_then(|index| cx.operands.get(index));
        let part = operand.and_then(|operand| component(operand, &alias.operand_tuple_indices));
        if !matches!(part, Some(Type::Buffer(_))) {
            continue;
        }
        ensure!(
            used_outputs.insert(alias.output_tuple_indices.as_slice()),
            "buffer output {:?} is used in output_operand_aliases more than once",
            alias.output_tuple_indices
        );
        ensure!(
            used_operands.insert((alias.operand_index, alias.operand_tuple_indices.as_slice())),
            "buffer operand {}{:?} is used in output_operand_aliases more than once",
            alias.operand_index,
            alias.operand_tuple_indices
        );
    }
    let mut path = Vec::new();
    check_outputs_aliased(outputs, &mut path, &used_outputs)
}

/// Nesting of tuples was limited when their types were checked.
fn check_outputs_aliased(ty: &Type, path: &mut Vec<i64>, used: &HashSet<&[i64]>) -> OpResult<()> {
    match ty {
        Type::Buffer(_) => {
            ensure!(
                used.contains(path.as_slice()),
                "buffer output {path:?} is not used in output_operand_aliases"
            );
            Ok(())
        }
        Type::Tuple(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index as i64);
                check_outputs_aliased(item, path, used)?;
                path.pop();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
