//! The manifest: what the program is, how it is called and what it needs, without looking into the program.
//!
//! Encoded in MessagePack as maps with named fields, in the order of the declarations below. Changes follow four rules:
//!
//! | | data of an older writer | data of a newer writer |
//! | --- | --- | --- |
//! | older reader | itself | fields that it does not know are ignored; what must not be ignored is a required *feature*, refused by name |
//! | newer reader | a field that came later is optional and its absence is documented | itself |
//!
//! An older *writer* never rewrites newer data: [`crate::ContainerBuilder::carry_over`] refuses files of a newer container
//! version, so no unknown field is lost. A field is never renamed, retyped or reused.
//!
//! Data types, expressions and formats are text here: the container does not interpret them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use artifact_core::digest::Digest;
use serde::de::{Error as DecodeError, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Classify, ErrorKind, Fault};
use crate::identity::RawDigest;
use crate::limits;
use crate::messagepack;

/// What a file says about its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Who wrote the file.
    pub producer: Producer,
    /// Format of the program section.
    pub program: ProgramFormat,
    /// How the program is called.
    pub signature: Signature,
    /// Platforms that the program was exported for, such as `cpu` or `cuda`; empty means any.
    pub platforms: Vec<String>,
    /// Features that a reader must know to read the file rightly, by name, sorted and without repetition.
    pub required_features: Vec<String>,
    /// How arguments and results are passed; the program's owner defines the numbers.
    pub calling_convention: u32,
    /// Custom calls that the program makes, sorted by target, then version.
    pub custom_calls: Vec<CustomCall>,
    /// Constants that were hoisted out of the program, in the order of their arguments. Filled by the writer.
    pub constants: Vec<Constant>,
    /// Dimension variables of the signature, and what must hold for them; absent where no shape has any. A file that has it
    /// requires a feature, so that no reader ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// Seconds since 1970-01-01 UTC. Only present when the user asks, because it makes equal exports differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<u64>,
    /// Free-form texts of the exporter or the user. Nothing that affects the meaning of the file.
    pub metadata: BTreeMap<String, String>,
}

/// Who wrote a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producer {
    /// Such as `artifact`.
    pub name: String,
    /// Such as `0.1.0`.
    pub version: String,
}

/// Format of the program section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFormat {
    /// Such as `stablehlo-text`.
    pub name: String,
    /// Such as `1.20.0`.
    pub version: String,
}

/// How the program is called. Hoisted constants are further arguments after the inputs and are not listed here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The function that is called.
    pub function: String,
    /// What the caller passes, in order. Names are unique.
    pub inputs: Vec<Value>,
    /// What the caller gets, in order. Names are unique.
    pub outputs: Vec<Value>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// How the user names it; not empty.
    pub name: String,
    /// Element type such as `f32`; for a value that is not a ranked tensor, its whole type.
    pub dtype: String,
    /// Dimensions, outermost first; absent for a value that is not a ranked tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<Dim>>,
}

/// Size of a dimension, in elements. In the file: an unsigned integer, a text, or nil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Known.
    Size(u64),
    /// An expression over dimension variables, in the text form of the program's owner.
    Expression(String),
    /// Anything.
    Unknown,
}

/// Dimension variables and constraints, in the text form of the program's owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimensions {
    /// Every variable of the shapes of inputs, in order of the names.
    pub variables: Vec<DimensionVariable>,
    /// What must hold, such as `a >= 2*b`.
    pub constraints: Vec<String>,
}

/// The values that a dimension variable may take, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimensionVariable {
    /// Its name.
    pub name: String,
    /// The smallest value.
    pub min: i64,
    /// The largest value; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The number of which every value is a multiple.
    pub multiple_of: u32,
}

/// A custom call that the program makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomCall {
    /// Name of the target.
    pub target: String,
    /// Version of the calling interface, as the program states it.
    pub api_version: u32,
    /// Whether one of the calls is declared to have a side effect.
    pub has_side_effect: bool,
    /// How many calls there are in the program's text.
    pub count: u64,
}

