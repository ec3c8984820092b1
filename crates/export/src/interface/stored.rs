//! Interfaces as manifests hold them: trees as lists of nodes, and what many leaves share once.

mod shardings;
mod trees;

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::Arc;

use artifact_container::manifest::{Dim, interface as stored};
use artifact_dims::limits::RANK;
use artifact_jax::{
    AbstractValue, CallingConventionVersion, Dimension, DisabledCheck, Effect, Leaf, MemorySpace,
    SerializationVersion, Sharding, Values, dtype_name, dtype_named, limits,
};

use self::shardings::Shardings;
use super::{Conventions, Interface, Origin, Side};
use crate::error::ExportError;

/// What the manifest says of an interface, and of the conventions of its program.
///
/// # Errors
/// For an HLO sharding, which current files do not hold, and for numbers that do not fit.
pub(crate) fn write(
    interface: &Interface,
    conventions: &Conventions,
) -> Result<stored::Interface, ExportError> {
    let mut types = Uniques::default();
    let mut shardings = Shardings::default();
    let inputs = write_values(
        &interface.inputs,
        &interface.weak_inputs,
        &mut types,
        &mut shardings,
    )?;
    let outputs = write_values(
        &interface.outputs,
        &interface.weak_outputs,
        &mut types,
        &mut shardings,
    )?;
    let names = |effects: &[Effect]| effects.iter().map(|effect| effect.type_name.clone()).collect();
    let (meshes, shardings) = shardings.into_stored()?;
    Ok(stored::Interface {
        function: interface.function_name.clone(),
        calling_convention: interface.calling_convention.0.into(),
        inputs,
        outputs,
        kept_inputs: interface.kept_inputs.clone(),
        devices: interface.devices.get(),
        ordered_effects: names(&interface.ordered_effects),
        unordered_effects: names(&interface.unordered_effects),
        disabled_checks: interface.disabled_checks.iter().map(write_check).collect(),
        uses_global_constants: interface.uses_global_constants,
        types: types.items.iter().map(|aval| write_type(aval)).collect(),
        meshes,
        shardings,
        donations: donations(conventions),
        layouts: layouts(conventions),
        origin: interface.origin.as_ref().map(|origin| stored::Origin {
            serialization_version: origin.serialization_version.0.into(),
            release: origin.jax_version.clone(),
        }),
    })
}

/// The donations that the manifest repeats.
fn donations(conventions: &Conventions) -> Vec<stored::Donation> {
    let donations = conventions.donations.iter();
    donations
        .map(|donation| stored::Donation {
            input: donation.input,
            output: donation.output,
        })
        .collect()
}

/// The layouts that the manifest repeats.
fn layouts(conventions: &Conventions) -> Vec<stored::Layout> {
    let layouts = conventions.layouts.iter();
    layouts
        .map(|layout| stored::Layout {
            side: match layout.side {
                Side::Input => "input",
                Side::Output => "output",
            }
            .to_owned(),
            position: layout.position,
            mode: layout.mode.clone(),
        })
        .collect()
}

/// The interface of a manifest, whose program has these conventions.
///
/// # Errors
/// A name or a position that means nothing, a tree that is none, a dimension that cannot be read, or donations and layouts
/// that are not those of the program. Whether the rest agrees with the program is for [`super::check`] to say.
pub(crate) fn read(said: &stored::Interface, conventions: &Conventions) -> Result<Interface, ExportError> {
    if said.donations != donations(conventions) || said.layouts != layouts(conventions) {
        return Err(wrong(
            "it lists other donated buffers or layouts than the program asks for",
        ));
    }
    let types = read_types(&said.types)?;
    let shardings = shardings::read(&said.meshes, &said.shardings)?;
    let (inputs, weak_inputs) = read_values(&said.inputs, &types, &shardings)?;
    let (outputs, weak_outputs) = read_values(&said.outputs, &types, &shardings)?;
    let effects = |names: &[String]| {
        let named = names.iter().cloned();
        named.map(|type_name| Effect { type_name }).collect()
    };
    let devices = NonZeroU32::new(said.devices).ok_or_else(|| wrong("the function is for 0 devices"))?;
    let checks = said.disabled_checks.iter().map(read_check);
    Ok(Interface {
        function_name: said.function.clone(),
        inputs,
        outputs,
        weak_inputs,
        weak_outputs,
        kept_inputs: said.kept_inputs.clone(),
        devices,
        ordered_effects: effects(&said.ordered_effects),
        unordered_effects: effects(&said.unordered_effects),
        disabled_checks: checks.collect::<Result<_, _>>()?,
        calling_convention: CallingConventionVersion(number(said.calling_convention, "calling convention")?),
        uses_global_constants: said.uses_global_constants,
        origin: said.origin.as_ref().map(read_origin).transpose()?,
    })
}

fn read_origin(origin: &stored::Origin) -> Result<Origin, ExportError> {
    let version = number(origin.serialization_version, "serialization version")?;
    Ok(Origin {
        serialization_version: SerializationVersion(version),
        jax_version: origin.release.clone(),
    })
}

