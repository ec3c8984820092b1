//! Encoding of types.

use std::collections::BTreeMap;

use artifact_core::canonical::Encoder;
use artifact_dims::{Expr, Variable};

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
                self.dimension_variables
                    .renamed(expression)
                    .encode(&mut self.encoder);
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

/// Variables under names that tell their order of first use, as digests see them.
#[derive(Debug, Default)]
pub(super) struct DimensionVariables(BTreeMap<Variable, Expr>);

impl DimensionVariables {
    /// The expression in terms of `d0`, `d1` and so on.
    fn renamed(&mut self, expression: &Expr) -> Expr {
        expression.for_each_variable(&mut |variable| {
            if !self.0.contains_key(variable) {
                let name = Variable::new(&format!("d{}", self.0.len()));
                self.0
                    .extend(name.map(|name| (variable.clone(), Expr::variable(name))));
            }
        });
        // At the very limits of what an expression may be, another order of its terms may be over them. It keeps its names.
        expression
            .substitute(&self.0)
            .unwrap_or_else(|_| expression.clone())
    }
}
