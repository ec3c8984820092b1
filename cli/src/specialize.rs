//! `artifact specialize`.

use std::path::Path;

use artifact_container::atomic::AtomicFile;
use artifact_dims::Assignment;
use artifact_export::{Exported, PackOptions, pack};
use artifact_refine::{Fact, refine};

use crate::arguments::SpecializeArguments;
use crate::dimensions;
use crate::failure::{Exit, Failure, Outcome};
use crate::{files, output, rewriting};

pub(crate) fn execute(options: &SpecializeArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    files::refuse_overwriting(&options.output, [path.as_path()])?;
    let (exported, dropped) = rewriting::open_any(path)?;
    let given = dimensions::values(path, exported.signature(), &options.dim)?;
    // Solved without a size: each variable needs a value, and each value is checked.
    let values = dimensions::bind(path, exported.signature(), &[], &given)?;
    let (specialized, unknown) = specialized(path, exported, &values)?;
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

/// The static program of these sizes, with those of its vector-Jacobian products, and how many values keep an unknown size.
fn specialized(path: &Path, exported: Exported, values: &Assignment) -> Outcome<(Exported, usize)> {
    let (vjp, mut unknown) = match exported.vjp() {
        Some(vjp) => {
            let (vjp, unknown) = specialized(path, vjp.clone(), values)?;
            (Some(vjp), unknown)
        }
        None => (None, 0),
    };
    let signature = exported.signature();
    let types = signature.input_types(values).map_err(|error| {
        Failure::input(format!("the sizes do not fit {}", path.display())).because(&error)
    })?;
    let named = signature.inputs.iter();
    let open: Vec<Fact> = named.map(|input| Fact::of_type(input.ty.clone())).collect();
    let (module, entry) = (exported.module(), exported.entry());
    let unfit = |error| Failure::input(format!("{} cannot be made static", path.display())).because(&error);
    let for_all = refine(module, entry, &open, &signature.dimensions).map_err(unfit)?;
    dimensions::check_obligations(path, &for_all.obligations, values)?;
    let arguments: Vec<Fact> = types.into_iter().map(Fact::of_type).collect();
    let refined = refine(module, entry, &arguments, &signature.dimensions).map_err(unfit)?;
    unknown += refined.unknown.len();
    let specialized = exported
        .rewritten(refined.module, values, vjp)
        .map_err(|error| Failure::export(path, &error))?;
    Ok((specialized, unknown))
}
