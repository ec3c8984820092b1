//! Tests of the public interface, one table or property a file.

#![expect(
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "tables are long, their lines are tuples, and a line that cannot be read fails its test"
)]

mod decisions;
mod hostile;
mod language;
mod properties;
mod random;
mod solving;
