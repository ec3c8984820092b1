//! Communication (spec, "all_gather" to "collective_reduce", "reduce_scatter", "send", "recv", "infeed", "outfeed").
//!
//! Without a grid a program runs on one process, so that every collective has a group of one.

use std::sync::Arc;

use artifact_ir::attribute::{ChannelHandle, ReplicaGroups, SourceTargetPairs};
use artifact_ir::module::Operation;
use artifact_ir::op::{AllGather, AllToAll, Collective};
use artifact_ir::types::{Element, ElementClass, ElementType, TensorType};

use crate::error::EvalError;
use crate::grid::Channel;
use crate::grid::groups::{Strategy, dense_rows, group_of, rows};
use crate::interpreter::{Frame, Process};
use crate::scalar::Scalar;
use crate::shape::{join_along, part_along};
use crate::tensor::Tensor;
use crate::value::Value;

/// Runs an operation of the family.
pub(crate) fn run<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    collective: &Collective,
) -> Result<Vec<Value>, EvalError> {
    let name = op.op.name();
    let tensors = |frame: &Frame<'m>| frame.tensors(op);
    let results = match collective {
        Collective::PartitionId => vec![process_number(process.id.partition)?],
        Collective::ReplicaId => vec![process_number(process.id.replica)?],
        Collective::AllGather(gather) => all_gather(
            &Member::new(process, collective, gather.channel_handle),
            gather,
            &tensors(frame)?,
        )?,
        Collective::AllToAll(exchange) => all_to_all(
            &Member::new(process, collective, exchange.channel_handle),
            exchange,
            &tensors(frame)?,
        )?,
        Collective::CollectiveBroadcast(broadcast) => {
            let member = Member::new(process, collective, broadcast.channel_handle);
            let group = member.exchange_group(&broadcast.replica_groups)?;
            collective_broadcast(&member, group, broadcast.has_dynamic_root, tensors(frame)?)?
        }
        Collective::CollectivePermute(permute) => {
            let member = Member::new(process, collective, permute.channel_handle);
            vec![collective_permute(
                &member,
                &permute.source_target_pairs,
                &tensors(frame)?,
            )?]
        }
        Collective::AllReduce(_)
        | Collective::CrossReplicaSum(_)
        | Collective::ReduceScatter(_)
        | Collective::CollectiveReduce(_) => reduction(process, frame, op, collective)?,
        Collective::Infeed(_) => return infeed(process, name),
        Collective::Outfeed(_) => {
            let mut values = frame.operands(op)?;
            values.pop();
            process.record.outfeed(values);
            return Ok(vec![Value::Token]);
        }
        Collective::Send(send) => {
            let targets = transfer_peer(
                process,
                send.is_host_transfer,
                send.source_target_pairs.as_ref(),
                Side::Sender,
            )?;
            let payload = sent_tensors(frame, op)?;
            let id = send.channel_handle.handle;
            if let Some((from, to)) = targets {
                process.grid.network.send(transfer_channel(id, from, to), payload);
            }
            return Ok(vec![Value::Token]);
        }
        Collective::Recv(recv) => {
            let peer = transfer_peer(
                process,
                recv.is_host_transfer,
                recv.source_target_pairs.as_ref(),
                Side::Receiver,
            )?;
            return receive(process, frame, op, recv.channel_handle.handle, peer);
        }
    };
    Ok(results.into_iter().map(Value::Tensor).collect())
}

/// A process as a member of groups, in one execution of a collective.
struct Member<'a, 'm> {
    process: &'a Process<'m>,
    operation: &'static str,
    channel: i64,
}

impl<'a, 'm> Member<'a, 'm> {
    fn new(process: &'a Process<'m>, collective: &Collective, channel: Option<ChannelHandle>) -> Self {
        Self {
            process,
            operation: collective.spec().name,
            channel: channel.map_or(0, |channel| channel.handle),
        }
    }

    fn number(&self) -> usize {
        self.process.grid.number(self.process.id)
    }

    fn group(&self, strategy: Strategy, groups: &[Vec<usize>]) -> Result<Option<Vec<usize>>, EvalError> {
        group_of(self.process.grid, self.process.id, strategy, groups)
    }

