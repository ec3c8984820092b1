//! Uniform quantized element types (spec, "Types": `QuantizedTensorElementType`).

use std::fmt;

use super::ElementType;
use super::comma_separated;
use crate::decimal::Decimal;

/// An integer that stands for `(stored - zero_point) * scale`.
///
/// Made by parsers as written; the constraints of the specification are checked by the verifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantizedType {
    /// The integer type that is stored.
    pub storage: ElementType,
    /// Smallest stored value.
    pub storage_min: i64,
    /// Largest stored value.
    pub storage_max: i64,
    /// The floating-point type that is meant.
    pub expressed: ElementType,
    /// The dimension along which parameters vary; `None` for one pair of parameters for the whole tensor.
    pub axis: Option<u64>,
    /// One pair for the whole tensor, or one per slice along the axis.
    pub parameters: Vec<QuantizationParameters>,
}

impl QuantizedType {
    /// The range of the storage type, which is the default of `storage_min` and `storage_max`.
    #[must_use]
    pub const fn storage_range(storage: ElementType) -> (i64, i64) {
        let bits = storage.bits();
        if storage.is_unsigned_integer() {
            (0, if bits >= 63 { i64::MAX } else { (1 << bits) - 1 })
        } else {
            (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
        }
    }

    /// The parameters at position `index` along the axis, or the only ones.
    #[must_use]
    pub fn parameters_at(&self, index: usize) -> Option<QuantizationParameters> {
        self.parameters
            .get(if self.axis.is_some() { index } else { 0 })
            .copied()
    }
}

/// Scale and zero point. The scale is held by bit pattern so that types can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantizationParameters {
    scale_bits: u64,
    /// The stored value that means zero.
    pub zero_point: i64,
}

impl QuantizationParameters {
    /// A scale and a zero point.
    #[must_use]
    pub const fn new(scale: f64, zero_point: i64) -> Self {
        Self {
            scale_bits: scale.to_bits(),
            zero_point,
        }
    }

    /// The distance between two neighbouring values.
    #[must_use]
    pub const fn scale(self) -> f64 {
        f64::from_bits(self.scale_bits)
    }
}

/// `scale`, and `:zero_point` unless it is 0. Scales print with the digits that read back to the same `f64`, and always with a
/// point, which readers need.
impl fmt::Display for QuantizationParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Decimal::of_f64(self.scale()))?;
        if self.zero_point == 0 {
            Ok(())
        } else {
            write!(f, ":{}", self.zero_point)
        }
    }
}

/// MLIR's spelling: `!quant.uniform<i8<-127:127>:f32:1, {1.000000e-01:3, 2.000000e-01}>`.
impl fmt::Display for QuantizedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let storage = self.storage.name().replace("ui", "u");
        write!(f, "!quant.uniform<{storage}")?;
        if (self.storage_min, self.storage_max) != Self::storage_range(self.storage) {
            write!(f, "<{}:{}>", self.storage_min, self.storage_max)?;
        }
        write!(f, ":{}", self.expressed)?;
        match (self.axis, self.parameters.as_slice()) {
            (None, [parameters]) => write!(f, ", {parameters}>"),
            (axis, parameters) => {
                if let Some(axis) = axis {
                    write!(f, ":{axis}")?;
                }
                f.write_str(", {")?;
                comma_separated(f, parameters)?;
                f.write_str("}>")
            }
        }
    }
}
