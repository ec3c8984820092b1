//! Comparing results with an archive.

use std::path::Path;

use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::tensor::Tensor;
use artifact_export::Argument;

use crate::archive::Archive;
use crate::arguments::RunArguments;
use crate::failure::{Failure, Outcome};
use crate::names::Names;
use crate::output;
use crate::tensors::literal_of;

/// The results that are expected.
pub(super) struct Expected<'a> {
    path: &'a Path,
    outputs: &'a [Argument],
    archive: Archive,
}

impl<'a> Expected<'a> {
    /// Opens an archive of results. One with arrays that are no result is refused: a wrong name would else compare nothing.
    pub(super) fn open(path: &'a Path, outputs: &'a [Argument]) -> Outcome<Self> {
        let names = Names::of_results(outputs);
        let archive = Archive::open(path)?;
        let known = names.all();
        let unknown: Vec<&str> = archive.names().filter(|name| !known.contains(*name)).collect();
        if !unknown.is_empty() {
            let (path, unknown) = (path.display(), unknown.join("`, `"));
            let what = format!("{path} has arrays that are no result: `{unknown}`");
            return Err(Failure::input(what).hint(format!("the results are {}", names.listed())));
        }
        Ok(Self {
            path,
            outputs,
            archive,
        })
    }

    /// Compares results with the archive, says what differs, and counts those that agree.
    pub(super) fn compare(mut self, results: &[Tensor], options: &RunArguments) -> Outcome<usize> {
        let closeness = Closeness::Relative {
            rtol: options.rtol,
            atol: options.atol,
        };
        let names = Names::of_results(self.outputs);
        let mut equal = 0;
        for (index, (output, result)) in self.outputs.iter().zip(results).enumerate() {
            let Some(name) = names.in_archive(index, &self.archive)? else {
                let (file, own) = (self.path.display(), &output.name);
                let what = format!("{file} has no array for result `{own}` (number {index})");
                let hint = format!("name it `{}`", names.at(index).join("` or `"));
                return Err(Failure::input(what).hint(hint));
            };
            let mismatch = |why: String| {
                Failure::input(format!(
                    "the array for result `{}` does not fit: {why}",
                    output.name
                ))
            };
            let want = literal_of(self.archive.read(&name)?, result.ty()).map_err(mismatch)?;
            let want = Tensor::from_literal(&want).map_err(|error| mismatch(error.to_string()))?;
            match difference(result, &want, closeness) {
                None => equal += 1,
                Some(difference) => output::note(&format!("result `{}`: {difference}", output.name)),
            }
        }
        Ok(equal)
    }
}

/// A tolerance as it is usually written.
pub(super) fn tolerance(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{value:e}")
    }
}
