//! Writes a program as an artifact.

use std::collections::BTreeMap;

use artifact_container::compat::{Reader, Requirements};
use artifact_container::manifest::{self, CustomCall, Derivative, Manifest, Producer, ProgramFormat};
use artifact_container::release::{READER_RELEASES, RELEASED, ReaderRelease, SYMBOLIC_DIMENSIONS};
use artifact_container::{ConstantSource, ConstantType, ContainerBuilder, Output, READABLE, Written};
use artifact_core::version::FormatVersion;
use artifact_ir::literal::Literal;
use artifact_ir::types::{Dim, Type};

use crate::custom_calls::{Waivers, custom_calls, opaque_targets, waivers};
use crate::dimensions;
use crate::error::ExportError;
use crate::exported::Exported;
use crate::hoist::hoist;
use crate::interface;
use crate::loaded::check_readable;
use crate::program::{self, PROGRAM_FORMAT, StablehloVersion};
use crate::signature::{Argument, Signature};

/// How arguments are passed: those of the signature in order, then the hoisted constants in the order of the manifest.
pub const CALLING_CONVENTION: u32 = 1;

/// What the writer may be told.
#[derive(Clone, Debug, Default)]
pub struct PackOptions {
    /// Seconds since 1970-01-01 UTC to record; nothing by default, so that equal exports are equal files.
    pub created: Option<u64>,
    /// Free-form texts.
    pub metadata: BTreeMap<String, String>,
    /// The oldest reader that must be able to read the file; any that knows what it needs by default.
    pub reader: Option<&'static ReaderRelease>,
    /// The version that the program is written as; the newest by default.
    pub stablehlo: Option<StablehloVersion>,
    /// Custom calls without a guarantee that are accepted.
    pub waivers: Waivers,
}

/// The release whose readers `version` (a container version such as `1.0`) names.
///
/// # Errors
/// A text that is no version of a released reader; the error lists those.
pub fn reader_release(version: &str) -> Result<&'static ReaderRelease, UnknownReader> {
    let of_release = || {
        let mut releases = READER_RELEASES.iter();
        releases.find(|release| release.version == version)
    };
    let unknown = |why| UnknownReader {
        version: version.to_owned(),
        why,
    };
    let Ok(wanted) = version.parse::<FormatVersion>() else {
        return Err(unknown(match of_release() {
            Some(release) => WhyUnknown::Release(release.container),
            None => WhyUnknown::Form,
        }));
    };
    let mut releases = READER_RELEASES.iter();
    let found = releases.find(|release| release.container == wanted);
    found.ok_or_else(|| {
        let is_read = wanted >= READABLE.oldest && wanted < READABLE.newest;
        unknown(if is_read {
            WhyUnknown::Preview
        } else {
            WhyUnknown::Unreleased
        })
    })
}

/// A reader that no release has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{version}` {why}; the container versions that can be chosen: {list}", list = versions())]
pub struct UnknownReader {
    version: String,
    why: WhyUnknown,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum WhyUnknown {
    #[error("is not of the form MAJOR.MINOR that container versions have")]
    Form,
    #[error("is a version of the product, whose readers are those of container {0}")]
    Release(FormatVersion),
    #[error("was a preview, which is read and not written any more")]
    Preview,
    #[error("is not a reader that was released")]
    Unreleased,
}

fn versions() -> String {
    let versions = READER_RELEASES
        .iter()
        .map(|release| release.container.to_string());
    versions.collect::<Vec<_>>().join(", ")
}

/// Writes the artifact of a program, with those of its vector-Jacobian products.
///
/// # Errors
/// When the reader that was asked for cannot read the file, a custom call lacks a waiver, the output refuses a write, the
/// program is over a limit of the container, or what the manifest says is not what the program does: nothing is written that
/// this release would not read.
pub fn pack(
    exported: &Exported,
    options: &PackOptions,
    output: &mut (impl Output + ?Sized),
) -> Result<Written, ExportError> {
    let stored: Result<Vec<Stored>, ExportError> = exported
        .with_vjps()
        .map(|exported| Stored::of(exported, options.stablehlo))
        .collect();
    let stored = stored?;
    let (program, derivatives) = stored
        .split_first()
        .ok_or_else(|| ExportError::input("there is no program"))?;
    let mut manifest = manifest(exported, options)?;
    let calls: Vec<CustomCall> = exported
        .with_vjps()
        .flat_map(|one| custom_calls(one.module()))
        .collect();
    manifest.custom_call_waivers = waivers(&calls, &options.waivers, &exported.waived)?;
    if let Some(release) = options.reader {
        check_reader(&Reader::of_release(release), &manifest)?;
    }
    for one in &stored {
        check_readable(&manifest, one.bytes.clone(), one.part.part(), &one.constants)?;
    }
    let mut builder = ContainerBuilder::new(manifest, &program.bytes);
    for derivative in derivatives {
        let (part, bytes) = (derivative.part.clone(), derivative.bytes.clone());
        builder.derivative(part, bytes, derivative.constants().collect());
    }
    for (constant_type, source) in program.constants() {
        builder.constant(constant_type, source);
    }
    Ok(builder.write_to(output)?)
}

/// What the manifest of an artifact says of a program, but for its constants, which only the writer knows. Waivers are those
/// of whoever exported it before.
///
/// # Errors
/// When the interface holds what a manifest cannot.
pub fn describe(exported: &Exported) -> Result<Manifest, ExportError> {
    let mut manifest = manifest(exported, &PackOptions::default())?;
    let opaque = opaque_targets(&manifest.custom_calls);
    let waived = opaque.into_iter().filter(|target| exported.waived.covers(target));
    manifest.custom_call_waivers = waived.collect();
    Ok(manifest)
}

/// A program as sections hold it.
struct Stored {
    bytes: Vec<u8>,
    constants: Vec<Literal>,
    part: Derivative,
}

impl Stored {
    fn of(exported: &Exported, version: Option<StablehloVersion>) -> Result<Self, ExportError> {
        let mut module = exported.module().clone();
        let constants = hoist(&mut module, exported.entry());
        Ok(Self {
            bytes: program::encode(module, version)?.bytes,
            constants,
            part: part(exported)?,
        })
    }

