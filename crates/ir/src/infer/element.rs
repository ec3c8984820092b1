//! Sets of element types that an operand or a result may have (ODS: `Base.td`; spec, "Types").

use std::fmt;

use crate::types::{Element, ElementClass, ElementType, TensorType};
use crate::verify::types::{check_axis, check_quantized};

/// A set of kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements(u16);

impl Elements {
    /// `i1`.
    pub(crate) const PRED: Self = Self(1);
    /// `i2` to `i64`.
    pub(crate) const SIGNED: Self = Self(1 << 1);
    /// `ui2` to `ui64`.
    pub(crate) const UNSIGNED: Self = Self(1 << 2);
    /// Every float but `tf32`, which only names an algorithm of `dot_general`.
    pub(crate) const FLOAT: Self = Self(1 << 3);
    /// `complex<f32>` and `complex<f64>`.
    pub(crate) const COMPLEX: Self = Self(1 << 4);
    /// Quantized, one pair of parameters for the tensor.
    pub(crate) const PER_TENSOR: Self = Self(1 << 5);
    /// Quantized, parameters along an axis.
    pub(crate) const PER_AXIS: Self = Self(1 << 6);
    /// `index`.
    pub(crate) const INDEX: Self = Self(1 << 7);
    /// `f32` and `f64`: the parts of complex numbers.
    pub(crate) const PART: Self = Self(1 << 8);

    /// Any integer, `i1` apart.
    pub(crate) const INT: Self = Self::SIGNED.or(Self::UNSIGNED);
    /// Any integer and `i1`.
    pub(crate) const PRED_INT: Self = Self::PRED.or(Self::INT);
    /// What shapes and positions are made of.
    pub(crate) const DIMENSION: Self = Self::INT.or(Self::INDEX);
    /// Any integer and any float.
    pub(crate) const INT_FLOAT: Self = Self::INT.or(Self::FLOAT);
    /// Any float and complex.
    pub(crate) const FLOAT_COMPLEX: Self = Self::FLOAT.or(Self::COMPLEX);
    /// Any float, and quantized per tensor.
    pub(crate) const FLOAT_QUANTIZED: Self = Self::FLOAT.or(Self::PER_TENSOR);
    /// Any float, complex, and quantized per tensor.
    pub(crate) const FLOAT_COMPLEX_QUANTIZED: Self = Self::FLOAT_COMPLEX.or(Self::PER_TENSOR);
    /// Any number but `i1`.
    pub(crate) const ARITHMETIC: Self = Self::INT.or(Self::FLOAT_COMPLEX_QUANTIZED);
    /// Quantized in either way.
    pub(crate) const QUANTIZED: Self = Self::PER_TENSOR.or(Self::PER_AXIS);
    /// Everything that is not quantized.
    pub(crate) const PLAIN: Self = Self::PRED_INT.or(Self::FLOAT_COMPLEX);
    /// What most operations take: everything but per-axis quantized (`HLO_Tensor`).
    pub(crate) const ANY: Self = Self::PLAIN.or(Self::PER_TENSOR);
    /// Everything (`HLO_TensorOrPerAxisQuantizedTensor`).
    pub(crate) const ANY_PER_AXIS: Self = Self::ANY.or(Self::PER_AXIS);

    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::PRED, "i1"),
        (Self::SIGNED, "signed integer"),
        (Self::UNSIGNED, "unsigned integer"),
        (Self::INDEX, "index"),
        (Self::FLOAT, "float"),
        (Self::PART, "f32 or f64"),
        (Self::COMPLEX, "complex"),
        (Self::PER_TENSOR, "per-tensor quantized"),
        (Self::PER_AXIS, "per-axis quantized"),
    ];

    /// The union of two sets.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the tensor's element is in the set and, if it is quantized, sound.
    pub(crate) fn admit(self, tensor: &TensorType) -> bool {
        match &tensor.element {
            Element::Plain(element) => self.admits_plain(*element),
            Element::Quantized(quantized) => {
                let kind = if quantized.axis.is_some() {
                    Self::PER_AXIS
                } else {
                    Self::PER_TENSOR
                };
                self.has(kind) && check_quantized(quantized).is_ok() && check_axis(tensor, quantized).is_ok()
            }
        }
    }

    fn admits_plain(self, element: ElementType) -> bool {
        let class = match element.class() {
            ElementClass::Boolean => Self::PRED,
            ElementClass::SignedInteger => Self::SIGNED,
            ElementClass::UnsignedInteger if element == ElementType::Index => Self::INDEX,
            ElementClass::UnsignedInteger => Self::UNSIGNED,
            ElementClass::Float if element == ElementType::TF32 => return false,
            ElementClass::Float if matches!(element, ElementType::F32 | ElementType::F64) => {
                Self::FLOAT.or(Self::PART)
            }
            ElementClass::Float => Self::FLOAT,
            ElementClass::Complex => Self::COMPLEX,
        };
        self.has(class)
    }
}

/// `i1, float or complex`.
impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Self::NAMES
            .iter()
            .filter(|(set, _)| self.has(*set))
            .map(|(_, name)| *name)
            .collect();
        match names.as_slice() {
            [] => f.write_str("no"),
            [only] => f.write_str(only),
            [first @ .., last] => write!(f, "{} or {last}", first.join(", ")),
        }
    }
}
