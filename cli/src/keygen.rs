//! `artifact keygen`.

use std::io::ErrorKind;

use artifact_container::seal::{Comment, KeyFileError, KeyPair, SecretKey, write_key_pair};
use zeroize::Zeroizing;

use crate::arguments::KeygenArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;

pub(crate) fn execute(options: &KeygenArguments) -> Outcome<Exit> {
    output::refuse_invisible("--comment", &options.comment)?;
    let comment = Comment::new(options.comment.as_str())
        .map_err(|error| Failure::usage("--comment cannot be kept").because(&error))?;
    let mut seed = Zeroizing::new([0; SecretKey::BYTES]);
    getrandom::fill(&mut *seed)
        .map_err(|error| Failure::input("the system gives no random bytes").because(&error))?;
    let pair = KeyPair {
        secret: SecretKey::from_seed(&seed),
        comment,
    };
    let public = pair.secret.public();
    let public_path = write_key_pair(&options.output, &pair).map_err(|error| unmade(&error))?;
    output::text(&format!(
        "secret key  {}\npublic key  {}\nkey id      {}\n{public}\n",
        output::path(&options.output),
        output::path(&public_path),
        public.id()
    ))?;
    Ok(Exit::Ok)
}

fn unmade(error: &KeyFileError) -> Failure {
    let failure = Failure::input("no key was made").because(error);
    let KeyFileError::Create { source, .. } = error else {
        return failure;
    };
    match source.kind() {
        ErrorKind::AlreadyExists => failure.hint("give a name at which there is neither a key nor its .pub"),
        ErrorKind::NotFound => failure.hint("make the folder first"),
        _ => failure,
    }
}
