//! The engine behind the port.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_cpu_routine::pool::Pool;
use artifact_engine::{
    CompileOptions, CompiledModule, Component, Device, DeviceId, Engine, EngineError, Executable, Features,
    Plan, Program, TargetSupport, Toolchain,
};

use crate::compile;
use crate::executable::CpuExecutable;
use crate::memory::Fencing;
use crate::payload::{self, Payload};
use crate::perf::PerfMap;
use crate::target::Target;

/// How the engine runs; none of it changes results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Threads that one call uses at most, the caller's among them; `None` for as many as the machine has processors.
    pub threads: Option<usize>,
    /// Whether every buffer lies between pages that nobody may touch, so that an access outside of it stops the process; and whether
    /// memory that was not written yet holds no zeros. For tests: it takes pages of memory for each buffer, and copies of arguments
    /// and results.
    pub guard_pages: bool,
    /// Whether the names of kernels are written to `/tmp/perf-PID.map`, where `perf` looks for them.
    pub perf_map: bool,
}

/// The embedded engine.
#[derive(Debug)]
pub struct CpuEngine {
    toolchain: Toolchain,
    target: Target,
    pool: Arc<Pool>,
    fencing: Fencing,
    map: Option<Arc<PerfMap>>,
}

impl CpuEngine {
    /// The engine of this machine.
    ///
    /// # Errors
    /// Unavailable where the processor is older than the lowest target, and where the map for `perf` cannot be made.
    pub fn new(settings: &Settings) -> Result<Self, EngineError> {
        let target = Target::detect().ok_or_else(|| {
            let lowest = Target::ALL[0];
            EngineError::new(
                artifact_engine::ErrorKind::Unavailable,
                format!("the processor lacks instructions of {lowest}, the lowest target"),
            )
        })?;
        let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = settings.threads.unwrap_or(available).max(1);
        let sources = env!("ARTIFACT_ENGINE_CPU_SOURCES").parse();
        let sources = sources.map_err(|_| EngineError::internal("the digest of the sources is none"))?;
        Ok(Self {
            toolchain: Toolchain::default()
                .with("sources", Component::Digest(sources))
                .with("payload", Component::Version(payload::VERSION.to_owned())),
            target,
            pool: Arc::new(Pool::new(threads)),
            fencing: if settings.guard_pages {
                Fencing::Pages
            } else {
                Fencing::None
            },
            map: settings.perf_map.then(PerfMap::of_process).transpose()?,
        })
    }
}

fn port_target(target: Target) -> Result<artifact_engine::Target, EngineError> {
    artifact_engine::Target::new(target.name())
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn platform(&self) -> &'static str {
        "cpu"
    }

    fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    fn targets(&self) -> Vec<TargetSupport> {
        let support = |target: Target| {
            let missing =
                (!target.is_supported()).then(|| format!("the processor lacks instructions of {target}"));
            Some(TargetSupport {
                target: port_target(target).ok()?,
                missing,
            })
        };
        Target::ALL.into_iter().filter_map(support).collect()
    }

    #[expect(clippy::expect_used, reason = "names of targets are our own")]
    fn target(&self) -> artifact_engine::Target {
        port_target(self.target).expect("a name of ours")
    }

    fn devices(&self) -> Vec<Device> {
        let threads = self.pool.threads();
        vec![Device {
            id: DeviceId(0),
            description: format!("{threads} threads of this machine"),
            memory_bytes: None,
        }]
    }

    fn features(&self) -> Features {
        Features::of_own_operations()
    }

    fn plan(&self, program: &Program, _options: &CompileOptions) -> Result<Plan, EngineError> {
        compile::residual(program)
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        let target = Target::find(options.target.name()).ok_or_else(|| {
            EngineError::unsupported(format!("the engine `cpu` has no target `{}`", options.target))
        })?;
        options.check_one_device()?;
        let payload = compile::compile(program, target, options)?.encode()?;
        Ok(CompiledModule::new(
            self,
            options.target.clone(),
            Blob::new(payload),
        ))
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        module.check(self)?;
        let payload = Payload::decode(module.payload())?;
        let pool = Arc::clone(&self.pool);
        Ok(Arc::new(CpuExecutable::new(
            payload,
            pool,
            self.fencing,
            self.map.as_deref(),
        )?))
    }
}
