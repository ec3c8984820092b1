//! From the value to the bytes of a file.
//!
//! What is written is version 12 of the schema, with the lists for readers before version 10: JAX of 2026 reads either. The
//! lists refer to the same objects as the tables of what is unique, so that they cost four bytes an entry.

mod leaves;

use artifact_flatbuffer::{Element, Nested, Reference, TableBuilder, Text, TooLarge, Vector, Writer};
use artifact_proto::jax_exported as schema;

use crate::error::{Error, Problem};
use crate::exported::{DisabledCheck, Effect, Exported};
use crate::tree::PyTree;

/// A result inside the writer.
type Outcome<T> = Result<T, Problem>;

/// Writes a file that JAX loads. Equal values give equal bytes.
///
/// # Errors
/// [`Error`] for a value that does not satisfy [`Exported::check`], one with [`Sharding::Hlo`](crate::Sharding::Hlo), and one that takes over
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

struct FileWriter<'a>(Writer<'a>);

impl<'a> FileWriter<'a> {
    /// The innermost function of gradients first, because objects are written before what refers to them.
    fn exported(&mut self, exported: &'a Exported) -> Outcome<Reference<Nested<schema::Exported>>> {
        let vjps: Vec<&Exported> =
            std::iter::successors(exported.vjp.as_deref(), |vjp| vjp.vjp.as_deref()).collect();
        let mut below = None;
        for vjp in vjps.into_iter().rev() {
            below = Some(self.function(vjp, below)?);
        }
        self.function(exported, below)
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
