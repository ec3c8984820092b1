//! FlatBuffers, read and written without unsafe code, within bounds and a budget.
//!
//! A schema is a set of marker types that implement [`Table`] and [`Enumeration`], with one [`Field`] constant a field; they
//! are generated from a schema file. A field's type says what reading gives and what writing takes, so that a reader and a
//! writer that use the same constants cannot disagree.
//!
//! Covered is what our schemas use: tables, strings, vectors, enumerations of a byte, scalars of up to 32 bits, optional
//! scalars. Structs, unions, 64-bit scalars, file identifiers and size prefixes are absent.
//!
//! Invariants:
//! * Nothing is verified up front and nothing is believed: each access checks that what it reads lies within the bytes.
//!   Alignment is not asked for, because bytes are read one by one.
//! * What is read is paid for from the budget of its [`Buffer`]. Offsets lead forward only, so there are no cycles; objects
//!   may be shared, and following one object a million times costs a million times. Nesting is the caller's to bound.
//! * Reading does not recurse and allocates nothing.
//! * Equal calls write equal bytes. Equal vtables are written once.
//!
//! Entry points: [`Buffer::root`] reads, [`Writer`] writes. The layout follows the FlatBuffers internals document
//! (<https://flatbuffers.dev/internals/>).

mod fault;
mod field;
mod read;
mod scalar;
mod write;

#[cfg(test)]
mod tests;

pub use fault::{Fault, Problem};
pub use field::{Bytes, Field, FieldType, Nested, Optional, Table, Text, Vector};
pub use read::{Buffer, ByteRange, Elements, OBJECT_BYTES, View};
pub use scalar::{Enumeration, Scalar};
pub use write::{Element, Reference, TableBuilder, TooLarge, Writer};
