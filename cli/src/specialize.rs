//! `artifact specialize`.

use artifact_container::atomic::AtomicFile;
use artifact_export::{Exported, PackOptions, Waivers, pack};
use artifact_refine::{Fact, refine};

use crate::arguments::SpecializeArguments;
use crate::dimensions;
use crate::failure::{Exit, Failure, Outcome};
use crate::{files, output, rewriting};

pub(crate) fn execute(options: &SpecializeArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    files::refuse_overwriting(&options.output, [path.as_path()])?;
    let (loaded, dropped) = rewriting::open(path)?;
    let signature = loaded.signature().clone();
    let given = dimensions::values(path, &signature, &options.dim)?;
    let (entry, platforms) = (loaded.entry(), loaded.platforms().to_vec());
    // Solved without a size: each variable needs a value, and each value is checked.
    let values = dimensions::bind(path, &signature, &[], &given)?;
    let types = signature.input_types(&values).map_err(|error| {
        Failure::input(format!("the sizes do not fit {}", path.display())).because(&error)
    })?;
    let named = signature
        .inputs
        .iter()
        .map(|input| Fact::of_type(input.ty.clone()));
    let module = loaded
        .into_module()
        .map_err(|error| Failure::export(path, &error))?;
    let open: Vec<Fact> = named.collect();
    let unfit = |error| Failure::input(format!("{} cannot be made static", path.display())).because(&error);
    let for_all = refine(&module, entry, &open, &signature.dimensions).map_err(unfit)?;
    dimensions::check_obligations(path, &for_all.obligations, &values)?;
    let arguments: Vec<Fact> = types.into_iter().map(Fact::of_type).collect();
    let refined = refine(&module, entry, &arguments, &signature.dimensions).map_err(unfit)?;
    let exported = Exported::new(refined.module).map_err(|error| Failure::export(path, &error))?;
    let pack_options = PackOptions {
        platforms,
        // Whoever exported the program decided about its custom calls.
        waivers: Waivers::All,
        metadata: rewriting::metadata(dropped.as_ref()),
        ..PackOptions::default()
    };
    let refuse = |error: &dyn std::error::Error| Failure::file("cannot write", &options.output, error);
    let mut file = AtomicFile::create(&options.output).map_err(|error| refuse(&error))?;
    let written = pack(&exported, &pack_options, &mut file).map_err(|error| refuse(&error))?;
    file.commit().map_err(|error| refuse(&error))?;
    rewriting::tell(dropped.as_ref(), path);
    let unknown = refined.unknown.len();
    if unknown > 0 {
        output::note(&format!(
            "{unknown} values keep a size that is only known when the program runs"
        ));
    }
    output::text(&format!(
        "{}: {} bytes, file digest {}\n",
        options.output.display(),
        written.file_length,
        written.file_digest
    ))?;
    Ok(Exit::Ok)
}
