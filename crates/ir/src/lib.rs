//! StableHLO in memory: types, typed operations, modules, result inference, verification and the program digest.
//!
//! Invariants:
//! * The opset is that of VHLO 1.20.0, the legacy operations that exporters still emit and CHLO included. An operation's row
//!   ([`op::OpSpec`]) is the only place that knows its name and its numbers of operands, results and regions.
//! * Types of values are checked by [`verify`], not by construction: a parser can hold what it read, and refuse it with a place.
//! * After [`verify::verify`] returned no diagnostic, later stages do not fail for the shape of the program.
//! * Nothing here does IO or knows serde; [`digest::program_digest`] is the only persistent identity of a program.
//!
//! Entry points: [`module::Module`], [`op::Op`], [`builder::Builder`], [`verify::verify`], [`digest::program_digest`].

pub mod attribute;
pub mod builder;
pub mod custom_call;
pub mod decimal;
pub mod diagnostic;
pub mod digest;
pub mod float;
mod infer;
pub mod inference;
pub mod literal;
pub mod location;
pub mod module;
pub mod op;
pub mod types;
pub mod verify;
