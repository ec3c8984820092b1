//! Attributes and types of VHLO.

use std::sync::Arc;

use artifact_ir::attribute::{
    Attribute, AxisRef, ByteString, Mesh, MeshAxis, MeshReference, OutputOperandAlias, ReplicaGroupMeshAxes,
    ResultAccuracy, ResultAccuracyMode, StablehloAttribute, SubAxisInfo, SymbolRef,
};
use artifact_ir::literal::Literal;
use artifact_ir::types::{
    Dim, Element, ElementType, Encoding, QuantizationParameters, QuantizedType, TensorType, Type,
};

use super::super::DYNAMIC;
use super::super::read_error::ReadError;
use super::builtin::{float, integer, raw_bits};
use super::cursor::{Cursor, Read};
use super::pool::{AnyType, Pool};
use crate::vhlo::codes::{AttributeCode, TypeCode, case_of, element_of};

impl Pool<'_> {
    pub(super) fn vhlo_attribute(&mut self, cursor: &mut Cursor<'_>) -> Read<Attribute> {
        let start = cursor.offset();
        let number = cursor.varint()?;
        let Some(code) = AttributeCode::from_code(number) else {
            let message =
                format!("no version of StableHLO that is read here has an attribute of number {number}");
            return Err(ReadError::foreign(start, message));
        };
        Ok(match code {
            AttributeCode::Array => Attribute::Array(self.attribute_list(cursor)?),
            AttributeCode::Boolean => boolean(cursor)?,
            AttributeCode::Dictionary => Attribute::Dictionary(self.dictionary(cursor)?),
            AttributeCode::Float => {
                let ty = self.scalar(cursor)?;
                float(cursor, ty)?
            }
            AttributeCode::Integer => {
                let ty = self.scalar(cursor)?;
                integer(cursor, ty)?
            }
            AttributeCode::String => self.string(cursor)?,
            AttributeCode::Tensor => {
                let ty = self.ty(cursor)?;
                Attribute::Elements(self.literal(cursor, &ty)?)
            }
            AttributeCode::Type => Attribute::Type(self.ty(cursor)?),
            AttributeCode::TypeExtensions => {
                let bounds = bounds(cursor)?;
                self.weigh(size_of_val(&*bounds) as u64);
                Attribute::Stablehlo(StablehloAttribute::Bounds(bounds))
            }
            code => Attribute::Stablehlo(self.stablehlo_attribute(cursor, code)?),
        })
    }

    fn stablehlo_attribute(
        &mut self,
        cursor: &mut Cursor<'_>,
        code: AttributeCode,
    ) -> Read<StablehloAttribute> {
        Ok(match code {
            AttributeCode::OutputOperandAlias => {
                let alias = OutputOperandAlias {
                    output_tuple_indices: cursor.signed_list()?,
                    operand_index: cursor.signed()?,
                    operand_tuple_indices: cursor.signed_list()?,
                };
                let lists = [&alias.output_tuple_indices, &alias.operand_tuple_indices];
                self.weigh(lists.map(|list| size_of_val(&**list) as u64).iter().sum());
                StablehloAttribute::OutputOperandAlias(alias)
            }
            AttributeCode::ResultAccuracy => self.result_accuracy(cursor)?,
            AttributeCode::SubAxisInfo => StablehloAttribute::SubAxisInfo(SubAxisInfo {
                pre_size: cursor.signed()?,
                size: cursor.signed()?,
            }),
            AttributeCode::AxisRef => self.axis_ref(cursor)?,
            AttributeCode::ReplicaGroupMeshAxes => self.replica_groups(cursor)?,
            AttributeCode::MeshAxis => StablehloAttribute::MeshAxis(MeshAxis {
                name: self.byte_string(cursor)?,
                size: cursor.signed()?,
            }),
            AttributeCode::Mesh => self.mesh(cursor)?,
            code => {
                let number = cursor.varint()?;
                case_of(code, number).ok_or_else(|| {
                    cursor.malformed(format!("{number} is no case of the enumeration {code:?}"))
                })?
            }
        })
    }

    fn byte_string(&mut self, cursor: &mut Cursor<'_>) -> Read<ByteString> {
        match self.attribute(cursor)? {
            Attribute::String(text) => Ok(text),
            _ => Err(cursor.malformed("the name of an axis must be a string")),
        }
    }

    fn result_accuracy(&mut self, cursor: &mut Cursor<'_>) -> Read<StablehloAttribute> {
        let (atol_bits, rtol_bits) = (raw_bits(cursor, 64)?, raw_bits(cursor, 64)?);
        let ulps = cursor.signed()?;
        match self.attribute(cursor)? {
            Attribute::Stablehlo(StablehloAttribute::ResultAccuracyMode(mode)) => {
                Ok(StablehloAttribute::ResultAccuracy(ResultAccuracy {
                    atol_bits,
                    rtol_bits,
                    ulps,
                    mode,
                }))
            }
            _ => Err(cursor.malformed(format!(
                "the mode of a result accuracy must be a case of {:?}",
                ResultAccuracyMode::Default
            ))),
        }
    }

    fn axis_ref(&mut self, cursor: &mut Cursor<'_>) -> Read<StablehloAttribute> {
        let name = self.byte_string(cursor)?;
        let sub_axis_info = match cursor.varint()? {
            0 => None,
            _ => match self.attribute(cursor)? {
                Attribute::Stablehlo(StablehloAttribute::SubAxisInfo(info)) => Some(info),
                _ => return Err(cursor.malformed("the part of an axis must be a sub-axis")),
            },
        };
        Ok(StablehloAttribute::AxisRef(AxisRef { name, sub_axis_info }))
    }

    fn replica_groups(&mut self, cursor: &mut Cursor<'_>) -> Read<StablehloAttribute> {
        let mesh = match self.attribute(cursor)? {
            Attribute::Stablehlo(StablehloAttribute::Mesh(mesh)) => MeshReference::Inline(mesh),
            mesh => match mesh.as_str() {
                Some(symbol) => MeshReference::Symbol(SymbolRef::flat(symbol)),
                None => return Err(cursor.malformed("the mesh of replica groups must be a mesh or its name")),
            },
        };
        let axes = self.items(
            cursor,
            "the axes of replica groups must be axes",
            |axis| match axis {
                Attribute::Stablehlo(StablehloAttribute::AxisRef(axis)) => Some(axis),
                _ => None,
            },
        )?;
        Ok(StablehloAttribute::ReplicaGroupMeshAxes(ReplicaGroupMeshAxes {
            mesh,
            axes,
        }))
    }

    fn mesh(&mut self, cursor: &mut Cursor<'_>) -> Read<StablehloAttribute> {
        let axes = self.items(
            cursor,
            "the axes of a mesh must be axes with sizes",
            |axis| match axis {
                Attribute::Stablehlo(StablehloAttribute::MeshAxis(axis)) => Some(axis),
                _ => None,
            },
        )?;
        let (number, present) = cursor.flagged()?;
        let device_ids = match present.then(|| self.attribute_at(cursor, number)).transpose()? {
            None => None,
            Some(Attribute::Elements(ids)) => Some(ids),
            Some(_) => return Err(cursor.malformed("the devices of a mesh must be a tensor")),
        };
        Ok(StablehloAttribute::Mesh(Mesh { axes, device_ids }))
    }

    /// An array of attributes of one kind.
    fn items<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        expected: &str,
        item: impl Fn(Attribute) -> Option<T>,
    ) -> Read<Vec<T>> {
        let items = match self.attribute(cursor)? {
            Attribute::Array(items) => items.into_iter().map(item).collect(),
            _ => None,
        };
        items.ok_or_else(|| cursor.malformed(expected))
    }

    pub(super) fn vhlo_type(&mut self, cursor: &mut Cursor<'_>) -> Read<AnyType> {
        let start = cursor.offset();
        let number = cursor.varint()?;
        if let Some(element) = element_of(number) {
            return Ok(AnyType::Type(Type::Scalar(element)));
        }
        let Some(code) = TypeCode::from_code(number) else {
            let message = format!("no version of StableHLO that is read here has a type of number {number}");
            return Err(ReadError::foreign(start, message));
        };
        Ok(AnyType::Type(match code {
            TypeCode::Complex => self.complex_type(cursor)?,
            TypeCode::Function => self.function_type(cursor)?,
            TypeCode::RankedTensor => self.tensor_type(cursor, None)?.into(),
            TypeCode::RankedTensorWithEncoding => {
                let encoding = self.encoding(cursor)?;
                self.tensor_type(cursor, Some(encoding))?.into()
            }
            TypeCode::Token => Type::Token,
            TypeCode::Tuple => Type::Tuple(self.type_list(cursor)?.into()),
            TypeCode::UniformQuantized => return self.quantized(cursor),
            TypeCode::UniformQuantizedPerAxis => return self.quantized_per_axis(cursor),
            TypeCode::UnrankedTensor => Type::UnrankedTensor(self.element(cursor)?),
            TypeCode::Witness => Type::Foreign("!shape.witness".into()),
            TypeCode::None => Type::None,
            TypeCode::RankedBuffer => Type::Buffer(Arc::new(self.tensor_type(cursor, None)?)),
            TypeCode::Future => Type::Future(self.type_list(cursor)?.into()),
        }))
    }

    pub(super) fn encoding(&mut self, cursor: &mut Cursor<'_>) -> Read<Encoding> {
        match self.attribute(cursor)? {
            Attribute::Stablehlo(StablehloAttribute::Bounds(bounds)) => Ok(Encoding::Bounds(bounds)),
            other => {
                let text = crate::print::attribute_text(&other);
                self.copied(cursor, text.len())?;
                Ok(Encoding::Foreign(text.into()))
            }
        }
    }

    pub(super) fn tensor_type(
        &mut self,
        cursor: &mut Cursor<'_>,
        encoding: Option<Encoding>,
    ) -> Read<TensorType> {
        let dims = cursor.list(|cursor| match cursor.signed()? {
            DYNAMIC => Ok(Dim::Unknown),
            size => u64::try_from(size)
                .map(Dim::Static)
                .map_err(|_| cursor.malformed(format!("{size} is no size of a dimension"))),
        })?;
        let element = self.element(cursor)?;
        Ok(TensorType {
            encoding,
            ..TensorType::new(dims, element)
        })
    }

    fn element(&mut self, cursor: &mut Cursor<'_>) -> Read<Element> {
        match self.any_type(cursor)? {
            AnyType::Quantized(quantized) => Ok(Element::Quantized(quantized)),
            AnyType::Type(Type::Scalar(element)) => Ok(Element::Plain(element)),
            AnyType::Type(other) => {
                Err(cursor.malformed(format!("'{other}' cannot be the element of a tensor")))
            }
        }
    }

    fn quantized(&mut self, cursor: &mut Cursor<'_>) -> Read<AnyType> {
        let flags = cursor.varint()?;
        let storage = self.scalar(cursor)?;
        let expressed = self.scalar(cursor)?;
        let scale = f64::from_bits(raw_bits(cursor, 64)?);
        let zero_point = cursor.signed()?;
        Ok(AnyType::Quantized(Arc::new(QuantizedType {
            storage: storage_type(cursor, flags, storage)?,
            expressed,
            axis: None,
            parameters: vec![QuantizationParameters::new(scale, zero_point)],
            storage_min: cursor.signed()?,
            storage_max: cursor.signed()?,
        })))
    }

    fn quantized_per_axis(&mut self, cursor: &mut Cursor<'_>) -> Read<AnyType> {
        let flags = cursor.varint()?;
        let storage = self.scalar(cursor)?;
        let expressed = self.scalar(cursor)?;
        let axis = Some(cursor.varint()?);
        let (storage_min, storage_max) = (cursor.signed()?, cursor.signed()?);
        let scales = cursor.list(|cursor| raw_bits(cursor, 64))?;
        let zero_points = cursor.signed_list()?;
        if scales.len() != zero_points.len() {
            return Err(cursor.malformed("a quantized type has as many scales as zero points"));
        }
        let parameters = scales
            .into_iter()
            .zip(zero_points)
            .map(|(scale, zero_point)| QuantizationParameters::new(f64::from_bits(scale), zero_point));
        Ok(AnyType::Quantized(Arc::new(QuantizedType {
            storage: storage_type(cursor, flags, storage)?,
            storage_min,
            storage_max,
            expressed,
            axis,
            parameters: parameters.collect(),
        })))
    }

    /// A dense constant of the type, whose bytes are ahead.
    pub(super) fn literal(&mut self, cursor: &mut Cursor<'_>, ty: &Type) -> Read<Literal> {
        let Type::Tensor(tensor) = ty else {
            return Err(cursor.malformed(format!("a constant cannot be of '{ty}'")));
        };
        let length = cursor.varint()?;
        let place = cursor.range(length)?;
        let bytes = self
            .file
            .slice(place)
            .unwrap_or_else(|| artifact_core::blob::Blob::new(Vec::new()));
        super::literal::literal(tensor, bytes).map_err(|error| cursor.malformed(error.to_string()))
    }
}