    fn exchange_group(&self, groups: &ReplicaGroups) -> Result<Option<Vec<usize>>, EvalError> {
        self.group(
            Strategy::of_exchange(self.channel),
            &rows(groups, self.process.module)?,
        )
    }

    fn reduction_group(&self, groups: &ReplicaGroups, global_ids: bool) -> Result<Vec<usize>, EvalError> {
        let strategy = Strategy::of_reduction(self.channel, global_ids)?;
        self.group(strategy, &rows(groups, self.process.module)?)?
            .ok_or_else(|| self.outside())
    }

    fn outside(&self) -> EvalError {
        let (operation, number) = (self.operation, self.number());
        EvalError::invalid_input(format!(
            "{operation} names groups, and process {number} is in none of them"
        ))
    }

    fn send(&self, to: usize, message: Vec<Tensor>) {
        let channel = self.channel_between(self.number(), to);
        self.process.grid.network.send(channel, message);
    }

    fn receive(&self, from: usize) -> Result<Vec<Tensor>, EvalError> {
        let channel = self.channel_between(from, self.number());
        self.process.grid.network.receive(self.number(), &channel)
    }

    fn channel_between(&self, from: usize, to: usize) -> Channel {
        Channel {
            operation: self.operation,
            id: self.channel,
            from: Some(from),
            to: Some(to),
        }
    }

    /// Sends each member what `part` makes for it, by position in the group, and returns what each member sent, in order.
    fn exchange(
        &self,
        group: &[usize],
        mut part: impl FnMut(usize) -> Result<Vec<Tensor>, EvalError>,
    ) -> Result<Vec<Vec<Tensor>>, EvalError> {
        for (position, member) in group.iter().enumerate() {
            self.send(*member, part(position)?);
        }
        group.iter().map(|member| self.receive(*member)).collect()
    }
}

/// Spec, "partition_id", "replica_id".
fn process_number(number: usize) -> Result<Tensor, EvalError> {
    let ty = Arc::new(TensorType::of_static(&[], ElementType::UI32));
    Ok(Tensor::from_fn(ty, |_| Scalar::Int(number as i128))?)
}

/// A tensor of zeros; of a quantized type, of the stored value that means zero.
fn zeros(ty: &Arc<TensorType>) -> Result<Tensor, EvalError> {
    let zero = match &ty.element {
        Element::Plain(element) => Scalar::zero(element.class()),
        Element::Quantized(quantized) => {
            let zero_point = quantized
                .parameters_at(0)
                .map_or(0, |parameters| parameters.zero_point);
            Scalar::Int(i128::from(zero_point.clamp(
                quantized.storage_min,
                quantized.storage_max.max(quantized.storage_min),
            )))
        }
    };
    Ok(Tensor::from_fn(Arc::clone(ty), |_| zero)?)
}

/// Spec, "all_gather".
fn all_gather(
    member: &Member<'_, '_>,
    op: &AllGather,
    operands: &[Tensor],
) -> Result<Vec<Tensor>, EvalError> {
    let group = member.reduction_group(&op.replica_groups, op.use_global_device_ids)?;
    let gathered = member.exchange(&group, |_| Ok(operands.to_vec()))?;
    columns(&gathered, operands.len(), |parts| {
        join_along(parts, op.all_gather_dim)
    })
}

/// Spec, "all_to_all".
fn all_to_all(member: &Member<'_, '_>, op: &AllToAll, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let group = member
        .exchange_group(&op.replica_groups)?
        .ok_or_else(|| member.outside())?;
    if usize::try_from(op.split_count) != Ok(group.len()) {
        let (count, members) = (op.split_count, group.len());
        return Err(EvalError::invalid_input(format!(
            "{count} parts for a group of {members} processes"
        )));
    }
    let exchanged = member.exchange(&group, |receiver| {
        operands
            .iter()
            .map(|operand| part_along(operand, op.split_dimension, receiver, group.len()))
            .collect()
    })?;
    columns(&exchanged, operands.len(), |parts| {
        join_along(parts, op.concat_dimension)
    })
}

