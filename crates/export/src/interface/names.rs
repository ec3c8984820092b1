//! Names for the arguments of a program: those that its exporter recorded, else their places in the trees of the caller.

use std::collections::HashSet;

use artifact_jax::PyTree;

use super::{Conventions, Interface};
use crate::signature::{Argument, Signature};

/// A signature in which arguments without a recorded name have that of their place: `args[0].w`, `kwargs['b']`.
///
/// The number of inputs has been checked.
pub(crate) fn recorded(
    mut signature: Signature,
    interface: &Interface,
    conventions: &Conventions,
) -> Signature {
    let leading = usize::from(conventions.platform_index) + interface.ordered_effects.len();
    let paths = input_paths(&interface.inputs.tree);
    let tokens = (0..interface.ordered_effects.len()).map(|token| format!("token{token}"));
    let index = conventions.platform_index.then(|| "platform_index".to_owned());
    let kept = interface.kept_inputs.iter();
    let kept = kept.map(|kept| paths.get(*kept as usize).cloned().unwrap_or_default());
    let places: Vec<String> = index.into_iter().chain(tokens).chain(kept).collect();
    name(&mut signature.inputs, "arg", &places);
    let tokens = (0..interface.ordered_effects.len()).map(|token| format!("token{token}"));
    let outputs: Vec<String> = tokens.collect();
    let named = leading.min(outputs.len());
    name(&mut signature.outputs, "result", &outputs[..named]);
    signature
}

/// Gives arguments that are called by their position another name, unless somebody has it.
fn name(arguments: &mut [Argument], prefix: &str, places: &[String]) {
    let mut taken: HashSet<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
    for (index, (argument, place)) in arguments.iter_mut().zip(places).enumerate() {
        let by_position = argument.name == format!("{prefix}{index}");
        if by_position && !place.is_empty() && taken.insert(place.clone()) {
            place.clone_into(&mut argument.name);
        }
    }
}

/// The places of the leaves of a tree of inputs, in order, as JAX prints them.
fn input_paths(tree: &PyTree) -> Vec<String> {
    let mut paths = Vec::new();
    match tree {
        PyTree::Tuple(sides) if sides.len() == 2 => {
            for (side, root) in sides.iter().zip(["args", "kwargs"]) {
                leaves(side, root.to_owned(), &mut paths);
            }
        }
        other => leaves(other, "args".to_owned(), &mut paths),
    }
    paths
}

/// Recursion is as deep as the tree, which a limit bounds.
fn leaves(tree: &PyTree, path: String, found: &mut Vec<String>) {
    match tree {
        PyTree::Leaf => found.push(path),
        PyTree::None => {}
        PyTree::Tuple(children) | PyTree::List(children) => {
            for (index, child) in children.iter().enumerate() {
                leaves(child, format!("{path}[{index}]"), found);
            }
        }
        PyTree::Dict(entries) => {
            for (key, child) in entries {
                leaves(child, format!("{path}{}", quoted(key)), found);
            }
        }
        PyTree::Custom {
            name,
            auxdata,
            children,
        } => {
            let fields = fields(auxdata, children.len());
            for (index, child) in children.iter().enumerate() {
                let step = match fields.get(index) {
                    // JAX's own registration of ordered dictionaries stores keys, that of named tuples stores fields.
                    Some(key) if name == "collections.OrderedDict" => quoted(key),
                    Some(field) => format!(".{field}"),
                    None => format!("[<flat index {index}>]"),
                };
                leaves(child, format!("{path}{step}"), found);
            }
        }
    }
}

fn quoted(key: &str) -> String {
    format!("['{}']", key.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The names of the children of a custom node whose data is a list of them in JSON.
fn fields(auxdata: &[u8], children: usize) -> Vec<String> {
    let fields: Vec<String> = serde_json::from_slice(auxdata).unwrap_or_default();
    if fields.len() == children {
        fields
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use artifact_core::blob::Blob;

    use super::*;

    #[test]
    fn places_are_as_jax_prints_them() {
        let custom = |name: &str, data: &str, children| PyTree::Custom {
            name: name.into(),
            auxdata: Blob::new(data.into()),
            children,
        };
        let leaf = || PyTree::Leaf;
        let point = custom("Point", r#"["x", "y"]"#, vec![leaf(), PyTree::None]);
        let ordered = custom("collections.OrderedDict", r#"["b"]"#, vec![leaf()]);
        let opaque = custom("Scaled", "3", vec![leaf()]);
        let keywords = PyTree::Dict(vec![("it's".into(), PyTree::List(vec![leaf()]))]);
        let tree = PyTree::Tuple(vec![PyTree::Tuple(vec![point, ordered, opaque]), keywords]);
        let expected = [
            "args[0].x",
            "args[1]['b']",
            "args[2][<flat index 0>]",
            r"kwargs['it\'s'][0]",
        ];
        assert_eq!(input_paths(&tree), expected);
    }
}