fn number(number: u32, what: &str) -> Result<u16, ExportError> {
    u16::try_from(number).map_err(|_| wrong(format!("there is no {what} {number}")))
}

/// Wrong input. `what` is a lower-case fragment.
fn wrong(what: impl std::fmt::Display) -> ExportError {
    ExportError::input(format!("the manifest's interface: {what}"))
}

/// The item at a position that a manifest gives.
fn at<'a, T>(items: &'a [T], position: u32, what: &str) -> Result<&'a T, ExportError> {
    let count = items.len();
    items
        .get(position as usize)
        .ok_or_else(|| wrong(format!("it names {what} {position}, and there are {count}")))
}

/// Equal things once, in the order in which they came.
struct Uniques<T> {
    items: Vec<T>,
    positions: HashMap<T, u32>,
}

impl<T> Default for Uniques<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            positions: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Uniques<T> {
    fn position(&mut self, item: &T) -> Result<u32, ExportError> {
        if let Some(known) = self.positions.get(item) {
            return Ok(*known);
        }
        let position = u32::try_from(self.items.len()).map_err(|_| wrong("it has too many types"))?;
        self.items.push(item.clone());
        self.positions.insert(item.clone(), position);
        Ok(position)
    }
}

fn write_values(
    values: &Values,
    weak: &BTreeSet<u32>,
    types: &mut Uniques<Arc<AbstractValue>>,
    shardings: &mut Shardings,
) -> Result<stored::Values, ExportError> {
    let leaf = |(position, leaf): (u32, &Leaf)| {
        Ok(stored::Leaf {
            leaf_type: types.position(&leaf.aval)?,
            sharding: match &leaf.sharding {
                Sharding::Unspecified => None,
                Sharding::Named(named) => Some(shardings.position(named)?),
                Sharding::Hlo(_) => return Err(wrong("it has an HLO sharding, which no current file holds")),
            },
            weak_type: weak.contains(&position),
        })
    };
    Ok(stored::Values {
        tree: trees::write(&values.tree)?,
        leaves: (0..).zip(&values.leaves).map(leaf).collect::<Result<_, _>>()?,
    })
}

fn read_values(
    values: &stored::Values,
    types: &[Arc<AbstractValue>],
    shardings: &[Sharding],
) -> Result<(Values, BTreeSet<u32>), ExportError> {
    let leaf = |leaf: &stored::Leaf| {
        let sharding = leaf.sharding.map(|position| at(shardings, position, "sharding"));
        Ok(Leaf {
            aval: Arc::clone(at(types, leaf.leaf_type, "type")?),
            sharding: sharding.transpose()?.cloned().unwrap_or_default(),
        })
    };
    let weak = (0..).zip(&values.leaves).filter(|(_, leaf)| leaf.weak_type);
    let weak = weak.map(|(position, _)| position).collect();
    let leaves: Result<Vec<Leaf>, ExportError> = values.leaves.iter().map(leaf).collect();
    let values = Values {
        tree: trees::read(&values.tree)?,
        leaves: leaves?,
    };
    Ok((values, weak))
}

fn write_type(aval: &AbstractValue) -> stored::LeafType {
    let dim = |dimension: &Dimension| {
        let size = dimension
            .expr()
            .as_constant()
            .and_then(|size| u64::try_from(size).ok());
        size.map_or_else(|| Dim::Expression(dimension.text().to_owned()), Dim::Size)
    };
    stored::LeafType {
        dtype: dtype_name(aval.dtype).to_owned(),
        shape: aval.shape.iter().map(dim).collect(),
        memory_space: match aval.memory_space {
            MemorySpace::Device => "device",
            MemorySpace::Host => "host",
            MemorySpace::Any => "any",
        }
        .to_owned(),
    }
}

fn read_types(types: &[stored::LeafType]) -> Result<Vec<Arc<AbstractValue>>, ExportError> {
    let mut texts = HashMap::new();
    types
        .iter()
        .map(|ty| read_type(ty, &mut texts).map(Arc::new))
        .collect()
}

/// `texts` are the dimensions that were read already, so that none is read twice.
fn read_type(
    ty: &stored::LeafType,
    texts: &mut HashMap<String, Dimension>,
) -> Result<AbstractValue, ExportError> {
    let limit = |error| wrong(format!("a type: {error}"));
    RANK.check(ty.shape.len() as u64).map_err(limit)?;
    let mut dim = |dim: &Dim| match dim {
        Dim::Size(size) => size
            .to_string()
            .parse()
            .map_err(|error| wrong(format!("a dimension: {error}"))),
        Dim::Unknown => Err(wrong("a dimension is not known")),
        Dim::Expression(text) => {
            if let Some(known) = texts.get(text) {
                return Ok(known.clone());
            }
            limits::DIMENSION_TEXT.check(text.len() as u64).map_err(limit)?;
            limits::SYMBOLIC_DIMENSIONS
                .check(texts.len() as u64 + 1)
                .map_err(limit)?;
            let dimension: Dimension = text
                .parse()
                .map_err(|error| wrong(format!("a dimension: {error}")))?;
            texts.insert(text.clone(), dimension.clone());
            Ok(dimension)
        }
    };
    Ok(AbstractValue {
        shape: ty.shape.iter().map(&mut dim).collect::<Result<_, _>>()?,
        dtype: dtype_named(&ty.dtype).ok_or_else(|| wrong(format!("there is no dtype `{}`", ty.dtype)))?,
        memory_space: match ty.memory_space.as_str() {
            "device" => MemorySpace::Device,
            "host" => MemorySpace::Host,
            "any" => MemorySpace::Any,
            other => return Err(wrong(format!("there is no memory space `{other}`"))),
        },
    })
}

