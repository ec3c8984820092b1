//! From the bytes of a file to the value.

mod avals;
mod shardings;
mod tree;

use std::num::NonZeroU32;
use std::ops::Range;

use artifact_core::blob::Blob;
use artifact_flatbuffer::{Buffer, Elements, Field, FieldType, Nested, Text, Vector, View};
use artifact_proto::jax_exported as schema;

use crate::error::{Error, Problem, of_fault};
use crate::exported::{
    CallingConventionVersion, DisabledCheck, Effect, Exported, Leaf, SerializationVersion, Values,
};
use crate::limits;
use avals::Dimensions;
use shardings::Uniques;

/// A result inside the reader.
type Outcome<T> = Result<T, Problem>;

/// What a reader accepts besides what JAX does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Gives the HLO shardings of files before 2026 as bytes ([`Sharding::Hlo`](crate::Sharding::Hlo)) instead of
    /// refusing the file.
    pub keep_hlo_shardings: bool,
    /// Reads files of schemas after [`SerializationVersion::NEWEST`], without the fields that are new in them.
    pub accept_newer_versions: bool,
}

/// Reads a file of `jax.export`.
///
/// # Errors
/// [`Error`], of which the kind says what can be done.
pub fn read(file: Blob) -> Result<Exported, Error> {
    read_with(file, &ReadOptions::default())
}

/// Reads a file of `jax.export`, and accepts what the options say.
///
/// # Errors
/// As [`read`].
pub fn read_with(file: Blob, options: &ReadOptions) -> Result<Exported, Error> {
    let ratio = limits::METADATA_RATIO.saturating_mul(file.len() as u64);
    let buffer = Buffer::new(&file, ratio.min(limits::METADATA.max()));
    let mut reader = Reader {
        file: &file,
        options: *options,
        dimensions: Dimensions::default(),
    };
    let exported = buffer
        .root()
        .map_err(of_fault)
        .and_then(|root| reader.exported(root));
    let exported = exported.map_err(Error::reading)?;
    exported.inspect().map_err(Error::reading)?;
    Ok(exported)
}

/// Either the arguments or the results: the fields that hold them.
struct Side {
    place: &'static str,
    tree: Field<schema::Exported, Nested<schema::PyTreeDef>>,
    aval_positions: Field<schema::Exported, Vector<u32>>,
    avals: Field<schema::Exported, Vector<Nested<schema::AbstractValue>>>,
    sharding_positions: Field<schema::Exported, Vector<u32>>,
    shardings: Field<schema::Exported, Vector<Nested<schema::Sharding>>>,
}

const INPUTS: Side = Side {
    place: "inputs",
    tree: schema::Exported::IN_TREE,
    aval_positions: schema::Exported::IN_AVALS_IDXS,
    avals: schema::Exported::IN_AVALS,
    sharding_positions: schema::Exported::IN_SHARDINGS_IDXS,
    shardings: schema::Exported::IN_SHARDINGS,
};

const OUTPUTS: Side = Side {
    place: "outputs",
    tree: schema::Exported::OUT_TREE,
    aval_positions: schema::Exported::OUT_AVALS_IDXS,
    avals: schema::Exported::OUT_AVALS,
    sharding_positions: schema::Exported::OUT_SHARDINGS_IDXS,
    shardings: schema::Exported::OUT_SHARDINGS,
};

/// What reading one file needs.
#[derive(Debug)]
struct Reader<'f> {
    file: &'f Blob,
    options: ReadOptions,
    dimensions: Dimensions,
}

impl Reader<'_> {
    /// The function at the root and, one after the other, those of gradients within it.
    fn exported(&mut self, root: View<'_, schema::Exported>) -> Outcome<Exported> {
        let mut exported = self.function(&root)?;
        let mut vjps = Vec::new();
        let mut next = field(&root, schema::Exported::VJP)?;
        while let Some(view) = next {
            limits::VJP_ORDER.check(vjps.len() as u64 + 1)?;
            vjps.push(self.function(&view)?);
            next = field(&view, schema::Exported::VJP)?;
        }
        exported.vjp = vjps.into_iter().rev().fold(None, |below, mut vjp| {
            vjp.vjp = below;
            Some(Box::new(vjp))
        });
        Ok(exported)
    }

    /// One function, without its vjp.
    fn function(&mut self, view: &View<'_, schema::Exported>) -> Outcome<Exported> {
        let serialization_version = self.version(view)?;
        let uniques = self.uniques(view)?;
        let module = required(view, schema::Exported::MLIR_MODULE_SERIALIZED)?;
        let kept = field(view, schema::Exported::MODULE_KEPT_VAR_IDX)?;
        Ok(Exported {
            serialization_version,
            jax_version: field(view, schema::Exported::JAX_VERSION)?.map(str::to_owned),
            function_name: required(view, schema::Exported::FUNCTION_NAME)?.to_owned(),
            inputs: self.values(view, &INPUTS, &uniques)?,
            outputs: self.values(view, &OUTPUTS, &uniques)?,
            devices: devices(view)?,
            platforms: texts(field(view, schema::Exported::PLATFORMS)?)?,
            ordered_effects: effects(view, schema::Exported::ORDERED_EFFECTS)?,
            unordered_effects: effects(view, schema::Exported::UNORDERED_EFFECTS)?,
            disabled_checks: disabled_checks(view)?,
            module: self.view(module.range)?,
            calling_convention_version: CallingConventionVersion(field(
                view,
                schema::Exported::CALLING_CONVENTION_VERSION,
            )?),
            module_kept_var_idx: collect(kept)?,
            uses_global_constants: field(view, schema::Exported::USES_GLOBAL_CONSTANTS)?,
            vjp: None,
        })
    }

    fn version(&self, view: &View<'_, schema::Exported>) -> Outcome<SerializationVersion> {
        let found = SerializationVersion(field(view, schema::Exported::SERIALIZATION_VERSION)?);
        let newest = SerializationVersion::NEWEST;
        if found.0 == 0 {
            return Err(Problem::NoVersion);
        }
        if found > newest && !self.options.accept_newer_versions {
            return Err(Problem::Newer { found, newest });
        }
        Ok(found)
    }

    /// The arguments or the results.
    fn values(
        &mut self,
        view: &View<'_, schema::Exported>,
        side: &Side,
        uniques: &Uniques,
    ) -> Outcome<Values> {
        let tree = self.tree(&required(view, side.tree)?)?;
        let leaf_count = tree.leaf_count();
        let avals = self.avals(view, side, uniques, leaf_count)?;
        let shardings = self.shardings(view, side, uniques, leaf_count)?;
        let leaves = avals
            .into_iter()
            .zip(shardings)
            .map(|(aval, sharding)| Leaf { aval, sharding });
        Ok(Values {
            tree,
            leaves: leaves.collect(),
        })
    }

    /// A part of the file that is not copied.
    fn view(&self, range: Range<usize>) -> Outcome<Blob> {
        self.file
            .slice(range)
            .ok_or_else(|| Problem::inconsistent("a part lies outside the file"))
    }
}

