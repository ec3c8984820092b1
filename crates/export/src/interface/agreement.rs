//! Whether an interface says what the program does. Who reads an interface believes it, so one that contradicts its program
//! is refused, wherever it comes from.

use artifact_core::blob::Blob;
use artifact_dims::{Decision, Scope, Unknown};
use artifact_ir::attribute::Attribute;
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, ElementType, TensorType, Type};
use artifact_jax::{AbstractValue, Leaf, dtype_name};

use super::elements::physical;
use super::{CALLING_CONVENTIONS, Conventions, Interface, placement};
use crate::error::ExportError;
use crate::signature::{Argument, Signature};

/// The module's own word for [`Interface::uses_global_constants`].
const USES_SHAPE_POLYMORPHISM: &str = "jax.uses_shape_polymorphism";

/// A result of a check: what does not agree.
type Outcome = Result<(), String>;

/// Refuses an interface that contradicts itself, the signature or the program.
pub(crate) fn check(
    interface: &Interface,
    platforms: &[String],
    module: &Module,
    conventions: &Conventions,
    signature: &Signature,
) -> Result<(), ExportError> {
    let convention = interface.calling_convention;
    if !CALLING_CONVENTIONS.contains(&convention.0) {
        let (oldest, newest) = (CALLING_CONVENTIONS.start(), CALLING_CONVENTIONS.end());
        return Err(ExportError::version(format!(
            "the function has calling convention {convention} of jax.export, and this release knows {oldest} and {newest}"
        )));
    }
    let file = interface.to_jax(platforms, Blob::new(Vec::new()));
    let own = file.and_then(|file| {
        file.check()
            .map_err(|error| ExportError::because("the interface contradicts itself", error))
    });
    own?;
    let program = passed(interface, platforms, conventions, signature)
        .and_then(|()| shardings(interface, module))
        .and_then(|()| refinement(interface, module))
        .and_then(|()| variables(interface, signature));
    program.map_err(|what| ExportError::input(format!("the interface and the program do not agree: {what}")))
}

/// What `main` takes and returns is what the leaves are, in order.
fn passed(
    interface: &Interface,
    platforms: &[String],
    conventions: &Conventions,
    signature: &Signature,
) -> Outcome {
    let several = platforms.len() > 1;
    if several != conventions.platform_index {
        let takes = if conventions.platform_index {
            "takes"
        } else {
            "takes no"
        };
        let count = platforms.len();
        return Err(format!(
            "the program {takes} position of a platform, and there are {count} platforms"
        ));
    }
    let mut inputs = signature.inputs.iter();
    if several {
        index(inputs.next())?;
    }
    let mut outputs = signature.outputs.iter();
    for effect in &interface.ordered_effects {
        for (side, found) in [("takes", inputs.next()), ("returns", outputs.next())] {
            if found.map(|argument| &argument.ty) != Some(&Type::Token) {
                return Err(format!(
                    "the program {side} no token for the ordered effect `{}`",
                    effect.type_name
                ));
            }
        }
    }
    each(
        "input",
        inputs.as_slice(),
        &kept(interface),
        &signature.dimensions,
    )?;
    let leaves: Vec<&Leaf> = interface.outputs.leaves.iter().collect();
    each("output", outputs.as_slice(), &leaves, &signature.dimensions)
}

/// The leaves of the inputs that the program takes, in order.
fn kept(interface: &Interface) -> Vec<&Leaf> {
    let leaves = &interface.inputs.leaves;
    let kept = interface.kept_inputs.iter();
    kept.filter_map(|kept| leaves.get(*kept as usize)).collect()
}

/// Values are laid out as the program states it.
fn shardings(interface: &Interface, module: &Module) -> Outcome {
    let Some(entry) = module.entry() else {
        return Ok(());
    };
    let function = &module.functions[entry];
    let results: Vec<&Leaf> = interface.outputs.leaves.iter().collect();
    // Constants that were hoisted out of the program are its last arguments, and no inputs.
    let leading = usize::from(Conventions::of(function).platform_index) + interface.ordered_effects.len();
    let inputs = kept(interface);
    let arguments = function.arguments.get(leading..).unwrap_or_default();
    let arguments = arguments.get(..inputs.len()).unwrap_or_default();
    placement::check(module, "input", arguments, &inputs)?;
    placement::check(module, "output", &function.results, &results)
}

