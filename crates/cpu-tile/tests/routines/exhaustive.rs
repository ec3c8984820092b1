//! Functions over all of `f32`.
