//! `artifact sign`.

use artifact_container::ErrorKind;
use artifact_container::seal::{Comment, Scope, Signing, read_secret_key, seal_file};
use artifact_export::ExportError;

use crate::arguments::SignArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;

pub(crate) fn execute(options: &SignArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    let scope = Scope::new(options.scope.as_str())
        .map_err(|error| Failure::usage("--scope cannot be signed").because(&error))?;
    output::refuse_invisible("--comment", &options.comment)?;
    let comment = Comment::new(options.comment.as_str())
        .map_err(|error| Failure::usage("--comment cannot be signed").because(&error))?;
    let pair = read_secret_key(&options.key)
        .map_err(|error| Failure::input("the key cannot be used").because(&error))?;
    let signing = Signing {
        key: &pair.secret,
        scope,
        comment,
        replace: options.replace,
    };
    let sealed = seal_file(path, &signing).map_err(|error| {
        if error.kind() == ErrorKind::Upgrade {
            return Failure::export(path, &ExportError::from(error));
        }
        Failure::input(format!("{} is not sealed, and as it was", path.display()))
            .because(&error)
            .hint("--replace replaces a seal of the same key")
    })?;
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
