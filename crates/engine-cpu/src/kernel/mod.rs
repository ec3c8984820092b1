//! From structured kernels to machine code: phases, stages, tiles.
//!
//! A kernel is scheduled in *phases*. A phase runs over one rectangle of positions at a time, small enough that all its arrays lie
//! in the first-level cache; what a later phase needs is kept for the rows at hand. Within a phase, *stages* run one after the
//! other over the whole rectangle: loops that are compiled, of operations that a few vector instructions do, and calls of tile
//! routines for everything else. So no chain of operations grows longer than the registers last, and every routine runs on
//! arrays that were just written.

mod accuracy;
pub(crate) mod codegen;
pub(crate) mod phases;
pub(crate) mod program;
mod reuse;
pub(crate) mod stages;
