//! What a compiled module holds: how the program is called, and the plugin's executable.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_engine::EngineError;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_ir::types::{ElementType, TensorType};

use crate::expectations::Expectations;

/// Arrays in and out, what is expected of others, and bytes that only the plugin knows.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) arguments: Vec<Arc<TensorType>>,
    pub(crate) results: Vec<Arc<TensorType>>,
    pub(crate) expectations: Option<Expectations>,
    pub(crate) executable: Blob,
}

impl Payload {
    /// # Errors
    /// Unsupported for expectations that have no form as bytes.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, EngineError> {
        let mut writer = Writer::new();
        for types in [&self.arguments, &self.results] {
            writer.count(types.len());
            types.iter().for_each(|ty| write(ty, &mut writer));
        }
        writer.u8(u8::from(self.expectations.is_some()));
        if let Some(expectations) = &self.expectations {
            expectations.encode(&mut writer)?;
        }
        writer.bytes(&self.executable);
        Ok(writer.finish())
    }

    /// # Errors
    /// Incompatible when the bytes are none of ours.
    pub(crate) fn decode(bytes: &Blob) -> Result<Self, EngineError> {
        let damaged =
            |error: Malformed| EngineError::incompatible("the compiled module is damaged").because(error);
        Self::read(bytes).map_err(damaged)
    }

    fn read(bytes: &Blob) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let mut types = || -> Result<Vec<_>, Malformed> {
            let count = reader.count(1)?;
            (0..count).map(|_| read(&mut reader)).collect()
        };
        let (arguments, results) = (types()?, types()?);
        let expectations = match reader.u8()? {
            0 => None,
            _ => Some(Expectations::decode(bytes, &mut reader)?),
        };
        let outside = reader.malformed("the executable ends too early");
        let executable = bytes.slice(reader.range()?).ok_or(outside)?;
        reader.end()?;
        Ok(Self {
            arguments,
            results,
            expectations,
            executable,
        })
    }
}

fn write(ty: &TensorType, writer: &mut Writer) {
    writer.text(&ty.element.storage().to_string());
    writer.count(ty.dims.len());
    ty.dims
        .iter()
        .for_each(|dim| writer.u64(dim.as_static().unwrap_or_default()));
}

fn read(reader: &mut Reader<'_>) -> Result<Arc<TensorType>, Malformed> {
    let unknown = reader.malformed("an element type that is not known");
    let element: ElementType = reader.text()?.parse().map_err(|_| unknown)?;
    let count = reader.count(8)?;
    let dims: Vec<u64> = (0..count).map(|_| reader.u64()).collect::<Result<_, _>>()?;
    Ok(Arc::new(TensorType::of_static(&dims, element)))
}
