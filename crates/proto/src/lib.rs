//! Code generated from `schemas/`: `cargo xtask gen` writes it, `cargo xtask gen --check` compares.
//!
//! Invariants:
//! * There is no logic here: names, places and types only. Whoever reads or writes a format does it with these constants.
//! * A schema is changed in `schemas/`, never here.

pub mod jax_exported;
