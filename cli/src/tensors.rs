//! Between NumPy arrays and the values of a program.

use std::io::Read;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::Buffer;
use artifact_eval::tensor::Tensor;
use artifact_ir::literal::{Literal, extend_signs};
use artifact_ir::types::{Dim, ElementType, TensorType};

use crate::npy::{Array, ArrayReader, Header};

/// NumPy's type string for elements, as they are written. Types that NumPy lacks are written by bit pattern.
pub(crate) fn descr(element: ElementType) -> &'static str {
    match element {
        ElementType::I1 => "|b1",
        ElementType::I2 | ElementType::I4 | ElementType::I8 => "|i1",
        ElementType::UI2 | ElementType::UI4 | ElementType::UI8 => "|u1",
        ElementType::I16 => "<i2",
        ElementType::I32 => "<i4",
        ElementType::I64 => "<i8",
        ElementType::UI16 | ElementType::BF16 => "<u2",
        ElementType::UI32 | ElementType::TF32 => "<u4",
        ElementType::UI64 | ElementType::Index => "<u8",
        ElementType::F16 => "<f2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
        ElementType::C64 => "<c8",
        ElementType::C128 => "<c16",
        ElementType::F4E2M1FN
        | ElementType::F6E2M3FN
        | ElementType::F6E3M2FN
        | ElementType::F8E3M4
        | ElementType::F8E4M3
        | ElementType::F8E4M3FN
        | ElementType::F8E4M3FNUZ
        | ElementType::F8E4M3B11FNUZ
        | ElementType::F8E5M2
        | ElementType::F8E5M2FNUZ
        | ElementType::F8E8M0FNU => "|u1",
    }
}

/// Whether elements of a type string hold elements of a type. `V` is how arrays of extension types are saved.
fn accepts(element: ElementType, array_descr: &str) -> bool {
    let wanted = descr(element);
    let (wanted, given) = (
        wanted.trim_start_matches(['<', '|']),
        array_descr.trim_start_matches(['<', '|', '=', '>']),
    );
    // What the package `ml_dtypes` saves: raw bytes for most of its types, and a plain kind for one.
    let by_pattern =
        element.is_float() && wanted.starts_with('u') || element.bits() < 8 && !element.is_boolean();
    wanted == given
        || by_pattern && given.strip_prefix('V') == wanted.strip_prefix(['u', 'i'])
        || element == ElementType::F8E5M2 && given == "f1"
}

/// The value of a program's type that an array holds, or what does not fit: element type, rank or shape. An array that does
/// not fit is not read.
pub(crate) fn literal_of(reader: ArrayReader<impl Read>, ty: &TensorType) -> Result<Literal, String> {
    let array = &reader.header;
    let storage = ty.element.storage();
    if !accepts(storage, &array.descr) {
        let wanted = descr(storage);
        return Err(format!(
            "expected elements of type {storage} (`{wanted}` in NumPy), found `{}`",
            array.descr
        ));
    }
    if array.shape.len() != ty.rank() {
        let (shape, rank) = (shape_text(&array.shape), array.shape.len());
        return Err(format!(
            "expected rank {} ({ty}), found rank {rank} (shape {shape})",
            ty.rank()
        ));
    }
    let fits = |(size, dim): (&u64, &Dim)| dim.compatible(&Dim::Static(*size));
    if !array.shape.iter().zip(&ty.dims).all(fits) {
        return Err(format!(
            "expected shape {}, found {}",
            dims_text(&ty.dims),
            shape_text(&array.shape)
        ));
    }
    let is_extension = array.descr.contains('V');
    let ty = TensorType::of_static(&array.shape, ty.element.clone());
    let mut elements = reader.elements()?;
    if is_extension {
        // The package `ml_dtypes` saves some of them so.
        extend_signs(storage, &mut elements);
    }
    Literal::dense(Arc::new(ty), Blob::new(elements)).map_err(|error| error.to_string())
}

/// The type of an array that tells it by itself: its elements are of a type that NumPy has.
pub(crate) fn type_of(array: &Header) -> Result<TensorType, String> {
    const OWN: [ElementType; 14] = [
        ElementType::I1,
        ElementType::I8,
        ElementType::I16,
        ElementType::I32,
        ElementType::I64,
        ElementType::UI8,
        ElementType::UI16,
        ElementType::UI32,
        ElementType::UI64,
        ElementType::F16,
        ElementType::F32,
        ElementType::F64,
        ElementType::C64,
        ElementType::C128,
    ];
    let mut elements = OWN.into_iter();
    let element = elements.find(|element| accepts(*element, &array.descr));
    let element = element.ok_or_else(|| format!("no type has elements of `{}`", array.descr))?;
    Ok(TensorType::of_static(&array.shape, element))
}

