//! The artifact file: a fixed header, a section table, a manifest, a program and its constants.
//!
//! Invariants:
//! * Payloads are bytes. This crate knows no program format and no element type; `schemas/artifact/FORMAT.md` describes
//!   every byte that it does know.
//! * Nothing is decoded before it is verified: the header's checksum covers the header, the header covers the section table,
//!   the table covers every section, and the digest of a large constant covers the digests of its chunks.
//! * Nothing is believed before it is checked against [`limits`]. A damaged or lying file is an [`Error`], never a panic.
//! * Equal input gives equal bytes, and a given content has one layout.
//! * Opening a file reads its header, table, seals and manifest; constants are mapped, and verified where they are touched.
//! * Digests say that a file is whole; only a [`seal`] says who stands for it, and only a [`trust`] policy whether that counts.
//!
//! Entry points: [`ContainerBuilder`] writes, [`Container`] reads, [`compat`] says who can read what, [`seal::seal_file`] signs,
//! [`trust::TrustPolicy`] admits, [`atomic`] makes any file appear whole or not at all.
//!
//! ```
//! use artifact_container::manifest::{Dim, Manifest, Producer, ProgramFormat, Signature, Value};
//! use artifact_container::release::RELEASED;
//! use artifact_container::{ConstantSource, ConstantType, Container, ContainerBuilder};
//!
//! let value = |name: &str| Value { name: name.into(), dtype: "f32".into(), shape: Some(vec![Dim::Size(2)]) };
//! let manifest = Manifest {
//!     producer: Producer { name: "example".into(), version: "1.0.0".into(), released: Some(RELEASED) },
//!     program: ProgramFormat { name: "stablehlo-text".into(), version: "1.20.0".into() },
//!     signature: Signature { function: "main".into(), inputs: vec![value("x")], outputs: vec![value("y")] },
//!     platforms: vec![],
//!     required_features: vec![],
//!     calling_convention: 1,
//!     custom_calls: vec![],
//!     custom_call_waivers: vec![],
//!     constants: vec![],
//!     dimensions: None,
//!     interface: None,
//!     derivatives: vec![],
//!     created: None,
//!     metadata: [("comment".to_owned(), "an example".to_owned())].into(),
//! };
//! let weights = [0, 0, 128, 63, 0, 0, 0, 64];
//! let mut builder = ContainerBuilder::new(manifest, b"module {}");
//! builder.constant(ConstantType { dtype: "f32".into(), shape: vec![2] }, ConstantSource::Bytes(&weights));
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("model.artifact");
//! let written = builder.write_file(&path)?;
//!
//! let container = Container::open(&path)?;
//! assert_eq!(container.file_digest(), written.file_digest);
//! assert_eq!(container.program()?, b"module {}");
//! let constant = &container.manifest().constants[0];
//! assert_eq!(constant.argument, 1);
//! let (id, _) = container.sections().find(&constant.section).ok_or("the table has it")?;
//! assert_eq!(container.constant_bytes(id)?, weights);
//! container.verify_all()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
mod builder;
mod codec;
pub mod compat;
mod constants;
mod container;
mod error;
mod fields;
pub mod fuzzing;
mod header;
mod identity;
pub mod limits;
pub mod manifest;
mod messagepack;
pub mod release;
#[cfg(test)]
mod schema;
pub mod seal;
mod source;
mod table;
pub mod trust;
mod writer;

pub use builder::{ConstantType, ContainerBuilder};
pub use container::{Container, ReadOptions};
pub use error::{Error, ErrorKind};
pub use header::{ALIGNMENT_BYTES, CONTAINER_VERSION, HEADER_BYTES, Header, MAGIC, OLDEST_READER, READABLE};
pub use identity::{ContentDigest, FileDigest, RawDigest, StoredDigest};
pub use table::{CONSTANT_ALIGNMENT_BYTES, Codec, Section, SectionId, SectionKind, SectionTable};
pub use writer::{ConstantSource, Output, Written};
