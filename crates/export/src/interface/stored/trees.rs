//! Trees as lists of nodes in pre-order, and back.

use artifact_container::manifest::interface::Node;
use artifact_core::blob::Blob;
use artifact_jax::{PyTree, limits};

use super::wrong;
use crate::error::ExportError;

/// The nodes of a tree: each, then those below it.
pub(super) fn write(tree: &PyTree) -> Result<Vec<Node>, ExportError> {
    let mut nodes = Vec::new();
    let mut pending = vec![tree];
    while let Some(tree) = pending.pop() {
        nodes.push(node(tree)?);
        let children: Vec<&PyTree> = tree.children().collect();
        pending.extend(children.into_iter().rev());
    }
    Ok(nodes)
}

fn node(tree: &PyTree) -> Result<Node, ExportError> {
    let count = tree.children().count();
    let mut node = Node {
        kind: kind(tree).to_owned(),
        children: u32::try_from(count).map_err(|_| wrong("a node has too many children"))?,
        keys: Vec::new(),
        name: None,
        data: Vec::new(),
    };
    match tree {
        PyTree::Dict(entries) => node.keys = entries.iter().map(|(key, _)| key.clone()).collect(),
        PyTree::Custom { name, auxdata, .. } => {
            node.name = Some(name.clone());
            node.data = auxdata.to_vec();
        }
        PyTree::Leaf | PyTree::None | PyTree::Tuple(_) | PyTree::List(_) => {}
    }
    Ok(node)
}

const fn kind(tree: &PyTree) -> &'static str {
    match tree {
        PyTree::Leaf => "leaf",
        PyTree::None => "none",
        PyTree::Tuple(_) => "tuple",
        PyTree::List(_) => "list",
        PyTree::Dict(_) => "dict",
        PyTree::Custom { .. } => "custom",
    }
}

/// A node whose children are being read.
struct Open<'a> {
    node: &'a Node,
    children: Vec<PyTree>,
}

/// The tree of a list of nodes, which is as deep as a limit allows.
pub(super) fn read(nodes: &[Node]) -> Result<PyTree, ExportError> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut nodes = nodes.iter();
    loop {
        let node = nodes
            .next()
            .ok_or_else(|| wrong("a tree ends before its last node"))?;
        open.push(Open {
            node,
            children: Vec::new(),
        });
        let depth = limits::TREE_DEPTH.check(open.len() as u64);
        depth.map_err(|error| wrong(error.to_string()))?;
        while let Some(done) = open.pop_if(|open| open.children.len() == open.node.children as usize) {
            let tree = tree(done)?;
            match open.last_mut() {
                Some(above) => above.children.push(tree),
                None if nodes.as_slice().is_empty() => return Ok(tree),
                None => return Err(wrong("a tree has nodes after its last one")),
            }
        }
    }
}

fn tree(Open { node, children }: Open<'_>) -> Result<PyTree, ExportError> {
    let Node {
        kind,
        children: _,
        keys,
        name,
        data,
    } = node;
    let plain = keys.is_empty() && name.is_none() && data.is_empty();
    Ok(match (kind.as_str(), name) {
        ("leaf", _) if plain && children.is_empty() => PyTree::Leaf,
        ("none", _) if plain && children.is_empty() => PyTree::None,
        ("tuple", _) if plain => PyTree::Tuple(children),
        ("list", _) if plain => PyTree::List(children),
        ("dict", None) if data.is_empty() && keys.len() == children.len() => {
            PyTree::Dict(keys.iter().cloned().zip(children).collect())
        }
        ("custom", Some(name)) if keys.is_empty() => PyTree::Custom {
            name: name.clone(),
            auxdata: Blob::new(data.clone()),
            children,
        },
        _ => return Err(wrong(format!("a node of a tree has not the form of a `{kind}`"))),
    })
}
