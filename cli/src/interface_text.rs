//! How a program is called, and how its caller sees it, as `artifact inspect` shows what a manifest says of it.

use std::fmt::Write as _;

use artifact_container::manifest::interface::{Interface, Leaf, LeafType, Node, Sharding, Values};
use artifact_container::manifest::{Dim, ProgramPart, Value};

use crate::description::custom_call_text;
use crate::output::one_line;

/// One program: its signature, its interface, and the custom calls that it makes. `waivers` are targets that were accepted.
pub(crate) fn part_text(part: ProgramPart<'_>, waivers: &[String], text: &mut String) {
    let signature = part.signature;
    // Writing to a string does not fail.
    let _ = writeln!(text, "\nfunction {}", one_line(&signature.function));
    for (label, values) in [("in", &signature.inputs), ("out", &signature.outputs)] {
        for value in values {
            let _ = writeln!(
                text,
                "  {label:<4}{}: {}",
                one_line(&value.name),
                one_line(&value_text(value))
            );
        }
    }
    for constant in part.constants {
        let shape: String = constant.shape.iter().map(|size| format!("{size}x")).collect();
        let _ = writeln!(
            text,
            "  constant argument {}: tensor<{shape}{}> in {}",
            constant.argument,
            one_line(&constant.dtype),
            one_line(&constant.section)
        );
    }
    interface_text(part, text);
    for call in part.custom_calls {
        let waived = waivers.contains(&call.target);
        let _ = writeln!(text, "  {}", custom_call_text(call, waived));
    }
}

fn value_text(value: &Value) -> String {
    let Some(shape) = &value.shape else {
        return value.dtype.clone();
    };
    let dims: String = shape.iter().map(|dim| format!("{}x", dim_text(dim))).collect();
    format!("tensor<{dims}{}>", value.dtype)
}

fn dim_text(dim: &Dim) -> String {
    match dim {
        Dim::Size(size) => size.to_string(),
        Dim::Expression(expression) => format!("({expression})"),
        Dim::Unknown => "?".to_owned(),
    }
}

/// The interface of a program, where the manifest has one.
fn interface_text(part: ProgramPart<'_>, text: &mut String) {
    let Some(interface) = part.interface else { return };
    let mut line = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label:<19}{}", one_line(&value));
    };
    line("exported function", interface.function.clone());
    line("takes", values(interface, &interface.inputs));
    line("returns", values(interface, &interface.outputs));
    let (kept, all) = (interface.kept_inputs.len(), interface.inputs.leaves.len());
    if kept < all {
        line(
            "unused inputs",
            format!("{} of {all}, which the program does not take", all - kept),
        );
    }
    line("devices", interface.devices.to_string());
    line(
        "convention",
        format!("{} of jax.export", interface.calling_convention),
    );
    for (label, effects) in [
        ("ordered effects", &interface.ordered_effects),
        ("unordered effects", &interface.unordered_effects),
    ] {
        if !effects.is_empty() {
            line(label, effects.join(", "));
        }
    }
    for waived in &interface.disabled_checks {
        let target = waived.target.iter().map(|target| format!(" {target}"));
        line(
            "waived check",
            format!("{}{}", waived.check, target.collect::<String>()),
        );
    }
    for donation in &interface.donations {
        let name = part.signature.inputs.get(donation.input as usize);
        let name = name.map_or("?", |input| &input.name);
        let into = donation.output.map(|output| format!(", into output {output}"));
        line("donates", format!("{name}{}", into.unwrap_or_default()));
    }
    for layout in &interface.layouts {
        line(
            "layout",
            format!("{} {}: {}", layout.side, layout.position, layout.mode),
        );
    }
}

/// Nodes and leaves that are shown; a model may have many thousands.
const SHOWN_MAX: usize = 256;

/// A tree with the types of its leaves.
fn values(interface: &Interface, values: &Values) -> String {
    let mut writer = Tree {
        interface,
        nodes: values.tree.iter(),
        leaves: values.leaves.iter(),
        shown: 0,
    };
    let mut text = String::new();
    writer.all(&mut text);
    text
}

struct Tree<'a> {
    interface: &'a Interface,
    nodes: std::slice::Iter<'a, Node>,
    leaves: std::slice::Iter<'a, Leaf>,
    shown: usize,
}

/// A node whose children are being shown.
struct Open<'a> {
    node: &'a Node,
    done: usize,
}

impl Tree<'_> {
    /// A loop, because the container does not say how deep a tree is.
    fn all(&mut self, text: &mut String) {
        let mut open: Vec<Open<'_>> = Vec::new();
        while let Some(node) = self.nodes.next() {
            self.shown += 1;
            if self.shown > SHOWN_MAX {
                text.push_str("...");
                return;
            }
            if let Some(above) = open.last() {
                separate(above, text);
            }
            text.push_str(&self.start(node));
            open.push(Open { node, done: 0 });
            while let Some(last) = open.pop_if(|open| open.done >= open.node.children as usize) {
                text.push_str(end(last.node));
                if let Some(above) = open.last_mut() {
                    above.done += 1;
                }
            }
            if open.is_empty() {
                return;
            }
        }
    }

    fn start(&mut self, node: &Node) -> String {
        match node.kind.as_str() {
            "leaf" => self
                .leaves
                .next()
                .map_or("?".to_owned(), |leaf| leaf_text(self.interface, leaf)),
            "none" => "None".to_owned(),
            "tuple" => "(".to_owned(),
            "list" => "[".to_owned(),
            "dict" => "{".to_owned(),
            _ => format!("{}(", node.name.as_deref().unwrap_or("?")),
        }
    }
}

/// What stands before the next child.
fn separate(above: &Open<'_>, text: &mut String) {
    if above.done > 0 {
        text.push_str(", ");
    }
    if let Some(key) = above.node.keys.get(above.done) {
        let _ = write!(text, "'{key}': ");
    }
}

fn end(node: &Node) -> &'static str {
    match node.kind.as_str() {
        "leaf" | "none" => "",
        "tuple" if node.children == 1 => ",)",
        "list" => "]",
        "dict" => "}",
        _ => ")",
    }
}

fn leaf_text(interface: &Interface, leaf: &Leaf) -> String {
    let ty = interface.types.get(leaf.leaf_type as usize).map(type_text);
    let sharding = leaf.sharding.and_then(|at| interface.shardings.get(at as usize));
    let weak = if leaf.weak_type { " weak" } else { "" };
    format!(
        "{}{weak}{}",
        ty.unwrap_or_default(),
        sharding.map(sharding_text).unwrap_or_default()
    )
}

fn type_text(ty: &LeafType) -> String {
    let dim = |dim: &Dim| match dim {
        Dim::Size(size) => size.to_string(),
        Dim::Expression(text) => text.clone(),
        Dim::Unknown => "?".to_owned(),
    };
    let shape: Vec<String> = ty.shape.iter().map(dim).collect();
    let space = match ty.memory_space.as_str() {
        "device" => String::new(),
        other => format!(" in {other} memory"),
    };
    format!("{}[{}]{space}", ty.dtype, shape.join(","))
}

fn sharding_text(sharding: &Sharding) -> String {
    let partition = |axes: &Vec<String>| match axes.as_slice() {
        [] => "None".to_owned(),
        [axis] => axis.clone(),
        axes => format!("({})", axes.join(", ")),
    };
    let partitions: Vec<String> = sharding.partitions.iter().map(partition).collect();
    format!(" over mesh {} by ({})", sharding.mesh, partitions.join(", "))
}
