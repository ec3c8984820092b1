//! Whether the shardings of an interface are those that the program states of its arguments and results (`sdy.sharding`).

use artifact_ir::attribute::sdy::TensorSharding;
use artifact_ir::attribute::{Attribute, SdyAttribute};
use artifact_ir::module::{Module, Parameter};
use artifact_jax::{Leaf, NamedSharding, Sharding};

/// The attribute of arguments and results.
const SHARDING: &str = "sdy.sharding";

/// Compares leaves with the last of `parameters`, one each. What one of the two does not say, it does not contradict.
pub(super) fn check(
    module: &Module,
    side: &str,
    parameters: &[Parameter],
    leaves: &[&Leaf],
) -> Result<(), String> {
    let first = parameters.len().saturating_sub(leaves.len());
    for (index, (parameter, leaf)) in parameters[first..].iter().zip(leaves).enumerate() {
        let stated = parameter.attributes.get(SHARDING);
        let (Some(Attribute::Sdy(SdyAttribute::TensorSharding(stated))), Sharding::Named(said)) =
            (stated, &leaf.sharding)
        else {
            continue;
        };
        if !agrees(module, stated, said) {
            let what = "is laid out over other axes in the program than the interface says";
            return Err(format!("{side} {index} of those that are data {what}"));
        }
    }
    Ok(())
}

fn agrees(module: &Module, stated: &TensorSharding, said: &NamedSharding) -> bool {
    let Some(mesh) = module.resolve_mesh(&stated.mesh) else {
        return false;
    };
    let axes = said.mesh.axes.iter();
    let same_mesh = mesh.axes.len() == said.mesh.axes.len()
        && mesh.axes.iter().zip(axes).all(|(stated, said)| {
            stated.name.as_bytes() == said.name.as_bytes() && i128::from(stated.size) == i128::from(said.size)
        });
    let none = Vec::new();
    let partitions = said.spec.partitions.iter().chain(std::iter::repeat(&none));
    same_mesh
        && stated.dim_shardings.iter().zip(partitions).all(|(stated, said)| {
            let whole = stated.axes.iter().all(|axis| axis.sub_axis_info.is_none());
            let stated = stated.axes.iter().map(|axis| axis.name.as_bytes());
            whole && stated.eq(said.iter().map(String::as_bytes))
        })
}
