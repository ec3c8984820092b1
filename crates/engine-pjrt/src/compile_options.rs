//! Options of a compile, as XLA takes them (`xla/pjrt/proto/compile_options.proto`).

use prost::Message as _;

/// How a program is spread over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Copies of the program that run on other data.
    pub replicas: u32,
    /// Devices that run one copy together: what `sdy` shardings divide arrays among.
    pub partitions: u32,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            replicas: 1,
            partitions: 1,
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
        CompileOptionsMessage {
            executable_build_options: Some(build),
        }
        .encode_to_vec()
    }
}

/// `CompileOptionsProto`.
#[derive(Clone, PartialEq, prost::Message)]
struct CompileOptionsMessage {
    #[prost(message, optional, tag = "3")]
    executable_build_options: Option<ExecutableBuildOptions>,
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
        let expected: Vec<u8> = [0x1a, build.len() as u8].into_iter().chain(build).collect();
        assert_eq!(CompileOptions::default().encode(), expected);
        let four = CompileOptions {
            partitions: 4,
            ..CompileOptions::default()
        };
        let encoded = four.encode();
        assert!(encoded.windows(4).any(|bytes| bytes == [0x28, 4, 0x30, 1]));
        assert!(encoded.ends_with(&[0x98, 1, 1]));
    }
}
