//! Named limits and budgets.
//!
//! The first group bounds what text and callers may ask for; exceeding it is an error. The second bounds what a decision
//! may spend; exceeding it makes the answer `Unknown`, never wrong.

use artifact_core::limit::Limit;

/// Length of one dimension, shape or constraint.
pub const TEXT: Limit = Limit::new("dimension text", 64 * 1024, "bytes");
/// Length of a variable's name.
pub const NAME: Limit = Limit::new("variable name", 64, "bytes");
/// Parentheses and operations within one another.
pub const NESTING: Limit = Limit::new("nesting of an expression", 32, "levels");
/// Exponent of a factor, and the sum of the exponents in one product.
pub const EXPONENT: Limit = Limit::new("degree of a product", 64, "powers");
/// Terms of a sum.
pub const TERMS: Limit = Limit::new("sum", 256, "terms");
/// Terms, factors and operands of an expression, counted as a tree.
pub const NODES: Limit = Limit::new("expression", 1024, "nodes");
/// Pairs of terms that one multiplication forms.
pub const PRODUCTS: Limit = Limit::new("multiplication", 4096, "products of terms");
/// Different variables in one text.
pub const VARIABLES: Limit = Limit::new("dimension text", 128, "variables");
/// Term operations that parsing one text may cost. An expression of the most [`NODES`] prints as text that costs less.
pub const PARSE_WORK: Limit = Limit::new("work to expand the text", 4_000, "term operations");
/// Dimensions of a shape.
pub const RANK: Limit = Limit::new("shape", 64, "dimensions");
/// Constraints of a scope.
pub const CONSTRAINTS: Limit = Limit::new("scope", 256, "constraints");

/// Nodes up to which an expression prints in the shorter notation, which costs more to read back.
pub(crate) const NOTATION_NODES: u64 = 64;
/// Steps of one polynomial division; past it the division stays symbolic.
pub(crate) const DIVISION_STEPS: usize = 16;
/// Different products and operations that a question may involve.
pub(crate) const ATOMS: usize = 96;
/// Products of a constraint with a monomial that are added to a question.
pub(crate) const PRODUCT_FACTS: usize = 16;
/// Rounds of interval propagation.
pub(crate) const PROPAGATION_ROUNDS: usize = 6;
/// Entries of the tableau that solving one linear program may change.
pub(crate) const PIVOT_WORK: usize = 60_000;
/// Equations with unknowns in common that are solved together; with more, their unknowns are not found.
pub(crate) const EQUATIONS: usize = 64;
/// Unknowns, and constraints on them, of which bounds are asked for when nothing else gives a value.
pub(crate) const BOUNDED: usize = 256;
/// Rows of one linear program.
pub(crate) const ROWS: usize = 256;
/// Cases that the search for one assignment may open.
pub const SEARCH_CASES: Limit = Limit::new("search for an assignment", 32, "cases");
/// Cases that the search for one bound may open.
pub const BOUND_CASES: Limit = Limit::new("search for a bound", 24, "cases");
/// Assignments that are all tried instead of searched for.
pub(crate) const ENUMERATED: i128 = 512;
/// Assignments tried before the search proper.
pub(crate) const SAMPLES: usize = 64;
