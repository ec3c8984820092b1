//! Seals: who vouches for a file.
//!
//! A seal is an Ed25519 signature (RFC 8032) over the [file digest](crate::FileDigest), which covers the header, the section
//! table and, through its digests, every section. Seals stand in a block of their own after the section table, outside what
//! they sign, so that sealing changes no other byte; `schemas/artifact/FORMAT.md` describes it.
//!
//! Invariants:
//! * A seal is one signer's statement about one file, for one [`Scope`]. A file has at most one of each signer.
//! * Whether a signature is valid is one question, whether its signer counts another: [`crate::trust`] answers that.
//! * Verification is strict. Keys of small order, keys and signatures in another encoding than the canonical one are refused:
//!   there is one valid signature for a key and a message, and nobody has a key that fits many.
//! * What a reader does not understand (an algorithm, a version of the block) never counts as a seal.
//!
//! Entry points: [`seal_file`] adds a seal, [`Container::seals`](crate::Container::seals) gives those of an open file.

mod block;
mod dropped;
mod key;
mod key_file;
mod label;
mod record;
mod signing;

pub use block::Seals;
pub(crate) use block::{SealBlock, SealBlockError};
pub use dropped::DroppedSeals;
pub use key::{KeyError, KeyId, PublicKey, SIGNATURE_BYTES, SecretKey};
pub use key_file::{KeyFileError, KeyPair, read_secret_key, write_key_pair};
pub use label::{Comment, LabelError, Scope};
pub use record::{Ed25519Seal, InvalidSeal, Seal};
pub use signing::{Sealed, Signing, SigningError, seal_file};
