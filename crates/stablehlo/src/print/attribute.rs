//! Attributes in the general form.

use artifact_ir::attribute::{Attribute, DenseArray, NamedAttributes, OpaqueAttribute};
use artifact_ir::decimal::Decimal;
use artifact_ir::types::ElementType;

use super::writer::Writer;

/// The dialect that enumerations are spelled with: CHLO has its own copies of those of StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Stablehlo,
    Chlo,
}

impl Dialect {
    /// The dialect of an operation's own attributes.
    pub(super) fn of_operation(name: &str) -> Self {
        if name.starts_with("chlo.") {
            Self::Chlo
        } else {
            Self::Stablehlo
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stablehlo => "stablehlo",
            Self::Chlo => "chlo",
        }
    }
}

impl Writer {
    /// `{a = 1, b}`.
    pub(super) fn dictionary(&mut self, attributes: &NamedAttributes, dialect: Dialect) {
        self.push("{");
        self.list(attributes.iter(), |writer, (name, attribute)| {
            writer.name(name.as_bytes());
            if *attribute != Attribute::Unit {
                writer.push(" = ");
                writer.attribute(attribute, dialect);
            }
        });
        self.push("}");
    }

    /// ` {a = 1}`, nothing for no attribute.
    pub(super) fn optional_dictionary(&mut self, attributes: &NamedAttributes) {
        if !attributes.is_empty() {
            self.push(" ");
            self.dictionary(attributes, Dialect::Stablehlo);
        }
    }

    /// Any attribute, type included where it has one.
    pub(super) fn attribute(&mut self, attribute: &Attribute, dialect: Dialect) {
        match attribute {
            Attribute::Unit => self.push("unit"),
            Attribute::Bool(value) => write!(self, "{value}"),
            Attribute::Integer { value, ty } => write!(self, "{value} : {ty}"),
            Attribute::Float(float) => {
                let decimal = Decimal {
                    ty: float.ty,
                    bits: float.bits,
                };
                write!(self, "{decimal} : {}", float.ty);
            }
            Attribute::String(string) => self.string(string.as_bytes()),
            Attribute::Type(ty) => write!(self, "{ty}"),
            Attribute::Array(items) => {
                self.push("[");
                self.list(items, |writer, item| writer.attribute(item, dialect));
                self.push("]");
            }
            Attribute::Dictionary(attributes) => self.dictionary(attributes, dialect),
            Attribute::Symbol(symbol) => self.symbol_ref(symbol),
            Attribute::DenseArray(array) => self.dense_array(array),
            Attribute::Elements(literal) => self.literal(literal),
            Attribute::Stablehlo(attribute) => self.stablehlo_attribute(attribute, dialect),
            Attribute::Sdy(attribute) => self.sdy_attribute(attribute),
            Attribute::Foreign(text) => self.push(text),
            Attribute::Opaque(opaque) => self.opaque(opaque),
        }
    }

    /// `#dialect<"0x...">`: what is known of it.
    fn opaque(&mut self, opaque: &OpaqueAttribute) {
        write!(self, "#{}<\"0x", opaque.dialect);
        self.hex(&opaque.bytes);
        self.push("\">");
    }

    /// `array<i64: 1, 2>`.
    fn dense_array(&mut self, array: &DenseArray) {
        let decimal = |ty, bits| Decimal { ty, bits };
        match array {
            DenseArray::Bool(values) => self.array_of("i1", values),
            DenseArray::I8(values) => self.array_of("i8", values),
            DenseArray::I16(values) => self.array_of("i16", values),
            DenseArray::I32(values) => self.array_of("i32", values),
            DenseArray::I64(values) => self.array_of("i64", values),
            DenseArray::F32(values) => {
                let values = values
                    .iter()
                    .map(|bits| decimal(ElementType::F32, u64::from(*bits)));
                self.array_of("f32", values);
            }
            DenseArray::F64(values) => {
                self.array_of("f64", values.iter().map(|bits| decimal(ElementType::F64, *bits)));
            }
        }
    }

    fn array_of<T: std::fmt::Display>(&mut self, element: &str, values: impl IntoIterator<Item = T>) {
        write!(self, "array<{element}");
        let mut separator = ": ";
        for value in values {
            write!(self, "{separator}{value}");
            separator = ", ";
        }
        self.push(">");
    }
}
