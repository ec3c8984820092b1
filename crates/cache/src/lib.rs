//! The port of the compile cache.
//!
//! What is compiled once is kept under a key, which is the digest of a [`KeyRecord`]: everything that decides what a compile gives. The
//! record is kept too, so that a miss can say which part of it is new.
//!
//! What comes of the compile is an [`Entry`]: files, what they are, and digests of all of it.
//!
//! Invariants:
//! * A record has one encoding, and a key one record.
//! * Bytes from outside become an entry only by [`Entry::open`] and [`Unverified::verify`], and what these refuse is a miss.
//! * Nothing here knows a compiler, a database or a network.
//!
//! Entry points: [`KeyRecord`], [`Entry`].

mod codec;
mod entry;
mod header;
mod record;
mod refusal;

pub use codec::Codec;
pub use entry::{Entry, EntryError, PAYLOAD_BYTES, PayloadFile, Signature, Unverified};
pub use record::{Difference, Key, KeyRecord, RECORD_BYTES, RecordError, Value};
pub use refusal::Refusal;
