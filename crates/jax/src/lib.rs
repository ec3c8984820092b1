//! The files of `jax.export`.
