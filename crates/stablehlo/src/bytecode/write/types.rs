//! Types, in VHLO's encoding and in the builtin one.

use std::sync::Arc;

use artifact_ir::types::{Dim, Element, ElementType, Encoding, QuantizedType, TensorType, Type};

use super::super::{DYNAMIC, builtin};
use super::error::WriteError;
use super::tables::Dialect;
use super::token::Token;
use super::{Write, Writer};
use crate::vhlo::codes::{AttributeCode, TypeCode, code_of};

impl Writer<'_> {
    /// The number of a type of VHLO.
    pub(super) fn ty(&mut self, ty: &Type) -> Write<u32> {
        if let Some(number) = self.tables.known_type(ty) {
            return Ok(number);
        }
        let number = self.new_type(ty)?;
        self.tables.learn_type(ty, number);
        Ok(number)
    }

    fn new_type(&mut self, ty: &Type) -> Write<u32> {
        let (code, rest) = match ty {
            Type::Tensor(tensor) => return self.tensor(tensor),
            Type::Scalar(element) => return self.element_type(*element),
            Type::UnrankedTensor(element) => (
                TypeCode::UnrankedTensor,
                vec![Token::Type(self.element(element)?)],
            ),
            Type::Buffer(tensor) => (TypeCode::RankedBuffer, self.shape_and_element(tensor)?),
            Type::Tuple(items) => (TypeCode::Tuple, self.type_list(items)?),
            Type::Token => (TypeCode::Token, Vec::new()),
            Type::Future(items) => (TypeCode::Future, self.type_list(items)?),
            Type::Function(function) => {
                let mut tokens = self.type_list(&function.inputs)?;
                tokens.extend(self.type_list(&function.results)?);
                (TypeCode::Function, tokens)
            }
            Type::None => (TypeCode::None, Vec::new()),
            Type::Foreign(text) => return self.foreign_type(text),
        };
        self.require(code.since(), || format!("the type '{ty}'"))?;
        Ok(self.vhlo_type(code as u64, rest))
    }

    fn vhlo_type(&mut self, code: u64, rest: Vec<Token>) -> u32 {
        let mut tokens = vec![Token::Varint(code)];
        tokens.extend(rest);
        self.tables.type_entry(Dialect::Vhlo, &tokens)
    }

    pub(super) fn element_type(&mut self, element: ElementType) -> Write<u32> {
        match code_of(element) {
            Some((code, since)) => {
                self.require(since, || format!("the element type '{element}'"))?;
                Ok(self.vhlo_type(u64::from(code), Vec::new()))
            }
            None => {
                let part = self.element_type(element.part())?;
                Ok(self.vhlo_type(TypeCode::Complex as u64, vec![Token::Type(part)]))
            }
        }
    }

    fn type_list(&mut self, types: &[Type]) -> Write<Vec<Token>> {
        let mut tokens = vec![Token::Varint(types.len() as u64)];
        for ty in types {
            tokens.push(Token::Type(self.ty(ty)?));
        }
        Ok(tokens)
    }

    fn tensor(&mut self, tensor: &TensorType) -> Write<u32> {
        let rest = self.shape_and_element(tensor)?;
        match &tensor.encoding {
            None => Ok(self.vhlo_type(TypeCode::RankedTensor as u64, rest)),
            Some(Encoding::Bounds(bounds)) => {
                let bounds = self.bounds(bounds);
                let mut tokens = vec![Token::Attribute(bounds)];
                tokens.extend(rest);
                Ok(self.vhlo_type(TypeCode::RankedTensorWithEncoding as u64, tokens))
            }
            Some(Encoding::Foreign(text)) => Err(WriteError::no_form(format!(
                "the encoding `{text}` of a tensor type"
            ))),
        }
    }

    /// Upper bounds of unknown sizes.
    pub(super) fn bounds(&mut self, bounds: &[Option<u64>]) -> u32 {
        let mut tokens = vec![
            Token::Varint(AttributeCode::TypeExtensions as u64),
            Token::Varint(bounds.len() as u64),
        ];
        tokens.extend(
            bounds
                .iter()
                .map(|bound| Token::signed(bound.map_or(DYNAMIC, |bound| bound as i64))),
        );
        self.vhlo_entry(&tokens)
    }

    fn shape_and_element(&mut self, tensor: &TensorType) -> Write<Vec<Token>> {
        let mut tokens = shape(&tensor.dims)?;
        tokens.push(Token::Type(self.element(&tensor.element)?));
        Ok(tokens)
    }

    fn element(&mut self, element: &Element) -> Write<u32> {
        match element {
            Element::Plain(element) => self.element_type(*element),
            Element::Quantized(quantized) => self.quantized(quantized),
        }
    }

    fn quantized(&mut self, quantized: &QuantizedType) -> Write<u32> {
        let signed = quantized.storage.is_signed_integer();
        let bits = quantized.storage.bits();
        let mut signless = ElementType::ALL.iter().copied();
        let storage = signless.find(|element| element.is_signed_integer() && element.bits() == bits);
        let storage = self.element_type(storage.unwrap_or(quantized.storage))?;
        let expressed = self.element_type(quantized.expressed)?;
        let mut tokens = vec![
            Token::Varint(u64::from(signed)),
            Token::Type(storage),
            Token::Type(expressed),
        ];
        let scale = |bits: f64| Token::signed(bits.to_bits() as i64);
        let range = [
            Token::signed(quantized.storage_min),
            Token::signed(quantized.storage_max),
        ];
        let parameters = &quantized.parameters;
        match (quantized.axis, parameters.as_slice()) {
            (None, [only]) => {
                tokens.extend([scale(only.scale()), Token::signed(only.zero_point)]);
                tokens.extend(range);
                Ok(self.vhlo_type(TypeCode::UniformQuantized as u64, tokens))
            }
            (Some(axis), _) => {
                let code = TypeCode::UniformQuantizedPerAxis;
                self.require(code.since(), || format!("the type '{quantized}'"))?;
                tokens.push(Token::Varint(axis));
                tokens.extend(range);
                tokens.push(Token::Varint(parameters.len() as u64));
                tokens.extend(parameters.iter().map(|parameters| scale(parameters.scale())));
                tokens.push(Token::Varint(parameters.len() as u64));
                tokens.extend(
                    parameters
                        .iter()
                        .map(|parameters| Token::signed(parameters.zero_point)),
                );
                Ok(self.vhlo_type(code as u64, tokens))
            }
            (None, _) => Err(WriteError::no_form(format!("the type '{quantized}'"))),
        }
    }

    fn foreign_type(&mut self, text: &str) -> Write<u32> {
        if text == "!shape.witness" {
            return Ok(self.vhlo_type(TypeCode::Witness as u64, Vec::new()));
        }
        Err(WriteError::no_form(format!("the type '{text}'")))
    }

    /// The number of a type of the builtin dialect, as attributes beside those of VHLO have them.
    pub(super) fn builtin_type(&mut self, ty: &Type) -> Write<u32> {
        let tokens = match ty {
            Type::Scalar(element) => self.builtin_element(*element)?,
            Type::Tensor(tensor) => self.builtin_tensor(tensor)?,
            Type::None => vec![Token::Varint(builtin::NONE_TYPE)],
            Type::Function(function) => {
                let mut tokens = vec![Token::Varint(builtin::FUNCTION_TYPE)];
                for list in [&function.inputs, &function.results] {
                    tokens.push(Token::Varint(list.len() as u64));
                    for ty in list {
                        tokens.push(Token::Type(self.builtin_type(ty)?));
                    }
                }
                tokens
            }
            other => {
                return Err(WriteError::no_form(format!(
                    "the type '{other}' in an attribute of the module"
                )));
            }
        };
        Ok(self.builtin_type_entry(tokens))
    }

    fn builtin_type_entry(&mut self, tokens: Vec<Token>) -> u32 {
        self.tables.type_entry(Dialect::Builtin, &tokens)
    }

    fn builtin_tensor(&mut self, tensor: &Arc<TensorType>) -> Write<Vec<Token>> {
        let Some(element) = tensor.element.as_plain().filter(|_| tensor.encoding.is_none()) else {
            return Err(WriteError::no_form(format!(
                "the type '{tensor}' in an attribute of the module"
            )));
        };
        let mut tokens = vec![Token::Varint(builtin::TENSOR_TYPE)];
        tokens.extend(shape(&tensor.dims)?);
        let element = self.builtin_element(element)?;
        tokens.push(Token::Type(self.builtin_type_entry(element)));
        Ok(tokens)
    }

    fn builtin_element(&mut self, element: ElementType) -> Write<Vec<Token>> {
        let code = match element {
            ElementType::Index => builtin::INDEX_TYPE,
            ElementType::BF16 => builtin::BF16_TYPE,
            ElementType::F16 => builtin::F16_TYPE,
            ElementType::F32 => builtin::F32_TYPE,
            ElementType::F64 => builtin::F64_TYPE,
            ElementType::C64 | ElementType::C128 => {
                let part = self.builtin_element(element.part())?;
                let part = self.builtin_type_entry(part);
                return Ok(vec![Token::Varint(builtin::COMPLEX_TYPE), Token::Type(part)]);
            }
            element if element.is_integer() || element.is_boolean() => {
                let sign = if element.is_unsigned_integer() { 2 } else { 0 };
                let width = u64::from(element.bits()) << 2 | sign;
                return Ok(vec![Token::Varint(builtin::INTEGER_TYPE), Token::Varint(width)]);
            }
            other => {
                return Err(WriteError::no_form(format!(
                    "the type '{other}' in an attribute of the module"
                )));
            }
        };
        Ok(vec![Token::Varint(code)])
    }
}

fn shape(dims: &[Dim]) -> Write<Vec<Token>> {
    let mut tokens = vec![Token::Varint(dims.len() as u64)];
    for dim in dims {
        tokens.push(match dim.as_static() {
            None => Token::signed(DYNAMIC),
            Some(size) => match i64::try_from(size) {
                Ok(size) => Token::signed(size),
                Err(_) => return Err(WriteError::no_form(format!("a dimension of {size} elements"))),
            },
        });
    }
    Ok(tokens)
}
