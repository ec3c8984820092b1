//! Routines of the CPU engine over whole arrays, and its thread pool.
