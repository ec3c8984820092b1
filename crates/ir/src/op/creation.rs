//! Values out of nothing or out of a shape.

use super::{n, op_family};
use crate::attribute::{RngAlgorithm, RngDistribution, op_attributes};
use crate::literal::Literal;

op_family! {
    /// Operations without data operands.
    Creation {
        /// A value known when the program was made.
        Constant(Constant) = "stablehlo.constant": n(0) => n(1),
        /// `iota` with the shape as an operand.
        DynamicIota(Iota) = "stablehlo.dynamic_iota": n(1) => n(1),
        /// Positions along a dimension.
        Iota(Iota) = "stablehlo.iota": n(0) => n(1),
        /// a, b, shape: random numbers from an implementation-defined generator.
        Rng(Rng) = "stablehlo.rng": n(3) => n(1),
        /// Random bits from a given state.
        RngBitGenerator(RngBitGenerator) = "stablehlo.rng_bit_generator": n(1) => n(2),
    }
}

op_attributes! {
    /// Attributes of `constant`.
    Constant {
        /// The value.
        value: Literal => required,
    }

    /// Attributes of `iota` and `dynamic_iota`.
    Iota {
        /// The dimension along which values grow.
        iota_dimension: i64 => required,
    }

    /// Attributes of `rng`.
    Rng {
        /// Uniform in [a, b), or normal of mean a and deviation b.
        rng_distribution: RngDistribution => required,
    }

    /// Attributes of `rng_bit_generator`.
    RngBitGenerator {
        /// The generator.
        rng_algorithm: RngAlgorithm => required,
    }
}
