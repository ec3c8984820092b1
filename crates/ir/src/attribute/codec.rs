//! Between attributes by name and the typed fields of operations.

use std::fmt;

use super::{
    Attribute, ByteString, ComparisonDirection, ComparisonType, CustomCallApiVersion, FftType,
    FloatAttribute, NamedAttributes, Precision, RngAlgorithm, RngDistribution, StablehloAttribute, SymbolRef,
    Transpose,
};
use crate::literal::Literal;
use crate::types::ElementType;

/// A typed form of one attribute.
pub trait AttributeValue: Sized {
    /// What the attribute must be, for error messages: "an i64 dense array".
    const EXPECTED: &'static str;

    /// Reads the typed form; `None` when the attribute is not of this form.
    fn from_attribute(attribute: &Attribute) -> Option<Self>;

    /// Writes the general form. `from_attribute` reads it back.
    fn to_attribute(&self) -> Attribute;
}

/// An attribute that an operation needs and lacks, or has in the wrong form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeError {
    /// The operation requires it.
    Missing {
        /// Name of the attribute.
        name: &'static str,
    },
    /// It is there in another form.
    Malformed {
        /// Name of the attribute.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
}

impl fmt::Display for AttributeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name } => write!(f, "requires attribute '{name}'"),
            Self::Malformed { name, expected } => {
                write!(
                    f,
                    "attribute '{name}' failed to satisfy constraint: it must be {expected}"
                )
            }
        }
    }
}

impl std::error::Error for AttributeError {}

/// Takes an operation's own attributes out of a dictionary; what is left is discardable.
#[derive(Debug)]
pub struct AttributeReader<'a> {
    attributes: &'a mut NamedAttributes,
}

impl<'a> AttributeReader<'a> {
    /// Reads from, and removes from, `attributes`.
    #[must_use]
    pub const fn new(attributes: &'a mut NamedAttributes) -> Self {
        Self { attributes }
    }

    /// An attribute that must be there.
    ///
    /// # Errors
    /// [`AttributeError`] when it is absent or of another form.
    pub fn required<T: AttributeValue>(&mut self, name: &'static str) -> Result<T, AttributeError> {
        self.optional(name)?.ok_or(AttributeError::Missing { name })
    }

    /// An attribute that may be absent.
    ///
    /// # Errors
    /// [`AttributeError::Malformed`] when it is there in another form.
    pub fn optional<T: AttributeValue>(&mut self, name: &'static str) -> Result<Option<T>, AttributeError> {
        let Some(attribute) = self.attributes.remove(name) else {
            return Ok(None);
        };
        match T::from_attribute(&attribute) {
            Some(value) => Ok(Some(value)),
            None => Err(AttributeError::Malformed {
                name,
                expected: T::EXPECTED,
            }),
        }
    }

    /// Whether a unit attribute is there. `false` counts as absent, as older texts write it.
    ///
    /// # Errors
    /// [`AttributeError::Malformed`] when it is neither unit nor boolean.
    pub fn unit(&mut self, name: &'static str) -> Result<bool, AttributeError> {
        match self.attributes.remove(name) {
            None => Ok(false),
            Some(Attribute::Unit) => Ok(true),
            Some(Attribute::Bool(value)) => Ok(value),
            Some(_) => Err(AttributeError::Malformed {
                name,
                expected: "a unit attribute",
            }),
        }
    }

    /// Every attribute that is left, as the own attributes of an operation that we do not know.
    #[must_use]
    pub fn rest(self) -> NamedAttributes {
        std::mem::take(self.attributes)
    }
}

/// Collects an operation's own attributes by name, those at their default left out.
#[derive(Debug, Default)]
pub struct AttributeWriter {
    attributes: NamedAttributes,
}

impl AttributeWriter {
    /// Adds an attribute.
    pub fn write<T: AttributeValue>(&mut self, name: &'static str, value: &T) {
        self.attributes.insert(name, value.to_attribute());
    }

    /// Adds a unit attribute when `present`.
    pub fn unit(&mut self, name: &'static str, present: bool) {
        if present {
            self.attributes.insert(name, Attribute::Unit);
        }
    }

    /// What was collected.
    #[must_use]
    pub fn finish(self) -> NamedAttributes {
        self.attributes
    }
}

