//! The results of one operation: types that follow from its operands, shapes that are operands, and elements.

use artifact_dims::{Expr, ExprError};
use artifact_ir::attribute::{ChannelHandle, GatherDimensionNumbers, ReplicaGroups};
use artifact_ir::inference::{OpContext, RegionTypes, Results, infer};
use artifact_ir::literal::Literal;
use artifact_ir::module::{Module, Operation};
use artifact_ir::op::{Collective, Control, Creation, CustomCall, Elementwise, Indexing, Op, Shape};
use artifact_ir::types::{Dim, ElementType, TensorType, Type};

use crate::arithmetic::Arithmetic;
use crate::error::RefineError;
use crate::fact::Fact;
use crate::known::{self, Element, Known, is_followed};
use crate::types::{meet, with_dims};
use crate::{elementwise, movement, requirement, shape_operands};

/// What is known of the results of an operation that calls and repeats nothing.
pub(crate) fn facts(
    op: &Operation,
    operands: &[Fact],
    declared: &[Type],
    regions: &[RegionTypes],
    module: &Module,
    arithmetic: &mut Arithmetic<'_>,
) -> Result<Vec<Fact>, RefineError> {
    let refuse = |reason: &dyn std::fmt::Display| RefineError::operation(op.op.name(), reason);
    let declared = &shape_operands::applied(op, operands, declared).map_err(|error| refuse(&error))?;
    let operand_types: Vec<&Type> = operands.iter().map(|fact| &fact.ty).collect();
    let declared = aliased(op, &operand_types, declared).map_err(|error| refuse(&error))?;
    let literals: Vec<Option<Literal>> = operands.iter().map(Fact::literal).collect();
    let constants: Vec<Option<&Literal>> = literals.iter().map(Option::as_ref).collect();
    let context = OpContext {
        operands: &operand_types,
        constants: &constants,
        results: &declared.iter().collect::<Vec<_>>(),
        regions,
        module: Some(module),
    };
    let types = types(op, &context, arithmetic).map_err(|error| refuse(&error))?;
    let mut facts: Vec<Fact> = Vec::with_capacity(types.len());
    for (index, ty) in types.into_iter().enumerate() {
        let shaped = shape_from_operands(op, index, operands, &ty, arithmetic);
        let ty = match (&ty, shaped) {
            (Type::Tensor(tensor), Some(dims)) if dims.len() == tensor.rank() => {
                let dims: Vec<Dim> = dims.into_iter().map(only_of_dimensions).collect();
                let named = with_dims(tensor, dims.into(), tensor.encoding.clone());
                met(op, &ty, &named, arithmetic).map_err(|error| refuse(&error))?
            }
            _ => ty,
        };
        let known = ty
            .as_tensor()
            .and_then(|ty| elements(op, operands, ty, arithmetic));
        facts.push(Fact { ty, known });
    }
    let results: Vec<&Type> = facts.iter().map(|fact| &fact.ty).collect();
    let context = OpContext {
        results: &results,
        ..context
    };
    let required = requirement::of_rules(op, &context, &mut arithmetic.decider);
    arithmetic.require(required);
    Ok(facts)
}

/// What two descriptions of a result say together, and what that requires.
fn met(op: &Operation, a: &Type, b: &Type, arithmetic: &mut Arithmetic<'_>) -> Result<Type, String> {
    let met = meet(a, b)?;
    let required = requirement::of_meeting(op, a, b, &mut arithmetic.decider);
    arithmetic.require(required);
    Ok(met)
}

/// A size that depends on data is not known.
fn only_of_dimensions(dim: Dim) -> Dim {
    match dim {
        Dim::Symbolic(size) if known::is_anonymous(&size) => Dim::Unknown,
        dim => dim,
    }
}

/// The declared types with what the rules of the operation say.
fn types(
    op: &Operation,
    context: &OpContext<'_>,
    arithmetic: &mut Arithmetic<'_>,
) -> Result<Vec<Type>, String> {
    let declared = context.results;
    match infer(&op.op, context).map_err(|error| error.to_string())? {
        Results::Inferred(inferred) if inferred.len() == declared.len() => declared
            .iter()
            .zip(&inferred)
            .map(|(declared, inferred)| met(op, declared, &result_type(declared, inferred), arithmetic))
            .collect(),
        Results::Inferred(_) | Results::Declared => Ok(declared.iter().copied().cloned().collect()),
    }
}

