//! Factors of matrices and solutions of triangular systems, in blocks that are matrix products where they can be.

mod cholesky;
mod field;
mod triangular;

pub use self::cholesky::cholesky;
pub use self::triangular::{System, Transform, triangular_solve};

use artifact_ir::types::ElementType;

/// Rows and columns that are eliminated element by element before the rest is brought up to date by a product.
const BLOCK: usize = 64;

/// Whether there are routines for matrices of a type.
#[must_use]
pub const fn supports(element: ElementType) -> bool {
    matches!(
        element,
        ElementType::F32 | ElementType::F64 | ElementType::C64 | ElementType::C128
    )
}
