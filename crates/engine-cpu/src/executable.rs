//! A loaded program and its calls.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use artifact_core::entity::EntityId as _;
use artifact_cpu_routine::pool::Pool;
use artifact_dims::Assignment;
use artifact_engine::completion::{self, Completion};
use artifact_engine::{
    Argument, Buffer, EngineError, ErrorKind, Executable, ExecuteOptions, Report, Signature, Value, Watch,
};
use artifact_eval as eval;
use artifact_ir::module::{FunctionId, Module};
use artifact_lower::plan::{BufferId, Slot};

use crate::compile::engine_error;
use crate::error::{CpuError, CpuErrorKind};
use crate::instance::{Binding, Call, Instance};
use crate::loaded::Loaded;
use crate::memory::{ALIGNMENT, Block, Fencing};
use crate::payload::{Body, Payload};
use crate::perf::PerfMap;
use crate::profile::Recorder;
use crate::sizes::SizeRules;
use crate::values;
use crate::watched;

/// How often a call looks whether it has to stop, while a step runs.
const WATCH_EVERY: Duration = Duration::from_millis(2);

/// A program of this engine.
#[derive(Debug)]
pub(crate) struct CpuExecutable {
    signature: Signature,
    sizes: SizeRules,
    body: Loadable,
    pool: Arc<Pool>,
    fencing: Fencing,
    /// The binding of the last call, by its sizes.
    last: Mutex<Option<(Vec<u64>, Arc<Binding>)>>,
}

#[derive(Debug)]
enum Loadable {
    Plan(Box<Instance>),
    Whole { module: Box<Module>, entry: FunctionId },
}

impl CpuExecutable {
    pub(crate) fn new(
        payload: Payload,
        pool: Arc<Pool>,
        fencing: Fencing,
        map: Option<&PerfMap>,
    ) -> Result<Self, EngineError> {
        let Payload {
            arguments,
            results,
            conditions,
            body,
        } = payload;
        let body = match body {
            Body::Plan(compiled) => {
                let loaded = Loaded::new(*compiled, map).map_err(|error| engine_error(&error))?;
                Loadable::Plan(Box::new(Instance::new(loaded, fencing)))
            }
            Body::Whole { module, entry } => Loadable::Whole { module, entry },
        };
        let sizes = SizeRules::new(&arguments, conditions);
        Ok(Self {
            signature: Signature { arguments, results },
            sizes,
            body,
            pool,
            fencing,
            last: Mutex::new(None),
        })
    }

    fn run(
        &self,
        arguments: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        if options.step_limit.is_some() {
            return Err(EngineError::unsupported(
                "the engine `cpu` counts no steps: limit its time instead",
            ));
        }
        self.signature.check(arguments)?;
        let watch = Watch::start(options);
        watch.check()?;
        let outcome = match &self.body {
            Loadable::Plan(instance) => self.run_plan(instance, arguments, results, options, &watch),
            Loadable::Whole { module, entry } => {
                self.run_whole(module, *entry, arguments, results, options, &watch)
            }
        };
        // What was donated is gone, whatever came of the call.
        arguments.iter_mut().for_each(|argument| drop(argument.take()));
        outcome
    }

