//! What a file may ask for.

use artifact_core::limit::Limit;

/// Everything but the programs and the data of custom nodes, counted as it is held in memory.
pub const METADATA: Limit = Limit::new("what describes the function", 64 << 20, "bytes");
/// Nodes of a tree of arguments or results within one another.
pub const TREE_DEPTH: Limit = Limit::new("the nesting of a tree of arguments or results", 128, "levels");
/// Functions of gradients within one another.
pub const VJP_ORDER: Limit = Limit::new("the order of the vjp", 32, "orders");
/// Dimensions of one value.
pub const RANK: Limit = artifact_dims::limits::RANK;
/// Text of one dimension.
pub const DIMENSION_TEXT: Limit = Limit::new("the text of a dimension", 4 * 1024, "bytes");
/// Texts of dimensions that are no numbers, each counted once.
pub const SYMBOLIC_DIMENSIONS: Limit = Limit::new("the number of symbolic dimensions", 512, "dimensions");
/// Length of an axis list, of a mesh or for one dimension.
pub const MESH_AXES: Limit = Limit::new("the number of axes of a mesh", 64, "axes");

/// How often the length of a file its metadata may be, as it is held in memory. A node of four bytes takes up to fifteen
/// times that.
pub(crate) const METADATA_RATIO: u64 = 16;
