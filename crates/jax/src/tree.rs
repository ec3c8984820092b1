//! The structure of arguments and results.

use artifact_core::blob::Blob;

/// A tree of Python containers, of which the leaves are arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PyTree {
    /// An array.
    Leaf,
    /// Python's `None`, which holds no array.
    None,
    /// A tuple.
    Tuple(Vec<PyTree>),
    /// A list.
    List(Vec<PyTree>),
    /// A dictionary with strings as keys, in JAX's order, which is that of the keys.
    Dict(Vec<(String, PyTree)>),
    /// A type that was registered with `jax.export`, a named tuple or an `OrderedDict` among them.
    Custom {
        /// The name under which it is registered.
        name: String,
        /// What the type needs besides its children, in an encoding of its own.
        auxdata: Blob,
        /// The nodes below.
        children: Vec<PyTree>,
    },
}

impl PyTree {
    /// The number of leaves.
    #[must_use]
    pub fn leaf_count(&self) -> usize {
        let mut count = usize::from(matches!(self, Self::Leaf));
        for child in self.children() {
            count += child.leaf_count();
        }
        count
    }

    /// The nodes below, in order.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let (plain, named): (&[Self], &[(String, Self)]) = match self {
            Self::Leaf | Self::None => (&[], &[]),
            Self::Tuple(children) | Self::List(children) | Self::Custom { children, .. } => (children, &[]),
            Self::Dict(entries) => (&[], entries),
        };
        plain.iter().chain(named.iter().map(|(_, child)| child))
    }
}
