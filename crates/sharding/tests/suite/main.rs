//! Parts of arrays as JAX has them, and what is refused.

#![expect(
    clippy::unwrap_used,
    reason = "the tables are ours, and a part that does not fit fails the test"
)]

mod bytes;
mod corpus;
mod mesh;
mod processes;
mod shardings;
mod table;