/// The declared types; a result in the buffer of an operand has the operand's type.
fn aliased(op: &Operation, operands: &[&Type], declared: &[Type]) -> Result<Vec<Type>, String> {
    let mut types = declared.to_vec();
    let Op::Control(Control::CustomCall(call)) = &op.op else {
        return Ok(types);
    };
    for alias in &call.output_operand_aliases {
        let result = match alias.output_tuple_indices.as_slice() {
            [] => Some(0),
            [index] => usize::try_from(*index).ok(),
            _ => None,
        };
        let operand = usize::try_from(alias.operand_index)
            .ok()
            .and_then(|index| operands.get(index));
        if let (Some(operand), Some(result)) = (operand, result.and_then(|index| types.get_mut(index)))
            && alias.operand_tuple_indices.is_empty()
            && !matches!(result, Type::Tuple(_))
        {
            *result = meet(result, operand)?;
        }
    }
    Ok(types)
}

/// The inferred shape with the declared element, which may say more (a quantized one).
fn result_type(declared: &Type, inferred: &Type) -> Type {
    match (declared, inferred) {
        (Type::Tensor(declared), Type::Tensor(inferred)) if declared.element != inferred.element => {
            inferred.with_element(declared.element.clone()).into()
        }
        _ => inferred.clone(),
    }
}

/// The shape of a result that no rule infers: an operand holds it, or it is that of an operand.
fn shape_from_operands(
    op: &Operation,
    index: usize,
    operands: &[Fact],
    ty: &Type,
    arithmetic: &mut Arithmetic<'_>,
) -> Option<Vec<Dim>> {
    let listed = |operand: usize| Some(dims(operands.get(operand)?.expressions()?));
    match &op.op {
        Op::Creation(Creation::DynamicIota(_)) => listed(0),
        Op::Creation(Creation::Rng(_)) => listed(2),
        Op::Shape(Shape::DynamicBroadcastInDim(_) | Shape::DynamicReshape) => listed(1),
        Op::Shape(Shape::DynamicPad) => padded(operands, arithmetic),
        Op::Shape(Shape::RealDynamicSlice) => sliced(operands, arithmetic),
        Op::Shape(Shape::SetDimensionSize(op)) => {
            let mut dims = operands.first()?.tensor()?.dims.to_vec();
            let size = operands.get(1)?.expressions()?.first()?.clone();
            *dims.get_mut(usize::try_from(op.dimension).ok()?)? = size.into();
            Some(dims)
        }
        Op::Shape(Shape::Reshape) => reshaped(operands.first()?.tensor()?, ty.as_tensor()?),
        Op::Indexing(Indexing::DynamicGather(op)) => {
            let sizes = operands.get(2)?.expressions()?;
            gathered(&op.dimension_numbers, &sizes, ty.as_tensor()?)
        }
        Op::Control(Control::CustomCall(call)) => custom_call(call, index, operands, ty, arithmetic),
        Op::Collective(Collective::AllGather(op)) => {
            let parts = members(&op.replica_groups, op.channel_handle, op.use_global_device_ids);
            let gathered = |size: Expr, parts: &Expr| size.mul(parts).ok();
            scaled(operands.get(index)?, op.all_gather_dim, parts, gathered)
        }
        Op::Collective(Collective::ReduceScatter(op)) => {
            let parts = members(&op.replica_groups, op.channel_handle, op.use_global_device_ids);
            let scattered = |size: Expr, parts: &Expr| size.floordiv(parts).ok();
            scaled(operands.get(index)?, op.scatter_dimension, parts, scattered)
        }
        Op::Elementwise(Elementwise::BitcastConvert) => {
            bit_cast(operands.first()?.tensor()?, ty.as_tensor()?)
        }
        Op::Unary(_) | Op::Binary(_) | Op::Elementwise(_) => Some(operands.first()?.tensor()?.dims.to_vec()),
        _ => None,
    }
}

/// Processes of a group, where the attribute tells: a channel without global ids joins all partitions to each replica, and how
/// many there are is not in the program.
fn members(groups: &ReplicaGroups, channel: Option<ChannelHandle>, global: bool) -> Option<Expr> {
    let across = channel.is_some_and(|channel| channel.handle > 0) && !global;
    match groups {
        ReplicaGroups::Dense(groups) if !across => groups.ty().dims.get(1)?.expression(),
        _ => None,
    }
}