/// Declares operations whose state is a few typed attributes, with their reading and writing.
///
/// Each field says how it stands in the dictionary: `required`; `optional` (an `Option`); `default(value)`, left out at that
/// value; `neutral(function)` (an `Option`), left out also when the function says that the value changes nothing;
/// `unit` (a `bool`).
macro_rules! op_attributes {
    ($(
        $(#[$meta:meta])*
        $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty => $kind:ident $(($($arg:tt)*))?,)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        impl $crate::op::OpAttributes for $name {
            fn read(
                reader: &mut $crate::attribute::AttributeReader<'_>,
            ) -> Result<Self, $crate::attribute::AttributeError> {
                Ok(Self { $($field: $crate::attribute::op_attributes!(@read reader $field $kind $(($($arg)*))?),)* })
            }

            fn write(&self, writer: &mut $crate::attribute::AttributeWriter) {
                $($crate::attribute::op_attributes!(@write self writer $field $kind $(($($arg)*))?);)*
            }
        }
    )*};
    (@read $r:ident $field:ident required) => { $r.required(stringify!($field))? };
    (@read $r:ident $field:ident optional) => { $r.optional(stringify!($field))? };
    (@read $r:ident $field:ident neutral($($neutral:tt)*)) => { $r.optional(stringify!($field))? };
    (@read $r:ident $field:ident default($($default:tt)*)) => {
        $r.optional(stringify!($field))?.unwrap_or_else(|| $($default)*)
    };
    (@read $r:ident $field:ident unit) => { $r.unit(stringify!($field))? };
    (@write $self:ident $w:ident $field:ident required) => { $w.write(stringify!($field), &$self.$field) };
    (@write $self:ident $w:ident $field:ident optional) => {
        if let Some(value) = &$self.$field { $w.write(stringify!($field), value) }
    };
    (@write $self:ident $w:ident $field:ident neutral($($neutral:tt)*)) => {
        if let Some(value) = &$self.$field && !$($neutral)*(value) { $w.write(stringify!($field), value) }
    };
    (@write $self:ident $w:ident $field:ident default($($default:tt)*)) => {
        if $self.$field != $($default)* { $w.write(stringify!($field), &$self.$field) }
    };
    (@write $self:ident $w:ident $field:ident unit) => { $w.unit(stringify!($field), $self.$field) };
}
pub(crate) use op_attributes;

/// Implements [`AttributeValue`] for the typed forms that are a [`StablehloAttribute`] each.
macro_rules! stablehlo_attribute_values {
    ($($ty:ident as $variant:ident,)*) => {$(
        impl $crate::attribute::codec::AttributeValue for $ty {
            const EXPECTED: &'static str = concat!("a `", stringify!($variant), "` attribute of StableHLO");

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Stablehlo(StablehloAttribute::$variant(value)) => Some(value.clone()),
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Stablehlo(StablehloAttribute::$variant(self.clone()))
            }
        }
    )*};
}
pub(crate) use stablehlo_attribute_values;

stablehlo_attribute_values! {
    ComparisonDirection as ComparisonDirection,
    ComparisonType as ComparisonType,
    FftType as FftType,
    Precision as Precision,
    RngAlgorithm as RngAlgorithm,
    RngDistribution as RngDistribution,
    Transpose as Transpose,
}

impl AttributeValue for CustomCallApiVersion {
    const EXPECTED: &'static str = "a custom call version, an i32 of 0 to 4";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Integer {
                value,
                ty: ElementType::I32,
            } => Self::from_number(*value),
            Attribute::Stablehlo(StablehloAttribute::CustomCallApiVersion(version)) => Some(*version),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Integer {
            value: i128::from(self.number()),
            ty: ElementType::I32,
        }
    }
}

impl AttributeValue for bool {
    const EXPECTED: &'static str = "a boolean";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Bool(*self)
    }
}

macro_rules! integers {
    ($($ty:ident as $element:ident: $expected:literal,)*) => {$(
        impl AttributeValue for $ty {
            const EXPECTED: &'static str = $expected;

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Integer { value, ty: ElementType::$element } => Self::try_from(*value).ok(),
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Integer { value: i128::from(*self), ty: ElementType::$element }
            }
        }
    )*};
}

integers! {
    i32 as I32: "a 32-bit signless integer",
    i64 as I64: "a 64-bit signless integer",
    u32 as UI32: "a 32-bit unsigned integer",
    u64 as UI64: "a 64-bit unsigned integer",
}

impl AttributeValue for FloatAttribute {
    const EXPECTED: &'static str = "a float";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Float(value) => Some(*value),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Float(*self)
    }
}

impl AttributeValue for ByteString {
    const EXPECTED: &'static str = "a string";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::String(value) => Some(value.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::String(self.clone())
    }
}

impl AttributeValue for SymbolRef {
    const EXPECTED: &'static str = "a symbol reference";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Symbol(symbol) => Some(symbol.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Symbol(self.clone())
    }
}

impl AttributeValue for Literal {
    const EXPECTED: &'static str = "a dense constant, `dense<...> : tensor<...>`";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Elements(literal) => Some(literal.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Elements(self.clone())
    }
}

impl AttributeValue for NamedAttributes {
    const EXPECTED: &'static str = "a dictionary";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Dictionary(attributes) => Some(attributes.clone()),
            _ => None,
        }
    }

    fn to_attribute(&self) -> Attribute {
        Attribute::Dictionary(self.clone())
    }
}

/// Any attribute, kept in its general form.
impl AttributeValue for Attribute {
    const EXPECTED: &'static str = "an attribute";

    fn from_attribute(attribute: &Attribute) -> Option<Self> {
        Some(attribute.clone())
    }

    fn to_attribute(&self) -> Attribute {
        self.clone()
    }
}

macro_rules! arrays_of {
    ($($item:ty: $expected:literal,)*) => {$(
        impl AttributeValue for Vec<$item> {
            const EXPECTED: &'static str = $expected;

            fn from_attribute(attribute: &Attribute) -> Option<Self> {
                match attribute {
                    Attribute::Array(items) => items.iter().map(AttributeValue::from_attribute).collect(),
                    _ => None,
                }
            }

            fn to_attribute(&self) -> Attribute {
                Attribute::Array(self.iter().map(AttributeValue::to_attribute).collect())
            }
        }
    )*};
}

arrays_of! {
    SymbolRef: "an array of symbol references",
    Vec<SymbolRef>: "an array of arrays of symbol references",
    super::OutputOperandAlias: "an array of output_operand_alias attributes",
}
