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
use artifact_ir::types::TensorType;
use artifact_sharding::{ShardingError, assemble, slice};

use crate::buffer::DeviceBuffer;
use crate::client::{Client, Device};
use crate::executable::LoadedExecutable;
use crate::expectations::Expectations;
use crate::interface::{Interface, put_together, taken_apart};
use crate::payload::Payload;
use crate::placement::Placement;

/// An executable behind the port.
#[derive(Debug)]
pub(crate) struct PjrtExecutable {
    loaded: LoadedExecutable,
    signature: Signature,
    arguments: Vec<Placement>,
    results: Vec<Placement>,
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
        let Payload {
            interface,
            expectations,
            ..
        } = payload;
        let judged = expectations.as_ref().map_or(&[][..], |known| &known.operands);
        let Interface {
            signature,
            partitions,
            arguments,
            results,
            ..
        } = interface;
        check_counts(&loaded, results.len() + judged.len(), partitions)?;
        let arrays = arguments.iter().chain(&results).map(|placement| &placement.ty);
        let bytes = arrays.chain(judged).filter_map(|ty| ty.byte_count());
        Ok(Self {
            bytes: bytes.fold(0, u64::saturating_add),
            loaded,
            arguments,
            results,
            signature,
            expectations,
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
        watch.check()?;
        let inputs = self.inputs(arguments)?;
        let borrowed: Vec<Vec<&DeviceBuffer>> = inputs.iter().map(|list| list.iter().collect()).collect();
        // Nothing is given away: the program says of no argument that it may be.
        let kept: Vec<i64> = (0..self.arguments.len() as i64).collect();
        let outputs = self.loaded.execute(&borrowed, &kept)?;
        watch.check()?;
        self.fetch(&outputs, results)?;
        let mut report = Report {
            profile: options.profile.then(|| profile(start, self.bytes)),
            ..Report::default()
        };
        if let Some(expectations) = &self.expectations {
            let judged = outputs
                .first()
                .map_or(&[][..], |list| &list[self.results.len()..]);
            let elements = |(output, ty): (&DeviceBuffer, &Arc<TensorType>)| {
                fetched(output, ty, None).map(|buffer| buffer.bytes().to_vec())
            };
            let judged = judged.iter().zip(&expectations.operands).map(elements);
            expectations.judge(judged.collect::<Result<_, _>>()?, &mut report)?;
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

    /// The arrays of the arguments for each device. Donated values are taken.
    fn inputs(&self, arguments: &mut [Argument<'_>]) -> Result<Vec<Vec<DeviceBuffer>>, EngineError> {
        let mut arrays = Vec::with_capacity(self.arguments.len());
        for argument in arguments {
            if let Some(value) = argument.take().or_else(|| argument.value().cloned()) {
                taken_apart(value, &mut arrays);
            }
        }
        let hosts: Vec<Arc<Host>> = arrays.into_iter().map(|array| Arc::new(Host(array))).collect();
        let of_device = |(number, device): (usize, &Device)| {
            let arrays = self.arguments.iter().zip(&hosts);
            arrays
                .map(|(placement, host)| self.input(placement, host, number, device))
                .collect()
        };
        self.loaded
            .devices()
            .into_iter()
            .enumerate()
            .map(of_device)
            .collect()
    }

    /// What a device holds of an array.
    fn input(
        &self,
        placement: &Placement,
        host: &Arc<Host>,
        number: usize,
        device: &Device,
    ) -> Result<DeviceBuffer, EngineError> {
        let element = placement.ty.element.storage();
        let dims =
            |shape: &mut dyn Iterator<Item = u64>| -> Vec<i64> { shape.map(|size| size as i64).collect() };
        let (client, device) = (self.client(), device);
        let Some(part) = placement.parts.get(number) else {
            let dims = dims(&mut host.0.shape());
            let host = Arc::clone(host);
            return Ok(DeviceBuffer::of_host(client, device, element, &dims, host)?);
        };
        let shape: Vec<u64> = host.0.shape().collect();
        let elements = slice(host.0.bytes(), &shape, element.bytes(), part).map_err(not_divided)?;
        let dims = dims(&mut part.shape.iter().copied());
        Ok(DeviceBuffer::of_host(
            client,
            device,
            element,
            &dims,
            Arc::new(elements),
        )?)
    }

    /// The results, in memory of earlier ones where they fit.
    fn fetch(&self, outputs: &[Vec<DeviceBuffer>], results: &mut Vec<Value>) -> Result<(), EngineError> {
        let mut before = std::mem::take(results).into_iter().filter_map(Value::into_array);
        let mut arrays = Vec::with_capacity(self.results.len());
        for (index, placement) in self.results.iter().enumerate() {
            let memory = before.next();
            arrays.push(result(outputs, index, placement, memory)?);
        }
        let mut arrays = arrays.into_iter();
        for ty in &self.signature.results {
            let value = put_together(ty, &mut arrays);
            results.push(value.ok_or_else(|| EngineError::internal("a plugin gave too few results"))?);
        }
        Ok(())
    }
}

/// Refuses an executable that is not as the compiled module says.
fn check_counts(loaded: &LoadedExecutable, results: usize, partitions: u32) -> Result<(), EngineError> {
    let damaged = |has: usize, what: &str, says: usize| {
        EngineError::incompatible(format!(
            "the compiled module is damaged: {has} {what}, and it says {says}"
        ))
    };
    let devices = loaded.devices().len();
    if loaded.outputs() != results {
        return Err(damaged(loaded.outputs(), "results", results));
    }
    if devices != partitions as usize {
        return Err(damaged(devices, "devices", partitions as usize));
    }
    Ok(())
}

fn not_divided(error: ShardingError) -> EngineError {
    EngineError::internal("an array is not divided as it was planned").because(error)
}

/// A result, of the parts that devices have of it.
fn result(
    outputs: &[Vec<DeviceBuffer>],
    index: usize,
    placement: &Placement,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    let output = |device: usize| {
        let output = outputs.get(device).and_then(|list| list.get(index));
        output.ok_or_else(|| EngineError::internal("a plugin gave too few results"))
    };
    if placement.distinct.is_empty() {
        return fetched(output(0)?, &placement.ty, memory);
    }
    let mut whole = empty(&placement.ty, memory)?;
    let (shape, element): (Vec<u64>, _) = (whole.shape().collect(), placement.ty.element.storage());
    let bytes = unshared(&mut whole)?;
    for part in &placement.distinct {
        let ty = TensorType::of_static(&part.shape, element);
        let piece = fetched(output(part.device as usize)?, &Arc::new(ty), None)?;
        assemble(bytes, &shape, element.bytes(), part, piece.bytes()).map_err(not_divided)?;
    }
    Ok(whole)
}

/// An array that a device has whole, in memory of an earlier one where it fits.
fn fetched(
    output: &DeviceBuffer,
    ty: &Arc<TensorType>,
    memory: Option<Buffer>,
) -> Result<Buffer, EngineError> {
    let mut buffer = empty(ty, memory)?;
    if buffer.bytes().is_empty() {
        return Ok(buffer);
    }
    let bytes = unshared(&mut buffer)?;
    output.read(ty.rank(), bytes)?;
    // A plugin leaves zeros beside elements of fewer bits.
    extend_signs(ty.element.storage(), bytes);
    Ok(buffer)
}

/// Memory for an array, that of an earlier one where it fits.
fn empty(ty: &Arc<TensorType>, memory: Option<Buffer>) -> Result<Buffer, EngineError> {
    let ty = Arc::clone(ty);
    match memory {
        Some(memory) => memory.recycled(ty),
        None => Buffer::zeros(ty),
    }
    .map_err(|error| EngineError::new(ErrorKind::MemoryLimit, error.to_string()))
}

fn unshared(buffer: &mut Buffer) -> Result<&mut [u8], EngineError> {
    let bytes = buffer.bytes_mut();
    bytes.ok_or_else(|| EngineError::internal("new memory is shared"))
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
