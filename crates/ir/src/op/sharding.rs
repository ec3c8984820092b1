//! Sharding of values over a mesh of devices (the Shardy dialect, ODS: `ops.td`).
//!
//! On whole values, as a program without devices sees them, all of these but the constant and the two with a body are the
//! identity: they say where the parts of a value are.

use super::{Constant, from, n, op_family};
use crate::attribute::sdy::{
    AllToAllParamList, AxisRefList, ListOfAxisRefLists, ManualAxes, PropagationDirection, ReductionOp,
    TensorSharding, TensorShardingPerValue,
};
use crate::attribute::{ByteString, op_attributes};

op_family! {
    /// Sharding of values over a mesh of devices (Shardy).
    Sharding {
        /// Copies to all devices along axes.
        AllGather(Box<ShardedAllGather>) = "sdy.all_gather": n(1) => n(1),
        /// Reduces along axes.
        AllReduce(Box<ShardedAllReduce>) = "sdy.all_reduce": n(1) => n(1),
        /// Divides further along axes.
        AllSlice(Box<ShardedAllSlice>) = "sdy.all_slice": n(1) => n(1),
        /// Moves axes between dimensions.
        AllToAll(Box<ShardedAllToAll>) = "sdy.all_to_all": n(1) => n(1),
        /// Replaces axes by others of the same size.
        CollectivePermute(Box<ShardedCollectivePermute>) = "sdy.collective_permute": n(1) => n(1),
        /// A constant that is not merged with others.
        Constant(Constant) = "sdy.constant": n(0) => n(1),
        /// Where propagation joins sources and targets of an operation with regions.
        DataFlowEdge(Box<DataFlowEdge>) = "sdy.data_flow_edge": n(1) => n(1),
        /// Where propagation enters or leaves a function.
        FuncDataFlowEdge = "sdy.func_data_flow_edge": n(1) => n(1),
        /// A body written for one device along some axes.
        ManualComputation(Box<ManualComputation>) = "sdy.manual_computation": from(0) => from(0); regions n(1),
        /// A body with a name.
        NamedComputation(Box<NamedComputation>) = "sdy.named_computation": from(0) => from(0); regions n(1),
        /// Stops propagation.
        PropagationBarrier(PropagationBarrier) = "sdy.propagation_barrier": n(1) => n(1),
        /// Reduces, and divides along the same axes.
        ReduceScatter(Box<ShardedReduceScatter>) = "sdy.reduce_scatter": n(1) => n(1),
        /// Lets copies count as parts of a sum.
        ReplicatedToUnreduced(Box<ReplicatedToUnreduced>) = "sdy.replicated_to_unreduced": n(1) => n(1),
        /// Divides a value in another way.
        Reshard(Box<Reshard>) = "sdy.reshard": n(1) => n(1),
        /// Ends a body.
        Return = "sdy.return": from(0) => n(0),
        /// Lets parts count as parts of a sum.
        ShardedToUnreduced(Box<ShardedToUnreduced>) = "sdy.sharded_to_unreduced": n(1) => n(1),
        /// Says how a value, or some of its uses, must be divided.
        ShardingConstraint(Box<ShardingConstraint>) = "sdy.sharding_constraint": n(1) => n(1),
        /// Puts a value into a group that is divided in one way.
        ShardingGroup(ShardingGroup) = "sdy.sharding_group": n(1) => n(0),
    }
}

op_attributes! {
    /// Attributes of `sdy.all_gather`.
    ShardedAllGather {
        /// Axes that no longer divide each dimension.
        gathering_axes: ListOfAxisRefLists => required,
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.all_reduce`.
    ShardedAllReduce {
        /// The axes.
        reduction_axes: AxisRefList => required,
        /// The reduction.
        reduction_op: ReductionOp => default(ReductionOp::Sum),
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.all_slice`.
    ShardedAllSlice {
        /// Axes that divide each dimension in addition.
        slicing_axes: ListOfAxisRefLists => required,
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.all_to_all`.
    ShardedAllToAll {
        /// What moves from where to where.
        params: AllToAllParamList => required,
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.collective_permute`.
    ShardedCollectivePermute {
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.data_flow_edge`.
    DataFlowEdge {
        /// The sharding of all targets.
        sharding: Option<TensorSharding> => optional,
    }

    /// Attributes of `sdy.manual_computation`.
    ManualComputation {
        /// The sharding of each operand.
        in_shardings: TensorShardingPerValue => required,
        /// The sharding of each result.
        out_shardings: TensorShardingPerValue => required,
        /// The axes along which the body is that of one device.
        manual_axes: ManualAxes => required,
    }

    /// Attributes of `sdy.named_computation`.
    NamedComputation {
        /// Its name.
        name: ByteString => required,
        /// The sharding of each operand.
        in_shardings: Option<TensorShardingPerValue> => optional,
        /// The sharding of each result.
        out_shardings: Option<TensorShardingPerValue> => optional,
    }

    /// Attributes of `sdy.propagation_barrier`.
    PropagationBarrier {
        /// Which way shardings may pass.
        allowed_direction: PropagationDirection => required,
    }

    /// Attributes of `sdy.reduce_scatter`.
    ShardedReduceScatter {
        /// Axes that divide each dimension in addition.
        reduce_scatter_axes: ListOfAxisRefLists => required,
        /// The reduction.
        reduction_op: ReductionOp => default(ReductionOp::Sum),
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.replicated_to_unreduced`.
    ReplicatedToUnreduced {
        /// The axes.
        axes: AxisRefList => required,
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.reshard`.
    Reshard {
        /// What it becomes.
        sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.sharded_to_unreduced`.
    ShardedToUnreduced {
        /// Axes that no longer divide each dimension.
        axes: ListOfAxisRefLists => required,
        /// What it becomes.
        out_sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.sharding_constraint`.
    ShardingConstraint {
        /// What it must be.
        sharding: TensorSharding => required,
    }

    /// Attributes of `sdy.sharding_group`.
    ShardingGroup {
        /// The group.
        group_id: i64 => required,
    }
}

impl Sharding {
    /// The sharding that the only result has, where the operation itself says it.
    #[must_use]
    pub const fn out_sharding(&self) -> Option<&TensorSharding> {
        match self {
            Self::AllGather(op) => Some(&op.out_sharding),
            Self::AllReduce(op) => Some(&op.out_sharding),
            Self::AllSlice(op) => Some(&op.out_sharding),
            Self::AllToAll(op) => Some(&op.out_sharding),
            Self::CollectivePermute(op) => Some(&op.out_sharding),
            Self::DataFlowEdge(op) => op.sharding.as_ref(),
            Self::ReduceScatter(op) => Some(&op.out_sharding),
            Self::ReplicatedToUnreduced(op) => Some(&op.out_sharding),
            Self::Reshard(op) => Some(&op.sharding),
            Self::ShardedToUnreduced(op) => Some(&op.out_sharding),
            Self::ShardingConstraint(op) => Some(&op.sharding),
            Self::Constant(_)
            | Self::FuncDataFlowEdge
            | Self::ManualComputation(_)
            | Self::NamedComputation(_)
            | Self::PropagationBarrier(_)
            | Self::Return
            | Self::ShardingGroup(_) => None,
        }
    }
}
