//! `artifact export`.

use std::collections::BTreeMap;
use std::error::Error;

use artifact_container::atomic::AtomicFile;
use artifact_export::{ExportError, PackOptions, StablehloVersionError, Waivers, pack, reader_release};

use crate::arguments::ExportArguments;
use crate::dimensions;
use crate::failure::{Exit, Failure, Outcome};
use crate::files;
use crate::output;
use crate::program::is_artifact;
use crate::source::Source;

pub(crate) fn execute(options: &ExportArguments) -> Outcome<Exit> {
    let usage = |error: &dyn std::error::Error| Failure::usage(error.to_string());
    let reader = options.for_reader.as_deref().map(reader_release).transpose();
    let stablehlo = options.stablehlo.as_deref().map(str::parse).transpose();
    let pack_options = PackOptions {
        created: created(options.created.as_deref())?,
        metadata: metadata(options)?,
        reader: reader.map_err(|error| usage(&error))?,
        stablehlo: stablehlo.map_err(|error: StablehloVersionError| usage(&error))?,
        waivers: Waivers::Targets(options.allow_custom_call.iter().cloned().collect()),
    };
    let shapes = dimensions::shapes(&options.shapes, &options.constraint)?;
    if is_artifact(&options.program)? {
        let what = format!("{} is an artifact already", options.program.display());
        return Err(
            Failure::input(what).hint("give StableHLO; `artifact convert` writes an artifact's program")
        );
    }
    files::refuse_overwriting(&options.output, [options.program.as_path()])?;
    let source = Source::read(&options.program)?;
    let exported = source.export()?;
    let exported = match options.platform.is_empty() {
        true => exported,
        false if exported.interface().is_some() => {
            let what = format!(
                "{} says itself which platforms it is for",
                options.program.display()
            );
            return Err(Failure::usage(what).hint("leave --platform out"));
        }
        false => exported
            .with_platforms(options.platform.clone())
            .map_err(|error| Failure::usage("`--platform` is refused").because(&error))?,
    };
    let exported = exported
        .with_shapes(&shapes)
        .map_err(|error| source.unfit(&error))?;
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot write", &options.output, error);
    let mut file = AtomicFile::create(&options.output).map_err(|error| refuse(&error))?;
    let written = pack(&exported, &pack_options, &mut file).map_err(|error| unpacked(options, &error))?;
    file.commit().map_err(|error| refuse(&error))?;
    output::text(&format!(
        "{}: {} bytes, inputs: {}, outputs: {}, file digest {}\n",
        options.output.display(),
        written.file_length,
        exported.signature().inputs.len(),
        exported.signature().outputs.len(),
        written.file_digest
    ))?;
    Ok(Exit::Ok)
}

/// A program that cannot be packed as it was asked for, or a file that cannot be written.
fn unpacked(options: &ExportArguments, error: &ExportError) -> Failure {
    let of_file = error
        .source()
        .is_some_and(|source| source.is::<artifact_container::Error>());
    if of_file && error.incompatibility().is_none() {
        return Failure::file("cannot write", &options.output, error);
    }
    Failure::export(&options.program, error)
}

/// Seconds to record: none, a number, or those of `SOURCE_DATE_EPOCH` (reproducible-builds.org).
fn created(option: Option<&str>) -> Outcome<Option<u64>> {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    #[expect(
        clippy::disallowed_methods,
        reason = "this binary reads the environment, once, and only when asked to"
    )]
    let variable = || std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
    let (text, origin) = match option {
        None => return Ok(None),
        Some("env") => match variable() {
            Some(value) => (value, VARIABLE),
            None => {
                let what = "`--created` without a number takes SOURCE_DATE_EPOCH, which is not set";
                return Err(
                    Failure::usage(what).hint("give the seconds since 1970-01-01 UTC: --created SECONDS")
                );
            }
        },
        Some(value) => (value.to_owned(), "--created"),
    };
    let refuse = || Failure::usage(format!("{origin} is `{text}`, which is not a number of seconds"));
    text.parse().map(Some).map_err(|_| refuse())
}

/// Bytes of one `KEY=VALUE`: what the container takes as one text.
const METADATA_MAX: usize = 64 << 10;

fn metadata(options: &ExportArguments) -> Outcome<BTreeMap<String, String>> {
    let mut metadata = BTreeMap::new();
    for entry in &options.metadata {
        let Some((key, value)) = entry.split_once('=') else {
            return Err(Failure::usage(format!(
                "`--metadata {entry}` is not of the form KEY=VALUE"
            )));
        };
        if key.is_empty() {
            return Err(Failure::usage(format!("`--metadata {entry}` has no key")));
        }
        if entry.len() > METADATA_MAX {
            let (length, start) = (entry.len(), entry.chars().take(40).collect::<String>());
            let what =
                format!("`--metadata {start}...` has {length} bytes, over the limit of {METADATA_MAX}");
            return Err(Failure::usage(what));
        }
        if metadata.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::usage(format!("`--metadata {key}=` is given twice")));
        }
    }
    Ok(metadata)
}