fn index(argument: Option<&Argument>) -> Outcome {
    let scalar = |argument: &Argument| {
        let ty = argument.ty.as_tensor()?;
        let integer = [ElementType::I32, ElementType::I64]
            .into_iter()
            .any(|width| ty.element.as_plain() == Some(width));
        (ty.rank() == 0 && integer).then_some(())
    };
    let found = argument.and_then(scalar);
    found.ok_or_else(|| "the position of the platform is no integer of 32 or 64 bits".to_owned())
}

fn each(side: &str, arguments: &[Argument], leaves: &[&Leaf], scope: &Scope) -> Outcome {
    if arguments.len() != leaves.len() {
        let (has, said) = (arguments.len(), leaves.len());
        return Err(format!(
            "the program has {has} {side}s that are data, the interface {said}"
        ));
    }
    for (argument, leaf) in arguments.iter().zip(leaves) {
        if !is_of(&argument.ty, &leaf.aval, side == "output", scope) {
            let said = text(&leaf.aval);
            let is = argument.shape_text();
            return Err(format!(
                "the {side} `{}` is {is}, the interface says {said}",
                argument.name
            ));
        }
    }
    Ok(())
}

/// Whether a value of the program is what a leaf says. A result may have a size that the program does not tell.
fn is_of(ty: &Type, aval: &AbstractValue, may_be_open: bool, scope: &Scope) -> bool {
    let Type::Tensor(ty) = ty else { return false };
    let physical = physical(aval.dtype);
    let rank = aval.shape.len() + usize::from(physical.words.is_some());
    if ty.element.as_plain() != Some(physical.element) || ty.rank() != rank {
        return false;
    }
    let words = physical
        .words
        .is_none_or(|words| ty.dims.last() == Some(&Dim::Static(words)));
    words && sizes(ty, aval, may_be_open, scope)
}

fn sizes(ty: &TensorType, aval: &AbstractValue, may_be_open: bool, scope: &Scope) -> bool {
    let mut pairs = ty.dims.iter().zip(&aval.shape);
    pairs.all(|(dim, said)| match dim.expression() {
        None => may_be_open,
        Some(size) => match scope.eq(&size, said.expr()) {
            Decision::Yes => true,
            Decision::No | Decision::Unknown(Unknown::Depends { .. }) => false,
            // What nobody can decide contradicts nothing.
            Decision::Unknown(Unknown::Settles { .. } | Unknown::NotFound { .. }) => may_be_open,
        },
    })
}

fn text(aval: &AbstractValue) -> String {
    let shape: Vec<&str> = aval.shape.iter().map(artifact_jax::Dimension::text).collect();
    format!("{}[{}]", dtype_name(aval.dtype), shape.join(","))
}

/// The module says whether its shapes must be refined.
fn refinement(interface: &Interface, module: &Module) -> Outcome {
    match module.attributes.get(USES_SHAPE_POLYMORPHISM) {
        Some(Attribute::Bool(uses)) if *uses != interface.uses_global_constants => Err(format!(
            "the program says that it {} refinement, the interface that it {}",
            needs(*uses),
            needs(interface.uses_global_constants)
        )),
        _ => Ok(()),
    }
}

const fn needs(refinement: bool) -> &'static str {
    if refinement { "needs" } else { "needs no" }
}

/// Leaves that are not passed on tell no size, so that every variable is one of the signature.
fn variables(interface: &Interface, signature: &Signature) -> Outcome {
    let inputs = signature.inputs.iter().filter_map(|input| input.ty.as_tensor());
    let known: std::collections::BTreeSet<_> = inputs
        .flat_map(|ty| ty.dims.iter().filter_map(Dim::expression))
        .flat_map(|size| size.variables())
        .collect();
    let leaves = interface.inputs.leaves.iter();
    let dimensions = leaves.flat_map(|leaf| &leaf.aval.shape);
    let mut named = dimensions.flat_map(|dimension| dimension.expr().variables());
    match named.find(|variable| !known.contains(variable)) {
        Some(stray) => Err(format!(
            "the size '{stray}' is that of no argument that the program takes"
        )),
        None => Ok(()),
    }
}

/// Says in a module that its shapes must be refined before it is compiled.
pub(super) fn mark_polymorphic(module: &mut Module, uses: bool) {
    module
        .attributes
        .insert(USES_SHAPE_POLYMORPHISM, Attribute::Bool(uses));
}
