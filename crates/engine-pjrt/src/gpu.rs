//! GPUs that programs are compiled for where there is none.
//!
//! XLA's CUDA compiler needs to know of a device what it otherwise asks the driver (`stream_executor.GpuTargetConfigProto`). An
//! incomplete description ends the process that compiles, so that every number stands in a struct. The numbers are those of XLA's own
//! descriptions (`xla/backends/gpu/target_config/specs`); what is not listed there is left out, such as versions of the driver.

/// A GPU.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// The name of the target.
    pub(crate) name: &'static str,
    /// What a client calls the device.
    pub(crate) kind: &'static str,
    /// Major number of the compute capability, of which the minor one is 0.
    compute_capability: u32,
    /// Whether code uses what only this generation has (`sm_90a`).
    accelerated: bool,
    core_count: u32,
    fpus_per_core: u32,
    shared_memory_per_core: u64,
    shared_memory_per_block_optin: u64,
    memory_bandwidth: u64,
    l2_cache_size: u64,
    clock_rate_ghz: f32,
    device_memory_size: u64,
    /// cuDNN that the program may use at least.
    dnn_version: (u32, u32, u32),
}

/// What is known.
pub(crate) const GPUS: [Gpu; 2] = [
    Gpu {
        name: "h100",
        kind: "NVIDIA H100 80GB HBM3",
        compute_capability: 9,
        accelerated: true,
        core_count: 132,
        fpus_per_core: 128,
        shared_memory_per_core: 233_472,
        shared_memory_per_block_optin: 232_448,
        memory_bandwidth: 3_352_320_000_000,
        l2_cache_size: 52_428_800,
        clock_rate_ghz: 1.98,
        device_memory_size: 84_942_979_072,
        dnn_version: (9, 10, 0),
    },
    Gpu {
        name: "a100",
        kind: "NVIDIA A100-SXM4-80GB",
        compute_capability: 8,
        accelerated: false,
        core_count: 108,
        fpus_per_core: 64,
        shared_memory_per_core: 167_936,
        shared_memory_per_block_optin: 166_912,
        memory_bandwidth: 2_039_040_000_000,
        l2_cache_size: 41_943_040,
        clock_rate_ghz: 1.41,
        device_memory_size: 85_100_068_864,
        dnn_version: (9, 10, 0),
    },
];

impl Gpu {
    /// The GPU of a target.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        GPUS.iter().find(|gpu| gpu.name == name)
    }

    /// The description as the text of a `GpuTargetConfigProto`. What all of these generations have in common stands in it.
    pub(crate) fn target_config(&self) -> String {
        let Self {
            kind,
            compute_capability,
            accelerated,
            core_count,
            fpus_per_core,
            shared_memory_per_core,
            shared_memory_per_block_optin,
            memory_bandwidth,
            l2_cache_size,
            clock_rate_ghz,
            device_memory_size,
            dnn_version: (dnn_major, dnn_minor, dnn_patch),
            ..
        } = self;
        let extension = match accelerated {
            true => "ACCELERATED_FEATURES",
            false => "NONE",
        };
        format!(
            r#"gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {shared_memory_per_core}
  threads_per_core_limit: 2048
  core_count: {core_count}
  fpus_per_core: {fpus_per_core}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {memory_bandwidth}
  l2_cache_size: {l2_cache_size}
  clock_rate_ghz: {clock_rate_ghz}
  device_memory_size: {device_memory_size}
  shared_memory_per_block_optin: {shared_memory_per_block_optin}
  cuda_compute_capability {{ major: {compute_capability} feature_extension: {extension} }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  name: "{kind}"
  dnn_version: "{dnn_major}.{dnn_minor}.{dnn_patch}"
}}
platform_name: "CUDA"
dnn_version_info {{ major: {dnn_major} minor: {dnn_minor} patch: {dnn_patch} }}
device_description_str: "{kind}"
"#
        )
    }
}
