//! `artifact sign`.

use std::error::Error as _;
use std::path::Path;

use artifact_container::ErrorKind;
use artifact_container::seal::{Comment, Scope, Signing, SigningError, read_secret_key, seal_file};
use artifact_export::ExportError;

use crate::arguments::SignArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::program::require_artifact;
use crate::{files, output};

pub(crate) fn execute(options: &SignArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    let scope = Scope::new(options.scope.as_str())
        .map_err(|error| Failure::usage("--scope cannot be signed").because(&error))?;
    output::refuse_invisible("--comment", &options.comment)?;
    let comment = Comment::new(options.comment.as_str())
        .map_err(|error| Failure::usage("--comment cannot be signed").because(&error))?;
    require_artifact(path, "only an artifact has seals")?;
    let pair = read_secret_key(&options.key)
        .map_err(|error| Failure::input("the key cannot be used").because(&error))?;
    let signing = Signing {
        key: &pair.secret,
        scope,
        comment,
        replace: options.replace,
    };
    let other_names = files::other_names(path);
    let sealed = seal_file(path, &signing).map_err(|error| unsealed(path, error))?;
    files::tell_split(path, other_names);
    output::text(&format!(
        "{}: {} by key {}, {} in all, file digest {}\n",
        output::path(path),
        if sealed.replaced {
            "seal replaced"
        } else {
            "sealed"
        },
        sealed.key_id,
        sealed.seals,
        sealed.file_digest
    ))?;
    Ok(Exit::Ok)
}

/// Why a file has no new seal; it is as it was.
fn unsealed(path: &Path, error: artifact_container::Error) -> Failure {
    if error.kind() == ErrorKind::Upgrade {
        return Failure::export(path, &ExportError::from(error));
    }
    if let Some(SigningError::Twice(key)) = error.source().and_then(|source| source.downcast_ref()) {
        let what = format!(
            "the key {key} has sealed {} already, and nothing was changed",
            path.display()
        );
        return Failure::input(what).hint("--replace puts the new seal in the place of the old one");
    }
    Failure::input(format!("{} gets no seal, and is as it was", path.display())).because(&error)
}
