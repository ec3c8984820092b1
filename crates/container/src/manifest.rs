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

pub mod interface;

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
use interface::Interface;

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
    /// How the program is called from the language that it was written in; absent where nobody said. Since 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// The derivatives, one for each section of that kind, in order. Filled by the writer. Since 1.0; absent means none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derivatives: Vec<Derivative>,
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
        match self.released {
            Some(date) => write!(f, ", released {date}"),
            // Previews have the version of the release that they came before.
            None => f.write_str(", a preview"),
        }
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

/// What the manifest says of the program of a derivative: what it says of the program itself, where they may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derivative {
    /// As [`Manifest::signature`].
    pub signature: Signature,
    /// As [`Manifest::custom_calls`].
    pub custom_calls: Vec<CustomCall>,
    /// As [`Manifest::constants`]. Filled by the writer.
    pub constants: Vec<Constant>,
    /// As [`Manifest::dimensions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// As [`Manifest::interface`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
}

/// What a manifest says of one program: the program itself, or a derivative.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPart<'a> {
    /// How it is called.
    pub signature: &'a Signature,
    /// Custom calls that it makes.
    pub custom_calls: &'a [CustomCall],
    /// Constants that were hoisted out of it.
    pub constants: &'a [Constant],
    /// Dimension variables of the signature.
    pub dimensions: Option<&'a Dimensions>,
    /// How it is called from the language that it was written in.
    pub interface: Option<&'a Interface>,
}

impl Derivative {
    /// What is said of the derivative's program.
    #[must_use]
    pub fn part(&self) -> ProgramPart<'_> {
        ProgramPart {
            signature: &self.signature,
            custom_calls: &self.custom_calls,
            constants: &self.constants,
            dimensions: self.dimensions.as_ref(),
            interface: self.interface.as_ref(),
        }
    }
}

impl ProgramPart<'_> {
    /// The rules that hold between fields.
    fn check(&self) -> Result<(), Fault> {
        let Self {
            signature,
            custom_calls,
            constants,
            dimensions: _,
            interface,
        } = self;
        if signature.function.is_empty() {
            return Err(ManifestError::Empty("signature.function").into());
        }
        check_values("input", &signature.inputs)?;
        check_values("output", &signature.outputs)?;
        if !custom_calls.is_sorted_by(|a, b| (&a.target, a.api_version) < (&b.target, b.api_version)) {
            return Err(ManifestError::Order.into());
        }
        for leaf_type in interface.iter().flat_map(|interface| &interface.types) {
            limits::RANK.check(leaf_type.shape.len() as u64)?;
        }
        check_constants(constants, signature.inputs.len())
    }
}

impl Manifest {
    /// What is said of the program itself.
    #[must_use]
    pub fn part(&self) -> ProgramPart<'_> {
        ProgramPart {
            signature: &self.signature,
            custom_calls: &self.custom_calls,
            constants: &self.constants,
            dimensions: self.dimensions.as_ref(),
            interface: self.interface.as_ref(),
        }
    }

    /// What is said of the program and of each derivative, in order.
    pub fn parts(&self) -> impl Iterator<Item = ProgramPart<'_>> {
        std::iter::once(self.part()).chain(self.derivatives.iter().map(Derivative::part))
    }

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
            signature: _,
            platforms: _,
            required_features,
            calling_convention: _,
            custom_calls: _,
            custom_call_waivers,
            constants: _,
            dimensions: _,
            interface: _,
            derivatives,
            created: _,
            metadata: _,
        } = self;
        for (field, text) in [
            ("producer.name", &producer.name),
            ("program.name", &program.name),
            ("program.version", &program.version),
        ] {
            if text.is_empty() {
                return Err(ManifestError::Empty(field).into());
            }
        }
        limits::DERIVATIVES.check(derivatives.len() as u64)?;
        self.parts().try_for_each(|part| part.check())?;
        if !required_features.is_sorted_by(|a, b| a < b) || !custom_call_waivers.is_sorted_by(|a, b| a < b) {
            return Err(ManifestError::Order.into());
        }
        let called: BTreeSet<&String> = self
            .parts()
            .flat_map(|part| part.custom_calls)
            .map(|call| &call.target)
            .collect();
        if let Some(stray) = custom_call_waivers.iter().find(|target| !called.contains(target)) {
            return Err(ManifestError::Waiver(stray.clone()).into());
        }
        program_version(&program.version)?;
        Ok(())
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
mod tests;
