//! A compiled program as bytes.

use artifact_core::blob::Blob;
use artifact_core::digest::{Digest, Domain, Hasher};
use artifact_core::limit::Limit;
use artifact_core::version::FormatVersion;

use crate::encoding::{Malformed, Reader, Writer};
use crate::error::{EngineError, ErrorKind};
use crate::port::Engine;
use crate::target::Target;
use crate::toolchain::{Component, Toolchain};

/// The first bytes.
const MAGIC: [u8; 8] = *b"\x89ARTMOD\n";

/// The version of the encoding. 1.0: magic, version, digest, engine, target, toolchain, payload.
const VERSION: FormatVersion = FormatVersion::new(1, 0);

/// The digest covers all that follows it.
const DOMAIN: Domain = Domain::new("artifact compiled-module v1");

/// Largest encoded module.
const MODULE_BYTES: Limit = Limit::new("the compiled module", 4 << 30, "bytes");

/// Most parts of a toolchain.
const COMPONENTS: Limit = Limit::new("the number of parts of a toolchain", 256, "parts");

/// What an engine made of a program: opaque bytes, with what must be so for them to be loaded.
///
/// The digest says that the bytes are whole, and not that they are honest: who may write them executes code here. Whoever takes them
/// from elsewhere decides whom to trust before that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledModule {
    engine: String,
    target: Target,
    toolchain: Toolchain,
    payload: Blob,
}

impl CompiledModule {
    /// What an engine made for a target.
    #[must_use]
    pub fn new(engine: &dyn Engine, target: Target, payload: Blob) -> Self {
        Self {
            engine: engine.name().to_owned(),
            target,
            toolchain: engine.toolchain().clone(),
            payload,
        }
    }

    /// The name of its engine.
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// The machine that it is for.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// What compiled it.
    #[must_use]
    pub const fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The bytes that only its engine knows.
    #[must_use]
    pub const fn payload(&self) -> &Blob {
        &self.payload
    }

    /// The same with another payload, for tests of an engine's own checks.
    #[must_use]
    pub fn with_payload(mut self, payload: Blob) -> Self {
        self.payload = payload;
        self
    }

    /// Refuses a module that an engine cannot load here. An engine asks this before it looks at the payload.
    ///
    /// # Errors
    /// Incompatible, with what differs.
    pub fn check(&self, engine: &dyn Engine) -> Result<(), EngineError> {
        let refuse = |what: String| Err(EngineError::incompatible(what));
        if self.engine != engine.name() {
            return refuse(format!(
                "the module was compiled by the engine `{}`, and this is `{}`",
                self.engine,
                engine.name()
            ));
        }
        if let Some((name, own, other)) = self.toolchain.differences(engine.toolchain()).next() {
            let shown =
                |component: Option<&Component>| component.map_or("none".to_owned(), ToString::to_string);
            return refuse(format!(
                "the module was compiled by another toolchain: {name} is {} there and {} here; compile it again",
                shown(own),
                shown(other)
            ));
        }
        let supported = engine.targets();
        match supported.iter().find(|support| support.target == self.target) {
            None => refuse(format!("the module is for the unknown target `{}`", self.target)),
            Some(support) => match &support.missing {
                None => Ok(()),
                Some(missing) => refuse(format!("the module is for `{}`: {missing}", self.target)),
            },
        }
    }

