//! From the value to the bytes of a file.
//!
//! What is written is version 12 of the schema, with the lists for readers before version 10: JAX of 2026 reads either. The
//! lists refer to the same objects as the tables of what is unique, so that they cost four bytes an entry.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use artifact_flatbuffer::{Element, Nested, Reference, TableBuilder, Text, TooLarge, Vector, Writer};
use artifact_proto::jax_exported as schema;

use crate::aval::{AbstractValue, MemorySpace};
use crate::error::{Error, Problem};
use crate::exported::{DisabledCheck, Effect, Exported, Leaf};
use crate::sharding::{AbstractDevice, AbstractMesh, AxisType, NamedSharding, PartitionSpec, Sharding};
use crate::tree::PyTree;

/// A result inside the writer.
type Outcome<T> = Result<T, Problem>;

/// Writes a file that JAX loads. Equal values give equal bytes.
///
/// # Errors
/// [`Error`] for a value that does not satisfy [`Exported::check`], one with [`Sharding::Hlo`], and one that takes over
/// 2^31 - 1 bytes.
pub fn write(exported: &Exported) -> Result<Vec<u8>, Error> {
    exported.inspect().map_err(Error::writing)?;
    let mut writer = FileWriter(Writer::new());
    let root = writer.exported(exported).map_err(Error::writing)?;
    writer
        .0
        .finish(root)
        .map_err(|error| Error::writing(error.into()))
}

/// Values of one type that differ, with the objects that were written for them.
#[derive(Debug)]
struct Unique<K, T> {
    positions: HashMap<K, u32>,
    objects: Vec<Reference<Nested<T>>>,
}

impl<K: Eq + Hash + Clone, T: artifact_flatbuffer::Table> Unique<K, T> {
    fn new() -> Self {
        Self {
            positions: HashMap::new(),
            objects: Vec::new(),
        }
    }

    /// The position of a value, which is written when it is new.
    fn position(&mut self, value: &K, write: impl FnOnce() -> Outcome<Reference<Nested<T>>>) -> Outcome<u32> {
        if let Some(known) = self.positions.get(value) {
            return Ok(*known);
        }
        let position = u32::try_from(self.objects.len()).map_err(|_| TooLarge)?;
        self.objects.push(write()?);
        self.positions.insert(value.clone(), position);
        Ok(position)
    }

    fn object(&self, position: u32) -> Reference<Nested<T>> {
        self.objects[position as usize]
    }
}

/// What leaves refer to by position.
#[derive(Debug)]
struct Uniques {
    avals: Unique<Arc<AbstractValue>, schema::AbstractValue>,
    meshes: Unique<Arc<AbstractMesh>, schema::AbstractMesh>,
    shardings: Unique<Arc<NamedSharding>, schema::NamedSharding>,
    /// For each sharding, and first for none, what a list holds.
    listed: Vec<Reference<Nested<schema::Sharding>>>,
}

/// The leaves of one side, in both forms.
#[derive(Debug)]
struct Leaves {
    aval_positions: Reference<Vector<u32>>,
    sharding_positions: Reference<Vector<u32>>,
    avals: Reference<Vector<Nested<schema::AbstractValue>>>,
    shardings: Reference<Vector<Nested<schema::Sharding>>>,
}

struct FileWriter<'a>(Writer<'a>);

impl<'a> FileWriter<'a> {
    /// The innermost function of gradients first, because objects are written before what refers to them.
    fn exported(&mut self, exported: &'a Exported) -> Outcome<Reference<Nested<schema::Exported>>> {
        let functions: Vec<&Exported> =
            std::iter::successors(Some(exported), |function| function.vjp.as_deref()).collect();
        let mut vjp = None;
        for function in functions
            .into_iter()
            .rev()
            .take_while(|function| !std::ptr::eq(*function, exported))
        {
            vjp = Some(self.function(function, vjp)?);
        }
        self.function(exported, vjp)
    }

