//! The port of the compile cache.
//!
//! What is compiled once is kept under a key, which is the digest of a [`KeyRecord`]: everything that decides what a compile gives. The
//! record is kept too, so that a miss can say which part of it is new.
//!
//! Invariants: a record has one encoding, and a key one record. Nothing here knows a compiler, a database or a network.
//!
//! Entry points: [`KeyRecord`].

mod record;

pub use record::{Difference, Key, KeyRecord, RECORD_BYTES, RecordError, Value};
