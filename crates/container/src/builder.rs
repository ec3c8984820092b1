//! Collects what goes into an artifact, and writes it.

use std::path::Path;

use crate::atomic::AtomicFile;
use crate::compat::Reader;
use crate::container::Container;
use crate::error::{Classify, Error, ErrorKind, Fault};
use crate::header::CONTAINER_VERSION;
use crate::manifest::{Constant, CustomCall, Derivative, Manifest};
use crate::table::{SectionKind, derivative_name};
use crate::writer::{ConstantSource, Output, StoredContent, Writer, Written};

/// A new artifact. Equal input gives equal bytes.
///
/// Sections are laid out as program, derivatives, constants, chunk digests, extra sections, manifest; the section table ends the file.
#[derive(Debug)]
pub struct ContainerBuilder<'a> {
    manifest: Manifest,
    program: &'a [u8],
    constants: Vec<NewConstant<'a>>,
    derivatives: Vec<(Vec<u8>, Vec<NewConstant<'a>>)>,
    extras: Vec<Extra>,
}

type NewConstant<'a> = (ConstantType, ConstantSource<'a>);

/// Type of a hoisted constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantType {
    /// Element type, as [`Constant::dtype`].
    pub dtype: String,
    /// Dimensions in elements, outermost first.
    pub shape: Vec<u64>,
}

#[derive(Debug)]
struct Extra {
    kind: SectionKind,
    required: bool,
    name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Raw(Vec<u8>),
    /// That of another file, whatever its codec.
    Stored(StoredContent<'static>),
}

impl<'a> ContainerBuilder<'a> {
    /// An artifact of `program`, in the format that `manifest` names.
    ///
    /// [`Manifest::constants`] and [`Manifest::derivatives`] are replaced by what [`ContainerBuilder::constant`] and
    /// [`ContainerBuilder::derivative`] add; required features, custom calls and waivers are sorted.
    #[must_use]
    pub fn new(mut manifest: Manifest, program: &'a [u8]) -> Self {
        manifest.constants.clear();
        manifest.derivatives.clear();
        manifest.required_features.sort();
        manifest.required_features.dedup();
        sort(&mut manifest.custom_calls);
        manifest.custom_call_waivers.sort();
        manifest.custom_call_waivers.dedup();
        Self {
            manifest,
            program,
            constants: Vec::new(),
            derivatives: Vec::new(),
            extras: Vec::new(),
        }
    }

    /// Adds a hoisted constant, which becomes the next argument of the called function after the inputs and the constants
    /// before it. Constants of equal bytes share one section. The bytes are stored as they come: that their length fits
    /// the type is for the caller to see to.
    pub fn constant(&mut self, constant_type: ConstantType, source: ConstantSource<'a>) {
        self.constants.push((constant_type, source));
    }