fn write_check(check: &DisabledCheck) -> stored::DisabledCheck {
    let (check, target) = match check {
        DisabledCheck::Platform => ("platform", None),
        DisabledCheck::CustomCall(target) => ("custom_call", Some(target.clone())),
        DisabledCheck::ShapeAssertions => ("shape_assertions", None),
    };
    stored::DisabledCheck {
        check: check.to_owned(),
        target,
    }
}

fn read_check(check: &stored::DisabledCheck) -> Result<DisabledCheck, ExportError> {
    match (check.check.as_str(), &check.target) {
        ("platform", None) => Ok(DisabledCheck::Platform),
        ("custom_call", Some(target)) => Ok(DisabledCheck::CustomCall(target.clone())),
        ("shape_assertions", None) => Ok(DisabledCheck::ShapeAssertions),
        (other, _) => Err(wrong(format!("there is no check `{other}`, or not of this form"))),
    }
}

#[cfg(test)]
mod tests {
    use artifact_core::blob::Blob;
    use artifact_ir::module::{Function, Parameter};
    use artifact_ir::types::{ElementType, Type};

    use super::*;

    fn interface() -> Interface {
        let path = "../../fixtures/jax_exports/schema12/weak_types.bin";
        let file = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        Interface::of_jax(&artifact_jax::read(Blob::new(file)).unwrap())
    }

    /// What no file of JAX says comes back from a manifest.
    #[test]
    fn weak_types_come_back() {
        let mut interface = interface();
        interface.weak_inputs = BTreeSet::from([1]);
        interface.weak_outputs = BTreeSet::from([0]);
        let conventions = Conventions::default();
        let stored = write(&interface, &conventions).unwrap();
        assert_eq!(stored.types.len(), 2, "each type once");
        assert_eq!(read(&stored, &conventions).unwrap(), interface);
    }

    #[test]
    fn donations_are_those_of_the_program() {
        use artifact_ir::attribute::Attribute;
        let mut function = Function::new("main");
        for attribute in [
            ("jax.buffer_donor", Attribute::Bool(true)),
            ("tf.aliasing_output", Attribute::i64(1)),
        ] {
            let mut parameter = Parameter::new(Type::tensor(&[], ElementType::F32));
            parameter.attributes.insert(attribute.0, attribute.1);
            function.arguments.push(parameter);
        }
        let conventions = Conventions::of(&function);
        let stored = write(&interface(), &conventions).unwrap();
        let outputs: Vec<_> = stored.donations.iter().map(|donation| donation.output).collect();
        assert_eq!(outputs, [None, Some(1)]);
        let error = read(&stored, &Conventions::default()).unwrap_err();
        assert!(error.to_string().contains("other donated buffers"), "{error}");
    }

    /// Small texts that ask for much, and positions of nothing.
    #[test]
    fn limits() {
        let conventions = Conventions::default();
        let refused = |change: &dyn Fn(&mut stored::Interface), says: &str| {
            let mut stored = write(&interface(), &conventions).unwrap();
            change(&mut stored);
            let error = read(&stored, &conventions).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        };
        let many = |said: &mut stored::Interface| {
            let (first, numbers) = (said.types[0].clone(), 0..600);
            let shaped = numbers.map(|number| stored::LeafType {
                shape: vec![Dim::Expression(format!("d{number}"))],
                ..first.clone()
            });
            said.types = shaped.collect();
        };
        refused(&many, "the number of symbolic dimensions");
        refused(
            &|said| said.types[0].shape = vec![Dim::Size(1); 5000],
            "over the limit of 64",
        );
        let long = "a + ".repeat(2000) + "a";
        refused(
            &|said| said.types[0].shape = vec![Dim::Expression(long.clone())],
            "the text of a dimension",
        );
        refused(
            &|said| said.types[0].shape = vec![Dim::Expression("2 +".into())],
            "a dimension: ",
        );
        refused(&|said| said.types[0].shape = vec![Dim::Unknown], "not known");
        refused(&|said| said.types[0].dtype = "f31".into(), "no dtype `f31`");
        refused(
            &|said| said.types[0].memory_space = "moon".into(),
            "no memory space `moon`",
        );
        refused(
            &|said| said.inputs.leaves[0].leaf_type = 9,
            "names type 9, and there are 2",
        );
        refused(
            &|said| said.calling_convention = 70_000,
            "no calling convention 70000",
        );
        refused(&|said| said.inputs.tree.truncate(1), "ends before its last node");
        refused(
            &|said| said.inputs.tree[0].children = u32::MAX,
            "ends before its last node",
        );
    }
}