    fn function(
        &mut self,
        exported: &'a Exported,
        vjp: Option<Reference<Nested<schema::Exported>>>,
    ) -> Outcome<Reference<Nested<schema::Exported>>> {
        // Without `..`, so that a new field cannot be forgotten.
        let Exported {
            serialization_version,
            jax_version,
            function_name,
            inputs,
            outputs,
            devices,
            platforms,
            ordered_effects,
            unordered_effects,
            disabled_checks,
            module,
            calling_convention_version,
            module_kept_var_idx,
            uses_global_constants,
            vjp: _,
        } = exported;
        let mut uniques = self.uniques()?;
        let arguments = self.leaves("inputs", &inputs.leaves, &mut uniques)?;
        let results = self.leaves("outputs", &outputs.leaves, &mut uniques)?;
        let jax_version = jax_version.as_deref().map(|text| self.0.text(text)).transpose()?;
        let table = TableBuilder::default()
            .set(schema::Exported::SERIALIZATION_VERSION, serialization_version.0)
            .set(schema::Exported::FUNCTION_NAME, self.0.text(function_name)?)
            .set(schema::Exported::IN_TREE, self.tree(&inputs.tree)?)
            .set(schema::Exported::IN_AVALS, arguments.avals)
            .set(schema::Exported::OUT_TREE, self.tree(&outputs.tree)?)
            .set(schema::Exported::OUT_AVALS, results.avals)
            .set(schema::Exported::IN_SHARDINGS, arguments.shardings)
            .set(schema::Exported::OUT_SHARDINGS, results.shardings)
            .set(schema::Exported::PLATFORMS, self.texts(platforms)?)
            .set(schema::Exported::ORDERED_EFFECTS, self.effects(ordered_effects)?)
            .set(
                schema::Exported::UNORDERED_EFFECTS,
                self.effects(unordered_effects)?,
            )
            .set(
                schema::Exported::DISABLED_CHECKS,
                self.disabled_checks(disabled_checks)?,
            )
            .set(schema::Exported::MLIR_MODULE_SERIALIZED, self.0.bytes(module)?)
            .set(
                schema::Exported::CALLING_CONVENTION_VERSION,
                calling_convention_version.0,
            )
            .set(
                schema::Exported::MODULE_KEPT_VAR_IDX,
                self.0.vector(module_kept_var_idx)?,
            )
            .set(schema::Exported::USES_GLOBAL_CONSTANTS, *uses_global_constants)
            .set_some(schema::Exported::VJP, vjp)
            .set(schema::Exported::NR_DEVICES, devices.get())
            .set(
                schema::Exported::UNIQUE_AVALS,
                self.0.vector(&uniques.avals.objects)?,
            )
            .set(
                schema::Exported::UNIQUE_ABSTRACT_MESHES,
                self.0.vector(&uniques.meshes.objects)?,
            )
            .set(
                schema::Exported::UNIQUE_NAMED_SHARDINGS,
                self.0.vector(&uniques.shardings.objects)?,
            )
            .set(schema::Exported::IN_AVALS_IDXS, arguments.aval_positions)
            .set(schema::Exported::OUT_AVALS_IDXS, results.aval_positions)
            .set(schema::Exported::IN_SHARDINGS_IDXS, arguments.sharding_positions)
            .set(schema::Exported::OUT_SHARDINGS_IDXS, results.sharding_positions)
            .set_some(schema::Exported::JAX_VERSION, jax_version);
        Ok(self.0.table(table))
    }

    fn uniques(&mut self) -> Outcome<Uniques> {
        Ok(Uniques {
            avals: Unique::new(),
            meshes: Unique::new(),
            shardings: Unique::new(),
            listed: vec![self.0.table(TableBuilder::default())],
        })
    }

    fn leaves(&mut self, place: &str, leaves: &[Leaf], uniques: &mut Uniques) -> Outcome<Leaves> {
        let mut aval_positions = Vec::with_capacity(leaves.len());
        let mut sharding_positions = Vec::with_capacity(leaves.len());
        for (index, Leaf { aval, sharding }) in leaves.iter().enumerate() {
            aval_positions.push(uniques.avals.position(aval, || self.aval(aval))?);
            sharding_positions.push(match sharding {
                Sharding::Unspecified => 0,
                Sharding::Named(named) => self.sharding(named, uniques)?,
                Sharding::Hlo(_) => {
                    let place = format!("number {index} of the {place}");
                    return Err(Problem::HloShardingWritten { place });
                }
            });
        }
        let avals: Vec<_> = aval_positions
            .iter()
            .map(|position| uniques.avals.object(*position))
            .collect();
        let shardings: Vec<_> = sharding_positions
            .iter()
            .map(|position| uniques.listed[*position as usize])
            .collect();
        Ok(Leaves {
            aval_positions: self.0.vector(&aval_positions)?,
            sharding_positions: self.0.vector(&sharding_positions)?,
            avals: self.0.vector(&avals)?,
            shardings: self.0.vector(&shardings)?,
        })
    }