    fn constants(&self) -> impl Iterator<Item = (ConstantType, ConstantSource<'_>)> {
        self.constants.iter().map(|constant| {
            let ty = constant.ty();
            let constant_type = ConstantType {
                dtype: ty.element.to_string(),
                shape: ty.static_shape().unwrap_or_default(),
            };
            (constant_type, ConstantSource::Bytes(dense_bytes(constant)))
        })
    }
}

/// Hoisting takes constants with all their elements given, never splats.
fn dense_bytes(constant: &Literal) -> &[u8] {
    constant.as_dense().map_or(&[], |bytes| bytes)
}

/// Whether a reader will read a file with this manifest.
pub(crate) fn check_reader(reader: &Reader, manifest: &Manifest) -> Result<(), ExportError> {
    let needs = Requirements::to_write(manifest).map_err(|error| ExportError::input(error.to_string()))?;
    Ok(reader.check_written(&needs)?)
}

/// What a manifest says of one program.
fn part(exported: &Exported) -> Result<Derivative, ExportError> {
    let interface = exported.interface();
    let interface = interface.map(|interface| interface::write(interface, &exported.conventions()));
    Ok(Derivative {
        signature: signature_entry(exported.signature()),
        custom_calls: custom_calls(exported.module()),
        constants: Vec::new(),
        dimensions: dimensions::entry(exported.signature()),
        interface: interface.transpose()?,
    })
}

fn manifest(exported: &Exported, options: &PackOptions) -> Result<Manifest, ExportError> {
    let Derivative {
        signature,
        custom_calls,
        constants,
        dimensions,
        interface,
    } = part(exported)?;
    let mut signatures = exported.with_vjps().map(Exported::signature);
    let symbolic = signatures.any(|signature| dimensions::entry(signature).is_some());
    let version = options.stablehlo.unwrap_or(StablehloVersion::CURRENT).get();
    Ok(Manifest {
        producer: producer(),
        program: ProgramFormat {
            name: PROGRAM_FORMAT.to_owned(),
            version: version.to_string(),
        },
        signature,
        platforms: exported.platforms().to_vec(),
        required_features: symbolic
            .then(|| SYMBOLIC_DIMENSIONS.to_owned())
            .into_iter()
            .collect(),
        calling_convention: CALLING_CONVENTION,
        custom_call_waivers: Vec::new(),
        custom_calls,
        constants,
        dimensions,
        interface,
        derivatives: Vec::new(),
        created: options.created,
        metadata: options.metadata.clone(),
    })
}

/// This release. Its date is a constant, so that equal exports are equal files.
pub(crate) fn producer() -> Producer {
    Producer {
        name: "artifact".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        released: Some(RELEASED),
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

#[cfg(test)]
mod tests {
    use super::*;
    use artifact_ir::types::ElementType;
    use artifact_stablehlo::parse::parse_module;

    use crate::Shapes;

    fn named() -> Exported {
        let text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }";
        let shapes = Shapes {
            arguments: vec![("arg0".into(), "(b,)".into())],
            constraints: vec![],
        };
        let exported = Exported::new(parse_module(text).into_module().unwrap()).unwrap();
        exported.with_shapes(&shapes).unwrap()
    }

    /// What a reader would refuse is not written: whatever made the parts disagree, the file never says so first.
    #[test]
    fn parts_that_disagree_are_not_written() {
        type Lie = fn(&mut Exported);
        let lies: [(Lie, &str); 3] = [
            (
                |exported| exported.signature.inputs[0].ty = Type::tensor(&[4], ElementType::F32),
                "the manifest gives `arg0` as tensor<4xf32>, in the program it is tensor<?xf32>",
            ),
            (
                |exported| exported.signature.outputs[0].ty = exported.signature.inputs[0].ty.clone(),
                "the manifest gives `result0` as tensor<(b)xf32>",
            ),
            (
                |exported| exported.signature.function = "other".into(),
                "the manifest names the function `other`",
            ),
        ];
        for (lie, said) in lies {
            let text = "func.func @main(%x: tensor<?xf32>) -> tensor<2xf32> {
                %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
                return %0 : tensor<2xf32>
            }";
            let shapes = Shapes {
                arguments: vec![("arg0".into(), "(b,)".into())],
                constraints: vec![],
            };
            let exported = Exported::new(parse_module(text).into_module().unwrap()).unwrap();
            let mut exported = exported.with_shapes(&shapes).unwrap();
            lie(&mut exported);
            let mut file = std::io::Cursor::new(Vec::new());
            let error = pack(&exported, &PackOptions::default(), &mut file).unwrap_err();
            let error = error.to_string();
            assert!(
                error.starts_with("the artifact would be refused by its readers"),
                "{error}"
            );
            assert!(error.contains(said), "{error}");
            assert!(file.into_inner().is_empty());
        }
    }

    /// A reader without the feature is refused by name, and the one that has it is told.
    #[test]
    fn writing_for_a_reader_that_lacks_a_feature() {
        const OLDER: &ReaderRelease = &ReaderRelease {
            features: &[],
            ..READER_RELEASES[0]
        };
        let options = |reader| PackOptions {
            reader: Some(reader),
            ..PackOptions::default()
        };
        let pack = |options| pack(&named(), &options, &mut std::io::Cursor::new(Vec::new()));
        let error = pack(options(OLDER)).unwrap_err();
        let incompatible = error.incompatibility().unwrap();
        assert_eq!(incompatible.kind().as_str(), "unknown-feature");
        let said = format!("{incompatible}; {}", incompatible.remedy());
        for part in [
            "`symbolic-dimensions` (since container 1.0)",
            "artifact 0.1.0",
            "--for-reader 1.0",
        ] {
            assert!(said.contains(part), "{said}");
        }
        pack(options(reader_release("1.0").unwrap())).unwrap();
    }

    #[test]
    fn readers_that_were_never_released() {
        let wrong = [
            ("1.1", "is not a reader that was released"),
            ("0.8", "is not a reader that was released"),
            ("0.9", "was a preview, which is read and not written any more"),
            ("1", "is not of the form MAJOR.MINOR"),
            ("newest", "is not of the form MAJOR.MINOR"),
            ("", "is not of the form MAJOR.MINOR"),
            (
                "0.1.0",
                "is a version of the product, whose readers are those of container 1.0",
            ),
        ];
        for (version, why) in wrong {
            let error = reader_release(version).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{version}` {why}")), "{error}");
            assert!(
                error.ends_with("the container versions that can be chosen: 1.0"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_call_without_a_guarantee_needs_a_waiver() {
        let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
            %0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>
            return %0 : tensor<f32>
        }";
        let exported = Exported::new(parse_module(text).into_module().unwrap()).unwrap();
        let pack = |waivers| {
            let options = PackOptions {
                waivers,
                ..PackOptions::default()
            };
            let mut file = std::io::Cursor::new(Vec::new());
            pack(&exported, &options, &mut file)?;
            let container = artifact_container::Container::from_bytes(file.into_inner())?;
            Ok::<_, ExportError>(container.manifest().custom_call_waivers.clone())
        };
        let targets =
            |names: &[&str]| Waivers::Targets(names.iter().map(|name| (*name).to_owned()).collect());
        let error = pack(Waivers::default()).unwrap_err().to_string();
        assert!(
            error.contains("calls `mystery`, which has no guarantee"),
            "{error}"
        );
        let error = pack(targets(&["mystery", "check.eq"])).unwrap_err().to_string();
        assert!(error.contains("waiver is given for `check.eq`"), "{error}");
        assert_eq!(pack(targets(&["mystery"])).unwrap(), ["mystery"]);
        assert_eq!(pack(Waivers::All).unwrap(), ["mystery"]);
    }
}