/// The shape of a tensor with one dimension changed by a number of parts.
fn scaled(
    operand: &Fact,
    dimension: i64,
    parts: Option<Expr>,
    change: impl Fn(Expr, &Expr) -> Option<Expr>,
) -> Option<Vec<Dim>> {
    let mut dims = operand.tensor()?.dims.to_vec();
    let dim = dims.get_mut(usize::try_from(dimension).ok()?)?;
    let changed = parts
        .zip(dim.expression())
        .and_then(|(parts, size)| change(size, &parts));
    *dim = changed.map_or(Dim::Unknown, Dim::from);
    Some(dims)
}

fn dims(sizes: Vec<Expr>) -> Vec<Dim> {
    sizes.into_iter().map(Dim::from).collect()
}

/// `dynamic_pad`: operand, padding value, low, high, interior.
fn padded(operands: &[Fact], arithmetic: &mut Arithmetic<'_>) -> Option<Vec<Dim>> {
    let of_operand = operands.first()?.tensor()?.dims.iter();
    let [low, high, interior] = [2, 3, 4].map(|index| operands.get(index)?.expressions());
    let (low, high, interior) = (low?, high?, interior?);
    let mut all = Vec::new();
    for (index, dim) in of_operand.enumerate() {
        let size = dim.expression();
        let dim = size.map_or(Some(Dim::Unknown), |size| {
            let padded = padded_size(
                &size,
                [low.get(index)?, high.get(index)?, interior.get(index)?],
                arithmetic,
            );
            Some(padded.map_or(Dim::Unknown, Dim::from))
        });
        all.push(dim?);
    }
    Some(all)
}

fn padded_size(
    size: &Expr,
    [low, high, interior]: [&Expr; 3],
    arithmetic: &mut Arithmetic<'_>,
) -> Result<Expr, ExprError> {
    let gaps = arithmetic.maximum(&size.sub(&Expr::constant(1))?, &Expr::constant(0))?;
    size.add(low)?.add(high)?.add(&gaps.mul(interior)?)
}

/// `real_dynamic_slice`: operand, starts, limits, strides.
fn sliced(operands: &[Fact], arithmetic: &mut Arithmetic<'_>) -> Option<Vec<Dim>> {
    let [starts, limits, strides] = [1, 2, 3].map(|index| operands.get(index)?.expressions());
    let (starts, limits, strides) = (starts?, limits?, strides?);
    let size = |((start, limit), stride): ((&Expr, &Expr), &Expr)| {
        let steps = limit
            .sub(start)?
            .add(stride)?
            .sub(&Expr::constant(1))?
            .floordiv(stride)?;
        arithmetic.maximum(&steps, &Expr::constant(0))
    };
    let sizes = starts.iter().zip(&limits).zip(&strides).map(size);
    Some(sizes.map(|size| size.map_or(Dim::Unknown, Dim::from)).collect())
}

/// `bitcast_convert`: where widths differ, the narrower side has a last dimension for the parts of a wider element.
fn bit_cast(operand: &TensorType, result: &TensorType) -> Option<Vec<Dim>> {
    let mut dims = operand.dims.to_vec();
    match result.rank() {
        rank if rank > dims.len() => dims.extend(result.dims.last().cloned()),
        rank => dims.truncate(rank),
    }
    Some(dims)
}

/// The one size of a reshape that is not known: what the others leave of the number of elements.
fn reshaped(operand: &TensorType, result: &TensorType) -> Option<Vec<Dim>> {
    let mut unknown = result
        .dims
        .iter()
        .enumerate()
        .filter(|(_, dim)| **dim == Dim::Unknown);
    let (position, _) = unknown.next()?;
    if unknown.next().is_some() {
        return None;
    }
    let product = |dims: &[Dim]| {
        let known = dims.iter().filter(|dim| **dim != Dim::Unknown);
        known
            .map(Dim::expression)
            .try_fold(Expr::constant(1), |product, size| product.mul(&size?).ok())
    };
    let count = product(&operand.dims).filter(|_| !operand.dims.contains(&Dim::Unknown))?;
    let others = product(&result.dims)?;
    let mut dims = result.dims.to_vec();
    dims[position] = count.floordiv(&others).ok()?.into();
    Some(dims)
}