/// A constant that was hoisted to an argument of the called function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// Index among the function's arguments: the inputs come first.
    pub argument: u32,
    /// Name of the section with its bytes. Equal constants share one.
    pub section: String,
    /// Element type.
    pub dtype: String,
    /// Dimensions in elements, outermost first.
    pub shape: Vec<u64>,
    /// Digest of the bytes; the section's raw digest.
    #[serde(with = "digest_bytes")]
    pub digest: RawDigest,
}

impl Manifest {
    /// The manifest's bytes.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Fault> {
        Ok(rmp_serde::to_vec_named(self).map_err(ManifestError::Encode)?)
    }

    /// Reads and checks a manifest. Structure, depth and counts are checked before anything is decoded.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        limits::MANIFEST_BYTES.check(bytes.len() as u64)?;
        messagepack::check(bytes)?;
        let manifest: Self = rmp_serde::from_slice(bytes).map_err(ManifestError::Decode)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The rules that hold between fields.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let Self {
            producer,
            program,
            signature,
            platforms: _,
            required_features,
            calling_convention: _,
            custom_calls,
            constants,
            dimensions: _,
            created: _,
            metadata: _,
        } = self;
        for (field, text) in [
            ("producer.name", &producer.name),
            ("program.name", &program.name),
            ("program.version", &program.version),
            ("signature.function", &signature.function),
        ] {
            if text.is_empty() {
                return Err(ManifestError::Empty(field).into());
            }
        }
        check_values("input", &signature.inputs)?;
        check_values("output", &signature.outputs)?;
        let ascending = required_features.is_sorted_by(|a, b| a < b)
            && custom_calls.is_sorted_by(|a, b| (&a.target, a.api_version) < (&b.target, b.api_version));
        if !ascending {
            return Err(ManifestError::Order.into());
        }
        check_constants(constants, signature.inputs.len())
    }
}

fn check_values(side: &'static str, values: &[Value]) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        limits::RANK.check(value.shape.as_ref().map_or(0, Vec::len) as u64)?;
        if value.name.is_empty() || value.dtype.is_empty() {
            return Err(ManifestError::Unnamed { side, index }.into());
        }
        if !names.insert(value.name.as_str()) {
            return Err(ManifestError::DuplicateName {
                side,
                name: value.name.clone(),
            }
            .into());
        }
    }
    Ok(())
}

fn check_constants(constants: &[Constant], inputs: usize) -> Result<(), Fault> {
    for (index, constant) in constants.iter().enumerate() {
        limits::RANK.check(constant.shape.len() as u64)?;
        let expected = inputs + index;
        if constant.argument as usize != expected || constant.dtype.is_empty() {
            return Err(ManifestError::Argument {
                argument: constant.argument,
                expected,
            }
            .into());
        }
    }
    Ok(())
}

impl Serialize for Dim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Size(size) => serializer.serialize_u64(*size),
            Self::Expression(text) => serializer.serialize_str(text),
            Self::Unknown => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Dim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DimVisitor;

        impl Visitor<'_> for DimVisitor {
            type Value = Dim;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a dimension: an unsigned integer, an expression or nil")
            }

            fn visit_u64<E>(self, size: u64) -> Result<Dim, E> {
                Ok(Dim::Size(size))
            }

            fn visit_str<E>(self, text: &str) -> Result<Dim, E> {
                Ok(Dim::Expression(text.to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Dim, E> {
                Ok(Dim::Unknown)
            }
        }

        deserializer.deserialize_any(DimVisitor)
    }
}

mod digest_bytes {
    //! A digest as MessagePack `bin` of 32 bytes.

    use super::{DecodeError, Deserializer, Digest, RawDigest, Serializer, Visitor, fmt};

    pub(super) fn serialize<S: Serializer>(digest: &RawDigest, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(digest.digest().as_bytes())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawDigest, D::Error> {
        struct DigestVisitor;

        impl Visitor<'_> for DigestVisitor {
            type Value = RawDigest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a digest of 32 bytes")
            }

            fn visit_bytes<E: DecodeError>(self, bytes: &[u8]) -> Result<RawDigest, E> {
                let bytes = bytes
                    .try_into()
                    .map_err(|_| E::invalid_length(bytes.len(), &self))?;
                Ok(RawDigest::new(Digest::from_bytes(bytes)))
            }
        }

