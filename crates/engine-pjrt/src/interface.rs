//! How a program is called: values of the port, and the arrays of them that a plugin takes and gives.
//!
//! A plugin takes arrays alone: tokens stay behind, and tuples are taken apart.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_engine::{Buffer, EngineError, Partitioning, Signature, Value, mesh_devices};
use artifact_ir::attribute::NamedAttributes;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Function, FunctionId, Module, Parameter, Visibility};
use artifact_ir::op::{self, Op};
use artifact_ir::types::{TensorType, Type};
use artifact_ir::verify::verify;
use artifact_sharding::Sharding;
use artifact_stablehlo::bytecode::{self, WriteOptions};

use crate::placement::Placement;

/// What an entry takes and gives, and how that is divided among devices.
#[derive(Debug)]
pub(crate) struct Interface {
    /// The entry without a body.
    declaration: Module,
    pub(crate) signature: Signature,
    /// Devices that run it together.
    pub(crate) partitions: u32,
    /// The arrays of the arguments.
    pub(crate) arguments: Vec<Placement>,
    /// The arrays of the results.
    pub(crate) results: Vec<Placement>,
}

impl Interface {
    /// That of the entry of a static program.
    ///
    /// # Errors
    /// Unsupported for values that are neither arrays nor tokens nor tuples of such, for a program that several devices must run
    /// together, and what [`Partitioning::of`] refuses; invalid input for open sizes.
    pub(crate) fn of(module: &Module, entry: FunctionId, partitions: u32) -> Result<Self, EngineError> {
        let mut declaration = Module::new();
        for (_, mesh) in module.meshes.iter() {
            declaration.add_mesh(mesh.clone());
        }
        let function = &module.functions[entry];
        let mut declared = Function::new("main");
        declared.visibility = Visibility::Private;
        declared.arguments = function.arguments.iter().map(bare).collect();
        declared.results = function.results.iter().map(bare).collect();
        let own = declaration.add_function(declared);
        if partitions == 1 {
            check_single(module)?;
        }
        Self::new(declaration, own, partitions)
    }

    fn new(declaration: Module, entry: FunctionId, partitions: u32) -> Result<Self, EngineError> {
        let ty = declaration.functions[entry].ty();
        let signature = Signature {
            arguments: ty.inputs.to_vec(),
            results: ty.results.to_vec(),
        };
        let all = signature.arguments.iter().chain(&signature.results);
        all.clone().try_for_each(check_type)?;
        let is_array = |ty: &Type| matches!(ty, Type::Tensor(_));
        if partitions > 1 && !all.clone().all(is_array) {
            let what = "tokens and tuples are not divided among devices";
            return Err(EngineError::unsupported(what));
        }
        let (arguments, results) = match partitions {
            1 => (
                leaves(&signature.arguments)
                    .into_iter()
                    .map(Placement::whole)
                    .collect(),
                leaves(&signature.results)
                    .into_iter()
                    .map(Placement::whole)
                    .collect(),
            ),
            _ => {
                let divided = Partitioning::of(&declaration, entry, partitions)?;
                (
                    placed("argument", &signature.arguments, &divided.arguments)?,
                    placed("result", &signature.results, &divided.results)?,
                )
            }
        };
        Ok(Self {
            declaration,
            signature,
            partitions,
            arguments,
            results,
        })
    }

    /// # Errors
    /// Unsupported when it has no form in bytecode.
    pub(crate) fn encode(&self, writer: &mut Writer) -> Result<(), EngineError> {
        let no_form =
            |error| EngineError::unsupported("the interface has no form in bytecode").because(error);
        let bytecode = bytecode::write(&self.declaration, &WriteOptions::default()).map_err(no_form)?;
        writer.u32(self.partitions);
        writer.bytes(&bytecode.to_vec());
        Ok(())
    }

    pub(crate) fn decode(bytes: &Blob, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let damaged = reader.malformed("the interface is none");
        let partitions = reader.u32()?;
        let declaration = bytes.slice(reader.range()?);
        Self::of_bytecode(declaration, partitions).ok_or(damaged)
    }