/// Joins, for each operand, what every process of a group sent for it.
fn columns(
    messages: &[Vec<Tensor>],
    count: usize,
    mut join: impl FnMut(&[Tensor]) -> Result<Tensor, EvalError>,
) -> Result<Vec<Tensor>, EvalError> {
    (0..count).map(|index| join(&column(messages, index)?)).collect()
}

/// What every process of a group sent for one operand.
fn column(messages: &[Vec<Tensor>], index: usize) -> Result<Vec<Tensor>, EvalError> {
    let parts = messages
        .iter()
        .map(|message| message.get(index).cloned())
        .collect::<Option<_>>();
    parts.ok_or_else(|| EvalError::runtime("processes of a group gave different numbers of operands"))
}

/// The position of the root within its group, for each operand, and the operands without the one that names it.
fn roots(
    dynamic: bool,
    mut operands: Vec<Tensor>,
    members: usize,
) -> Result<(Vec<usize>, Vec<Tensor>), EvalError> {
    if !dynamic {
        return Ok((vec![0; operands.len()], operands));
    }
    let named = operands
        .pop()
        .and_then(|roots| roots.to_ints())
        .unwrap_or_default();
    let in_group = |root: &i128| usize::try_from(*root).ok().filter(|root| *root < members.max(1));
    let roots: Option<Vec<usize>> = named.iter().map(in_group).collect();
    match roots {
        Some(roots) if roots.len() == operands.len() => Ok((roots, operands)),
        _ => Err(EvalError::runtime(format!(
            "roots {named:?} for a group of {members} processes"
        ))),
    }
}

/// Spec, "collective_broadcast": zeros for a process that is in no group.
fn collective_broadcast(
    member: &Member<'_, '_>,
    group: Option<Vec<usize>>,
    dynamic: bool,
    operands: Vec<Tensor>,
) -> Result<Vec<Tensor>, EvalError> {
    let members = group.as_ref().map_or(usize::MAX, Vec::len);
    let (roots, operands) = roots(dynamic, operands, members)?;
    let Some(group) = group else {
        return operands.iter().map(|operand| zeros(operand.ty())).collect();
    };
    // Everyone sends everything, so that processes that name different roots still end.
    let sent = member.exchange(&group, |_| Ok(operands.clone()))?;
    let chosen: Option<Vec<Tensor>> = roots
        .iter()
        .enumerate()
        .map(|(index, root)| sent[*root].get(index).cloned())
        .collect();
    chosen.ok_or_else(|| EvalError::runtime("processes of a group gave different numbers of operands"))
}

/// Spec, "collective_permute": zeros for a process that nobody sends to.
fn collective_permute(
    member: &Member<'_, '_>,
    pairs: &SourceTargetPairs,
    operands: &[Tensor],
) -> Result<Tensor, EvalError> {
    let operand = crate::shape::operand(operands, 0)?;
    let (strategy, number) = (Strategy::of_exchange(member.channel), member.number());
    let mut source = None;
    for pair in &pairs.0 {
        let ids: Vec<usize> = pair.iter().filter_map(|id| usize::try_from(*id).ok()).collect();
        let Some(group) = member.group(strategy, &[ids])? else {
            continue;
        };
        let [from, to] = group[..] else {
            return Err(EvalError::invalid_input(format!(
                "{pair:?} names no pair of processes"
            )));
        };
        if from == number {
            member.send(to, vec![operand.clone()]);
        }
        if to == number {
            source = Some(from);
        }
    }
    match source {
        None => zeros(operand.ty()),
        Some(from) => member
            .receive(from)?
            .pop()
            .ok_or_else(|| EvalError::runtime("an empty message")),
    }
}

