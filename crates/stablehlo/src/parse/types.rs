//! Types.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, StablehloAttribute};
use artifact_ir::types::{
    Dim, Element, ElementType, Encoding, FunctionType, QuantizationParameters, QuantizedType, TensorType,
    Type,
};

use super::cursor::{Parser, Read};
use crate::lex::{Kind, Token};

/// Longest text of a type that is looked up before it is read; longer ones are rare.
const CACHED_BYTES: usize = 256;

impl<'a> Parser<'a> {
    /// Any type.
    pub(super) fn ty(&mut self) -> Read<Type> {
        match self.kind() {
            Kind::LeftParen => Ok(Type::Function(Arc::new(self.function_type()?))),
            Kind::Word => self.builtin_type(),
            Kind::Bang => self.nested(Self::dialect_type),
            _ => Err(self.unexpected("a type")),
        }
    }

    /// `(A, B) -> C` or `(A, B) -> (C, D)`.
    pub(super) fn function_type(&mut self) -> Read<FunctionType> {
        self.nested(|parser| {
            let mut inputs = Vec::new();
            parser.list(Kind::LeftParen, |parser| {
                inputs.push(parser.ty()?);
                Ok(())
            })?;
            if !parser.take(Kind::Arrow) {
                return Err(parser.unexpected("'->' in function type"));
            }
            let results = parser.result_types()?;
            Ok(FunctionType { inputs, results })
        })
    }

    /// What stands after an arrow: one type, or a list in parentheses.
    pub(super) fn result_types(&mut self) -> Read<Vec<Type>> {
        let mut results = Vec::new();
        if self.at(Kind::LeftParen) {
            self.list(Kind::LeftParen, |parser| {
                results.push(parser.ty()?);
                Ok(())
            })?;
        } else {
            results.push(self.ty()?);
        }
        Ok(results)
    }

