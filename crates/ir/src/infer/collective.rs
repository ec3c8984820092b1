//! Communication between processes and with the host.

use super::compatible::{self, ensure_same_element, quoted};
use super::element::Elements;
use super::extent::{extents, like, tensor_of};
use super::groups::{self, GroupRules};
use super::operand::{Tensors, tensor};
use super::region::{self, Reducer, scalars};
use super::{indexing, positions};
use crate::attribute::{Attribute, ChannelHandle};
use crate::op::{
    AllGather, AllReduce, AllToAll, Collective, CollectiveBroadcast, CollectivePermute, CollectiveReduce,
    Infeed, Recv, ReduceScatter, Send,
};
use crate::types::{Dim, ElementType, TensorType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, Results, ensure};

pub(super) fn rules(op: &Collective, cx: &OpContext<'_>) -> OpResult {
    match op {
        Collective::AllGather(op) => all_gather(op, cx),
        Collective::AllReduce(op) => all_reduce(op, cx),
        Collective::AllToAll(op) => all_to_all(op, cx),
        Collective::CollectiveBroadcast(op) => collective_broadcast(op, cx),
        Collective::CollectivePermute(op) => collective_permute(op, cx),
        Collective::CollectiveReduce(op) => collective_reduce(op, cx),
        Collective::CrossReplicaSum(_) => Ok(Results::Inferred(vec![
            cx.tensor(0, Elements::ANY)?.clone().into(),
        ])),
        Collective::Infeed(op) => infeed(op, cx),
        Collective::Outfeed(_) => sent(cx),
        Collective::PartitionId | Collective::ReplicaId => {
            Ok(Results::Inferred(vec![Type::tensor(&[], ElementType::UI32)]))
        }
        Collective::Recv(op) => recv(op, cx),
        Collective::ReduceScatter(op) => reduce_scatter(op, cx),
        Collective::Send(op) => send(op, cx),
    }
}

fn all_gather(op: &AllGather, cx: &OpContext<'_>) -> OpResult {
    let rules = GroupRules {
        one_size: true,
        global: op.use_global_device_ids,
        size: None,
    };
    groups::check(&op.replica_groups, rules, cx)?;
    let channel = op.channel_handle.map_or(0, |channel| channel.handle);
    ensure!(
        !op.use_global_device_ids || channel >= 0,
        "the channel id must not be negative where use_global_device_ids is set, but is {channel} (C5)"
    );
    let operands = cx.tensors_from(0, Elements::ANY)?;
    ensure!(
        operands.len() == cx.results.len(),
        "expects as many results as operands, but has {} and {}",
        cx.results.len(),
        operands.len()
    );
    for (index, operand) in operands.into_iter().enumerate() {
        let result = cx.declared(index, Elements::ANY)?;
        ensure_same_element(&[operand, result])?;
        // C1.
        let gathered = positions::dimension("all_gather_dim", op.all_gather_dim, operand.rank())?;
        check_scaled(operand, result, gathered)?;
    }
    Ok(Results::Declared)
}

/// Both have one shape, but dimension `along` of `large` is a multiple of that of `small` (`all_gather_c6`, `reduce_scatter_c8`).
fn check_scaled(small: &TensorType, large: &TensorType, along: usize) -> OpResult<()> {
    ensure!(
        small.rank() == large.rank(),
        "the ranks of '{small}' and '{large}' must be equal"
    );
    for (index, (a, b)) in small.dims.iter().zip(&large.dims).enumerate() {
        if index != along {
            ensure!(
                a.compatible(b),
                "'{small}' and '{large}' must be equal in dimension {index}, but are not"
            );
        } else if let (Dim::Static(a), Dim::Static(b)) = (a, b) {
            ensure!(
                *a != 0,
                "the size of dimension {along} of '{small}' must not be 0"
            );
            ensure!(
                b % a == 0,
                "the size {b} of dimension {along} of '{large}' must be a multiple of {a}, that of '{small}'"
            );
        }
    }
    Ok(())
}

/// The region applies to each operand by itself; results have the elements that it returns.
fn reduced(operands: &[&TensorType], cx: &OpContext<'_>) -> OpResult {
    let result = |operand: &&TensorType| {
        let inputs = [*operand];
        let reducer = Reducer {
            inputs: &inputs,
            initial: &scalars(&inputs),
            sizes: &[],
        };
        let elements = region::check(&reducer, cx.region(0)?)?;
        let element = elements.into_iter().next();
        Ok(like(
            operand,
            element.ok_or_else(|| OpError::new("has a region that returns nothing"))?,
        ))
    };
    operands
        .iter()
        .map(result)
        .collect::<OpResult<_>>()
        .map(Results::Inferred)
}

