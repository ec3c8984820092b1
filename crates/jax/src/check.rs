//! Whether the parts of an exported function agree.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::aval::Dimension;
use crate::error::{Error, Problem};
use crate::exported::{Exported, Leaf, Values};
use crate::limits;
use crate::sharding::{NamedSharding, Sharding};
use crate::tree::PyTree;

/// A result of a check.
type Outcome = Result<(), Problem>;

impl Exported {
    /// Checks that the parts agree, those of the functions of gradients too: as many leaves as the trees have, within the
    /// limits; positions of arguments that there are, ascending; sizes of results that the arguments tell; shardings over
    /// axes that their meshes have, each at most once.
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
    // Many leaves may share a type or a sharding, each of which is looked at once.
    let (mut avals, mut shardings) = (HashSet::new(), HashSet::new());
    for (index, Leaf { aval, sharding }) in values.leaves.iter().enumerate() {
        let at = |what: String| Problem::inconsistent(format!("number {index} of the {place}: {what}"));
        if avals.insert(Arc::as_ptr(aval)) {
            limits::RANK.check(aval.shape.len() as u64)?;
            shape(&aval.shape).map_err(at)?;
        }
        if let Sharding::Named(named) = sharding {
            divides(named, aval.shape.len()).map_err(at)?;
            if shardings.insert(Arc::as_ptr(named)) {
                limits::MESH_AXES.check(named.mesh.axes.len() as u64)?;
                axes(named).map_err(at)?;
            }
        }
    }
    Ok(())
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

/// What is wrong with a shape.
fn shape(shape: &[Dimension]) -> Result<(), String> {
    let negative = |dimension: &&Dimension| dimension.expr().as_constant().is_some_and(|size| size < 0);
    match shape.iter().find(negative) {
        Some(dimension) => Err(format!("a dimension is {dimension}, which is no size")),
        None => Ok(()),
    }
}

/// Whether a value of this rank has the dimensions that a sharding divides.
fn divides(sharding: &NamedSharding, rank: usize) -> Result<(), String> {
    match sharding.spec.partitions.len() {
        divided if divided > rank => Err(format!(
            "its sharding divides {divided} dimensions, and it has {rank}"
        )),
        _ => Ok(()),
    }
}

/// Whether the axes of a mesh differ, and a sharding names each at most once and no others.
fn axes(sharding: &NamedSharding) -> Result<(), String> {
    let mut free = BTreeSet::new();
    if let Some(twice) = sharding
        .mesh
        .axes
        .iter()
        .find(|axis| !free.insert(axis.name.as_str()))
    {
        return Err(format!("its mesh has two axes named '{}'", twice.name));
    }
    match sharding.spec.axes().find(|axis| !free.remove(axis)) {
        Some(axis) => Err(format!(
            "its sharding names the axis '{axis}', which its mesh has not or which it has named before"
        )),
        None => Ok(()),
    }
}
