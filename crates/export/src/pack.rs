//! Writes a program as an artifact.

use std::collections::BTreeMap;

use artifact_container::manifest::{self, Manifest, Producer, ProgramFormat};
use artifact_container::{ConstantSource, ConstantType, ContainerBuilder, Output, Written};
use artifact_ir::literal::Literal;
use artifact_ir::types::{Dim, Type};
use artifact_stablehlo::print::{PrintOptions, print_module};

use crate::custom_calls::custom_calls;
use crate::dimensions;
use crate::error::ExportError;
use crate::exported::Exported;
use crate::hoist::hoist;
use crate::signature::{Argument, Signature};

/// The format of the program section, by name and version of StableHLO.
pub const PROGRAM_FORMAT: (&str, &str) = ("stablehlo-text", "1.20.0");

/// How arguments are passed: those of the signature in order, then the hoisted constants in the order of the manifest.
pub const CALLING_CONVENTION: u32 = 1;

/// What the writer may be told.
#[derive(Clone, Debug, Default)]
pub struct PackOptions {
    /// Seconds since 1970-01-01 UTC to record; nothing by default, so that equal exports are equal files.
    pub created: Option<u64>,
    /// Platforms that the program is for; none means any.
    pub platforms: Vec<String>,
    /// Free-form texts.
    pub metadata: BTreeMap<String, String>,
}

/// Writes the artifact of a program.
///
/// # Errors
/// When the output refuses a write, or the program is over a limit of the container.
pub fn pack(
    exported: &Exported,
    options: &PackOptions,
    output: &mut (impl Output + ?Sized),
) -> Result<Written, ExportError> {
    let mut module = exported.module().clone();
    let constants = hoist(&mut module, exported.entry());
    let program = print_module(&module, &PrintOptions::default());
    let mut builder = ContainerBuilder::new(manifest(exported, options), program.as_bytes());
    for constant in &constants {
        let ty = constant.ty();
        let constant_type = ConstantType {
            dtype: ty.element.to_string(),
            shape: ty.static_shape().unwrap_or_default(),
        };
        builder.constant(constant_type, ConstantSource::Bytes(dense_bytes(constant)));
    }
    Ok(builder.write_to(output)?)
}

/// Hoisting takes constants with all their elements given, never splats.
fn dense_bytes(constant: &Literal) -> &[u8] {
    constant.as_dense().map_or(&[], |bytes| bytes)
}

fn manifest(exported: &Exported, options: &PackOptions) -> Manifest {
    let (name, version) = PROGRAM_FORMAT;
    let dimensions = dimensions::entry(exported.signature());
    Manifest {
        producer: Producer {
            name: "artifact".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        program: ProgramFormat {
            name: name.to_owned(),
            version: version.to_owned(),
        },
        signature: signature_entry(exported.signature()),
        platforms: options.platforms.clone(),
        required_features: dimensions
            .iter()
            .map(|_| dimensions::FEATURE.to_owned())
            .collect(),
        calling_convention: CALLING_CONVENTION,
        custom_calls: custom_calls(exported.module()),
        constants: Vec::new(),
        dimensions,
        created: options.created,
        metadata: options.metadata.clone(),
    }
}

/// What the manifest says of a signature.
pub(crate) fn signature_entry(signature: &Signature) -> manifest::Signature {
    manifest::Signature {
        function: signature.function.clone(),
        inputs: signature.inputs.iter().map(value).collect(),
        outputs: signature.outputs.iter().map(value).collect(),
    }
}

fn value(argument: &Argument) -> manifest::Value {
    let Argument { name, ty } = argument;
    let (dtype, shape) = match ty {
        Type::Tensor(tensor) => (
            tensor.element.to_string(),
            Some(tensor.dims.iter().map(dim).collect()),
        ),
        other => (other.to_string(), None),
    };
    manifest::Value {
        name: name.clone(),
        dtype,
        shape,
    }
}

fn dim(dim: &Dim) -> manifest::Dim {
    match dim {
        Dim::Static(size) => manifest::Dim::Size(*size),
        Dim::Symbolic(expression) => manifest::Dim::Expression(expression.to_string()),
        Dim::Unknown => manifest::Dim::Unknown,
    }
}
