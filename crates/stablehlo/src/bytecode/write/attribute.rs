//! Attributes, in VHLO's encoding and in the builtin one.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::attribute::{
    Attribute, AxisRef, DenseArray, FloatAttribute, Mesh, MeshReference, NamedAttributes, StablehloAttribute,
};
use artifact_ir::literal::Literal;
use artifact_ir::types::{ElementType, TensorType, Type};
use smallvec::{SmallVec, smallvec};

use super::super::builtin;
use super::error::WriteError;
use super::tables::Dialect;
use super::token::{Tail, Token};
use super::{Write, Writer};
use crate::vhlo::Version;
use crate::vhlo::codes::{AttributeCode, number_of};

/// The first version whose programs may hold attributes and operations of other dialects.
pub(super) const OTHER_DIALECTS_SINCE: Version = Version::new(1, 11, 0);

impl Writer<'_> {
    pub(super) fn vhlo_entry(&mut self, tokens: &[Token]) -> u32 {
        self.tables.attribute(Dialect::Vhlo, true, tokens, None)
    }

    pub(super) fn builtin_entry(&mut self, tokens: &[Token]) -> u32 {
        self.tables.attribute(Dialect::Builtin, true, tokens, None)
    }

    fn coded(&mut self, code: AttributeCode, rest: impl IntoIterator<Item = Token>) -> Write<u32> {
        self.require(code.since(), || format!("an attribute of the kind {code:?}"))?;
        let mut tokens: SmallVec<[Token; 8]> = smallvec![Token::Varint(code as u64)];
        tokens.extend(rest);
        Ok(self.vhlo_entry(&tokens))
    }

    /// The number of an attribute in VHLO's encoding; in the builtin one where VHLO has none.
    pub(super) fn attribute(&mut self, attribute: &Attribute) -> Write<u32> {
        match attribute {
            Attribute::Bool(value) => self.coded(AttributeCode::Boolean, [Token::Varint(u64::from(*value))]),
            Attribute::Integer { value, ty } => self.integer(*value, *ty),
            Attribute::Float(float) => self.float(*float),
            Attribute::String(text) => self.bytes(text.as_bytes()),
            Attribute::Type(ty) => {
                let ty = self.ty(ty)?;
                self.coded(AttributeCode::Type, [Token::Type(ty)])
            }
            Attribute::Array(items) => {
                let tokens = self.attribute_list(items)?;
                self.coded(AttributeCode::Array, tokens)
            }
            Attribute::Dictionary(attributes) => self.dictionary(attributes),
            Attribute::Elements(literal) => self.literal(literal),
            Attribute::DenseArray(DenseArray::I64(values)) => self.ints(values),
            Attribute::DenseArray(DenseArray::Bool(values)) => self.bools(values),
            Attribute::Stablehlo(attribute) => self.stablehlo(attribute),
            other => self.outside(other),
        }
    }

    /// An attribute without a form in VHLO, which newer versions may hold as it is.
    fn outside(&mut self, attribute: &Attribute) -> Write<u32> {
        self.require(OTHER_DIALECTS_SINCE, || {
            let text = crate::print::attribute_text(attribute);
            format!("the attribute `{text}`, which VHLO has no form for,")
        })?;
        self.builtin_attribute(attribute)
    }

    pub(super) fn string(&mut self, text: &str) -> Write<u32> {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, text: &[u8]) -> Write<u32> {
        let string = self.tables.string(text);
        self.coded(AttributeCode::String, [Token::Varint(u64::from(string))])
    }

    /// An array of dictionaries.
    pub(super) fn dictionaries<'b>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'b NamedAttributes>,
    ) -> Write<u32> {
        let mut tokens = Vec::with_capacity(items.len() + 1);
        tokens.push(Token::Varint(items.len() as u64));
        for item in items {
            tokens.push(Token::Attribute(self.dictionary(item)?));
        }
        self.coded(AttributeCode::Array, tokens)
    }

    fn attribute_list(&mut self, items: &[Attribute]) -> Write<Vec<Token>> {
        let mut tokens = vec![Token::Varint(items.len() as u64)];
        for item in items {
            tokens.push(Token::Attribute(self.attribute(item)?));
        }
        Ok(tokens)
    }

    pub(super) fn dictionary(&mut self, attributes: &NamedAttributes) -> Write<u32> {
        let mut tokens: SmallVec<[Token; 8]> = smallvec![Token::Varint(attributes.len() as u64)];
        for (name, value) in attributes.iter() {
            tokens.push(Token::Attribute(self.string(name)?));
            tokens.push(Token::Attribute(self.attribute(value)?));
        }
        self.coded(AttributeCode::Dictionary, tokens)
    }

    fn integer(&mut self, value: i128, ty: ElementType) -> Write<u32> {
        if ty.bits() < 4 {
            return Err(WriteError::no_form(format!(
                "an integer attribute of type '{ty}'"
            )));
        }
        let ty_number = self.element_type(ty)?;
        self.coded(
            AttributeCode::Integer,
            [Token::Type(ty_number), number(value as u64, ty.bits())],
        )
    }

    fn float(&mut self, float: FloatAttribute) -> Write<u32> {
        let ty = self.element_type(float.ty)?;
        self.coded(
            AttributeCode::Float,
            [Token::Type(ty), number(float.bits, float.ty.bits())],
        )
    }

    /// A tensor of `i64` of one dimension.
    pub(super) fn ints(&mut self, values: &[i64]) -> Write<u32> {
        let ty = Arc::new(TensorType::of_static(&[values.len() as u64], ElementType::I64));
        let uniform = values.len() > 1 && values.iter().all(|value| *value == values[0]);
        let kept = if uniform { &values[..1] } else { values };
        let bytes = kept.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor_attribute(&ty, Blob::new(bytes))
    }

    /// A tensor of `i1` of one dimension.
    pub(super) fn bools(&mut self, values: &[bool]) -> Write<u32> {
        let ty = Arc::new(TensorType::of_static(&[values.len() as u64], ElementType::I1));
        let bytes: Vec<u8> = values.iter().map(|value| u8::from(*value)).collect();
        let literal = Literal::dense(ty, Blob::new(bytes)).map_err(WriteError::no_form)?;
        self.literal(&literal)
    }

    /// A dense constant. One element stands for all where they are equal.
    pub(super) fn literal(&mut self, literal: &Literal) -> Write<u32> {
        let bytes = stored_bytes(literal);
        self.tensor_attribute(literal.ty(), bytes)
    }

    fn tensor_attribute(&mut self, ty: &Arc<TensorType>, bytes: Blob) -> Write<u32> {
        let ty = self.ty(&Type::Tensor(Arc::clone(ty)))?;
        Ok(self.tables.attribute(
            Dialect::Vhlo,
            true,
            &[Token::Varint(AttributeCode::Tensor as u64), Token::Type(ty)],
            Some(Tail(bytes)),
        ))
    }

    fn stablehlo(&mut self, attribute: &StablehloAttribute) -> Write<u32> {
        if let Some((code, case)) = number_of(attribute) {
            return self.coded(code, [Token::Varint(case)]);
        }
        match attribute {
            StablehloAttribute::OutputOperandAlias(alias) => {
                let mut tokens = signed_list(&alias.output_tuple_indices);
                tokens.push(Token::signed(alias.operand_index));
                tokens.extend(signed_list(&alias.operand_tuple_indices));
                self.coded(AttributeCode::OutputOperandAlias, tokens)
            }
            StablehloAttribute::ResultAccuracy(accuracy) => {
                let mode = self.stablehlo(&StablehloAttribute::ResultAccuracyMode(accuracy.mode))?;
                let tokens = [
                    number(accuracy.atol_bits, 64),
                    number(accuracy.rtol_bits, 64),
                    Token::signed(accuracy.ulps),
                    Token::Attribute(mode),
                ];
                self.coded(AttributeCode::ResultAccuracy, tokens)
            }
            StablehloAttribute::Bounds(bounds) => Ok(self.bounds(bounds)),
            StablehloAttribute::SubAxisInfo(info) => {
                let tokens = [Token::signed(info.pre_size), Token::signed(info.size)];
                self.coded(AttributeCode::SubAxisInfo, tokens)
            }
            StablehloAttribute::AxisRef(axis) => self.axis_ref(axis),
            StablehloAttribute::MeshAxis(axis) => {
                let name = self.attribute(&Attribute::String(axis.name.clone()))?;
                self.coded(
                    AttributeCode::MeshAxis,
                    [Token::Attribute(name), Token::signed(axis.size)],
                )
            }
            StablehloAttribute::Mesh(mesh) => self.mesh(mesh),
            StablehloAttribute::ReplicaGroupMeshAxes(groups) => {
                let mesh = match &groups.mesh {
                    MeshReference::Symbol(symbol) => self.string(&symbol.root)?,
                    MeshReference::Inline(mesh) => self.mesh(mesh)?,
                };
                let axes = groups.axes.iter().cloned().map(StablehloAttribute::AxisRef);
                let axes = self.attribute(&Attribute::Array(axes.map(Attribute::Stablehlo).collect()))?;
                self.coded(
                    AttributeCode::ReplicaGroupMeshAxes,
                    [Token::Attribute(mesh), Token::Attribute(axes)],
                )
            }
            other => {
                let text = crate::print::attribute_text(&Attribute::Stablehlo(other.clone()));
                Err(WriteError::no_form(format!(
                    "the attribute `{text}`, where its operation has none,"
                )))
            }
        }
    }

    fn axis_ref(&mut self, axis: &AxisRef) -> Write<u32> {
        let name = self.attribute(&Attribute::String(axis.name.clone()))?;
        let mut tokens = vec![
            Token::Attribute(name),
            Token::Varint(u64::from(axis.sub_axis_info.is_some())),
        ];
        if let Some(info) = axis.sub_axis_info {
            tokens.push(Token::Attribute(
                self.stablehlo(&StablehloAttribute::SubAxisInfo(info))?,
            ));
        }
        self.coded(AttributeCode::AxisRef, tokens)
    }

    fn mesh(&mut self, mesh: &Mesh) -> Write<u32> {
        let axes = mesh.axes.iter().cloned().map(StablehloAttribute::MeshAxis);
        let axes = self.attribute(&Attribute::Array(axes.map(Attribute::Stablehlo).collect()))?;
        let devices = match &mesh.device_ids {
            None => Token::Varint(0),
            Some(ids) => Token::PresentAttribute(self.literal(ids)?),
        };
        self.coded(AttributeCode::Mesh, [Token::Attribute(axes), devices])
    }

    /// The number of a dictionary of the builtin dialect whose values are in VHLO's encoding: attributes of an operation.
    pub(super) fn discardable(&mut self, attributes: &NamedAttributes) -> Write<u32> {
        let mut tokens = vec![
            Token::Varint(builtin::DICTIONARY),
            Token::Varint(attributes.len() as u64),
        ];
        for (name, value) in attributes.iter() {
            tokens.push(Token::Attribute(self.builtin_string(name.as_bytes())));
            tokens.push(Token::Attribute(self.attribute(value)?));
        }
        Ok(self.builtin_entry(&tokens))
    }

    pub(super) fn builtin_string(&mut self, bytes: &[u8]) -> u32 {
        let string = self.tables.string(bytes);
        self.builtin_entry(&[Token::Varint(builtin::STRING), Token::Varint(u64::from(string))])
    }

    /// The number of an attribute in the builtin encoding.
    pub(super) fn builtin_attribute(&mut self, attribute: &Attribute) -> Write<u32> {
        let tokens = match attribute {
            Attribute::Unit => vec![Token::Varint(builtin::UNIT)],
            Attribute::Bool(value) => {
                let ty = self.builtin_type(&Type::Scalar(ElementType::I1))?;
                vec![
                    Token::Varint(builtin::INTEGER),
                    Token::Type(ty),
                    Token::Byte(u8::from(*value)),
                ]
            }
            Attribute::Integer { value, ty } => {
                let number = number(*value as u64, ty.bits());
                let ty = self.builtin_type(&Type::Scalar(*ty))?;
                vec![Token::Varint(builtin::INTEGER), Token::Type(ty), number]
            }
            Attribute::Float(float) => {
                let ty = self.builtin_type(&Type::Scalar(float.ty))?;
                vec![
                    Token::Varint(builtin::FLOAT),
                    Token::Type(ty),
                    number(float.bits, float.ty.bits()),
                ]
            }
            Attribute::String(text) => return Ok(self.builtin_string(text.as_bytes())),
            Attribute::Type(ty) => vec![Token::Varint(builtin::TYPE), Token::Type(self.builtin_type(ty)?)],
            Attribute::Array(items) => {
                let mut tokens = vec![Token::Varint(builtin::ARRAY), Token::Varint(items.len() as u64)];
                for item in items {
                    tokens.push(Token::Attribute(self.builtin_attribute(item)?));
                }
                tokens
            }
            Attribute::Dictionary(attributes) => return self.builtin_dictionary(attributes),
            Attribute::Symbol(symbol) => {
                let root = self.builtin_string(symbol.root.as_bytes());
                if symbol.nested.is_empty() {
                    vec![Token::Varint(builtin::FLAT_SYMBOL), Token::Attribute(root)]
                } else {
                    let mut tokens = vec![
                        Token::Varint(builtin::SYMBOL),
                        Token::Attribute(root),
                        Token::Varint(symbol.nested.len() as u64),
                    ];
                    for nested in &symbol.nested {
                        let name = self.builtin_string(nested.as_bytes());
                        let flat = vec![Token::Varint(builtin::FLAT_SYMBOL), Token::Attribute(name)];
                        tokens.push(Token::Attribute(self.builtin_entry(&flat)));
                    }
                    tokens
                }
            }
            Attribute::DenseArray(array) => return self.dense_array(array),
            Attribute::Elements(literal) => return self.builtin_literal(literal),
            Attribute::Foreign(text) => return self.foreign(text),
            Attribute::Sdy(attribute) => return self.sdy(attribute),
            Attribute::Stablehlo(_) => return self.attribute(attribute),
            Attribute::Opaque(opaque) => {
                return Err(WriteError::no_form(format!(
                    "an attribute of the dialect `{}`, of which only the bytes are known,",
                    opaque.dialect
                )));
            }
        };
        Ok(self.builtin_entry(&tokens))
    }

    pub(super) fn builtin_dictionary(&mut self, attributes: &NamedAttributes) -> Write<u32> {
        let mut tokens = vec![
            Token::Varint(builtin::DICTIONARY),
            Token::Varint(attributes.len() as u64),
        ];
        for (name, value) in attributes.iter() {
            tokens.push(Token::Attribute(self.builtin_string(name.as_bytes())));
            tokens.push(Token::Attribute(self.builtin_attribute(value)?));
        }
        Ok(self.builtin_entry(&tokens))
    }

    fn builtin_literal(&mut self, literal: &Literal) -> Write<u32> {
        let ty = self.builtin_type(&Type::Tensor(Arc::clone(literal.ty())))?;
        Ok(self.tables.attribute(
            Dialect::Builtin,
            true,
            &[Token::Varint(builtin::DENSE_ELEMENTS), Token::Type(ty)],
            Some(Tail(stored_bytes(literal))),
        ))
    }

    fn dense_array(&mut self, array: &DenseArray) -> Write<u32> {
        let (element, count, bytes): (_, _, Vec<u8>) = match array {
            DenseArray::Bool(values) => (
                ElementType::I1,
                values.len(),
                values.iter().map(|value| u8::from(*value)).collect(),
            ),
            DenseArray::I8(values) => (
                ElementType::I8,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            DenseArray::I16(values) => (
                ElementType::I16,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            DenseArray::I32(values) => (
                ElementType::I32,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            DenseArray::I64(values) => (
                ElementType::I64,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            DenseArray::F32(values) => (
                ElementType::F32,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            DenseArray::F64(values) => (
                ElementType::F64,
                values.len(),
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
        };
        let ty = self.builtin_type(&Type::Scalar(element))?;
        Ok(self.tables.attribute(
            Dialect::Builtin,
            true,
            &[
                Token::Varint(builtin::DENSE_ARRAY),
                Token::Type(ty),
                Token::Varint(count as u64),
            ],
            Some(Tail(Blob::new(bytes))),
        ))
    }

    /// An attribute of another dialect as text, which only its dialect reads.
    fn foreign(&mut self, text: &str) -> Write<u32> {
        let name = text
            .strip_prefix('#')
            .and_then(|rest| rest.split(['.', '<']).next());
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(WriteError::no_form(format!("the attribute `{text}`")));
        };
        let dialect = Dialect::Other(self.tables.string(name.as_bytes()));
        let bytes: Vec<Token> = text.bytes().chain([0]).map(Token::Byte).collect();
        Ok(self.tables.attribute(dialect, false, &bytes, None))
    }
}

/// A number of `bits` bits, of which the upper ones of `value` may be the sign's.
fn number(value: u64, bits: u32) -> Token {
    if bits <= 8 {
        return Token::Byte((value & ((1 << bits) - 1)) as u8);
    }
    let unused = 64 - bits;
    Token::signed((value << unused >> unused) as i64)
}

fn signed_list(values: &[i64]) -> Vec<Token> {
    let mut tokens = vec![Token::Varint(values.len() as u64)];
    tokens.extend(values.iter().map(|value| Token::signed(*value)));
    tokens
}

/// The bytes of a constant as MLIR has them: see the reader's `literal`.
fn stored_bytes(literal: &Literal) -> Blob {
    let storage = literal.ty().element.storage();
    let uniform = if literal.element_count() > 1 {
        literal.uniform()
    } else {
        None
    };
    if storage == ElementType::I1 {
        return match uniform {
            Some(element) => Blob::new(vec![if element == [0] { 0 } else { 0xFF }]),
            None => Blob::new(packed(literal)),
        };
    }
    let bytes = match (uniform, literal.as_dense(), literal.as_splat()) {
        (Some(element), _, _) => Blob::new(element.to_vec()),
        (None, Some(bytes), _) => bytes.clone(),
        // One element, or none at all.
        (None, None, Some(element)) if literal.element_count() == 1 => Blob::new(element.to_vec()),
        _ => Blob::new(Vec::new()),
    };
    if storage.is_signed_integer() && storage.bits() < 8 {
        let mask = (1 << storage.bits()) - 1;
        return Blob::new(bytes.iter().map(|byte| byte & mask).collect());
    }
    bytes
}

/// Booleans eight to a byte, the first in the lowest bit.
fn packed(literal: &Literal) -> Vec<u8> {
    let count = literal.element_count() as usize;
    let mut bytes = vec![0; count.div_ceil(8)];
    for index in 0..count {
        if literal.element(index).is_some_and(|element| element != [0]) {
            bytes[index / 8] |= 1 << (index % 8);
        }
    }
    bytes
}
