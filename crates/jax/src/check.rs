//! Whether the parts of an exported function agree.

use std::collections::BTreeSet;

use crate::aval::Dimension;
use crate::error::{Error, Problem};
use crate::exported::{Exported, Leaf, Values};
use crate::limits;
use crate::sharding::{AbstractMesh, NamedSharding, Sharding};
use crate::tree::PyTree;

/// A result of a check.
type Outcome = Result<(), Problem>;

impl Exported {
    /// Checks that the parts agree, those of the functions of gradients too: as many leaves as the trees have, within the
    /// limits; positions of arguments that there are, ascending; sizes of results that the arguments tell; shardings over
    /// axes that their meshes have.
    ///
    /// # Errors
    /// [`Error`] that names the first part that does not.
    pub fn check(&self) -> Result<(), Error> {
        self.inspect().map_err(Error::checking)
    }

    /// As [`Exported::check`], without what is checked.
    pub(crate) fn inspect(&self) -> Outcome {
        limits::VJP_ORDER.check(self.vjp_order() as u64)?;
        std::iter::successors(Some(self), |function| function.vjp.as_deref()).try_for_each(function)
    }
}

fn function(function: &Exported) -> Outcome {
    values("inputs", &function.inputs)?;
    values("outputs", &function.outputs)?;
    let known = function.variables();
    let named = function
        .outputs
        .dimensions()
        .flat_map(|dimension| dimension.expr().variables());
    if let Some(stray) = named.into_iter().find(|variable| !known.contains(variable)) {
        return Err(Problem::inconsistent(format!(
            "the size '{stray}' is in a shape of the outputs and in none of the inputs"
        )));
    }
    kept(function)
}

fn kept(function: &Exported) -> Outcome {
    let kept = &function.module_kept_var_idx;
    if let Some(pair) = kept.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(Problem::inconsistent(format!(
            "the arguments that the program takes are not ascending: {} comes before {}",
            pair[0], pair[1]
        )));
    }
    let count = function.inputs.leaves.len();
    match kept.last() {
        Some(last) if usize::from(*last) >= count => Err(Problem::inconsistent(format!(
            "the program takes argument {last}, and there are {count}, counted from 0"
        ))),
        _ => Ok(()),
    }
}

fn values(place: &str, values: &Values) -> Outcome {
    let count = leaf_count(&values.tree, 1)?;
    if count != values.leaves.len() {
        return Err(Problem::inconsistent(format!(
            "the tree of the {place} has {count} leaves, but there are {}",
            values.leaves.len()
        )));
    }
    let mut leaves = values.leaves.iter().enumerate();
    leaves.try_for_each(|(index, value)| leaf(place, index, value))
}

/// The number of leaves of a tree that is not too deep.
fn leaf_count(tree: &PyTree, depth: u64) -> Result<usize, Problem> {
    limits::TREE_DEPTH.check(depth)?;
    let mut count = usize::from(matches!(tree, PyTree::Leaf));
    for child in tree.children() {
        count += leaf_count(child, depth + 1)?;
    }
    Ok(count)
}

fn leaf(place: &str, index: usize, leaf: &Leaf) -> Outcome {
    let shape = &leaf.aval.shape;
    limits::RANK.check(shape.len() as u64)?;
    let negative = |dimension: &&Dimension| dimension.expr().as_constant().is_some_and(|size| size < 0);
    if let Some(dimension) = shape.iter().find(negative) {
        return Err(Problem::inconsistent(format!(
            "number {index} of the {place} has a dimension of {dimension}, which is no size"
        )));
    }
    match &leaf.sharding {
        Sharding::Named(named) => sharding(named, shape.len())
            .map_err(|what| Problem::inconsistent(format!("number {index} of the {place}: {what}"))),
        Sharding::Unspecified | Sharding::Hlo(_) => Ok(()),
    }
}

/// What is wrong with the sharding of a value of this rank.
fn sharding(sharding: &NamedSharding, rank: usize) -> Result<(), String> {
    let axes = axes(&sharding.mesh)?;
    let divided = sharding.spec.partitions.len();
    if divided > rank {
        return Err(format!(
            "its sharding divides {divided} dimensions, and it has {rank}"
        ));
    }
    match sharding.spec.axes().find(|axis| !axes.contains(axis)) {
        Some(stray) => Err(format!(
            "its sharding names the axis '{stray}', which its mesh has not"
        )),
        None => Ok(()),
    }
}

/// The names of a mesh's axes, which differ.
fn axes(mesh: &AbstractMesh) -> Result<BTreeSet<&str>, String> {
    let limit = limits::MESH_AXES.check(mesh.axes.len() as u64);
    limit.map_err(|limit| limit.to_string())?;
    let mut names = BTreeSet::new();
    match mesh.axes.iter().find(|axis| !names.insert(axis.name.as_str())) {
        Some(twice) => Err(format!("its mesh has two axes named '{}'", twice.name)),
        None => Ok(names),
    }
}