/// The bit 1 of the flags says that stored integers have a sign. VHLO stores the type without one.
fn storage_type(cursor: &Cursor<'_>, flags: u64, storage: ElementType) -> Read<ElementType> {
    if flags & 1 == 1 || storage.is_unsigned_integer() {
        return Ok(storage);
    }
    let bits = storage.bits();
    let mut all = ElementType::ALL.iter().copied();
    all.find(|other| other.is_unsigned_integer() && other.bits() == bits)
        .ok_or_else(|| cursor.malformed(format!("'{storage}' is not the type of stored integers")))
}

fn boolean(cursor: &mut Cursor<'_>) -> Read<Attribute> {
    match cursor.varint()? {
        0 => Ok(Attribute::Bool(false)),
        1 => Ok(Attribute::Bool(true)),
        other => Err(cursor.malformed(format!("{other} is no boolean"))),
    }
}

fn bounds(cursor: &mut Cursor<'_>) -> Read<Box<[Option<u64>]>> {
    let bounds = cursor.list(|cursor| match cursor.signed()? {
        DYNAMIC => Ok(None),
        bound => u64::try_from(bound)
            .map(Some)
            .map_err(|_| cursor.malformed(format!("{bound} is no bound of a dimension"))),
    })?;
    Ok(bounds.into())
}
