//! The interface of a program that came without one: its arguments are positional, its results a tuple, both flat.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use artifact_ir::module::Module;
use artifact_ir::types::{Dim, Type};
use artifact_jax::{
    AbstractValue, CallingConventionVersion, Dimension, DisabledCheck, Leaf, MemorySpace, PyTree, Sharding,
    Values,
};

use super::agreement::mark_polymorphic;
use super::elements::dtype_of;
use super::{CALLING_CONVENTIONS, Conventions, Interface};
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// A program without an interface.
pub(crate) struct Bare<'a> {
    /// Its module, in which it is noted whether shapes must be refined.
    pub(crate) module: &'a mut Module,
    /// How its entry is called; no size of an argument is unknown.
    pub(crate) signature: &'a Signature,
    /// What the attributes of its entry say.
    pub(crate) conventions: &'a Conventions,
    /// Whether no platform was named, so that any will do.
    pub(crate) any_platform: bool,
    /// Custom calls without a guarantee that were accepted.
    pub(crate) waived: BTreeSet<String>,
}

/// The interface of a program, as `jax.export` would say it.
///
/// # Errors
/// When an argument or a result is nothing that a file of JAX can hold.
pub(crate) fn of_bare_program(program: Bare<'_>) -> Result<Interface, ExportError> {
    let Bare {
        module,
        signature,
        conventions,
        any_platform,
        waived,
    } = program;
    let leading = usize::from(conventions.platform_index);
    let inputs = leaves("argument", signature.inputs.get(leading..).unwrap_or_default())?;
    let outputs = leaves("result", &signature.outputs)?;
    let symbolic = inputs.iter().flat_map(|leaf| &leaf.aval.shape);
    let uses_global_constants = conventions.platform_index
        || symbolic
            .into_iter()
            .any(|dimension| dimension.expr().as_constant().is_none());
    mark_polymorphic(module, uses_global_constants);
    let waived = waived.into_iter().map(DisabledCheck::CustomCall);
    let platform = any_platform.then_some(DisabledCheck::Platform);
    Ok(Interface {
        function_name: name(module, signature),
        kept_inputs: (0..).take(inputs.len()).collect(),
        inputs: flat(inputs, |arguments| {
            PyTree::Tuple(vec![arguments, PyTree::Dict(Vec::new())])
        }),
        outputs: flat(outputs, |results| results),
        weak_inputs: BTreeSet::new(),
        weak_outputs: BTreeSet::new(),
        devices: devices(module),
        ordered_effects: Vec::new(),
        unordered_effects: Vec::new(),
        disabled_checks: platform.into_iter().chain(waived).collect(),
        calling_convention: CallingConventionVersion(*CALLING_CONVENTIONS.end()),
        uses_global_constants,
        origin: None,
    })
}

fn flat(leaves: Vec<Leaf>, within: impl FnOnce(PyTree) -> PyTree) -> Values {
    let nodes = leaves.iter().map(|_| PyTree::Leaf).collect();
    Values {
        tree: within(PyTree::Tuple(nodes)),
        leaves,
    }
}

/// As `jax.jit` names modules, `jit_f`, without that prefix; else the entry's name.
fn name(module: &Module, signature: &Signature) -> String {
    let named = module
        .name
        .as_deref()
        .map(|name| name.strip_prefix("jit_").unwrap_or(name));
    named.unwrap_or(&signature.function).to_owned()
}

/// Replicas times partitions, as the module says; one where it says nothing.
fn devices(module: &Module) -> NonZeroU32 {
    let count = |name: &str| {
        let attribute = module.attributes.get(name)?.as_i64()?;
        u32::try_from(attribute).ok()
    };
    let [replicas, partitions] =
        ["mhlo.num_replicas", "mhlo.num_partitions"].map(|name| count(name).unwrap_or(1));
    NonZeroU32::new(replicas.saturating_mul(partitions)).unwrap_or(NonZeroU32::MIN)
}

fn leaves(side: &str, arguments: &[Argument]) -> Result<Vec<Leaf>, ExportError> {
    arguments.iter().map(|argument| leaf(side, argument)).collect()
}

fn leaf(side: &str, argument: &Argument) -> Result<Leaf, ExportError> {
    let refuse = |what: &str| {
        let (name, ty) = (&argument.name, argument.shape_text());
        ExportError::input(format!("the {side} `{name}` is {ty}, {what}"))
    };
    let Type::Tensor(ty) = &argument.ty else {
        return Err(refuse("and a file of jax.export holds arrays"));
    };
    let dimension = |dim: &Dim| {
        let size = dim.expression();
        let size = size.ok_or_else(|| refuse("of which a size does not follow from those of the arguments"));
        size.map(Dimension::from)
    };
    let aval = AbstractValue {
        shape: ty.dims.iter().map(dimension).collect::<Result<_, _>>()?,
        dtype: dtype_of(&ty.element)
            .ok_or_else(|| refuse("whose element a file of jax.export has no name for"))?,
        memory_space: MemorySpace::Device,
    };
    Ok(Leaf {
        aval: Arc::new(aval),
        sharding: Sharding::Unspecified,
    })
}