        deserializer.deserialize_bytes(DigestVisitor)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("the manifest cannot be encoded")]
    Encode(#[source] rmp_serde::encode::Error),
    #[error("the manifest cannot be decoded")]
    Decode(#[source] rmp_serde::decode::Error),
    #[error("`{0}` is empty in the manifest")]
    Empty(&'static str),
    #[error("{side} {index} has no name or no type in the manifest")]
    Unnamed { side: &'static str, index: usize },
    #[error("two {side}s are named `{name}` in the manifest")]
    DuplicateName { side: &'static str, name: String },
    #[error("required features or custom calls are not sorted, or are repeated, in the manifest")]
    Order,
    #[error("a constant stands for argument {argument} where {expected} follows, or has no type")]
    Argument { argument: u32, expected: usize },
}

impl Classify for ManifestError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            producer: Producer {
                name: "p".into(),
                version: "1".into(),
            },
            program: ProgramFormat {
                name: "f".into(),
                version: "1".into(),
            },
            signature: Signature {
                function: "main".into(),
                inputs: vec![],
                outputs: vec![],
            },
            platforms: vec![],
            required_features: vec!["a".into(), "b".into()],
            calling_convention: 1,
            custom_calls: vec![],
            constants: vec![],
            dimensions: None,
            created: None,
            metadata: BTreeMap::new(),
        }
    }

    /// What a newer writer adds is ignored, at the top and within.
    #[test]
    fn unknown_fields_are_ignored() {
        let bytes = manifest().encode().unwrap();
        assert_eq!(bytes[0], 0x89, "nine fields");
        let newer = [&[0x8a][..], &bytes[1..], b"\xa5newer\x81\xa1x\x92\x01\xc0"].concat();
        assert_eq!(Manifest::decode(&newer).unwrap(), manifest());
        let producer = b"\x82\xa4name\xa1p";
        let at = bytes
            .windows(producer.len())
            .position(|window| window == producer)
            .unwrap();
        let within = [&bytes[..at], b"\x83\xa2zz\x90", &bytes[at + 1..]].concat();
        assert_eq!(Manifest::decode(&within).unwrap(), manifest());
    }

    #[test]
    fn missing_and_mistyped_fields_are_refused() {
        let refused = |from: &[u8], to: &[u8]| {
            let bytes = manifest().encode().unwrap();
            let at = bytes
                .windows(from.len())
                .position(|window| window == from)
                .unwrap();
            let changed = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
            let error = Manifest::decode(&changed).unwrap_err().read(None);
            let source = std::error::Error::source(&error).unwrap();
            format!(
                "{source}: {}",
                source.source().map(ToString::to_string).unwrap_or_default()
            )
        };
        assert!(refused(b"\xa8producer", b"\xa8producet").contains("missing field `producer`"));
        assert!(
            refused(b"\xb2calling_convention\x01", b"\xb2calling_convention\xff")
                .contains("cannot be decoded")
        );
        assert!(refused(b"\x92\xa1a\xa1b", b"\x92\xa1b\xa1a").contains("not sorted"));
        assert!(refused(b"\x92\xa1a\xa1b", b"\x92\xa1a\xa1a").contains("not sorted"));
    }

    #[test]
    fn constants_are_the_arguments_after_the_inputs() {
        let constant = |argument| Constant {
            argument,
            section: "constant/0".into(),
            dtype: "f32".into(),
            shape: vec![1],
            digest: RawDigest::new(Digest::of(b"")),
        };
        let check = |arguments: &[u32]| {
            let mut manifest = manifest();
            let shape = Some(vec![
                Dim::Size(u64::MAX),
                Dim::Unknown,
                Dim::Expression("n".into()),
            ]);
            manifest.signature.inputs = vec![Value {
                name: "x".into(),
                dtype: "f32".into(),
                shape,
            }];
            manifest.constants = arguments.iter().copied().map(constant).collect();
            manifest
                .encode()
                .and_then(|bytes| Manifest::decode(&bytes))
                .map(|back| assert_eq!(back, manifest))
        };
        assert!(check(&[]).is_ok() && check(&[1, 2]).is_ok());
        for wrong in [&[0][..], &[2], &[1, 1], &[1, 3]] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
