//! The structure of arguments and results.

use artifact_flatbuffer::View;
use artifact_proto::jax_exported::{PyTreeDef, PyTreeDefKind};

use super::{Outcome, Reader, field, of_fault, required, texts};
use crate::error::Problem;
use crate::limits;
use crate::tree::PyTree;

impl Reader<'_> {
    pub(super) fn tree(&self, root: &View<'_, PyTreeDef>) -> Outcome<PyTree> {
        self.node(root, 1)
    }

    fn node(&self, view: &View<'_, PyTreeDef>, depth: u64) -> Outcome<PyTree> {
        limits::TREE_DEPTH.check(depth)?;
        let children = self.children(view, depth)?;
        Ok(match field(view, PyTreeDef::KIND)? {
            PyTreeDefKind::Leaf => without_children(PyTree::Leaf, "leaf", &children)?,
            PyTreeDefKind::None => without_children(PyTree::None, "None", &children)?,
            PyTreeDefKind::Tuple => PyTree::Tuple(children),
            PyTreeDefKind::List => PyTree::List(children),
            PyTreeDefKind::Dict => dictionary(view, children)?,
            PyTreeDefKind::Custom => self.custom(view, children)?,
        })
    }

    fn children(&self, view: &View<'_, PyTreeDef>, depth: u64) -> Outcome<Vec<PyTree>> {
        // A loop takes less of the stack than adaptors, each of which would be a call of its own at every level.
        let mut children = Vec::new();
        for view in field(view, PyTreeDef::CHILDREN)?.into_iter().flatten() {
            children.push(self.node(&view.map_err(of_fault)?, depth + 1)?);
        }
        Ok(children)
    }

    fn custom(&self, view: &View<'_, PyTreeDef>, children: Vec<PyTree>) -> Outcome<PyTree> {
        let auxdata = required(view, PyTreeDef::CUSTOM_AUXDATA)?;
        Ok(PyTree::Custom {
            name: required(view, PyTreeDef::CUSTOM_NAME)?.to_owned(),
            auxdata: self.view(auxdata.range)?,
            children,
        })
    }
}

fn without_children(node: PyTree, name: &str, children: &[PyTree]) -> Outcome<PyTree> {
    if children.is_empty() {
        return Ok(node);
    }
    let count = children.len();
    Err(Problem::inconsistent(format!(
        "a {name} of a tree has {count} nodes below it"
    )))
}

fn dictionary(view: &View<'_, PyTreeDef>, children: Vec<PyTree>) -> Outcome<PyTree> {
    let names: Vec<String> = texts(field(view, PyTreeDef::CHILDREN_NAMES)?)?;
    if names.len() != children.len() {
        return Err(Problem::inconsistent(format!(
            "a dictionary of a tree has {} keys and {} values",
            names.len(),
            children.len()
        )));
    }
    Ok(PyTree::Dict(names.into_iter().zip(children).collect()))
}
