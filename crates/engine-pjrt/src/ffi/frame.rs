//! What a handler is called with, as values of the evaluator.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use artifact_eval::tensor::Tensor;
use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::types::{ElementType, TensorType};

use super::sys::{self, Attributes, Buffer, Scalar, Text, Values};
use crate::api::{bytes, list};

/// An array of a call: elements in the order in which they lie in memory.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) ty: Arc<TensorType>,
    data: *mut u8,
    byte_count: usize,
}

/// The arrays of arguments or results.
///
/// # Safety
/// The list is one of a call that is under way.
pub(super) unsafe fn arrays(values: &Values) -> Result<Vec<Array>, String> {
    let count = usize::try_from(values.count).map_err(|_| "a negative number of arrays".to_owned())?;
    // SAFETY: the caller's promise.
    let (types, values) = unsafe { (list(values.types, count), list(values.values, count)) };
    let pairs = types.iter().zip(values);
    let each = |(ty, value): (&c_int, &*const Buffer)| {
        // SAFETY: a value of that type is a buffer.
        match unsafe { value.as_ref() }.filter(|_| *ty == sys::BUFFER) {
            // SAFETY: the caller's promise.
            Some(buffer) => unsafe { array(buffer) },
            None => Err("a value that is no array".to_owned()),
        }
    };
    pairs.map(each).collect()
}

/// # Safety
/// The buffer is one of a call that is under way.
unsafe fn array(buffer: &Buffer) -> Result<Array, String> {
    let element = element(buffer.element)?;
    let rank = usize::try_from(buffer.rank).map_err(|_| "a negative rank".to_owned())?;
    // SAFETY: the caller's promise.
    let dims = unsafe { list(buffer.dims, rank) };
    let shape: Option<Vec<u64>> = dims.iter().map(|dim| u64::try_from(*dim).ok()).collect();
    let shape = shape.ok_or_else(|| "a negative size".to_owned())?;
    let ty = TensorType::of_static(&shape, element);
    let size = ty.byte_count().and_then(|size| usize::try_from(size).ok());
    Ok(Array {
        byte_count: size.ok_or_else(|| "an array too large".to_owned())?,
        data: buffer.data.cast::<u8>(),
        ty: Arc::new(ty),
    })
}

impl Array {
    /// Its elements.
    ///
    /// # Safety
    /// The call is under way, and it is an argument.
    pub(super) unsafe fn read(&self) -> Result<Tensor, String> {
        // SAFETY: the caller's promise.
        let elements = unsafe { list(self.data.cast_const(), self.byte_count) };
        Tensor::from_bytes(Arc::clone(&self.ty), elements.to_vec()).map_err(|error| error.to_string())
    }

    /// Writes its elements.
    ///
    /// # Safety
    /// The call is under way, and it is a result.
    pub(super) unsafe fn write(&self, elements: &[u8]) -> Result<(), String> {
        if elements.len() != self.byte_count {
            let (got, want) = (elements.len(), self.byte_count);
            return Err(format!(
                "a result of {got} bytes, where the program has one of {want}"
            ));
        }
        // SAFETY: the caller's promise; the elements are memory of this side.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), self.data, elements.len()) };
        Ok(())
    }
}

/// Element types as XLA numbers them (`XLA_FFI_DataType`), those of LAPACK and of sizes.
fn element(number: c_int) -> Result<ElementType, String> {
    use ElementType as E;
    Ok(match number {
        1 => E::I1,
        2 => E::I8,
        3 => E::I16,
        4 => E::I32,
        5 => E::I64,
        6 => E::UI8,
        7 => E::UI16,
        8 => E::UI32,
        9 => E::UI64,
        11 => E::F32,
        12 => E::F64,
        15 => E::C64,
        18 => E::C128,
        other => return Err(format!("elements of type {other}, which LAPACK does not have")),
    })
}

/// The options of a call.
///
/// # Safety
/// The list is one of a call that is under way.
pub(super) unsafe fn options(attributes: &Attributes) -> Result<NamedAttributes, String> {
    let count =
        usize::try_from(attributes.count).map_err(|_| "a negative number of attributes".to_owned())?;
    // SAFETY: the caller's promise.
    let (types, names, values) = unsafe {
        (
            list(attributes.types, count),
            list(attributes.names, count),
            list(attributes.values, count),
        )
    };
    let mut options = NamedAttributes::new();
    for ((ty, name), value) in types.iter().zip(names).zip(values) {
        // SAFETY: a name is a text.
        let name = unsafe { name.as_ref().map(|name| text(name)) }.unwrap_or_default();
        // SAFETY: a value is what its type says.
        let value = unsafe { option(*ty, *value) }.map_err(|what| format!("the option {name} is {what}"))?;
        options.insert(name, value);
    }
    Ok(options)
}

/// # Safety
/// The value is of that type, of a call that is under way.
unsafe fn option(ty: c_int, value: *const c_void) -> Result<Attribute, String> {
    // SAFETY: the caller's promise.
    unsafe {
        match ty {
            sys::STRING => match value.cast::<Text>().as_ref() {
                Some(value) => Ok(Attribute::string(&text(value))),
                None => Err("absent".to_owned()),
            },
            sys::SCALAR => match value.cast::<Scalar>().as_ref() {
                Some(scalar) => integer(scalar),
                None => Err("absent".to_owned()),
            },
            _ => Err("neither a number nor a text".to_owned()),
        }
    }
}

/// # Safety
/// The scalar is one of a call that is under way.
unsafe fn integer(scalar: &Scalar) -> Result<Attribute, String> {
    let ty = element(scalar.element)?;
    let value = scalar.value;
    if value.is_null() {
        return Err("absent".to_owned());
    }
    // SAFETY: a value has as many bytes as its type; the address may be any.
    let value = unsafe {
        match ty {
            ElementType::I1 | ElementType::UI8 => i128::from(value.cast::<u8>().read_unaligned()),
            ElementType::I8 => i128::from(value.cast::<i8>().read_unaligned()),
            ElementType::I16 => i128::from(value.cast::<i16>().read_unaligned()),
            ElementType::I32 => i128::from(value.cast::<i32>().read_unaligned()),
            ElementType::I64 => i128::from(value.cast::<i64>().read_unaligned()),
            ElementType::UI16 => i128::from(value.cast::<u16>().read_unaligned()),
            ElementType::UI32 => i128::from(value.cast::<u32>().read_unaligned()),
            ElementType::UI64 => i128::from(value.cast::<u64>().read_unaligned()),
            _ => return Err(format!("a number of type {ty}")),
        }
    };
    Ok(Attribute::Integer { value, ty })
}

/// # Safety
/// The text is one of a call that is under way.
unsafe fn text(text: &Text) -> String {
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { bytes(text.data, text.size) }).into_owned()
}
