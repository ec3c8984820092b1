//! Tests of the files of `jax.export` from outside: one binary, a module for each question. That JAX loads what is written
//! is checked by `cargo xtask test`.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its files are not as they should be"
)]

mod files;
mod hostile;
mod older;
mod recognise;
mod refuse;
mod round_trip;
mod sample;