    fn aval(&mut self, aval: &AbstractValue) -> Outcome<Reference<Nested<schema::AbstractValue>>> {
        let AbstractValue {
            shape,
            dtype,
            memory_space,
        } = aval;
        let shape = self.texts(shape.iter().map(|dimension| dimension.text()))?;
        let memory_space = match memory_space {
            MemorySpace::Device => schema::MemorySpace::Device,
            MemorySpace::Host => schema::MemorySpace::Host,
            MemorySpace::Any => schema::MemorySpace::Any,
        };
        let table = TableBuilder::default()
            .set(schema::AbstractValue::SHAPE, shape)
            .set(schema::AbstractValue::DTYPE, *dtype)
            .set(schema::AbstractValue::MEMORY_SPACE, memory_space);
        Ok(self.0.table(table))
    }

    /// The position of a sharding, counted from 1.
    fn sharding(&mut self, sharding: &Arc<NamedSharding>, uniques: &mut Uniques) -> Outcome<u32> {
        let NamedSharding {
            mesh,
            spec,
            memory_kind,
        } = &**sharding;
        let mesh_position = uniques.meshes.position(mesh, || self.mesh(mesh))?;
        let mesh = uniques.meshes.object(mesh_position);
        let position = uniques.shardings.position(sharding, || {
            let memory_kind = memory_kind.as_deref().map(|text| self.0.text(text)).transpose()?;
            let table = TableBuilder::default()
                .set(schema::NamedSharding::MESH, mesh)
                .set(schema::NamedSharding::SPEC, self.partition_spec(spec)?)
                .set_some(schema::NamedSharding::MEMORY_KIND, memory_kind)
                .set(schema::NamedSharding::ABSTRACT_MESH_IDX, mesh_position);
            Ok(self.0.table(table))
        })?;
        if uniques.listed.len() <= uniques.shardings.objects.len() {
            let named = uniques.shardings.object(position);
            let table = TableBuilder::default().set(schema::Sharding::NAMED_SHARDING, named);
            uniques.listed.push(self.0.table(table));
        }
        position.checked_add(1).ok_or(TooLarge.into())
    }

    fn mesh(&mut self, mesh: &AbstractMesh) -> Outcome<Reference<Nested<schema::AbstractMesh>>> {
        let AbstractMesh { axes, device } = mesh;
        let sizes: Vec<u32> = axes.iter().map(|axis| axis.size).collect();
        let types = axes.iter().map(|axis| match axis.axis_type {
            AxisType::Auto => schema::AxisType::Auto,
            AxisType::Explicit => schema::AxisType::Explicit,
            AxisType::Manual => schema::AxisType::Manual,
        });
        let types: Vec<schema::AxisType> = types.collect();
        let device = device.as_ref().map(|device| self.device(device)).transpose()?;
        let table = TableBuilder::default()
            .set(schema::AbstractMesh::AXIS_SIZES, self.0.vector(&sizes)?)
            .set(
                schema::AbstractMesh::AXIS_NAMES,
                self.texts(axes.iter().map(|axis| &axis.name))?,
            )
            .set(schema::AbstractMesh::AXIS_TYPES, self.0.vector(&types)?)
            .set_some(schema::AbstractMesh::ABSTRACT_DEVICE, device);
        Ok(self.0.table(table))
    }

    fn device(&mut self, device: &AbstractDevice) -> Outcome<Reference<Nested<schema::AbstractDevice>>> {
        let AbstractDevice {
            device_kind,
            num_cores,
            platform,
        } = device;
        let platform = platform.as_deref().map(|text| self.0.text(text)).transpose()?;
        let table = TableBuilder::default()
            .set(schema::AbstractDevice::DEVICE_KIND, self.0.text(device_kind)?)
            .set_some(schema::AbstractDevice::NUM_CORES, *num_cores)
            .set_some(schema::AbstractDevice::PLATFORM, platform);
        Ok(self.0.table(table))
    }