/// `dynamic_gather`: the sizes of slices stand at the offset dimensions.
fn gathered(numbers: &GatherDimensionNumbers, sizes: &[Expr], result: &TensorType) -> Option<Vec<Dim>> {
    let dropped = |dim: usize| {
        let dim = dim as i64;
        numbers.collapsed_slice_dims.contains(&dim) || numbers.operand_batching_dims.contains(&dim)
    };
    let kept = (0..sizes.len()).filter(|dim| !dropped(*dim));
    let mut dims = result.dims.to_vec();
    for (offset, dim) in numbers.offset_dims.iter().zip(kept) {
        *dims.get_mut(usize::try_from(*offset).ok()?)? = sizes[dim].clone().into();
    }
    Some(dims)
}

/// Custom calls that say where the shape of a result is.
fn custom_call(
    call: &CustomCall,
    index: usize,
    operands: &[Fact],
    ty: &Type,
    arithmetic: &mut Arithmetic<'_>,
) -> Option<Vec<Dim>> {
    let listed = |operand: usize| Some(dims(operands.get(operand)?.expressions()?));
    match call.call_target_name.as_str()? {
        "stablehlo.dynamic_reduce_window" => reduced_window(operands, arithmetic),
        "stablehlo.dynamic_rng_bit_generator" if index == 1 => listed(1),
        "stablehlo.dynamic_top_k" => {
            let mut dims = operands.first()?.tensor()?.dims.to_vec();
            *dims.last_mut()? = operands.get(1)?.expressions()?.first()?.clone().into();
            (dims.len() == ty.as_tensor()?.rank()).then_some(dims)
        }
        _ => None,
    }
}

/// inputs, as many initial values, then sizes, strides, base dilations, window dilations and padding of the window.
fn reduced_window(operands: &[Fact], arithmetic: &mut Arithmetic<'_>) -> Option<Vec<Dim>> {
    let first = operands.len().checked_sub(5)?;
    let list = |index: usize| operands[first + index].expressions();
    let (sizes, strides, base_dilations) = (list(0)?, list(1)?, list(2)?);
    let (dilations, padding) = (list(3)?, list(4)?);
    let bases = operands.first()?.tensor()?.dims.iter().enumerate();
    let mut positions = |index: usize, base: &Dim| -> Option<Dim> {
        let (low, high) = (padding.get(2 * index)?, padding.get(2 * index + 1)?);
        let spread = |size: &Expr, dilation: &Expr, arithmetic: &mut Arithmetic<'_>| {
            let one = Expr::constant(1);
            let gaps = arithmetic.maximum(&size.sub(&one)?, &Expr::constant(0))?;
            gaps.mul(dilation)?.add(&arithmetic.minimum(size, &one)?)
        };
        let base = spread(&base.expression()?, base_dilations.get(index)?, arithmetic).ok()?;
        let window = spread(sizes.get(index)?, dilations.get(index)?, arithmetic).ok()?;
        let room = base.add(low).ok()?.add(high).ok()?.sub(&window).ok()?;
        let steps = room
            .floordiv(strides.get(index)?)
            .ok()?
            .add(&Expr::constant(1))
            .ok()?;
        arithmetic.maximum(&steps, &Expr::constant(0)).ok().map(Dim::from)
    };
    Some(
        bases
            .map(|(index, base)| positions(index, base).unwrap_or(Dim::Unknown))
            .collect(),
    )
}

/// The elements of a result of this type, where they are few and known.
fn elements(
    op: &Operation,
    operands: &[Fact],
    ty: &TensorType,
    arithmetic: &mut Arithmetic<'_>,
) -> Option<Known> {
    let count = is_followed(ty)?;
    let found = match &op.op {
        Op::Creation(Creation::Constant(constant)) => known::of_literal(&constant.value),
        Op::Shape(Shape::GetDimensionSize(size)) => {
            let dims = &operands.first()?.tensor()?.dims;
            let size = dims.get(usize::try_from(size.dimension).ok()?)?.expression()?;
            let size: [Element; 1] = [arithmetic.integer(size, ElementType::I32, op.source)];
            Some(size.into())
        }
        Op::Control(Control::OptimizationBarrier) if operands.len() == 1 => operands[0].known.clone(),
        other => movement::moved(other, operands, ty)
            .or_else(|| elementwise::computed(other, operands, ty, arithmetic, op.source)),
    };
    found.filter(|elements| elements.len() == count)
}