    fn binding(&self, instance: &Instance, arguments: &[Argument<'_>]) -> Result<Arc<Binding>, EngineError> {
        let mut sizes = Vec::new();
        self.sizes.sizes(arguments, &mut sizes);
        let lock = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, binding)) = &*lock()
            && *known == sizes
        {
            return Ok(Arc::clone(binding));
        }
        let values = self.sizes.solve(&sizes)?;
        let binding = instance.binding(&values).map_err(|error| engine_error(&error))?;
        *lock() = Some((sizes, Arc::clone(&binding)));
        Ok(binding)
    }

    fn run_plan(
        &self,
        instance: &Instance,
        arguments: &[Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
        watch: &Watch,
    ) -> Result<Report, EngineError> {
        let binding = self.binding(instance, arguments)?;
        let own_bytes = binding.own_bytes(self.pool.parallel().slots());
        let memory_left = check_memory(&binding, own_bytes, arguments, options)?;
        let inputs = Inputs::of(arguments, self.fencing)?;
        let outputs = Outputs::new(&instance.loaded.plan.results, &binding, results, self.fencing)?;
        let stop = AtomicBool::new(false);
        let recorder = options.profile.then(|| Recorder::new(instance, &binding));
        let observe = recorder
            .as_ref()
            .map(|recorder| |step, time| recorder.note(step, time));
        let call = Call {
            pool: &self.pool,
            stop: &stop,
            watch,
            options: eval::Options {
                steps_max: None,
                bytes_max: options.memory_limit_bytes,
            },
            workspace_bytes_max: memory_left,
            observer: observe.as_ref().map(|observe| observe as &dyn Fn(u32, Duration)),
        };
        // SAFETY: inputs and outputs are aligned, and as large as the binding says.
        let run = || unsafe { instance.run(&binding, &inputs.addresses, &outputs.addresses, call) };
        let outcome = if watch.is_set() {
            watched(watch, &stop, run)
        } else {
            run()
        };
        let outcome = outcome.map_err(|error| why_ended(&error, watch))?;
        outputs.finish(results)?;
        let mut report = values::report(outcome)?;
        report.profile = recorder.map(Recorder::finish);
        Ok(report)
    }

    fn run_whole(
        &self,
        module: &Module,
        entry: FunctionId,
        arguments: &[Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
        watch: &Watch,
    ) -> Result<Report, EngineError> {
        let mut sizes = Vec::new();
        self.sizes.sizes(arguments, &mut sizes);
        let _: Assignment = self.sizes.solve(&sizes)?;
        let inputs = arguments.iter().filter_map(Argument::value).map(values::to_eval);
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let limits = eval::Options {
            steps_max: None,
            bytes_max: options.memory_limit_bytes,
        };
        let outcome = watched::evaluate(module, entry, inputs, &limits, watch);
        let outcome = outcome.map_err(|error| why_ended(&error.into(), watch))?;
        let mut before = std::mem::take(results).into_iter();
        for value in &outcome.results {
            let memory = before.next().and_then(Value::into_array);
            results.push(values::from_eval(value, memory)?);
        }
        values::report(outcome)
    }
}

impl Executable for CpuExecutable {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        options: &'a ExecuteOptions,
    ) -> Completion<'a> {
        completion::at_once(results, |results| self.run(arguments, results, options))
    }
}

/// The error of a call: what stopped it from outside, where that ended it.
fn why_ended(error: &CpuError, watch: &Watch) -> EngineError {
    match watch.check() {
        Err(stopped) if error.kind() == CpuErrorKind::Time => stopped.at(error.source_offset()),
        _ => engine_error(error),
    }
}

/// Runs something while another thread looks whether it has to stop.
fn watched<T>(watch: &Watch, stop: &AtomicBool, run: impl FnOnce() -> T) -> T {
    let done = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_done = done.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*is_done {
                if watch.check().is_err() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
                let waited = done.1.wait_timeout(is_done, WATCH_EVERY);
                is_done = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        });
        let outcome = run();
        *done.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        done.1.notify_all();
        outcome
    })
}