    fn partition_spec(&mut self, spec: &PartitionSpec) -> Outcome<Reference<Nested<schema::PartitionSpec>>> {
        let PartitionSpec {
            partitions,
            reduced,
            unreduced,
        } = spec;
        let mut divided = Vec::with_capacity(partitions.len());
        for axes in partitions {
            let table = TableBuilder::default().set(schema::PartitionSpecOneAxis::AXES, self.texts(axes)?);
            divided.push(self.0.table(table));
        }
        let table = TableBuilder::default()
            .set(schema::PartitionSpec::PARTITIONS, self.0.vector(&divided)?)
            .set(schema::PartitionSpec::REDUCED, self.texts(reduced)?)
            .set(schema::PartitionSpec::UNREDUCED, self.texts(unreduced)?);
        Ok(self.0.table(table))
    }

    /// A tree, of which [`Exported::check`] has bounded the depth.
    fn tree(&mut self, tree: &'a PyTree) -> Outcome<Reference<Nested<schema::PyTreeDef>>> {
        let mut children = Vec::new();
        for child in tree.children() {
            children.push(self.tree(child)?);
        }
        let mut table = TableBuilder::default().set(schema::PyTreeDef::KIND, kind(tree));
        if !children.is_empty() {
            table = table.set(schema::PyTreeDef::CHILDREN, self.0.vector(&children)?);
        }
        match tree {
            PyTree::Leaf | PyTree::None | PyTree::Tuple(_) | PyTree::List(_) => {}
            PyTree::Dict(entries) => {
                let names = self.texts(entries.iter().map(|(name, _)| name))?;
                table = table.set(schema::PyTreeDef::CHILDREN_NAMES, names);
            }
            PyTree::Custom { name, auxdata, .. } => {
                table = table
                    .set(schema::PyTreeDef::CUSTOM_NAME, self.0.text(name)?)
                    .set(schema::PyTreeDef::CUSTOM_AUXDATA, self.0.bytes(auxdata)?);
            }
        }
        Ok(self.0.table(table))
    }

    fn effects(&mut self, effects: &[Effect]) -> Outcome<Reference<Vector<Nested<schema::Effect>>>> {
        self.tables(effects, |writer, Effect { type_name }| {
            Ok(TableBuilder::default().set(schema::Effect::TYPE_NAME, writer.0.text(type_name)?))
        })
    }

    fn disabled_checks(
        &mut self,
        checks: &[DisabledCheck],
    ) -> Outcome<Reference<Vector<Nested<schema::DisabledSafetyCheck>>>> {
        use schema::DisabledSafetyCheck as Check;
        self.tables(checks, |writer, check| {
            let table = TableBuilder::default();
            Ok(match check {
                DisabledCheck::Platform => table.set(Check::KIND, schema::DisabledSafetyCheckKind::Platform),
                DisabledCheck::ShapeAssertions => {
                    table.set(Check::KIND, schema::DisabledSafetyCheckKind::ShapeAssertions)
                }
                DisabledCheck::CustomCall(target) => table
                    .set(Check::KIND, schema::DisabledSafetyCheckKind::CustomCall)
                    .set(Check::CUSTOM_CALL_TARGET, writer.0.text(target)?),
            })
        })
    }

    /// A vector of tables.
    fn tables<V, T>(
        &mut self,
        values: &[V],
        build: impl Fn(&mut Self, &V) -> Outcome<TableBuilder<T>>,
    ) -> Outcome<Reference<Vector<Nested<T>>>>
    where
        T: artifact_flatbuffer::Table,
    {
        let mut tables: Vec<<Nested<T> as Element>::Write> = Vec::with_capacity(values.len());
        for value in values {
            let table = build(self, value)?;
            tables.push(self.0.table(table));
        }
        Ok(self.0.vector(&tables)?)
    }

    /// A vector of strings.
    fn texts<S: AsRef<str>>(
        &mut self,
        texts: impl IntoIterator<Item = S>,
    ) -> Outcome<Reference<Vector<Text>>> {
        let texts = texts.into_iter().map(|text| self.0.text(text.as_ref()));
        let texts = texts.collect::<Result<Vec<_>, TooLarge>>()?;
        Ok(self.0.vector(&texts)?)
    }
}

fn kind(tree: &PyTree) -> schema::PyTreeDefKind {
    match tree {
        PyTree::Leaf => schema::PyTreeDefKind::Leaf,
        PyTree::None => schema::PyTreeDefKind::None,
        PyTree::Tuple(_) => schema::PyTreeDefKind::Tuple,
        PyTree::List(_) => schema::PyTreeDefKind::List,
        PyTree::Dict(_) => schema::PyTreeDefKind::Dict,
        PyTree::Custom { .. } => schema::PyTreeDefKind::Custom,
    }
}