fn all_reduce(op: &AllReduce, cx: &OpContext<'_>) -> OpResult {
    // C1 to C3.
    let rules = GroupRules {
        global: op.use_global_device_ids,
        ..GroupRules::default()
    };
    groups::check(&op.replica_groups, rules, cx)?;
    // C4.
    groups::check_channel(op.channel_handle, op.use_global_device_ids)?;
    // C5 to C7.
    reduced(&cx.tensors_from(0, Elements::ANY)?, cx)
}

fn all_to_all(op: &AllToAll, cx: &OpContext<'_>) -> OpResult {
    // C4.
    let count = positions::positive("attribute 'split_count'", op.split_count)?;
    // C5, C7, C8.
    let rules = GroupRules {
        one_size: true,
        size: Some(count),
        ..GroupRules::default()
    };
    groups::check(&op.replica_groups, rules, cx)?;
    let result = |operand: &TensorType| {
        // C1, C3.
        let split = positions::dimension("split_dimension", op.split_dimension, operand.rank())?;
        let joined = positions::dimension("concat_dimension", op.concat_dimension, operand.rank())?;
        if let Some(size) = operand.dims[split].as_static() {
            ensure!(
                size % count == 0,
                "the size {size} of dimension {split} must be a multiple of split_count {count} (C2)"
            );
        }
        let mut sizes = extents(operand);
        // C9.
        sizes[split] = sizes[split].divided(count)?;
        sizes[joined] = sizes[joined].times(count)?;
        Ok(tensor_of(&sizes, operand.element.clone()))
    };
    let operands = cx.tensors_from(0, Elements::ANY)?;
    for (index, operand) in operands.iter().enumerate() {
        if let Some(declared) = cx.result(index, Elements::ANY)? {
            ensure_same_element(&[operand, declared])?;
        }
    }
    operands
        .into_iter()
        .map(result)
        .collect::<OpResult<_>>()
        .map(Results::Inferred)
}

/// The operands that carry data: all, or all but the last, which names the root of each.
fn data_operands<'a>(dynamic_root: bool, cx: &OpContext<'a>) -> OpResult<Tensors<'a>> {
    let mut operands = cx.tensors_from(0, Elements::ANY)?;
    if dynamic_root {
        let root = operands.pop();
        ensure!(
            !operands.is_empty(),
            "expects at least two operands, data and root, where has_dynamic_root is set"
        );
        let expected = TensorType::of_static(&[operands.len() as u64], ElementType::I32);
        if let Some(root) = root {
            ensure!(
                compatible::tensors(root, &expected),
                "the last operand names the root of each other one and must be '{expected}', but is '{root}'"
            );
        }
    }
    ensure!(!operands.is_empty(), "expects at least one data operand");
    Ok(operands)
}

fn collective_broadcast(op: &CollectiveBroadcast, cx: &OpContext<'_>) -> OpResult {
    // C1, C2.
    groups::check_broadcast(&op.replica_groups, cx)?;
    let operands = data_operands(op.has_dynamic_root, cx)?;
    // C3.
    Ok(Results::Inferred(
        operands
            .into_iter()
            .map(|operand| operand.clone().into())
            .collect(),
    ))
}

fn collective_reduce(op: &CollectiveReduce, cx: &OpContext<'_>) -> OpResult {
    let rules = GroupRules {
        global: op.use_global_device_ids,
        ..GroupRules::default()
    };
    groups::check(&op.replica_groups, rules, cx)?;
    groups::check_channel(op.channel_handle, op.use_global_device_ids)?;
    reduced(&data_operands(op.has_dynamic_root, cx)?, cx)
}

fn collective_permute(op: &CollectivePermute, cx: &OpContext<'_>) -> OpResult {
    // C1 to C4.
    groups::check_pairs(&op.source_target_pairs)?;
    let operand = cx.tensor(0, Elements::ANY)?;
    if let Some(result) = cx.result(0, Elements::ANY)? {
        ensure_same_element(&[operand, result])?;
    }
    // C5.
    Ok(Results::Inferred(vec![operand.clone().into()]))
}

