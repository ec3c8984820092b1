//! Random arguments: the same for the same seed, everywhere.

use std::sync::Arc;

use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::{Tensor, TensorError};
use artifact_ir::types::{ElementClass, TensorType};

/// A stream of random numbers (SplitMix64: Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Uniform in [-1, 1).
    fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A tensor: floats from [-1, 1), integers from 0 to 7 (as the type holds them), booleans.
    pub(crate) fn tensor(&mut self, ty: Arc<TensorType>) -> Result<Tensor, TensorError> {
        let class = ty.element.storage().class();
        Tensor::from_fn(ty, |_| match class {
            ElementClass::Boolean => Scalar::Bool(self.next() >> 63 == 1),
            ElementClass::SignedInteger | ElementClass::UnsignedInteger => {
                Scalar::Int(i128::from(self.next() >> 61))
            }
            ElementClass::Float => Scalar::Float(self.float()),
            ElementClass::Complex => Scalar::Complex(self.float(), self.float()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_sequence() {
        // First outputs of the reference implementation for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(
            [random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn floats_are_in_range() {
        let mut random = Random::new(1);
        assert!(
            (0..1000)
                .map(|_| random.float())
                .all(|value| (-1.0..1.0).contains(&value))
        );
    }
}
