//! Runs a loaded executable on arrays of the port.

use std::sync::Arc;
use std::time::Instant;

use artifact_engine::completion::{self, Completion};
use artifact_engine::{
    Argument, Buffer, EngineError, ErrorKind, Executable, ExecuteOptions, Profile, ProfileStep, Report,
    Signature, Value, Watch, Work,
};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::literal::extend_signs;
use artifact_ir::types::{TensorType, Type};

use crate::buffer::DeviceBuffer;
use crate::client::{Client, Device};
use crate::executable::LoadedExecutable;
use crate::expectations::Expectations;
use crate::payload::Payload;

/// An executable of one device behind the port.
#[derive(Debug)]
pub(crate) struct PjrtExecutable {
    loaded: LoadedExecutable,
    signature: Signature,
    results: Vec<Arc<TensorType>>,
    expectations: Option<Expectations>,
    /// Bytes of the arguments, the results and what is compared together.
    bytes: u64,
}

/// Host memory that a plugin may read for as long as it likes.
struct Host(Buffer);

impl AsRef<[u8]> for Host {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl PjrtExecutable {
    pub(crate) fn new(loaded: LoadedExecutable, payload: Payload) -> Result<Self, EngineError> {
        let judged = payload
            .expectations
            .as_ref()
            .map_or(0, |expectations| expectations.operands.len());
        let says = payload.results.len() + judged;
        if loaded.outputs() != says {
            let has = loaded.outputs();
            let what = format!("the compiled module is damaged: {has} results, and it says {says}");
            return Err(EngineError::incompatible(what));
        }
        let judged = payload
            .expectations
            .iter()
            .flat_map(|expectations| &expectations.operands);
        let all = payload.arguments.iter().chain(&payload.results).chain(judged);
        let bytes = all.filter_map(|ty| ty.byte_count()).fold(0, u64::saturating_add);
        let types = |types: &[Arc<TensorType>]| types.iter().map(|ty| Type::Tensor(Arc::clone(ty))).collect();
        Ok(Self {
            loaded,
            signature: Signature {
                arguments: types(&payload.arguments),
                results: types(&payload.results),
            },
            results: payload.results,
            expectations: payload.expectations,
            bytes,
        })
    }

    fn client(&self) -> &Arc<Client> {
        self.loaded.client()
    }

    fn run(
        &self,
        arguments: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, EngineError> {
        self.signature.check(arguments)?;
        self.check_limits(options)?;
        let watch = Watch::start(options);
        let start = Instant::now();
        let device = self.client().devices().first();
        let device =
            device.ok_or_else(|| EngineError::new(ErrorKind::Unavailable, "the client has no device"))?;
        let inputs: Vec<DeviceBuffer> = arguments
            .iter_mut()
            .map(|argument| self.input(argument, device))
            .collect::<Result<_, _>>()?;
        watch.check()?;
        let borrowed: Vec<&DeviceBuffer> = inputs.iter().collect();
        // Nothing is given away: the program says of no argument that it may be.
        let kept: Vec<i64> = (0..inputs.len() as i64).collect();
        let outputs = self.loaded.execute(&[borrowed], &kept)?;
        watch.check()?;
        let outputs = outputs.into_iter().next().unwrap_or_default();
        let mut before = std::mem::take(results).into_iter();
        for (output, ty) in outputs.iter().zip(&self.results) {
            let memory = before.next().and_then(Value::into_array);
            results.push(Value::Array(fetched(output, ty, memory)?));
        }
        let mut report = Report {
            profile: options.profile.then(|| profile(start, self.bytes)),
            ..Report::default()
        };
        if let Some(expectations) = &self.expectations {
            let judged = outputs[self.results.len()..].iter().zip(&expectations.operands);
            let elements = |(output, ty): (&DeviceBuffer, &Arc<TensorType>)| {
                fetched(output, ty, None).map(|buffer| buffer.bytes().to_vec())
            };
            expectations.judge(judged.map(elements).collect::<Result<_, _>>()?, &mut report)?;
        }
        Ok(report)
    }

    fn check_limits(&self, options: &ExecuteOptions) -> Result<(), EngineError> {
        if options.step_limit.is_some() {
            return Err(EngineError::unsupported("a plugin counts no steps"));
        }
        if options.time_limit.is_some() {
            let what = "a call of a plugin cannot be stopped; bound the time of the whole process instead";
            return Err(EngineError::unsupported(what));
        }
        match options.memory_limit_bytes {
            Some(limit) if self.bytes > limit => {
                let what = format!(
                    "arguments and results take {} bytes, more than the {limit} that are allowed",
                    self.bytes
                );
                Err(EngineError::new(ErrorKind::MemoryLimit, what))
            }
            _ => Ok(()),
        }
    }

    /// The array of an argument on the device. A donated one is taken.
    fn input(&self, argument: &mut Argument<'_>, device: &Device) -> Result<DeviceBuffer, EngineError> {
        let donated = argument.take();
        let value = donated.as_ref().or_else(|| argument.value());
        let array = value.and_then(Value::as_array);
        let array = array.ok_or_else(|| EngineError::invalid_input("an argument is no array"))?;
        let dims: Vec<i64> = array.shape().map(|size| size as i64).collect();
        let element = array.ty().element.storage();
        let host = Arc::new(Host(array.clone()));
        Ok(DeviceBuffer::of_host(
            self.client(),
            device,
            element,
            &dims,
            host,
        )?)
    }
}

/// A result in memory of the port, in that of an earlier one where it fits.
fn fetched(
    output: &DeviceBuffer,
    ty: &Arc<TensorType>,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    let no_memory =
        |error: artifact_engine::BufferError| EngineError::new(ErrorKind::MemoryLimit, error.to_string());
    let ty = Arc::clone(ty);
    let mut buffer = match memory {
        Some(memory) => memory.recycled(ty),
        None => Buffer::zeros(ty),
    }
    .map_err(no_memory)?;
    let (rank, element) = (buffer.ty().rank(), buffer.ty().element.storage());
    if buffer.bytes().is_empty() {
        return Ok(buffer);
    }
    let bytes = buffer
        .bytes_mut()
        .ok_or_else(|| EngineError::internal("new memory is shared"))?;
    output.read(rank, bytes)?;
    // A plugin leaves zeros beside elements of fewer bits.
    extend_signs(element, bytes);
    Ok(buffer)
}

fn profile(start: Instant, bytes: u64) -> Profile {
    let total = start.elapsed();
    let step = ProfileStep {
        name: "the executable of the plugin".to_owned(),
        kind: "plugin",
        source: SourceOffset::NONE,
        calls: 1,
        time: total,
        work: Work { bytes, flops: 0 },
    };
    Profile {
        steps: vec![step],
        total,
    }
}

impl Executable for PjrtExecutable {
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
