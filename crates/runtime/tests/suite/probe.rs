//! The reference engine, which counts what it is asked for, and asks for what a test wants.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use artifact_engine::completion::Completion;
use artifact_engine::{
    Argument, CompileOptions, CompiledModule, Device, Engine, EngineError, Executable, ExecuteOptions,
    Features, Plan, Program, Signature, Target, TargetSupport, Toolchain, Value,
};
use artifact_engine_reference::ReferenceEngine;

type MakePlan = fn(&Program) -> Plan;

#[derive(Debug)]
pub(crate) struct Probe {
    inner: ReferenceEngine,
    plan: MakePlan,
    pub(crate) compiles: AtomicUsize,
    /// Compiles that fail before one succeeds.
    pub(crate) failures: AtomicUsize,
    /// Where the bytes of the arguments of the last call lay.
    pub(crate) places: Arc<Mutex<Vec<usize>>>,
}

impl Probe {
    pub(crate) fn new() -> Arc<Self> {
        Self::planning(|_| Plan::default())
    }

    pub(crate) fn planning(plan: MakePlan) -> Arc<Self> {
        Arc::new(Self {
            inner: ReferenceEngine::new().unwrap(),
            plan,
            compiles: AtomicUsize::new(0),
            failures: AtomicUsize::new(0),
            places: Arc::default(),
        })
    }

    pub(crate) fn compiled(&self) -> usize {
        self.compiles.load(Ordering::Relaxed)
    }
}

impl Engine for Probe {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn platform(&self) -> &str {
        self.inner.platform()
    }

    fn toolchain(&self) -> &Toolchain {
        self.inner.toolchain()
    }

    fn targets(&self) -> Vec<TargetSupport> {
        self.inner.targets()
    }

    fn target(&self) -> Target {
        self.inner.target()
    }

    fn devices(&self) -> Vec<Device> {
        self.inner.devices()
    }

    fn features(&self) -> Features {
        self.inner.features()
    }

    fn plan(&self, program: &Program, _options: &CompileOptions) -> Result<Plan, EngineError> {
        Ok((self.plan)(program))
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        self.compiles.fetch_add(1, Ordering::Relaxed);
        let left = self
            .failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_ok() {
            return Err(EngineError::internal("not this time"));
        }
        self.inner.compile(program, options)
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        Ok(Arc::new(ProbeExecutable {
            inner: self.inner.load(module)?,
            places: Arc::clone(&self.places),
        }))
    }
}

#[derive(Debug)]
struct ProbeExecutable {
    inner: Arc<dyn Executable>,
    places: Arc<Mutex<Vec<usize>>>,
}

impl Executable for ProbeExecutable {
    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        options: &'a ExecuteOptions,
    ) -> Completion<'a> {
        let arrays = arguments
            .iter()
            .filter_map(|argument| argument.value()?.as_array());
        *self.places.lock().unwrap() = arrays.map(|array| array.bytes().as_ptr() as usize).collect();
        self.inner.execute(arguments, results, options)
    }
}