/// `all_reduce`, `reduce_scatter`, `collective_reduce` and `cross-replica-sum`: each reduces over the group in its order.
fn reduction<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    collective: &Collective,
) -> Result<Vec<Tensor>, EvalError> {
    let operands = frame.tensors(op)?;
    match collective {
        Collective::AllReduce(reduce) => {
            let member = Member::new(process, collective, reduce.channel_handle);
            let group = member.reduction_group(&reduce.replica_groups, reduce.use_global_device_ids)?;
            let sent = member.exchange(&group, |_| Ok(operands.clone()))?;
            columns(&sent, operands.len(), |parts| fold(process, frame, op, parts))
        }
        Collective::CrossReplicaSum(sum) => {
            let member = Member::new(process, collective, None);
            let group = member.group(Strategy::CrossReplica, &dense_rows(&sum.replica_groups)?)?;
            let sent = member.exchange(&group.ok_or_else(|| member.outside())?, |_| Ok(operands.clone()))?;
            columns(&sent, operands.len(), sum_of)
        }
        Collective::ReduceScatter(reduce) => {
            let member = Member::new(process, collective, reduce.channel_handle);
            let group = member.reduction_group(&reduce.replica_groups, reduce.use_global_device_ids)?;
            // Only the part that a process keeps needs to reach it.
            let sent = member.exchange(&group, |receiver| {
                let part = |operand| part_along(operand, reduce.scatter_dimension, receiver, group.len());
                operands.iter().map(part).collect()
            })?;
            columns(&sent, operands.len(), |parts| fold(process, frame, op, parts))
        }
        Collective::CollectiveReduce(reduce) => {
            let member = Member::new(process, collective, reduce.channel_handle);
            let group = member.exchange_group(&reduce.replica_groups)?;
            let members = group.as_ref().map_or(usize::MAX, Vec::len);
            let (roots, operands) = roots(reduce.has_dynamic_root, operands, members)?;
            let number = member.number();
            let sent = match &group {
                None => Vec::new(),
                Some(group) => member.exchange(group, |_| Ok(operands.clone()))?,
            };
            let types = frame.result_types(op);
            let reduced = |index: usize| match &group {
                Some(group) if group[roots[index]] == number => {
                    fold(process, frame, op, &column(&sent, index)?)
                }
                _ => zeros(&retyped(operands[index].ty(), types.get(index))),
            };
            (0..operands.len()).map(reduced).collect()
        }
        _ => Err(EvalError::runtime("not a reduction")),
    }
}

/// The shape of an operand with the element of the declared result, which a reduction may promote to.
fn retyped(operand: &Arc<TensorType>, declared: Option<&Arc<TensorType>>) -> Arc<TensorType> {
    match declared {
        Some(declared) if declared.element != operand.element => {
            Arc::new(operand.with_element(declared.element.clone()))
        }
        _ => Arc::clone(operand),
    }
}

/// The region applied to the parts in order, element by element.
fn fold<'m>(
    process: &mut Process<'m>,
    frame: &mut Frame<'m>,
    op: &'m Operation,
    parts: &[Tensor],
) -> Result<Tensor, EvalError> {
    let region = op.regions[0];
    let body = frame.body;
    let argument = body
        .single_block(region)
        .and_then(|block| body.blocks[block].arguments.first())
        .and_then(|argument| body.ty(*argument).as_tensor())
        .ok_or_else(|| EvalError::runtime("a reduction's region takes no tensors"))?;
    let scalar = Arc::new(TensorType::of_static(&[], argument.element.clone()));
    let ty = Arc::new(parts[0].ty().with_element(argument.element.clone()));
    if parts.iter().any(|part| part.ty() != parts[0].ty()) {
        return Err(EvalError::runtime(
            "processes of a group gave tensors of different types",
        ));
    }
    let mut elements = Vec::with_capacity(parts[0].len());
    for position in 0..parts[0].len() {
        let at = |part: &Tensor| Tensor::from_fn(Arc::clone(&scalar), |_| part.get(position));
        let mut sum = Value::Tensor(at(&parts[0])?);
        for part in &parts[1..] {
            let arguments = vec![sum, Value::Tensor(at(part)?)];
            let results = process.region(frame, region, arguments)?;
            sum = results
                .into_iter()
                .next()
                .ok_or_else(|| EvalError::runtime("a region returned nothing"))?;
        }
        elements.push(sum.as_tensor()?.get(0));
    }
    Ok(Tensor::from_scalars(ty, &elements)?)
}

