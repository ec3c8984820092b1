//! Sharding over a mesh (ODS: `ops.td` of Shardy, rules: `verifiers.cc`).

use std::collections::HashSet;

use super::compatible::{equal_lists, quoted};
use super::operand::any_tensor;
use crate::attribute::ByteString;
use crate::attribute::sdy::{Mesh, PropagationDirection, TensorSharding, TensorShardingPerValue};
use crate::module::Module;
use crate::op::{ManualComputation, NamedComputation, Sharding};
use crate::types::{Dim, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};
use crate::verify::sharding::{MeshAxes, check_per_value, check_sharding, mesh_of};

pub(super) fn rules(op: &Sharding, cx: &OpContext<'_>) -> OpResult {
    if let Some(sharding) = op.out_sharding() {
        check_sharding(sharding, Some(cx.operand(0)?), cx.module)?;
    }
    match op {
        Sharding::AllGather(_)
        | Sharding::AllReduce(_)
        | Sharding::AllSlice(_)
        | Sharding::AllToAll(_)
        | Sharding::CollectivePermute(_)
        | Sharding::ReduceScatter(_)
        | Sharding::ReplicatedToUnreduced(_)
        | Sharding::ShardedToUnreduced(_) => {
            any_tensor(cx.operand(0)?, "operand #0")?;
            same(cx)
        }
        Sharding::DataFlowEdge(_) | Sharding::FuncDataFlowEdge => {
            let operand = any_tensor(cx.operand(0)?, "operand #0")?;
            ensure!(
                operand.is_static(),
                "expected a static-shaped result, but got '{operand}'"
            );
            same(cx)
        }
        Sharding::Reshard(_) | Sharding::ShardingConstraint(_) => same(cx),
        Sharding::Constant(constant) => {
            Ok(Results::Inferred(vec![Type::Tensor(constant.value.ty().clone())]))
        }
        Sharding::PropagationBarrier(barrier) => {
            any_tensor(cx.operand(0)?, "operand #0")?;
            ensure!(
                barrier.allowed_direction != PropagationDirection::Both,
                "cannot specify `BOTH` as the direction: the op would be redundant"
            );
            same(cx)
        }
        Sharding::ShardingGroup(_) => {
            any_tensor(cx.operand(0)?, "operand #0")?;
            Ok(Results::Inferred(Vec::new()))
        }
        Sharding::ManualComputation(op) => manual_computation(op, cx),
        Sharding::NamedComputation(op) => named_computation(op, cx),
        Sharding::Return => Ok(Results::Declared),
    }
}

/// The result is of the operand's type.
fn same(cx: &OpContext<'_>) -> OpResult {
    Ok(Results::Inferred(vec![cx.operand(0)?.clone()]))
}

fn named_computation(op: &NamedComputation, cx: &OpContext<'_>) -> OpResult {
    let body = cx.region(0)?;
    ensure!(
        equal_lists(&body.arguments, cx.operands),
        "expects block arguments of the operands' types {}, but has {}",
        quoted(cx.operands),
        quoted(&body.arguments)
    );
    let returns: Vec<&Type> = body.returns.iter().collect();
    let lists = [
        ("in_shardings", &op.in_shardings, cx.operands),
        ("out_shardings", &op.out_shardings, &returns),
    ];
    for (name, shardings, types) in lists {
        if let Some(shardings) = shardings {
            check_per_value(shardings, types, cx.module)
                .map_err(|error| OpError::new(format!("{name} {error}")))?;
        }
    }
    Ok(Results::Inferred(body.returns.clone()))
}

fn manual_computation(op: &ManualComputation, cx: &OpContext<'_>) -> OpResult {
    let body = cx.region(0)?;
    let manual: HashSet<&ByteString> = op.manual_axes.0.iter().collect();
    let sides = [
        ("operand", &op.in_shardings, cx.operands, &body.arguments),
        ("result", &op.out_shardings, cx.results, &body.returns),
    ];
    for (kind, shardings, global, local) in sides {
        check_side(kind, shardings, global, local, &manual, cx)?;
    }
    check_common_mesh(op, cx)?;
    Ok(Results::Declared)
}

/// Values outside, their shardings, and what the body sees of them.
fn check_side(
    kind: &str,
    shardings: &TensorShardingPerValue,
    global: &[&Type],
    local: &[Type],
    manual: &HashSet<&ByteString>,
    cx: &OpContext<'_>,
) -> OpResult<()> {
    if global.is_empty() && local.is_empty() && shardings.0.is_empty() {
        return Ok(());
    }
    check_per_value(shardings, global, cx.module).map_err(|error| OpError::new(format!("{kind} {error}")))?;
    ensure!(
        global.len() == local.len(),
        "number of op {kind}s and region {kind}s must match. Op has {} op {kind}s and {} region {kind}s",
        global.len(),
        local.len()
    );
    for (index, ((global, local), sharding)) in global.iter().zip(local).zip(&shardings.0).enumerate() {
        check_local(global, local, sharding, manual, cx)
            .map_err(|error| OpError::new(format!("{kind} at index {index}: {error}")))?;
    }
    Ok(())
}