/// Bytes that are left of the limit for what routines take for themselves; `None` where there is no limit.
fn check_memory(
    binding: &Binding,
    own_bytes: u64,
    arguments: &[Argument<'_>],
    options: &ExecuteOptions,
) -> Result<Option<usize>, EngineError> {
    let Some(limit) = options.memory_limit_bytes else {
        return Ok(None);
    };
    let given = arguments
        .iter()
        .filter_map(Argument::value)
        .map(Value::byte_count);
    let needed = given
        .fold(own_bytes, u64::saturating_add)
        .saturating_add(binding.result_bytes());
    if needed > limit {
        let what = format!("the program needs {needed} bytes for these sizes, over the limit of {limit}");
        return Err(EngineError::new(ErrorKind::MemoryLimit, what));
    }
    Ok(Some(usize::try_from(limit - needed).unwrap_or(usize::MAX)))
}

/// The arrays among the arguments, each aligned: copied where it is not, or has to lie between pages.
struct Inputs {
    addresses: smallvec::SmallVec<[*const u8; 16]>,
    copies: Vec<Block>,
    fencing: Fencing,
}

impl Inputs {
    fn of(arguments: &[Argument<'_>], fencing: Fencing) -> Result<Self, EngineError> {
        let mut inputs = Self {
            addresses: smallvec::SmallVec::new(),
            copies: Vec::new(),
            fencing,
        };
        for value in arguments.iter().filter_map(Argument::value) {
            inputs.add(value)?;
        }
        Ok(inputs)
    }

    fn add(&mut self, value: &Value) -> Result<(), EngineError> {
        match value {
            Value::Array(buffer) => {
                let bytes = buffer.bytes();
                let mut address = bytes.as_ptr();
                if self.fencing == Fencing::Pages {
                    let copy = Block::sealed(bytes).map_err(|error| engine_error(&error))?;
                    address = copy.data();
                    self.copies.push(copy);
                } else if !(address as usize).is_multiple_of(ALIGNMENT) {
                    let copy = Block::new(bytes.len()).map_err(|error| engine_error(&error))?;
                    // SAFETY: the block is as large.
                    unsafe { std::ptr::copy_nonoverlapping(address, copy.data(), bytes.len()) };
                    address = copy.data();
                    self.copies.push(copy);
                }
                self.addresses.push(address);
                Ok(())
            }
            Value::Tuple(parts) => parts.iter().try_for_each(|part| self.add(part)),
            Value::Token | Value::Future(_) => Ok(()),
        }
    }
}

/// Memory for the results.
struct Outputs {
    values: Vec<Value>,
    addresses: smallvec::SmallVec<[*mut u8; 16]>,
    /// Where results are made that have to lie between pages, array by array.
    fenced: Vec<Block>,
    fencing: Fencing,
}

impl Outputs {
    fn new(
        slots: &[Slot],
        binding: &Binding,
        results: &mut Vec<Value>,
        fencing: Fencing,
    ) -> Result<Self, EngineError> {
        let mut before = std::mem::take(results).into_iter();
        let mut outputs = Self {
            values: Vec::with_capacity(slots.len()),
            addresses: smallvec::SmallVec::new(),
            fenced: Vec::new(),
            fencing,
        };
        for slot in slots {
            let memory = before.next().and_then(Value::into_array);
            let value = outputs.value(slot, binding, memory)?;
            outputs.values.push(value);
        }
        Ok(outputs)
    }

    fn value(
        &mut self,
        slot: &Slot,
        binding: &Binding,
        memory: Option<Buffer>,
    ) -> Result<Value, EngineError> {
        Ok(match slot {
            Slot::Token => Value::Token,
            Slot::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.value(part, binding, None));
                Value::Tuple(parts.collect::<Result<_, _>>()?)
            }
            Slot::Array(id) => Value::Array(self.array(*id, binding, memory)?),
        })
    }

    fn array(
        &mut self,
        id: BufferId,
        binding: &Binding,
        memory: Option<Buffer>,
    ) -> Result<Buffer, EngineError> {
        let ty = Arc::clone(&binding.bound.buffers[id.index()].ty);
        let buffer = match memory {
            Some(memory) => memory.recycled(ty),
            None => Buffer::zeros(ty),
        };
        let mut buffer =
            buffer.map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))?;
        let missing = || EngineError::internal("a new buffer is shared");
        let bytes = buffer.bytes_mut().ok_or_else(missing)?;
        let mut address = bytes.as_mut_ptr();
        if self.fencing == Fencing::Pages {
            let block = Block::fenced(bytes.len(), self.fencing).map_err(|error| engine_error(&error))?;
            address = block.data();
            self.fenced.push(block);
        }
        self.addresses.push(address);
        Ok(buffer)
    }

    fn finish(mut self, results: &mut Vec<Value>) -> Result<(), EngineError> {
        if self.fencing == Fencing::Pages {
            let mut fenced = self.fenced.iter();
            let values = std::mem::take(&mut self.values).into_iter();
            let copied = values.map(|value| copied(value, &mut fenced));
            self.values = copied.collect::<Result<_, _>>()?;
        }
        *results = self.values;
        Ok(())
    }
}

/// A value with the elements that were made between pages, after a look at what is around them.
fn copied(value: Value, fenced: &mut std::slice::Iter<'_, Block>) -> Result<Value, EngineError> {
    match value {
        Value::Array(buffer) => {
            let missing = || EngineError::internal("a result has no memory");
            let block = fenced.next().ok_or_else(missing)?;
            block.check().map_err(|error| engine_error(&error))?;
            // SAFETY: the block is as large as the buffer, and nobody writes to it any more.
            let bytes = unsafe { std::slice::from_raw_parts(block.data(), buffer.bytes().len()) };
            let written = buffer.overwritten(bytes);
            Ok(Value::Array(
                written.map_err(|error| EngineError::internal(error.to_string()))?,
            ))
        }
        Value::Tuple(parts) => {
            let parts = parts.iter().map(|part| copied(part.clone(), fenced));
            Ok(Value::Tuple(parts.collect::<Result<_, _>>()?))
        }
        value @ (Value::Token | Value::Future(_)) => Ok(value),
    }
}
