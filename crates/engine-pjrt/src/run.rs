//! Runs a loaded executable on arrays of the port.

use std::sync::Arc;
use std::time::Instant;

use artifact_engine::completion::Completion;
use artifact_engine::{
    Argument, Buffer, EngineError, ErrorKind, Executable, ExecuteOptions, Profile, ProfileStep, Report,
    Signature, Value, Watch, Work,
};
use artifact_ir::diagnostic::SourceOffset;
use artifact_sharding::slice;

use crate::buffer::{DeviceBuffer, HostView};
use crate::client::{Client, Device};
use crate::executable::{Launch, LoadedExecutable};
use crate::expectations::Expectations;
use crate::interface::{Interface, put_together, taken_apart};
use crate::payload::Payload;
use crate::placement::Placement;
use crate::transfer::{Host, copied, not_divided, result, too_few};

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

    async fn run(
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
        let launch = self.launch(arguments)?;
        let mut outputs = launch.end().await?;
        watch.check()?;
        let judged: Vec<DeviceBuffer> = match outputs.first_mut() {
            Some(first) => first.drain(self.results.len()..).collect(),
            None => Vec::new(),
        };
        self.fetch(outputs, results).await?;
        let mut report = Report {
            profile: options.profile.then(|| profile(start, self.bytes)),
            ..Report::default()
        };
        if let Some(expectations) = &self.expectations {
            let mut elements = Vec::with_capacity(judged.len());
            for (output, ty) in judged.iter().zip(&expectations.operands) {
                elements.push(copied(output, ty, None).await?.bytes().to_vec());
            }
            expectations.judge(elements, &mut report)?;
        }
        Ok(report)
    }

    /// Starts the computation. What the plugin reads it holds itself.
    fn launch(&self, arguments: &mut [Argument<'_>]) -> Result<Launch, EngineError> {
        let mut arrays = Vec::with_capacity(self.arguments.len());
        for argument in arguments {
            let (value, donated) = match argument.take() {
                Some(value) => (Some(value), true),
                None => (argument.value().cloned(), false),
            };
            if let Some(value) = value {
                taken_apart(value, &mut |array| arrays.push((array, donated)));
            }
        }
        let inputs = match self.loaded.devices().as_slice() {
            [device] => {
                let pairs = arrays.into_iter().zip(&self.arguments);
                let one = |((array, donated), placement)| self.input(placement, array, donated, device);
                vec![pairs.map(one).collect::<Result<Vec<_>, _>>()?]
            }
            devices => self.parts(arrays, devices)?,
        };
        let kept = inputs.first().map_or(&[][..], Vec::as_slice).iter().enumerate();
        let kept = kept.filter(|(_, input)| !matches!(input, Input::Given(_)));
        let kept: Vec<i64> = kept.map(|(index, _)| index as i64).collect();
        let lists: Vec<Vec<&DeviceBuffer>> = inputs
            .iter()
            .map(|list| list.iter().map(Input::buffer).collect())
            .collect();
        Ok(self.loaded.launch(&lists, &kept)?)
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

    /// An array for the only device. Memory that was given away, and that nobody else holds, may take a result.
    fn input(
        &self,
        placement: &Placement,
        array: Buffer,
        donated: bool,
        device: &Device,
    ) -> Result<Input, EngineError> {
        if donated && array.is_unshared() {
            return Ok(Input::Given(DeviceBuffer::given(self.client(), device, array)?));
        }
        if let Some(view) = HostView::of_array(&array, self.client()).filter(|view| view.is_on(device)) {
            return Ok(Input::Resident(view));
        }
        let dims: Vec<i64> = array.shape().map(|size| size as i64).collect();
        self.host(placement, device, &dims, Arc::new(Host(array)))
    }

    fn host(
        &self,
        placement: &Placement,
        device: &Device,
        dims: &[i64],
        host: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Result<Input, EngineError> {
        let element = placement.ty.element.storage();
        let buffer = DeviceBuffer::of_host(self.client(), device, element, dims, host)?;
        Ok(Input::Borrowed(buffer))
    }

    /// What each of several devices holds of the arrays.
    fn parts(
        &self,
        arrays: Vec<(Buffer, bool)>,
        devices: &[&Device],
    ) -> Result<Vec<Vec<Input>>, EngineError> {
        let hosts: Vec<Arc<Host>> = arrays
            .into_iter()
            .map(|(array, _)| Arc::new(Host(array)))
            .collect();
        let of_device = |(number, device): (usize, &&Device)| {
            let arrays = self.arguments.iter().zip(&hosts);
            arrays
                .map(|(placement, host)| self.part(placement, host, number, device))
                .collect()
        };
        devices.iter().enumerate().map(of_device).collect()
    }

    fn part(
        &self,
        placement: &Placement,
        host: &Arc<Host>,
        number: usize,
        device: &Device,
    ) -> Result<Input, EngineError> {
        let shape: Vec<u64> = host.0.shape().collect();
        let dims = |shape: &[u64]| -> Vec<i64> { shape.iter().map(|size| *size as i64).collect() };
        let Some(part) = placement.parts.get(number) else {
            let host = Arc::clone(host);
            return self.host(placement, device, &dims(&shape), host);
        };
        let width = placement.ty.element.storage().bytes();
        let elements = slice(host.0.bytes(), &shape, width, part).map_err(not_divided)?;
        self.host(placement, device, &dims(&part.shape), Arc::new(elements))
    }

    /// The results, small ones in memory of earlier ones where they fit.
    async fn fetch(
        &self,
        outputs: Vec<Vec<DeviceBuffer>>,
        results: &mut Vec<Value>,
    ) -> Result<(), EngineError> {
        let mut before = std::mem::take(results).into_iter().map(Value::into_array);
        let mut arrays = Vec::with_capacity(self.results.len());
        let mut of_devices: Vec<_> = outputs.into_iter().map(Vec::into_iter).collect();
        for placement in &self.results {
            let memory = before.next().flatten();
            let outputs: Vec<DeviceBuffer> = of_devices.iter_mut().filter_map(Iterator::next).collect();
            arrays.push(result(outputs, placement, memory).await?);
        }
        let mut arrays = arrays.into_iter();
        for ty in &self.signature.results {
            let value = put_together(ty, &mut arrays);
            results.push(value.ok_or_else(too_few)?);
        }
        Ok(())
    }
}

/// An array on a device.
enum Input {
    /// What the client keeps already.
    Resident(Arc<HostView>),
    /// Memory of the host, which stays as it is.
    Borrowed(DeviceBuffer),
    /// Memory of the host, which a result may take.
    Given(DeviceBuffer),
}

impl Input {
    fn buffer(&self) -> &DeviceBuffer {
        match self {
            Self::Resident(view) => view.buffer(),
            Self::Borrowed(buffer) | Self::Given(buffer) => buffer,
        }
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
        Box::pin(async move {
            let outcome = self.run(arguments, results, options).await;
            outcome.inspect_err(|_| results.clear())
        })
    }
}
