//! Numbers as the bytes of an element.

use artifact_ir::attribute::Attribute;
use artifact_ir::float;
use artifact_ir::types::{ElementClass, ElementType};

/// The element nearest to a real number; `None` for a number that the type does not have.
pub(crate) fn bytes(element: ElementType, value: f64) -> Option<Vec<u8>> {
    let bits = match element.class() {
        ElementClass::Float => float::encode(element, value)?,
        ElementClass::Boolean => u64::from(value != 0.0),
        ElementClass::SignedInteger | ElementClass::UnsignedInteger => value as i64 as u64,
        ElementClass::Complex => return None,
    };
    Some(little_endian(element, bits))
}

/// Integers that are given by their bits.
pub(crate) fn little_endian(element: ElementType, bits: u64) -> Vec<u8> {
    bits.to_le_bytes()[..element.bytes().min(8)].to_vec()
}

/// The number in an attribute of `constant_like`; `None` for what is not one.
pub(crate) fn of_attribute(value: &Attribute, element: ElementType) -> Option<Vec<u8>> {
    match value {
        Attribute::Bool(value) => Some(vec![u8::from(*value)]),
        Attribute::Integer { value, ty } if *ty == element => {
            Some(value.to_le_bytes()[..element.bytes()].to_vec())
        }
        Attribute::Float(value) if value.ty == element => Some(little_endian(element, value.bits)),
        // `#complex.number<:f32 1.0, 2.0>`, of a dialect of which this is all that is used.
        Attribute::Foreign(text) if element.class() == ElementClass::Complex => {
            let parts = text.strip_prefix("#complex.number<:")?.strip_suffix('>')?;
            let (re, im) = parts.split_once(' ')?.1.split_once(',')?;
            let part = if element == ElementType::C64 {
                ElementType::F32
            } else {
                ElementType::F64
            };
            let parts = [re, im].map(|text| bytes(part, text.trim().parse().ok()?));
            let [re, im] = parts;
            Some([re?, im?].concat())
        }
        _ => None,
    }
}
