//! What a compiled module holds: how the program is called, and the plugin's executable.

use artifact_core::blob::Blob;
use artifact_engine::EngineError;
use artifact_engine::encoding::{Malformed, Reader, Writer};

use crate::expectations::Expectations;
use crate::interface::Interface;

/// Values in and out, what is expected of others, and bytes that only the plugin knows.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) interface: Interface,
    pub(crate) expectations: Option<Expectations>,
    pub(crate) executable: Blob,
}

impl Payload {
    /// # Errors
    /// Unsupported for what has no form as bytes.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, EngineError> {
        let mut writer = Writer::new();
        self.interface.encode(&mut writer)?;
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
        let interface = Interface::decode(bytes, &mut reader)?;
        let expectations = match reader.u8()? {
            0 => None,
            _ => Some(Expectations::decode(bytes, &mut reader)?),
        };
        let outside = reader.malformed("the executable ends too early");
        let executable = bytes.slice(reader.range()?).ok_or(outside)?;
        reader.end()?;
        Ok(Self {
            interface,
            expectations,
            executable,
        })
    }
}
