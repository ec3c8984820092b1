//! `artifact specialize`.

use artifact_container::atomic::AtomicFile;
use artifact_export::{PackOptions, pack};

use crate::arguments::SpecializeArguments;
use crate::dimensions;
use crate::failure::{Exit, Failure, Outcome};
use crate::{files, output, rewriting};

pub(crate) fn execute(options: &SpecializeArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    files::refuse_overwriting(&options.output, [path.as_path()])?;
    let (exported, dropped) = rewriting::open_any(path)?;
    let exported = exported.with_named_sizes();
    let exported = exported.map_err(|error| Failure::export(path, &error))?;
    let given = dimensions::values(path, exported.signature(), &options.dim)?;
    // Solved without a size: each variable needs a value, and each value is checked.
    let values = dimensions::bind(path, exported.signature(), &[], &given)?;
    let specialized = exported.specialized(&values);
    let (specialized, unknown) = specialized.map_err(|error| Failure::export(path, &error))?;
    let pack_options = PackOptions {
        metadata: rewriting::metadata(dropped.as_ref()),
        ..PackOptions::default()
    };
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot write", &options.output, error);
    let mut file = AtomicFile::create(&options.output).map_err(|error| refuse(&error))?;
    let written = pack(&specialized, &pack_options, &mut file).map_err(|error| refuse(&error))?;
    file.commit().map_err(|error| refuse(&error))?;
    rewriting::tell(dropped.as_ref(), path);
    if unknown > 0 {
        output::note(&format!(
            "{unknown} values keep a size that is only known when the program runs"
        ));
    }
    output::text(&format!(
        "{}: {} bytes, file digest {}\n",
        output::path(&options.output),
        written.file_length,
        written.file_digest
    ))?;
    Ok(Exit::Ok)
}