/// What one device sees of a value: each dimension divided by the manual axes that divide it, which come first.
fn check_local(
    global: &Type,
    local: &Type,
    sharding: &TensorSharding,
    manual: &HashSet<&ByteString>,
    cx: &OpContext<'_>,
) -> OpResult<()> {
    let Some(global) = global.as_tensor() else {
        // Such as a token, which every device has.
        return Ok(());
    };
    let Some(mesh) = mesh_of(&sharding.mesh, cx.module)? else {
        return Ok(());
    };
    let mismatch = |dim: usize, expected: &str| {
        OpError::new(format!(
            "shape '{global}', its sharding and the region's shape '{local}' must match: expected {expected} in dimension {dim}"
        ))
    };
    let Some(found) = local.as_tensor() else {
        return Err(OpError::new(format!("must be a tensor, but got '{local}'")));
    };
    ensure!(
        found.element == global.element && found.rank() == global.rank(),
        "must have the element and rank of '{global}', but got '{local}'"
    );
    let axes = MeshAxes::of(mesh)?;
    for (dim, ((global, local), sharding)) in global
        .dims
        .iter()
        .zip(&found.dims)
        .zip(&sharding.dim_shardings)
        .enumerate()
    {
        let parts = parts_of(&sharding.axes, manual, &axes)
            .map_err(|error| OpError::new(format!("dimension {dim}: {error}")))?;
        match (global, local) {
            (Dim::Static(size), local) => {
                ensure!(
                    size.is_multiple_of(parts),
                    "dimension size {size} is not divisible by the manual axes size {parts}"
                );
                let expected = size / parts;
                if *local != Dim::Static(expected) {
                    return Err(mismatch(dim, &expected.to_string()));
                }
            }
            (global, local) if parts == 1 && global != local => {
                return Err(mismatch(dim, &global.to_string()));
            }
            (_, Dim::Static(_)) => return Err(mismatch(dim, "a size that is not known")),
            _ => {}
        }
    }
    // A maximal sharding has no dimensions: the whole value is on one device.
    ensure!(
        !sharding.dim_shardings.is_empty() || global.dims == found.dims,
        "must be of type '{global}', but got '{local}'"
    );
    Ok(())
}

/// Into how many parts a manual computation divides each dimension of a value.
pub(crate) fn manual_parts(
    op: &ManualComputation,
    sharding: &TensorSharding,
    module: &Module,
) -> OpResult<Vec<u64>> {
    let manual: HashSet<&ByteString> = op.manual_axes.0.iter().collect();
    let Some(mesh) = mesh_of(&sharding.mesh, Some(module))? else {
        return Ok(Vec::new());
    };
    let axes = MeshAxes::of(mesh)?;
    let dims = sharding.dim_shardings.iter();
    dims.map(|dim| parts_of(&dim.axes, &manual, &axes)).collect()
}

/// Into how many parts manual axes divide a dimension; none may come after a free one.
fn parts_of(
    axes: &[crate::attribute::AxisRef],
    manual: &HashSet<&ByteString>,
    mesh: &MeshAxes<'_>,
) -> OpResult<u64> {
    let mut parts = 1_u64;
    let mut free = false;
    for axis in axes {
        if !manual.contains(&axis.name) {
            free = true;
            continue;
        }
        ensure!(
            !free,
            "must have all manual axes come before free axes in its dimension sharding. Saw manual axis {:?} after a free axis",
            axis.name
        );
        let size = mesh.span(axis)?.size;
        let product = u64::try_from(size)
            .ok()
            .filter(|size| *size > 0)
            .and_then(|size| parts.checked_mul(size));
        parts = product.ok_or_else(|| {
            OpError::new("the sizes of the manual axes must be positive and their product fit 64 bits")
        })?;
    }
    Ok(parts)
}

/// All shardings are of one mesh, but for empty ones, and it has the manual axes.
fn check_common_mesh(op: &ManualComputation, cx: &OpContext<'_>) -> OpResult<()> {
    let mut common: Option<&Mesh> = None;
    let shardings = op.in_shardings.0.iter().chain(&op.out_shardings.0);
    for sharding in shardings {
        let Some(mesh) = mesh_of(&sharding.mesh, cx.module)? else {
            return Ok(());
        };
        match common {
            None => common = Some(mesh),
            Some(known) if known.axes.is_empty() && known.device_ids.is_empty() => common = Some(mesh),
            Some(known) => {
                let empty = mesh.axes.is_empty() && mesh.device_ids.is_empty();
                ensure!(
                    empty || known == mesh || op.manual_axes.0.is_empty(),
                    "all in and out shardings must be bound to the same mesh or an empty mesh"
                );
            }
        }
    }
    let Some(mesh) = common else { return Ok(()) };
    let axes = MeshAxes::of(mesh)?;
    for axis in &op.manual_axes.0 {
        ensure!(axes.contains(axis), "unknown manual axis: {axis:?}");
    }
    Ok(())
}