/// The number of devices: in 32 bits, or in 16 in files before schema 5.
fn devices(view: &View<'_, schema::Exported>) -> Outcome<NonZeroU32> {
    let devices = field(view, schema::Exported::NR_DEVICES)?;
    let short = field(view, schema::Exported::NR_DEVICES_SHORT)?;
    NonZeroU32::new(devices)
        .or_else(|| u32::try_from(short).ok().and_then(NonZeroU32::new))
        .ok_or_else(|| Problem::inconsistent("the function is for 0 devices"))
}

type EffectsField = Field<schema::Exported, Vector<Nested<schema::Effect>>>;

fn effects(view: &View<'_, schema::Exported>, list: EffectsField) -> Outcome<Vec<Effect>> {
    let effects = field(view, list)?.into_iter().flatten();
    effects
        .map(|effect| {
            let type_name = required(&effect.map_err(of_fault)?, schema::Effect::TYPE_NAME)?.to_owned();
            Ok(Effect { type_name })
        })
        .collect()
}

fn disabled_checks(view: &View<'_, schema::Exported>) -> Outcome<Vec<DisabledCheck>> {
    let checks = field(view, schema::Exported::DISABLED_CHECKS)?;
    let check = |view: View<'_, schema::DisabledSafetyCheck>| {
        Ok(match field(&view, schema::DisabledSafetyCheck::KIND)? {
            schema::DisabledSafetyCheckKind::Platform => DisabledCheck::Platform,
            schema::DisabledSafetyCheckKind::ShapeAssertions => DisabledCheck::ShapeAssertions,
            schema::DisabledSafetyCheckKind::CustomCall => {
                let target = required(&view, schema::DisabledSafetyCheck::CUSTOM_CALL_TARGET)?;
                DisabledCheck::CustomCall(target.to_owned())
            }
        })
    };
    let checks = checks.into_iter().flatten();
    checks.map(|view| check(view.map_err(of_fault)?)).collect()
}

/// Reads a field.
fn field<'a, T, V>(view: &View<'a, T>, field: Field<T, V>) -> Outcome<V::Read<'a>>
where
    T: artifact_flatbuffer::Table,
    V: FieldType,
{
    view.get(field).map_err(of_fault)
}

/// Reads a field that must be there.
fn required<'a, T, V, R>(view: &View<'a, T>, field: Field<T, V>) -> Outcome<R>
where
    T: artifact_flatbuffer::Table,
    V: FieldType<Read<'a> = Option<R>>,
{
    view.required(field).map_err(of_fault)
}

/// The strings of a list, which is empty when it is absent.
fn texts<C: FromIterator<String>>(list: Option<Elements<'_, Text>>) -> Outcome<C> {
    let texts = list.into_iter().flatten();
    texts.map(|text| Ok(text.map_err(of_fault)?.to_owned())).collect()
}

/// The numbers or values of a list, which is empty when it is absent.
fn collect<'a, E>(list: Option<Elements<'a, E>>) -> Outcome<Vec<E::Read<'a>>>
where
    E: artifact_flatbuffer::Element,
{
    let elements = list.into_iter().flatten();
    elements.map(|element| element.map_err(of_fault)).collect()
}

/// Refuses a list of another length than there are leaves, before it is walked.
fn one_for_each_leaf(what: &str, side: &Side, length: usize, leaf_count: usize) -> Outcome<()> {
    if length == leaf_count {
        return Ok(());
    }
    Err(Problem::inconsistent(format!(
        "the {} have {leaf_count} leaves, but {length} {what}",
        side.place
    )))
}