fn reduce_scatter(op: &ReduceScatter, cx: &OpContext<'_>) -> OpResult {
    // C3 to C5.
    let rules = GroupRules {
        one_size: true,
        global: op.use_global_device_ids,
        size: None,
    };
    groups::check(&op.replica_groups, rules, cx)?;
    // C6.
    groups::check_channel(op.channel_handle, op.use_global_device_ids)?;
    let operand = cx.tensor(0, Elements::ANY)?;
    let result = cx.declared(0, Elements::ANY)?;
    // C7.
    let inputs = [operand];
    let reducer = Reducer {
        inputs: &inputs,
        initial: &scalars(&inputs),
        sizes: &[],
    };
    let Results::Inferred(reduced) = indexing::accumulated(&reducer, cx)? else {
        return Ok(Results::Declared);
    };
    // C2.
    let scattered = positions::dimension("scatter_dimension", op.scatter_dimension, operand.rank())?;
    // C8.
    if let Dim::Static(0) = operand.dims[scattered] {
        return Err(OpError::new(format!(
            "the size of dimension {scattered} of '{operand}' must not be 0 (C8)"
        )));
    }
    check_scaled(result, operand, scattered)?;
    // C9.
    let element = reduced
        .first()
        .and_then(Type::as_tensor)
        .map(|reduced| &reduced.element);
    ensure!(
        element == Some(&result.element),
        "the result '{result}' must have the element that the region returns, '{}' (C9)",
        element.unwrap_or(&operand.element)
    );
    Ok(Results::Declared)
}

/// Tensors, then a token (`outfeed`, `send`).
fn sent(cx: &OpContext<'_>) -> OpResult {
    let [inputs @ .., token] = cx.operands else {
        return Err(OpError::new("expects a token as its last operand"));
    };
    ensure!(
        **token == Type::Token,
        "the last operand must be a token, but got '{token}'"
    );
    for (index, input) in inputs.iter().enumerate() {
        tensor(input, "operand", index, Elements::ANY_PER_AXIS)?;
    }
    Ok(Results::Inferred(vec![Type::Token]))
}

/// A token, after which tensors of static shape and a token come (`infeed_c1` to `_c3`, `recv_c2` to `_c4`).
fn received(cx: &OpContext<'_>) -> OpResult<usize> {
    let operand = cx.operand(0)?;
    ensure!(
        *operand == Type::Token,
        "operand #0 must be a token, but got '{operand}'"
    );
    let [tensors @ .., token] = cx.results else {
        return Err(OpError::new("expects at least one result"));
    };
    ensure!(
        **token == Type::Token,
        "the last result must be a token, but the results are {}",
        quoted(cx.results)
    );
    for index in 0..tensors.len() {
        cx.declared_static(index, Elements::ANY_PER_AXIS)?;
    }
    Ok(tensors.len())
}

fn infeed(op: &Infeed, cx: &OpContext<'_>) -> OpResult {
    let count = received(cx)?;
    let Some(layout) = &op.layout else {
        return Ok(Results::Declared);
    };
    let Attribute::Array(layouts) = layout else {
        return Err(OpError::new("attribute 'layout' must be an array"));
    };
    ensure!(
        layouts.len() == count,
        "attribute 'layout' must have one element for each tensor result ({count}), but has {}",
        layouts.len()
    );
    let integers = |layout: &Attribute| match layout {
        Attribute::Array(items) => items.iter().all(|item| matches!(item, Attribute::Integer { .. })),
        _ => false,
    };
    ensure!(
        layouts.iter().all(integers),
        "each element of attribute 'layout' must be an array of integers"
    );
    Ok(Results::Declared)
}

/// Kinds of channels: `ChannelHandle::kind`.
const DEVICE_TO_DEVICE: i64 = 1;
const DEVICE_TO_HOST: i64 = 2;
const HOST_TO_DEVICE: i64 = 3;

/// The channel is of the kind that the transfer needs (`send_c1`, `recv_c1`).
fn check_kind(channel: ChannelHandle, is_host: bool, host_kind: (i64, &str)) -> OpResult<()> {
    let (expected, name) = if is_host {
        host_kind
    } else {
        (DEVICE_TO_DEVICE, "DEVICE_TO_DEVICE")
    };
    ensure!(
        channel.kind == expected,
        "the type of channel_handle must be {name} ({expected}) where is_host_transfer is {is_host}, but is {} (C1)",
        channel.kind
    );
    Ok(())
}

fn send(op: &Send, cx: &OpContext<'_>) -> OpResult {
    check_kind(
        op.channel_handle,
        op.is_host_transfer,
        (DEVICE_TO_HOST, "DEVICE_TO_HOST"),
    )?;
    if let Some(pairs) = &op.source_target_pairs {
        groups::check_pairs(pairs)?;
    }
    sent(cx)
}

fn recv(op: &Recv, cx: &OpContext<'_>) -> OpResult {
    check_kind(
        op.channel_handle,
        op.is_host_transfer,
        (HOST_TO_DEVICE, "HOST_TO_DEVICE"),
    )?;
    if let Some(pairs) = &op.source_target_pairs {
        groups::check_pairs(pairs)?;
    }
    received(cx)?;
    Ok(Results::Declared)
}
