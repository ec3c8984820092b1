//! VHLO: the versioned form of StableHLO in portable bytecode.
//!
//! The tables here are the history of the opset: every operation (`ops`), attribute and type (`codes`) with the
//! versions that have it. There is no VHLO module in memory: a program is read from bytes into `artifact_ir` and written from
//! it, through the rows of the version that is asked for. An older row lacks attributes of a newer one; reading leaves them at
//! their default, and writing an older version refuses an operation that has them at another value.
//!
//! Source: openxla/stablehlo, `VhloOps.td`, `VhloAttrs.td`, `VhloTypes.td`, `VhloEnums.td`, `VhloBytecode.cpp`.

pub(crate) mod codes;
pub(crate) mod forms;
mod ops;
pub(crate) mod opset;
pub(crate) mod row;
mod version;

pub use version::{ParseVersionError, Version};
