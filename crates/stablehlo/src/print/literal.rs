//! Dense constants: a single element where all are equal, lists where they are short, hexadecimal bytes else.

use artifact_ir::decimal::Decimal;
use artifact_ir::literal::Literal;
use artifact_ir::types::{Element, ElementType, TensorType};

use super::writer::Writer;

/// Most elements that are spelled one by one, types apart that have no hexadecimal form.
const LIST_ELEMENTS_MAX: u64 = 64;

impl Writer {
    /// `dense<...> : tensor<...>`.
    pub(super) fn literal(&mut self, literal: &Literal) {
        self.dense(literal);
        self.push(" : ");
        self.literal_type(literal.ty());
    }

    /// `dense<...>`.
    pub(super) fn dense(&mut self, literal: &Literal) {
        let storage = literal.ty().element.storage();
        self.push("dense<");
        if let Some(element) = literal.uniform() {
            self.element(storage, element);
        } else if let Some(bytes) = literal.as_dense().filter(|bytes| !bytes.is_empty()) {
            if literal.element_count() > LIST_ELEMENTS_MAX && has_hexadecimal_form(storage) {
                self.push("\"0x");
                self.hex(bytes);
                self.push("\"");
            } else {
                self.elements(literal.ty(), bytes);
            }
        }
        self.push(">");
    }

    /// The type after a constant. The format spells the integers that a quantized one stores.
    fn literal_type(&mut self, ty: &TensorType) {
        match &ty.element {
            Element::Plain(_) => write!(self, "{ty}"),
            Element::Quantized(quantized) => write!(self, "{}", ty.with_element(quantized.storage)),
        }
    }

    /// `[[1, 2], [3, 4]]`.
    fn elements(&mut self, ty: &TensorType, bytes: &[u8]) {
        let storage = ty.element.storage();
        let blocks = block_sizes(ty);
        for (index, element) in bytes.chunks_exact(storage.bytes()).enumerate() {
            if index > 0 {
                self.push(", ");
            }
            // An innermost list begins, or ends, wherever an outer one does.
            for _ in blocks.iter().filter(|block| index.is_multiple_of(**block)) {
                self.push("[");
            }
            self.element(storage, element);
            for _ in blocks.iter().filter(|block| (index + 1).is_multiple_of(**block)) {
                self.push("]");
            }
        }
    }

    /// One element.
    fn element(&mut self, ty: ElementType, bytes: &[u8]) {
        let raw = little_endian(bytes);
        if ty.is_complex() {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            self.push("(");
            self.element(ty.part(), re);
            self.push(", ");
            self.element(ty.part(), im);
            self.push(")");
        } else if ty.is_float() {
            write!(self, "{}", Decimal { ty, bits: raw });
        } else if ty.is_boolean() {
            self.push(if raw == 0 { "false" } else { "true" });
        } else if ty.is_signed_integer() || ty == ElementType::Index {
            // Bytes of sub-byte integers are sign-extended already.
            let unused = 64 - 8 * bytes.len().clamp(1, 8);
            write!(self, "{}", ((raw << unused) as i64) >> unused);
        } else {
            write!(self, "{raw}");
        }
    }
}

/// How many elements one list of each dimension holds, outermost first.
fn block_sizes(ty: &TensorType) -> Vec<usize> {
    let mut block = 1;
    let mut sizes: Vec<usize> = ty
        .dims
        .iter()
        .rev()
        .map(|dim| {
            block *= dim.as_static().unwrap_or(1) as usize;
            block
        })
        .collect();
    sizes.reverse();
    sizes
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Whether every reader takes the bytes as we hold them: booleans are packed by some, and some sub-byte types are.
fn has_hexadecimal_form(ty: ElementType) -> bool {
    ty.bits() >= 8 && ty.bits() as usize == 8 * ty.bytes()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use artifact_core::blob::Blob;

    use super::*;

    fn check(shape: &[u64], element: ElementType, bytes: &[u8], text: &str) {
        let ty = Arc::new(TensorType::of_static(shape, element));
        let literal = Literal::dense(ty, Blob::new(bytes.to_vec())).unwrap();
        let mut writer = Writer::default();
        writer.dense(&literal);
        assert_eq!(writer.finish(), text);
    }

    #[test]
    fn lists() {
        check(&[3], ElementType::I8, &[1, 0xFF, 3], "dense<[1, -1, 3]>");
        check(
            &[2, 2],
            ElementType::UI8,
            &[1, 0xFF, 3, 4],
            "dense<[[1, 255], [3, 4]]>",
        );
        check(
            &[2, 1, 2],
            ElementType::I4,
            &[0xF8, 7, 0, 1],
            "dense<[[[-8, 7]], [[0, 1]]]>",
        );
        check(&[2], ElementType::I1, &[0, 1], "dense<[false, true]>");
        check(
            &[1, 2],
            ElementType::F16,
            &[0, 0x3C, 0, 0x7C],
            "dense<[[1.000000e+00, 0x7C00]]>",
        );
        let complex: Vec<u8> = [1.0_f32, -2.0]
            .iter()
            .flat_map(|part| part.to_le_bytes())
            .collect();
        check(
            &[],
            ElementType::C64,
            &complex,
            "dense<(1.000000e+00, -2.000000e+00)>",
        );
        check(
            &[2],
            ElementType::Index,
            &[[0xFF; 8], [0; 8]].concat(),
            "dense<[-1, 0]>",
        );
    }

    #[test]
    fn equal_elements_are_spelled_once() {
        check(&[2, 2], ElementType::I8, &[5; 4], "dense<5>");
        check(&[1], ElementType::I1, &[1], "dense<true>");
        check(&[0, 3], ElementType::F32, &[], "dense<>");
    }

    #[test]
    fn long_ones_are_hexadecimal() {
        let bytes: Vec<u8> = (0..65).collect();
        let text = bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        check(&[65], ElementType::UI8, &bytes, &format!("dense<\"0x{text}\">"));
        let bits: Vec<u8> = (0..65).map(|index| index % 2).collect();
        let words: Vec<&str> = bits
            .iter()
            .map(|bit| if *bit == 0 { "false" } else { "true" })
            .collect();
        check(
            &[65],
            ElementType::I1,
            &bits,
            &format!("dense<[{}]>", words.join(", ")),
        );
    }
}
