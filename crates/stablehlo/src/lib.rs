//! StableHLO as MLIR text: between files and the IR.
//!
//! Invariants:
//! * Reading gives what could be read and every finding with its place ([`parse::Parsed`]), never a bare error; nothing that
//!   a file holds panics, overflows the stack or allocates more than a named limit allows.
//! * The rules of the format are here; the rules of operations, which depend on types, are the verifier's.
//!
//! Entry points: [`parse::parse_module`], [`print::print_module`], [`source::SourceText`].

pub mod bytecode_sdy;
mod lex;
pub mod parse;
pub mod print;
pub mod source;