/// The array of a value.
pub(crate) fn array_of(buffer: &Buffer) -> Array<'_> {
    Array {
        descr: descr(buffer.ty().element.storage()),
        shape: buffer.shape().collect(),
        bytes: buffer.bytes(),
    }
}

/// A value as it is compared and shown.
pub(crate) fn tensor_of(buffer: &Buffer) -> Result<Tensor, String> {
    let elements = buffer.bytes();
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(elements.len())
        .map_err(|_| format!("there is no memory for a copy of {} bytes", elements.len()))?;
    bytes.extend_from_slice(elements);
    Tensor::from_bytes(Arc::clone(buffer.ty()), bytes).map_err(|error| error.to_string())
}

/// A value as it is given to a program.
pub(crate) fn buffer_of(tensor: &Tensor) -> Result<Buffer, String> {
    Buffer::copy_of(Arc::clone(tensor.ty()), tensor.bytes()).map_err(|error| error.to_string())
}

fn shape_text(shape: &[u64]) -> String {
    format!(
        "[{}]",
        shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    )
}

fn dim_text(dim: &Dim) -> String {
    match dim {
        Dim::Symbolic(expression) => expression.to_string(),
        other => other.to_string(),
    }
}

fn dims_text(dims: &[Dim]) -> String {
    format!("[{}]", dims.iter().map(dim_text).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(descr: &'static str, shape: &[u64], bytes: usize, expected: Result<(), &str>) {
        let ty = TensorType::of_static(&[2, 3], ElementType::F32);
        let array = Array {
            descr,
            shape: shape.into(),
            bytes: &vec![0; bytes],
        };
        let file = array.write();
        let reader = ArrayReader::new(file.as_slice(), file.len() as u64).unwrap();
        assert_eq!(
            literal_of(reader, &ty).map(|_| ()),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        check("<f4", &[2, 3], 24, Ok(()));
        check(
            "<i4",
            &[2, 3],
            24,
            Err("expected elements of type f32 (`<f4` in NumPy), found `<i4`"),
        );
        check(
            "<f4",
            &[6],
            24,
            Err("expected rank 2 (tensor<2x3xf32>), found rank 1 (shape [6])"),
        );
        check("<f4", &[3, 2], 24, Err("expected shape [2, 3], found [3, 2]"));
    }

    #[test]
    fn an_array_that_does_not_fit_is_not_read() {
        let array = Array {
            descr: "<f4",
            shape: vec![1 << 40],
            bytes: &[],
        };
        let header = array.write();
        let reader = ArrayReader::new(header.as_slice(), header.len() as u64 + (4 << 40)).unwrap();
        let refusal = literal_of(reader, &TensorType::of_static(&[2], ElementType::F32));
        assert!(refusal.unwrap_err().contains("expected shape [2]"));
    }

    #[test]
    fn signs_of_narrow_elements() {
        let read = |descr, bytes: &[u8]| {
            let array = Array {
                descr,
                shape: vec![4],
                bytes,
            };
            let file = array.write();
            let reader = ArrayReader::new(file.as_slice(), file.len() as u64).unwrap();
            let literal = literal_of(reader, &TensorType::of_static(&[4], ElementType::I4));
            literal.map(|literal| Tensor::from_literal(&literal).unwrap().bytes().to_vec())
        };
        let signed = Ok(vec![0xf8, 0xff, 3, 7]);
        assert_eq!(read("|V1", &[0x08, 0x0f, 3, 7]), signed);
        assert_eq!(read("|V1", &[0xf8, 0xff, 3, 7]), signed);
        assert_eq!(read("|i1", &[0xf8, 0xff, 3, 7]), signed);
        // An integer of 8 bits is what it is.
        assert!(read("|i1", &[8, 0, 0, 0]).is_err() && read("|V1", &[0x1f, 0, 0, 0]).is_err());
    }

    #[test]
    fn extension_types() {
        assert!(accepts(ElementType::BF16, "<u2") && accepts(ElementType::BF16, "<V2"));
        assert!(accepts(ElementType::F8E5M2, "|V1") && accepts(ElementType::UI8, "|u1"));
        assert!(accepts(ElementType::F8E5M2, "<f1") && !accepts(ElementType::F8E4M3FN, "<f1"));
        assert!(accepts(ElementType::I4, "<V1") && accepts(ElementType::UI2, "|V1"));
        assert!(!accepts(ElementType::I1, "|V1") && !accepts(ElementType::I8, "|V1"));
        assert!(!accepts(ElementType::BF16, "<f2") && !accepts(ElementType::UI16, "<V2"));
    }
}