    /// Adds the next derivative, the vector-Jacobian product of the program or derivative before it: what the manifest says
    /// of it, its program and its constants, as [`ContainerBuilder::constant`] takes them.
    pub fn derivative(
        &mut self,
        mut derivative: Derivative,
        program: Vec<u8>,
        constants: Vec<(ConstantType, ConstantSource<'a>)>,
    ) {
        derivative.constants.clear();
        sort(&mut derivative.custom_calls);
        self.manifest.derivatives.push(derivative);
        self.derivatives.push((program, constants));
    }

    /// Adds a section of the application's own, at most [`crate::limits::PAYLOAD_BYTES`] long. `kind` is none that this
    /// crate knows; a reader that does not know it refuses the file if it is `required` and keeps the section otherwise.
    pub fn extra(&mut self, kind: SectionKind, required: bool, name: impl Into<String>, bytes: Vec<u8>) {
        self.extras.push(Extra {
            kind,
            required,
            name: name.into(),
            content: Content::Raw(bytes),
        });
    }

    /// Adds the sections of `container` whose kind this crate does not know, so that rewriting a file keeps them.
    ///
    /// # Errors
    /// [`ErrorKind::Upgrade`] when the file was written by a newer version, whose manifest may have fields that would be
    /// lost; otherwise when a section is damaged or cannot be read. That the stored bytes
    /// decompress to the raw ones is for [`Container::verify_all`] to check.
    pub fn carry_over(&mut self, container: &Container) -> Result<(), Error> {
        Reader::current()
            .check_rewritten(container.requirements(), CONTAINER_VERSION)
            .map_err(|incompatible| Fault::from(incompatible).write(None))?;
        for (id, section) in container
            .sections()
            .iter()
            .filter(|(_, section)| !section.kind.is_known())
        {
            // Whatever it holds, the copy takes no more memory than the file.
            let content = StoredContent {
                bytes: container.stored_bytes(id)?.into(),
                codec: section.codec,
                raw_length: section.raw_length,
                raw_digest: section.raw_digest,
            };
            self.extras.push(Extra {
                kind: section.kind,
                required: section.required,
                name: section.name.clone(),
                content: Content::Stored(content),
            });
        }
        Ok(())
    }

    /// Writes the file at `path`: the whole of it, durably, or nothing.
    ///
    /// # Errors
    /// [`ErrorKind::FixInput`] when the manifest or a section breaks a rule, [`ErrorKind::Limit`] when something is too
    /// large, [`ErrorKind::Io`] when a constant cannot be read or the file cannot be written.
    pub fn write_file(self, path: &Path) -> Result<Written, Error> {
        let write = || -> Result<Written, Fault> {
            let mut file = AtomicFile::create(path)?;
            let written = self.write(&mut file)?;
            file.commit()?;
            Ok(written)
        };
        write().map_err(|fault| fault.write(Some(path)))
    }

    /// Writes to an empty `output`. After an error its content is undefined, but is no artifact.
    ///
    /// # Errors
    /// As [`ContainerBuilder::write_file`].
    pub fn write_to(self, output: &mut (impl Output + ?Sized)) -> Result<Written, Error> {
        self.write(output).map_err(|fault| fault.write(None))
    }

    fn write<O: Output + ?Sized>(self, output: &mut O) -> Result<Written, Fault> {
        let Self {
            mut manifest,
            program,
            derivatives,
            constants,
            extras,
        } = self;
        // Before gigabytes are copied; `decode` below checks the finished manifest.
        manifest.check()?;
        manifest.check_version(CONTAINER_VERSION)?;
        if let Some(extra) = extras.iter().find(|extra| extra.kind.is_known()) {
            return Err(BuildError::Kind {
                name: extra.name.clone(),
                kind: extra.kind,
            }
            .into());
        }
        let mut writer = Writer::begin(output)?;
        writer.section(SectionKind::PROGRAM, true, "program".to_owned(), program, true)?;
        let mut all_constants = vec![constants];
        for (order, (program, constants)) in (1..).zip(derivatives) {
            writer.section(
                SectionKind::DERIVATIVE,
                false,
                derivative_name(order),
                &program,
                true,
            )?;
            all_constants.push(constants);
        }
        let derivatives = manifest.derivatives.iter_mut();
        let derivatives = derivatives.map(|one| (one.signature.inputs.len(), &mut one.constants));
        let program = (manifest.signature.inputs.len(), &mut manifest.constants);
        for ((inputs, listed), constants) in std::iter::once(program).chain(derivatives).zip(all_constants) {
            for (argument, constant) in (inputs..).zip(constants) {
                listed.push(write_constant(&mut writer, argument, constant)?);
            }
        }
        writer.chunk_digests()?;
        for Extra {
            kind,
            required,
            name,
            content,
        } in extras
        {
            match content {
                Content::Raw(bytes) => writer.section(kind, required, name, &bytes, true)?,
                Content::Stored(content) => writer.stored(kind, required, name, &content)?,
            }
        }
        let bytes = manifest.encode()?;
        Manifest::decode(&bytes)?;
        writer.section(SectionKind::MANIFEST, true, "manifest".to_owned(), &bytes, true)?;
        writer.finish()
    }
}

fn sort(custom_calls: &mut [CustomCall]) {
    custom_calls.sort_by(|a, b| (&a.target, a.api_version).cmp(&(&b.target, b.api_version)));
}

fn write_constant<O: Output + ?Sized>(
    writer: &mut Writer<'_, O>,
    argument: usize,
    (constant_type, source): NewConstant<'_>,
) -> Result<Constant, Fault> {
    let (section, digest) = writer.constant(source)?;
    let ConstantType { dtype, shape } = constant_type;
    Ok(Constant {
        argument: u32::try_from(argument).map_err(|_| BuildError::Arguments)?,
        section,
        dtype,
        shape,
        digest,
    })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("section `{name}` cannot be added as {kind}, which the format itself writes")]
    Kind { name: String, kind: SectionKind },
    #[error("the function has more than 2^32 arguments")]
    Arguments,
}

impl Classify for BuildError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::FixInput
    }
}