    /// The bytes to keep. Equal modules give equal bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Writer::new();
        body.text(&self.engine);
        body.text(self.target.name());
        let components = self.toolchain.components();
        body.count(components.len());
        for (name, component) in components {
            body.text(name);
            match component {
                Component::Version(version) => {
                    body.u8(0);
                    body.text(version);
                }
                Component::Digest(digest) => {
                    body.u8(1);
                    body.raw(digest.as_bytes());
                }
            }
        }
        body.bytes(&self.payload);
        let body = body.finish();
        let mut file = Writer::new();
        file.raw(&MAGIC);
        file.u16(VERSION.major);
        file.u16(VERSION.minor);
        file.raw(digest_of(&body).as_bytes());
        file.raw(&body);
        file.finish()
    }

    /// The module of bytes that [`CompiledModule::encode`] gave. The payload is a view of them.
    ///
    /// # Errors
    /// Incompatible for what is damaged, of another version, or something else.
    pub fn decode(bytes: &Blob) -> Result<Self, EngineError> {
        let refuse = |what: String| EngineError::incompatible(what);
        MODULE_BYTES
            .check(bytes.len() as u64)
            .map_err(|error| refuse(error.to_string()))?;
        let damaged = |error: Malformed| refuse("the compiled module is damaged".to_owned()).because(error);
        let mut reader = Reader::new(bytes);
        if reader.raw(MAGIC.len()).ok() != Some(&MAGIC[..]) {
            return Err(refuse("this is no compiled module".to_owned()));
        }
        let version = FormatVersion::new(reader.u16().map_err(damaged)?, reader.u16().map_err(damaged)?);
        if version != VERSION {
            return Err(refuse(format!(
                "the compiled module has version {version}, and {VERSION} is read: compile it again"
            )));
        }
        let said = reader.raw(Digest::BYTES).map_err(damaged)?;
        let body_start = bytes.len() - reader.left();
        let body = bytes
            .slice(body_start..bytes.len())
            .unwrap_or_else(|| bytes.clone());
        if digest_of(&body).as_bytes() != said {
            return Err(refuse(
                "the compiled module is damaged: its bytes have another digest".to_owned(),
            ));
        }
        Self::decode_body(&body).map_err(damaged)
    }

    /// Whether an error says that a module has to be compiled again: a cache takes it for a miss.
    #[must_use]
    pub fn is_miss(error: &EngineError) -> bool {
        error.kind() == ErrorKind::Incompatible
    }

    fn decode_body(body: &Blob) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let engine = reader.text()?.to_owned();
        let unusable = reader.malformed("the target has no usable name");
        let target = Target::new(reader.text()?).map_err(|_| unusable)?;
        let mut toolchain = Toolchain::default();
        let too_many = reader.malformed("the toolchain has too many parts");
        let count = reader.count(1)?;
        COMPONENTS.check(count as u64).map_err(|_| too_many)?;
        for _ in 0..count {
            let name = reader.text()?.to_owned();
            let unknown = reader.malformed("a part of the toolchain is of an unknown kind");
            let component = match reader.u8()? {
                0 => Component::Version(reader.text()?.to_owned()),
                1 => {
                    let mut digest = [0; Digest::BYTES];
                    digest.copy_from_slice(reader.raw(Digest::BYTES)?);
                    Component::Digest(Digest::from_bytes(digest))
                }
                _ => return Err(unknown),
            };
            toolchain = toolchain.with(name, component);
        }
        let outside = reader.malformed("the payload ends too early");
        let payload = body.slice(reader.range()?).ok_or(outside)?;
        reader.end()?;
        Ok(Self {
            engine,
            target,
            toolchain,
            payload,
        })
    }
}

fn digest_of(body: &[u8]) -> Digest {
    let mut hasher = Hasher::in_domain(DOMAIN);
    hasher.update(body);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> CompiledModule {
        CompiledModule {
            engine: "test".to_owned(),
            target: Target::new("portable").unwrap(),
            toolchain: Toolchain::default()
                .with("a", Component::Version("1".to_owned()))
                .with("b", Component::Digest(Digest::of(b"b"))),
            payload: Blob::new(vec![1, 2, 3]),
        }
    }

    #[test]
    fn there_and_back() {
        let bytes = Blob::new(module().encode());
        let back = CompiledModule::decode(&bytes).unwrap();
        assert_eq!(back, module());
        let end = bytes.as_ptr() as usize + bytes.len();
        assert_eq!(back.payload().as_ptr() as usize + 3, end, "the payload is a view");
    }

    #[test]
    fn every_damage_is_found() {
        let bytes = module().encode();
        for position in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[position] ^= 0x10;
            let error = CompiledModule::decode(&Blob::new(flipped)).unwrap_err();
            assert!(CompiledModule::is_miss(&error), "byte {position}: {error}");
            assert!(CompiledModule::decode(&Blob::new(bytes[..position].to_vec())).is_err());
        }
        assert!(CompiledModule::decode(&Blob::new([bytes, vec![0]].concat())).is_err());
    }

    /// Wrong lengths with a right digest, as somebody would make them who wants to do harm.
    #[test]
    fn hostile_lengths() {
        let bytes = module().encode();
        let start = MAGIC.len() + 4 + Digest::BYTES;
        for position in start..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[position] = value;
                let digest = digest_of(&changed[start..]);
                changed[start - Digest::BYTES..start].copy_from_slice(digest.as_bytes());
                // Whatever it says, it is read or refused.
                let _ = CompiledModule::decode(&Blob::new(changed));
            }
        }
    }
}