    fn of_bytecode(declaration: Option<Blob>, partitions: u32) -> Option<Self> {
        let module = bytecode::read(&declaration?).ok()?.module;
        if partitions == 0 || verify(&module).into_iter().next().is_some() {
            return None;
        }
        let entry = module.function("main")?;
        Self::new(module, entry, partitions).ok()
    }
}

/// A parameter with its sharding and nothing else.
fn bare(parameter: &Parameter) -> Parameter {
    const KEPT: [&str; 2] = ["sdy.sharding", "mhlo.sharding"];
    let mut attributes = NamedAttributes::new();
    for name in KEPT {
        if let Some(attribute) = parameter.attributes.get(name) {
            attributes.insert(name, attribute.clone());
        }
    }
    Parameter {
        ty: parameter.ty.clone(),
        attributes,
        location: LocationId::UNKNOWN,
    }
}

/// Refuses a program that says itself what each of several devices does.
fn check_single(module: &Module) -> Result<(), EngineError> {
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    let mut ops = bodies.flat_map(|body| body.ops.iter().map(|(_, op)| op));
    let by_device = ops.find(|op| matches!(op.op, Op::Sharding(op::Sharding::ManualComputation(_))));
    match by_device {
        Some(op) if mesh_devices(module) > 1 => {
            let devices = mesh_devices(module);
            let what = format!(
                "the program says what each of {devices} devices does, and is compiled for one; compile it for {devices}"
            );
            Err(EngineError::unsupported(what).at(op.source))
        }
        _ => Ok(()),
    }
}

fn check_type(ty: &Type) -> Result<(), EngineError> {
    match ty {
        Type::Tensor(tensor) if tensor.is_static() => Ok(()),
        Type::Tensor(_) => Err(EngineError::invalid_input(format!(
            "XLA compiles static programs, and {ty} is open"
        ))),
        Type::Token => Ok(()),
        Type::Tuple(items) => items.iter().try_for_each(check_type),
        _ => Err(EngineError::unsupported(format!(
            "a value of type {ty} cannot be passed through a plugin"
        ))),
    }
}

/// Arrays with the parts that devices hold of them.
fn placed(what: &str, types: &[Type], shardings: &[Sharding]) -> Result<Vec<Placement>, EngineError> {
    let pairs = leaves(types).into_iter().zip(shardings).enumerate();
    let one = |(index, (ty, sharding)): (usize, (Arc<TensorType>, &Sharding))| {
        Placement::divided(ty, sharding).map_err(|error| {
            let what = format!("{what} {index} of the program is not divided as it says");
            EngineError::unsupported(what).because(error)
        })
    };
    pairs.map(one).collect()
}

/// The arrays in values of these types, in order.
fn leaves(types: &[Type]) -> Vec<Arc<TensorType>> {
    fn collect(ty: &Type, arrays: &mut Vec<Arc<TensorType>>) {
        match ty {
            Type::Tensor(tensor) => arrays.push(Arc::clone(tensor)),
            Type::Tuple(items) => items.iter().for_each(|item| collect(item, arrays)),
            _ => {}
        }
    }
    let mut arrays = Vec::with_capacity(types.len());
    types.iter().for_each(|ty| collect(ty, &mut arrays));
    arrays
}

/// Gives the arrays in a value, in order.
pub(crate) fn taken_apart(value: Value, give: &mut impl FnMut(Buffer)) {
    match value {
        Value::Array(buffer) => give(buffer),
        Value::Tuple(values) | Value::Future(values) => {
            values.iter().for_each(|value| taken_apart(value.clone(), give));
        }
        Value::Token => {}
    }
}

/// A value of a type of its arrays, in order; nothing where there are too few.
pub(crate) fn put_together(ty: &Type, arrays: &mut impl Iterator<Item = Buffer>) -> Option<Value> {
    Some(match ty {
        Type::Tensor(_) => Value::Array(arrays.next()?),
        Type::Tuple(items) => {
            let items = items.iter().map(|item| put_together(item, arrays));
            Value::Tuple(items.collect::<Option<_>>()?)
        }
        _ => Value::Token,
    })
}
