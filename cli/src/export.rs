//! `artifact export`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use artifact_container::Container;
use artifact_container::atomic::AtomicFile;
use artifact_container::seal::DroppedSeals;
use artifact_export::{
    ExportError, PackOptions, StablehloVersionError, UPGRADED_FROM, Waivers, pack, reader_release,
};

use crate::arguments::ExportArguments;
use crate::dimensions;
use crate::environment::SOURCE_DATE_EPOCH;
use crate::failure::{Exit, Failure, Outcome};
use crate::files;
use crate::output;
use crate::program::is_artifact;
use crate::rewriting;
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
    files::refuse_overwriting(&options.output, [options.program.as_path()])?;
    if is_artifact(&options.program)? {
        return anew(options, &pack_options);
    }
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
    if exported.conventions().platform_index && exported.platforms().is_empty() {
        output::note(&format!(
            "warning: {}: the program takes the position of its platform as its first argument, and nothing says which platforms \
             it is for; name each with --platform, in the order of the program",
            options.program.display()
        ));
    }
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot write", &options.output, error);
    let mut file = AtomicFile::create(&options.output).map_err(|error| refuse(&error))?;
    let written = pack(&exported, &pack_options, &mut file).map_err(|error| unpacked(options, &error))?;
    file.commit().map_err(|error| refuse(&error))?;
    output::text(&format!(
        "{}: {} bytes, inputs: {}, outputs: {}, file digest {}\n",
        output::path(&options.output),
        written.file_length,
        exported.signature().inputs.len(),
        exported.signature().outputs.len(),
        written.file_digest
    ))?;
    Ok(Exit::Ok)
}

/// Writes an artifact for another target; what it says of its program stays.
fn anew(options: &ExportArguments, pack_options: &PackOptions) -> Outcome<Exit> {
    let path = &options.program;
    let refused = [
        ("--shapes", !options.shapes.is_empty(), "its shapes"),
        (
            "--constraint",
            !options.constraint.is_empty(),
            "the constraints on its dimensions",
        ),
        ("--platform", !options.platform.is_empty(), "its platforms"),
    ];
    if let Some((option, _, what)) = refused.iter().find(|(_, given, _)| *given) {
        let why = format!(
            "{option} is for programs: the artifact {} has {what}",
            path.display()
        );
        return Err(Failure::usage(why)
            .hint("export the program again; `artifact specialize` fixes sizes of an artifact"));
    }
    let container = Container::open_with(path, &artifact_export::read_options());
    let container = container.map_err(|error| Failure::export(path, &error.into()))?;
    let (original, target) = ((path.as_path(), &Arc::new(container)), options.output.as_path());
    rewriting::rewrite(original, pack_options, (target, AtomicFile::create(target)))?;
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
    let variable = || {
        SOURCE_DATE_EPOCH
            .value()
            .and_then(|value| value.into_string().ok())
    };
    let (text, origin) = match option {
        None => return Ok(None),
        Some("env") => match variable() {
            Some(value) => (value, SOURCE_DATE_EPOCH.name),
            None => {
                let what = "`--created` without a number takes SOURCE_DATE_EPOCH, which is not set";
                return Err(
                    Failure::usage(what).hint("give the seconds since 1970-01-01 UTC: --created=SECONDS")
                );
            }
        },
        Some(value) => (value.to_owned(), "--created"),
    };
    let refuse = |why: &str| Failure::usage(format!("{origin} is `{text}`, which {why}"));
    let seconds = text.parse().map_err(|_| refuse("is not a number of seconds"))?;
    if seconds > CREATED_MAX {
        let hint = "give seconds, not milliseconds or nanoseconds, since 1970-01-01 UTC";
        return Err(refuse("is after the year 9999").hint(hint));
    }
    Ok(Some(seconds))
}

/// 9999-12-31T23:59:59Z, the last second that RFC 3339 can write, in seconds since 1970-01-01 UTC.
const CREATED_MAX: u64 = 253_402_300_799;

/// Keys of the metadata that say what a file was made of. Only who made it can know.
const RESERVED_KEYS: [&str; 2] = [UPGRADED_FROM, DroppedSeals::METADATA_KEY];

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
        if RESERVED_KEYS.contains(&key) {
            let what = format!("the metadata `{key}` is written by this command alone, and not given");
            return Err(Failure::usage(what).hint("choose another key"));
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