    /// Types separated by commas.
    pub(super) fn type_list(&mut self) -> Read<Vec<Type>> {
        let mut types = vec![self.ty()?];
        while self.take(Kind::Comma) {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    fn builtin_type(&mut self) -> Read<Type> {
        let token = self.token;
        match self.slice(token) {
            "tensor" => self.tensor_like(Type::Tensor),
            "memref" => self.tensor_like(Type::Buffer),
            "tuple" => {
                self.bump();
                Ok(Type::Tuple(self.angle_types()?.into()))
            }
            "none" => {
                self.bump();
                Ok(Type::None)
            }
            "vector" => {
                self.bump();
                self.skip_angles("'<'")?;
                Ok(Type::Foreign(self.slice_from(token.start()).into()))
            }
            "complex" => Ok(Type::Scalar(self.plain_element()?)),
            text => {
                if let Ok(element) = text.parse() {
                    self.bump();
                    Ok(Type::Scalar(element))
                } else if is_builtin_number(text) {
                    self.bump();
                    Ok(Type::Foreign(text.into()))
                } else {
                    Err(self.unexpected("a type"))
                }
            }
        }
    }

    /// `<A, B>`.
    fn angle_types(&mut self) -> Read<Vec<Type>> {
        self.nested(|parser| {
            let mut types = Vec::new();
            parser.list(Kind::Less, |parser| {
                types.push(parser.ty()?);
                Ok(())
            })?;
            Ok(types)
        })
    }

    fn skip_angles(&mut self, expected: &str) -> Read<()> {
        if self.at(Kind::Less) {
            self.skip_balanced()
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// `tensor<...>` or `memref<...>`, looked up by its text first.
    fn tensor_like(&mut self, wrap: fn(Arc<TensorType>) -> Type) -> Read<Type> {
        let start = self.token.start();
        let end = self.type_text_end(self.token.end());
        let key = end.and_then(|end| self.text.get(start..end));
        if let Some(key) = key
            && let Some(known) = self.types.get(key)
        {
            let known = known.clone();
            self.seek(start + key.len());
            return Ok(known);
        }
        let ty = self.nested(|parser| parser.read_tensor(wrap))?;
        if let Some(key) = key
            && self.taken_end == start + key.len()
        {
            self.types.insert(key, ty.clone());
        }
        Ok(ty)
    }

    /// Where the type ends whose `<` stands at `open`, when that is plain to see.
    fn type_text_end(&self, open: usize) -> Option<usize> {
        let bytes = self.text.as_bytes().get(open..)?;
        let mut depth = 0_usize;
        for (index, byte) in bytes.iter().take(CACHED_BYTES).enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(open + index + 1);
                    }
                }
                b'"' | b'\n' | b'/' | b'-' => return None,
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    fn read_tensor(&mut self, wrap: fn(Arc<TensorType>) -> Type) -> Read<Type> {
        let start = self.bump().start();
        if !self.at(Kind::Less) {
            return Err(self.unexpected("'<'"));
        }
        let shape = self.token.end();
        let blank = self.blank_length(shape);
        if self.text.as_bytes().get(shape + blank) == Some(&b'*') {
            return self.unranked(shape + blank + 1);
        }
        let dims = self.dims(shape)?;
        let element = self.element()?;
        let encoding = if self.take(Kind::Comma) {
            Some(self.encoding()?)
        } else {
            None
        };
        self.expect(Kind::Greater)?;
        if let Some(Encoding::Bounds(bounds)) = &encoding
            && bounds.len() != dims.len()
        {
            let message = format!(
                "Bounds length is {}, expected to be equal to rank({}) of the tensor",
                bounds.len(),
                dims.len()
            );
            return Err(self.error(start, message));
        }
        Ok(wrap(Arc::new(TensorType {
            dims: dims.into(),
            element,
            encoding,
        })))
    }

    fn blank_length(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// `*xf32>`.
    fn unranked(&mut self, position: usize) -> Read<Type> {
        if self.text.as_bytes().get(position) != Some(&b'x') {
            return Err(self.error(position, "expected 'x' after '*'"));
        }
        self.seek(position + 1);
        let element = self.element()?;
        self.expect(Kind::Greater)?;
        Ok(Type::UnrankedTensor(element))
    }

    /// `2x?x`: the sizes before the element, read from bytes because tokens do not end at an `x`.
    fn dims(&mut self, start: usize) -> Read<Vec<Dim>> {
        let bytes = self.text.as_bytes();
        let mut dims = Vec::new();
        let mut at = start;
        loop {
            at += self.blank_length(at);
            let digits = bytes
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let end = match bytes.get(at) {
                Some(b'?') => at + 1,
                _ if digits > 0 => at + digits,
                _ => break,
            };
            dims.push(match self.text.get(at..end) {
                Some("?") => Dim::Unknown,
                Some(text) => match text.parse::<i64>() {
                    Ok(size) => Dim::Static(size.unsigned_abs()),
                    Err(_) => return Err(self.error(at, "the dimension does not fit 64 bits")),
                },
                None => break,
            });
            at = end + self.blank_length(end);
            if bytes.get(at) != Some(&b'x') {
                return Err(self.error(at, "expected 'x' after the dimension"));
            }
            at += 1;
        }
        self.seek(at);
        Ok(dims)
    }

    /// The element of a tensor.
    fn element(&mut self) -> Read<Element> {
        match self.kind() {
            Kind::Word => Ok(Element::Plain(self.plain_element()?)),
            Kind::Bang if self.slice(self.token) == "!quant.uniform" => {
                Ok(Element::Quantized(Arc::new(self.quantized()?)))
            }
            Kind::Bang => {
                let token = self.bump();
                let alias = self.slice(token);
                match self.type_alias(alias, token.start())? {
                    Type::Scalar(element) => Ok(Element::Plain(element)),
                    Type::Foreign(text) => self.quantized_text(token, &text),
                    _ => Err(self.error(token.start(), format!("'{alias}' is no element type"))),
                }
            }
            _ => Err(self.unexpected("an element type")),
        }
    }

    /// An alias of a quantized type keeps the text of that type; it is read where it is an element.
    fn quantized_text(&mut self, token: Token, text: &str) -> Read<Element> {
        let mut parser = Parser::new(text, 0, Vec::new());
        match parser.quantized() {
            Ok(quantized) if parser.at(Kind::End) => Ok(Element::Quantized(Arc::new(quantized))),
            _ => Err(self.error(token.start(), format!("'{text}' is no element type"))),
        }
    }

    /// `f32`, `complex<f32>`.
    fn plain_element(&mut self) -> Read<ElementType> {
        let token = self.expect(Kind::Word)?;
        let text = self.slice(token);
        if text == "complex" {
            self.expect(Kind::Less)?;
            let part = self.plain_element()?;
            self.expect(Kind::Greater)?;
            return part.complex_of().ok_or_else(|| {
                self.error(
                    token.start(),
                    format!("complex numbers have parts of f32 or f64, not of {part}"),
                )
            });
        }
        text.parse().map_err(|_| {
            let message = format!("'{text}' is no element type: expected i1, i2 to i64, ui2 to ui64, index, f4 to f64, bf16 or complex");
            self.error(token.start(), message)
        })
    }

    /// What stands after the comma in a tensor type.
    fn encoding(&mut self) -> Read<Encoding> {
        let start = self.token.start();
        Ok(match self.attribute()? {
            Attribute::Stablehlo(StablehloAttribute::Bounds(bounds)) => Encoding::Bounds(bounds),
            _ => Encoding::Foreign(self.slice_from(start).into()),
        })
    }

    /// `!quant.uniform<i8<-127:127>:f32:1, {0.1:3, 0.2}>`.
    fn quantized(&mut self) -> Read<QuantizedType> {
        self.expect(Kind::Bang)?;
        self.expect(Kind::Less)?;
        let storage = self.storage_type()?;
        let (storage_min, storage_max) = if self.take(Kind::Less) {
            let min = self.i64_value()?;
            self.expect(Kind::Colon)?;
            let max = self.i64_value()?;
            self.expect(Kind::Greater)?;
            (min, max)
        } else {
            QuantizedType::storage_range(storage)
        };
        self.expect(Kind::Colon)?;
        let expressed = self.plain_element()?;
        let axis = if self.take(Kind::Colon) {
            if self.at(Kind::LeftBrace) {
                return Err(self.error_here("sub-channel quantization is not supported: expected one axis"));
            }
            let token = self.expect(Kind::Integer)?;
            let axis = self.slice(token).parse::<u64>();
            Some(axis.map_err(|_| self.error(token.start(), "the axis is no number"))?)
        } else {
            None
        };
        self.expect(Kind::Comma)?;
        let mut parameters = Vec::new();
        if self.at(Kind::LeftBrace) {
            self.list(Kind::LeftBrace, |parser| {
                parameters.push(parser.scale_and_zero_point()?);
                Ok(())
            })?;
        } else {
            parameters.push(self.scale_and_zero_point()?);
        }
        self.expect(Kind::Greater)?;
        Ok(QuantizedType {
            storage,
            storage_min,
            storage_max,
            expressed,
            axis,
            parameters,
        })
    }

    fn storage_type(&mut self) -> Read<ElementType> {
        let token = self.expect(Kind::Word)?;
        let text = self.slice(token);
        // The quantization dialect writes `u8` where tensors have `ui8`.
        let name = match text.strip_prefix('u') {
            Some(bits) if !bits.starts_with('i') => format!("ui{bits}"),
            _ => text.to_owned(),
        };
        match name.parse::<ElementType>() {
            Ok(storage) if storage.is_integer() && storage != ElementType::Index => Ok(storage),
            _ => Err(self.error(
                token.start(),
                format!("'{text}' is no storage type: expected i4, u8, i8, ..."),
            )),
        }
    }

    fn scale_and_zero_point(&mut self) -> Read<QuantizationParameters> {
        let scale = self.f64_value()?;
        let zero_point = if self.take(Kind::Colon) {
            self.i64_value()?
        } else {
            0
        };
        Ok(QuantizationParameters::new(scale, zero_point))
    }

    /// `!stablehlo.token`, `!alias`, `!dialect.name<...>`.
    fn dialect_type(&mut self) -> Read<Type> {
        let token = self.bump();
        let name = self.slice(token);
        if let Some(own) = name.strip_prefix("!stablehlo.") {
            return match own {
                "token" => Ok(Type::Token),
                "future" => self.future(token),
                _ => Err(self.error(token.start(), format!("unknown stablehlo type: {own}"))),
            };
        }
        if self.at(Kind::Less) && self.token.start() == token.end() {
            self.skip_balanced()?;
        } else if !name.contains('.') {
            return self.type_alias(name, token.start());
        }
        Ok(Type::Foreign(self.slice_from(token.start()).into()))
    }

    fn future(&mut self, token: Token) -> Read<Type> {
        let types = if self.at(Kind::Less) {
            self.angle_types()?
        } else {
            Vec::new()
        };
        if let Some(other) = types
            .iter()
            .find(|ty| !matches!(ty, Type::Tensor(_) | Type::Buffer(_) | Type::Token))
        {
            let message = format!("future element type must be a ranked tensor, but got '{other}'");
            return Err(self.error(token.start(), message));
        }
        Ok(Type::Future(types.into()))
    }
}

/// Number types of MLIR that StableHLO does not have: they may stand in attributes of other dialects.
fn is_builtin_number(text: &str) -> bool {
    let digits = text
        .strip_prefix("si")
        .or_else(|| text.strip_prefix("ui"))
        .or_else(|| text.strip_prefix('i'));
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
    }) || matches!(text, "f80" | "f128")
}
