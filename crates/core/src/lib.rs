//! The vocabulary that every other crate shares: digests, canonical encoding, versions, typed ids and named limits.
//!
//! Invariants:
//! * Nothing here does IO, reads a clock, or depends on serde. The crate is pure and builds in a second.
//! * A digest never comes from `std::hash::Hash`; it comes from [`canonical::Encoder`], whose byte rules are written down.
//! * A size from outside is compared with a [`limit::Limit`] before it is believed.
//!
//! Entry points: [`digest::Digest`], [`chunk::ChunkHasher`], [`canonical::Encoder`], [`version::FormatVersion`], [`entity::Arena`], [`limit::Limit`].

pub mod blob;
pub mod canonical;
pub mod chunk;
pub mod date;
pub mod digest;
pub mod entity;
pub mod limit;
pub mod version;
