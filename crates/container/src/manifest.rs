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
//! What decides whether a reader may go on is decoded first and alone, so that a file which needs more is refused by name
//! and not because a field of a later version looks wrong.
//!
//! Data types, expressions and formats are text here: the container does not interpret them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use artifact_core::date::Date;
use artifact_core::digest::Digest;
use artifact_core::version::{FormatVersion, ParseProgramVersionError, ProgramVersion};
use serde::de::{Error as DecodeError, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::compat::ManifestRequirements;
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
    /// Targets among them whose meaning nobody guarantees and which the exporter accepted, sorted. Since 1.0; absent means
    /// none.
    #[serde(default)]
    pub custom_call_waivers: Vec<String>,
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
    /// When that version was released: the start of the years for which the file is read. Since 1.0, which requires it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "date_text")]
    pub released: Option<Date>,
}

impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)?;
        self.released
            .map_or(Ok(()), |date| write!(f, ", released {date}"))
    }
}

/// Format of the program section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFormat {
    /// Such as `stablehlo-text`.
    pub name: String,
    /// `MAJOR.MINOR.PATCH`, such as `1.20.0`; of StableHLO, the VHLO version.
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
        check_structure(bytes)?;
        let manifest: Self = rmp_serde::from_slice(bytes).map_err(ManifestError::Decode)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The rules of the container version that the file states.
    pub(crate) fn check_version(&self, written: FormatVersion) -> Result<(), Fault> {
        if self.producer.released.is_none() && written >= FormatVersion::new(1, 0) {
            return Err(ManifestError::Released.into());
        }
        Ok(())
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
            custom_call_waivers,
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
            && custom_calls.is_sorted_by(|a, b| (&a.target, a.api_version) < (&b.target, b.api_version))
            && custom_call_waivers.is_sorted_by(|a, b| a < b);
        if !ascending {
            return Err(ManifestError::Order.into());
        }
        let called = |target: &&String| custom_calls.iter().any(|call| call.target == **target);
        if let Some(stray) = custom_call_waivers.iter().find(|target| !called(target)) {
            return Err(ManifestError::Waiver(stray.clone()).into());
        }
        program_version(&program.version)?;
        check_constants(constants, signature.inputs.len())
    }
}

/// What decides whether a reader may go on. The form of these fields is fixed for the major version.
#[derive(Debug, Deserialize)]
pub(crate) struct Preamble {
    producer: Producer,
    program: ProgramFormat,
    platforms: Vec<String>,
    required_features: Vec<String>,
    calling_convention: u32,
}

impl Preamble {
    /// Reads it from a manifest of which nothing else needs to be understood.
    pub(crate) fn decode(bytes: &[u8]) -> Result<ManifestRequirements, Fault> {
        check_structure(bytes)?;
        let Self {
            producer,
            program,
            platforms,
            required_features,
            calling_convention,
        } = rmp_serde::from_slice(bytes).map_err(ManifestError::Decode)?;
        Ok(ManifestRequirements {
            producer,
            program_version: program_version(&program.version)?,
            program_format: program.name,
            features: required_features,
            calling_convention,
            platforms,
        })
    }
}

/// Size, depth and counts are within the limits, and the bytes are one map.
fn check_structure(bytes: &[u8]) -> Result<(), Fault> {
    limits::MANIFEST_BYTES.check(bytes.len() as u64)?;
    messagepack::check(bytes)
}

fn program_version(text: &str) -> Result<ProgramVersion, ManifestError> {
    text.parse().map_err(ManifestError::ProgramVersion)
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

mod date_text {
    //! A date as text, `YYYY-MM-DD`.

    use super::{Date, DecodeError, Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
        match date {
            Some(date) => serializer.collect_str(date),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom))
            .transpose()
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
    #[error(
        "required features, custom calls or their waivers are not sorted, or are repeated, in the manifest"
    )]
    Order,
    #[error("the manifest has a waiver for the custom call `{0}`, which the program does not make")]
    Waiver(String),
    #[error("`program.version` in the manifest")]
    ProgramVersion(#[source] ParseProgramVersionError),
    #[error(
        "the manifest does not say when its producer was released; container 1.0 requires `producer.released`"
    )]
    Released,
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
                released: None,
            },
            program: ProgramFormat {
                name: "f".into(),
                version: "1.0.0".into(),
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
            custom_call_waivers: vec![],
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
        assert_eq!(bytes[0], 0x8a, "ten fields");
        let newer = [&[0x8b][..], &bytes[1..], b"\xa5newer\x81\xa1x\x92\x01\xc0"].concat();
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
        assert!(refused(b"\xa51.0.0", b"\xa51.0.x").contains("not a version of the form MAJOR.MINOR.PATCH"));
        let stray = refused(b"custom_call_waivers\x90", b"custom_call_waivers\x91\xa1t");
        assert!(stray.contains("waiver for the custom call `t`"), "{stray}");
    }

    #[test]
    fn the_release_date_is_a_day_and_required_since_1_0() {
        let mut dated = manifest();
        dated.producer.released = Date::new(2026, 11, 30);
        let bytes = dated.encode().unwrap();
        assert_eq!(Manifest::decode(&bytes).unwrap(), dated);
        assert!(dated.check_version(FormatVersion::new(1, 0)).is_ok());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(
            text.contains("\u{fffd}2026-11-30") && text.contains("\u{fffd}released"),
            "{text:?}"
        );
        let at = bytes
            .windows(10)
            .position(|window| window == b"2026-11-30")
            .unwrap();
        let wrong = [&bytes[..at], b"2026-11-31", &bytes[at + 10..]].concat();
        assert!(Manifest::decode(&wrong).is_err() && Preamble::decode(&wrong).is_err());
        assert!(manifest().check_version(FormatVersion::new(1, 0)).is_err());
        assert!(manifest().check_version(FormatVersion::new(0, 9)).is_ok());
    }

    /// A later version may give any other field another form: what decides is read all the same.
    #[test]
    fn the_preamble_needs_nothing_else() {
        let bytes = manifest().encode().unwrap();
        let at = bytes
            .windows(9)
            .position(|window| window == b"signature")
            .unwrap();
        let later = [&bytes[..at], b"signatuRe", &bytes[at + 9..]].concat();
        assert!(Manifest::decode(&later).is_err());
        let preamble = Preamble::decode(&later).unwrap();
        assert_eq!(preamble.features, ["a", "b"]);
        assert_eq!(preamble.program_version, ProgramVersion::new(1, 0, 0));
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
