//! Options of a compile, as XLA takes them (`xla/pjrt/proto/compile_options.proto`).

use std::collections::BTreeMap;

use prost::Message as _;

/// How a program is spread over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Copies of the program that run on other data.
    pub replicas: u32,
    /// Devices that run one copy together: what `sdy` shardings divide arrays among.
    pub partitions: u32,
    /// Whether values of narrow floats may keep more precision between operations (`xla_allow_excess_precision`, which XLA allows
    /// unless it is told otherwise).
    pub excess_precision: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            replicas: 1,
            partitions: 1,
            excess_precision: false,
        }
    }
}

impl CompileOptions {
    /// The serialized `CompileOptionsProto`: the same bytes for the same options.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let is_partitioned = self.partitions > 1;
        let build = ExecutableBuildOptions {
            device_ordinal: -1,
            num_replicas: i64::from(self.replicas),
            num_partitions: i64::from(self.partitions),
            use_spmd_partitioning: is_partitioned,
            // Results have the shardings that the program says.
            allow_spmd_sharding_propagation_to_output: vec![false],
            use_shardy_partitioner: is_partitioned,
        };
        let excess_precision = OptionOverride {
            bool_field: Some(self.excess_precision),
        };
        CompileOptionsMessage {
            executable_build_options: Some(build),
            env_option_overrides: [("xla_allow_excess_precision".to_owned(), excess_precision)].into(),
        }
        .encode_to_vec()
    }
}

/// `CompileOptionsProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct CompileOptionsMessage {
    #[prost(message, optional, tag = "3")]
    executable_build_options: Option<ExecutableBuildOptions>,
    #[prost(btree_map = "string, message", tag = "7")]
    env_option_overrides: BTreeMap<String, OptionOverride>,
}

/// `OptionOverrideProto`: one field of several, of which only flags are used.
#[derive(Clone, PartialEq, prost::Message)]
struct OptionOverride {
    #[prost(bool, optional, tag = "2")]
    bool_field: Option<bool>,
}

/// `ExecutableBuildOptionsProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct ExecutableBuildOptions {
    #[prost(int64, tag = "1")]
    device_ordinal: i64,
    #[prost(int64, tag = "4")]
    num_replicas: i64,
    #[prost(int64, tag = "5")]
    num_partitions: i64,
    #[prost(bool, tag = "6")]
    use_spmd_partitioning: bool,
    #[prost(bool, repeated, tag = "12")]
    allow_spmd_sharding_propagation_to_output: Vec<bool>,
    #[prost(bool, tag = "19")]
    use_shardy_partitioner: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes written down by the fields of the schema: tag and type, then the value.
    #[test]
    fn bytes() {
        let minus_one = [0xff; 9].into_iter().chain([0x01]);
        let build: Vec<u8> = [0x08]
            .into_iter()
            .chain(minus_one)
            .chain([0x20, 1, 0x28, 1, 0x62, 1, 0])
            .collect();
        let name = b"xla_allow_excess_precision";
        let excess = [0x0a, name.len() as u8]
            .into_iter()
            .chain(*name)
            .chain([0x12, 2, 0x10, 0]);
        let excess: Vec<u8> = excess.collect();
        let build = [0x1a, build.len() as u8].into_iter().chain(build);
        let expected: Vec<u8> = build.chain([0x3a, excess.len() as u8]).chain(excess).collect();
        assert_eq!(CompileOptions::default().encode(), expected);
        let four = CompileOptions {
            partitions: 4,
            ..CompileOptions::default()
        };
        let encoded = four.encode();
        assert!(encoded.windows(4).any(|bytes| bytes == [0x28, 4, 0x30, 1]));
        assert!(encoded.windows(3).any(|bytes| bytes == [0x98, 1, 1]));
    }
}
