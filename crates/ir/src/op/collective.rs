//! Communication between processes and with the host.

use super::{from, n, op_family};
use crate::attribute::{
    Attribute, ByteString, ChannelHandle, ReplicaGroups, SourceTargetPairs, op_attributes,
};
use crate::literal::Literal;

op_family! {
    /// Collectives, point-to-point transfers and host transfers.
    Collective {
        /// Concatenates the operands of a group.
        AllGather(Box<AllGather>) = "stablehlo.all_gather": from(1) => from(1),
        /// Reduces the operands of a group.
        AllReduce(Box<AllReduce>) = "stablehlo.all_reduce": from(1) => from(1); regions n(1),
        /// Exchanges parts within a group.
        AllToAll(Box<AllToAll>) = "stablehlo.all_to_all": from(1) => from(1),
        /// Copies from one process of a group to the others.
        CollectiveBroadcast(Box<CollectiveBroadcast>) = "stablehlo.collective_broadcast": from(1) => from(1),
        /// Copies between pairs of processes.
        CollectivePermute(Box<CollectivePermute>) = "stablehlo.collective_permute": n(1) => n(1),
        /// Reduces to one process of a group (VHLO 1.19).
        CollectiveReduce(Box<CollectiveReduce>) = "stablehlo.collective_reduce": from(1) => from(1); regions n(1),
        /// Sum over groups (legacy; `all_reduce` says the same).
        CrossReplicaSum(CrossReplicaSum) = "stablehlo.cross-replica-sum": n(1) => n(1),
        /// Reads from the host.
        Infeed(Box<Infeed>) = "stablehlo.infeed": n(1) => from(1),
        /// inputs, token: writes to the host.
        Outfeed(Outfeed) = "stablehlo.outfeed": from(1) => n(1),
        /// Number of this process among partitions.
        PartitionId = "stablehlo.partition_id": n(0) => n(1),
        /// Receives from another process or the host.
        Recv(Box<Recv>) = "stablehlo.recv": n(1) => from(1),
        /// Reduces, then scatters the result over the group.
        ReduceScatter(Box<ReduceScatter>) = "stablehlo.reduce_scatter": n(1) => n(1); regions n(1),
        /// Number of this process among replicas.
        ReplicaId = "stablehlo.replica_id": n(0) => n(1),
        /// inputs, token: sends to another process or the host.
        Send(Box<Send>) = "stablehlo.send": from(1) => n(1),
    }
}

op_attributes! {
    /// Attributes of `all_gather`.
    AllGather {
        /// The dimension that grows.
        all_gather_dim: i64 => required,
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
        /// Whether groups hold global device numbers.
        use_global_device_ids: bool => unit,
    }

    /// Attributes of `all_reduce`.
    AllReduce {
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
        /// Whether groups hold global device numbers.
        use_global_device_ids: bool => unit,
    }

    /// Attributes of `all_to_all`.
    AllToAll {
        /// The dimension that is cut.
        split_dimension: i64 => required,
        /// The dimension along which parts are joined.
        concat_dimension: i64 => required,
        /// Number of parts.
        split_count: i64 => required,
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
    }

    /// Attributes of `collective_broadcast`.
    CollectiveBroadcast {
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
        /// Whether the last operand names the root (VHLO 1.20).
        has_dynamic_root: bool => unit,
    }

    /// Attributes of `collective_permute`.
    CollectivePermute {
        /// From which process to which.
        source_target_pairs: SourceTargetPairs => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
    }

    /// Attributes of `collective_reduce`.
    CollectiveReduce {
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
        /// Whether groups hold global device numbers.
        use_global_device_ids: bool => unit,
        /// Whether the last operand names the root (VHLO 1.20).
        has_dynamic_root: bool => unit,
    }

    /// Attributes of `cross-replica-sum`.
    CrossReplicaSum {
        /// The groups.
        replica_groups: Literal => required,
    }

    /// Attributes of `infeed`.
    Infeed {
        /// Configuration.
        infeed_config: ByteString => default(ByteString::from("")),
        /// Layouts of the results.
        layout: Option<Attribute> => optional,
    }

    /// Attributes of `outfeed`.
    Outfeed {
        /// Configuration.
        outfeed_config: ByteString => default(ByteString::from("")),
    }

    /// Attributes of `recv`.
    Recv {
        /// The channel.
        channel_handle: ChannelHandle => required,
        /// Whether the other side is the host.
        is_host_transfer: bool => default(false),
        /// From which process to which (VHLO 1.12).
        source_target_pairs: Option<SourceTargetPairs> => optional,
    }

    /// Attributes of `reduce_scatter`.
    ReduceScatter {
        /// The dimension that is cut.
        scatter_dimension: i64 => required,
        /// The groups.
        replica_groups: ReplicaGroups => required,
        /// The channel.
        channel_handle: Option<ChannelHandle> => neutral(ChannelHandle::is_none),
        /// Whether groups hold global device numbers.
        use_global_device_ids: bool => unit,
    }

    /// Attributes of `send`.
    Send {
        /// The channel.
        channel_handle: ChannelHandle => required,
        /// Whether the other side is the host.
        is_host_transfer: bool => default(false),
        /// From which process to which (VHLO 1.12).
        source_target_pairs: Option<SourceTargetPairs> => optional,
    }
}