/// Sum of the parts in order, rounded to the element type each time.
fn sum_of(parts: &[Tensor]) -> Result<Tensor, EvalError> {
    let mut sum = parts[0].clone();
    for part in &parts[1..] {
        if part.ty() != sum.ty() {
            return Err(EvalError::runtime(
                "processes of a group gave tensors of different types",
            ));
        }
        sum = Tensor::from_fn(Arc::clone(sum.ty()), |position| {
            match (sum.get(position), part.get(position)) {
                (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
                (Scalar::Complex(a, b), Scalar::Complex(c, d)) => Scalar::Complex(a + c, b + d),
                (Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a + b),
                (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(a | b),
                (a, _) => a,
            }
        })?;
    }
    debug_assert!(sum.storage().class() != ElementClass::Boolean || sum.bytes().iter().all(|byte| *byte < 2));
    Ok(sum)
}

/// The next infeed function's results, and a token.
fn infeed(process: &mut Process<'_>, name: &str) -> Result<Vec<Value>, EvalError> {
    let function = process
        .grid
        .next_infeed()
        .ok_or_else(|| EvalError::invalid_input(format!("{name} reads, and there is no infeed data left")))?;
    let mut values = process.call(function, Vec::new())?;
    values.push(Value::Token);
    Ok(values)
}

enum Side {
    Sender,
    Receiver,
}

/// From whom to whom a process transfers: `None` when it takes no part; the host is `(None, None)`.
type Transfer = Option<(Option<usize>, Option<usize>)>;

/// Spec, "send", "recv": the host, which passes on what it gets, or the other process of this one's pair.
fn transfer_peer(
    process: &Process<'_>,
    is_host: bool,
    pairs: Option<&SourceTargetPairs>,
    side: Side,
) -> Result<Transfer, EvalError> {
    if is_host {
        return Ok(Some((None, None)));
    }
    let pairs = pairs
        .filter(|pairs| !pairs.0.is_empty())
        .ok_or_else(|| EvalError::invalid_input("a transfer between processes needs source_target_pairs"))?;
    // Pairs name partitions where there are several, as in XLA, else replicas.
    let by_partition = process.grid.partitions > 1;
    let own = if by_partition {
        process.id.partition
    } else {
        process.id.replica
    } as i64;
    let mine = |pair: &&[i64; 2]| match side {
        Side::Sender => pair[0] == own,
        Side::Receiver => pair[1] == own,
    };
    let Some(pair) = pairs.0.iter().find(mine) else {
        return Ok(None);
    };
    let number = |id: i64| -> Result<usize, EvalError> {
        let count = if by_partition {
            process.grid.partitions
        } else {
            process.grid.replicas()
        };
        let id = usize::try_from(id).ok().filter(|id| *id < count);
        let id =
            id.ok_or_else(|| EvalError::invalid_input(format!("{pair:?} names no pair of processes")))?;
        let mut place = process.id;
        *(if by_partition {
            &mut place.partition
        } else {
            &mut place.replica
        }) = id;
        Ok(process.grid.number(place))
    };
    Ok(Some((Some(number(pair[0])?), Some(number(pair[1])?))))
}

const fn transfer_channel(id: i64, from: Option<usize>, to: Option<usize>) -> Channel {
    Channel {
        operation: "stablehlo.recv",
        id,
        from,
        to,
    }
}

/// All operands but the token at the end.
fn sent_tensors(frame: &Frame<'_>, op: &Operation) -> Result<Vec<Tensor>, EvalError> {
    let mut values = frame.operands(op)?;
    values.pop();
    values.iter().map(|value| value.as_tensor().cloned()).collect()
}

/// What was sent, and a token; zeros for a process that nobody sends to.
fn receive(
    process: &Process<'_>,
    frame: &Frame<'_>,
    op: &Operation,
    channel: i64,
    peer: Transfer,
) -> Result<Vec<Value>, EvalError> {
    let tensors = match peer {
        Some((from, to)) => {
            let number = process.grid.number(process.id);
            process
                .grid
                .network
                .receive(number, &transfer_channel(channel, from, to))?
        }
        None => frame
            .result_types(op)
            .iter()
            .map(zeros)
            .collect::<Result<_, _>>()?,
    };
    let mut values: Vec<Value> = tensors.into_iter().map(Value::Tensor).collect();
    values.push(Value::Token);
    Ok(values)
}
