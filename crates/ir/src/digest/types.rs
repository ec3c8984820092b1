//! Encoding of types.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use artifact_core::canonical::Encoder;

use super::Scheme;
use crate::types::{Dim, Element, Encoding, QuantizedType, TensorType, Type};

impl Scheme<'_> {
    pub(super) fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Tensor(tensor) => {
                self.encoder.text("tensor");
                self.tensor(tensor);
            }
            Type::UnrankedTensor(element) => {
                self.encoder.text("unranked");
                self.element(element);
            }
            Type::Buffer(tensor) => {
                self.encoder.text("buffer");
                self.tensor(tensor);
            }
            Type::Tuple(items) => self.types("tuple", items),
            Type::Token => self.encoder.text("token"),
            Type::Future(items) => self.types("future", items),
            Type::Function(function) => {
                self.types("function", &function.inputs);
                self.types("results", &function.results);
            }
            Type::Scalar(element) => {
                self.encoder.text("scalar");
                self.encoder.text(element.name());
            }
            Type::None => self.encoder.text("none"),
            Type::Foreign(text) => {
                self.encoder.text("foreign");
                self.encoder.text(text);
            }
        }
    }

    fn types(&mut self, tag: &str, types: &[Type]) {
        self.encoder.text(tag);
        self.encoder.count(types.len());
        types.iter().for_each(|ty| self.ty(ty));
    }

    pub(super) fn tensor(&mut self, tensor: &TensorType) {
        let TensorType {
            dims,
            element,
            encoding,
        } = tensor;
        self.encoder.count(dims.len());
        dims.iter().for_each(|dim| self.dim(dim));
        self.element(element);
        match encoding {
            None => self.encoder.text("plain"),
            Some(Encoding::Bounds(bounds)) => {
                self.encoder.text("bounds");
                self.encoder.sequence(bounds.iter(), |encoder, bound| {
                    encoder.option(*bound, Encoder::u64)
                });
            }
            Some(Encoding::Foreign(text)) => {
                self.encoder.text("foreign");
                self.encoder.text(text);
            }
        }
    }

    fn dim(&mut self, dim: &Dim) {
        match dim {
            Dim::Static(size) => {
                self.encoder.text("static");
                self.encoder.u64(*size);
            }
            Dim::Symbolic(expression) => {
                self.encoder.text("symbolic");
                let renamed = rename_variables(expression.as_str(), &mut self.dimension_variables);
                self.encoder.text(&renamed);
            }
            Dim::Unknown => self.encoder.text("unknown"),
        }
    }

    fn element(&mut self, element: &Element) {
        match element {
            Element::Plain(element) => {
                self.encoder.text("plain");
                self.encoder.text(element.name());
            }
            Element::Quantized(quantized) => {
                self.encoder.text("quantized");
                self.quantized(quantized);
            }
        }
    }

    fn quantized(&mut self, quantized: &QuantizedType) {
        let QuantizedType {
            storage,
            storage_min,
            storage_max,
            expressed,
            axis,
            parameters,
        } = quantized;
        self.encoder.text(storage.name());
        self.encoder.i64(*storage_min);
        self.encoder.i64(*storage_max);
        self.encoder.text(expressed.name());
        self.encoder.option(*axis, Encoder::u64);
        self.encoder.sequence(parameters.iter(), |encoder, parameters| {
            encoder.f64(parameters.scale());
            encoder.i64(parameters.zero_point);
        });
    }
}

/// Replaces each variable by its number in order of first use. Names of functions of the dimension language stay.
fn rename_variables(expression: &str, numbers: &mut HashMap<Arc<str>, usize>) -> String {
    const FUNCTIONS: &[&str] = &["floordiv", "mod", "max", "min"];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut renamed = String::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (token, tail) = rest.split_at(end);
        if is_part(first) && !first.is_ascii_digit() && !FUNCTIONS.contains(&token) {
            let next = numbers.len();
            let number = *numbers.entry(token.into()).or_insert(next);
            // Writing to a string does not fail.
            let _ = write!(renamed, "${number}");
        } else {
            renamed.push_str(token);
        }
        rest = tail;
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_numbered_by_first_use() {
        let mut numbers = HashMap::new();
        assert_eq!(
            rename_variables("2*b + max(a1, b)", &mut numbers),
            "2*$0 + max($1, $0)"
        );
        assert_eq!(
            rename_variables("floordiv(a1, 4)", &mut numbers),
            "floordiv($1, 4)"
        );
    }
}
