//! Files of keys: one line says what it is, and one line each says the rest, so that a person can tell them apart.
//!
//! ```text
//! artifact secret key v1
//! id: 0f6f2c0b2f6d1a77
//! public: ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a
//! secret: ed25519:...
//! comment: release 2026
//! ```
//!
//! The file of the public key says `artifact public key v1` and has no line `secret`. The line `comment` may be absent, in
//! both. Who holds the secret file can sign; it is not encrypted. It is created with access for its owner alone, and one that
//! others may read is refused.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use artifact_core::limit::LimitExceeded;
use zeroize::Zeroizing;

use crate::atomic::atomic_create;
use crate::limits;
use crate::seal::key::{KeyError, SecretKey, parse_key_bytes};
use crate::seal::label::Comment;

const SECRET_TITLE: &str = "artifact secret key v1";
const PUBLIC_TITLE: &str = "artifact public key v1";

/// Mode of the secret file, and those bits of it that nobody else may have.
const SECRET_MODE: u32 = 0o600;
const OTHERS_MODE: u32 = 0o077;

/// A secret key, whose public key follows from it, and a remark of its owner.
#[derive(Clone, Debug)]
pub struct KeyPair {
    /// The secret key.
    pub secret: SecretKey,
    /// The remark.
    pub comment: Comment,
}

/// Writes the secret key to `path` and then the public key, which it holds too, to `path` with `.pub` added. Neither may exist.
/// Returns the path of the public key.
///
/// # Errors
/// When one of the files exists or cannot be written; then neither is left.
pub fn write_key_pair(path: &Path, pair: &KeyPair) -> Result<PathBuf, KeyFileError> {
    let public_path = path.with_added_extension("pub");
    create(path, secret_text(pair).as_bytes(), SECRET_MODE)?;
    let public = create(&public_path, public_text(pair).as_bytes(), 0o644);
    if let Err(error) = public {
        // It was made by this call, and nobody has used it.
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    Ok(public_path)
}

/// Reads a secret key.
///
/// # Errors
/// When the file cannot be read, may be read by others, or is no secret key of this form.
pub fn read_secret_key(path: &Path) -> Result<KeyPair, KeyFileError> {
    let (text, mode) = read(path)?;
    // Who may read the file matters of a secret key only.
    if mode & OTHERS_MODE != 0 && text.starts_with(SECRET_TITLE) {
        let path = path.to_owned();
        return Err(KeyFileError::Permissions { path, mode });
    }
    parse(&text).map_err(|source| KeyFileError::Text {
        path: path.to_owned(),
        source,
    })
}

fn create(path: &Path, bytes: &[u8], mode: u32) -> Result<(), KeyFileError> {
    atomic_create(path, bytes, mode).map_err(|source| KeyFileError::Create {
        path: path.to_owned(),
        source,
    })
}

/// Room for the text from the start: a string that grows leaves copies of the secret behind.
fn text_of(title: &str, pair: &KeyPair, with_secret: bool) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(limits::KEY_FILE_BYTES.max() as usize));
    let public = pair.secret.public();
    // Writing to a string does not fail.
    let _ = write!(text, "{title}\nid: {}\npublic: {public}\n", public.id());
    if with_secret {
        let _ = text.write_str("secret: ed25519:");
        for byte in pair.secret.seed() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    if !pair.comment.as_str().is_empty() {
        let _ = writeln!(text, "comment: {}", pair.comment);
    }
    text
}

fn secret_text(pair: &KeyPair) -> Zeroizing<String> {
    text_of(SECRET_TITLE, pair, true)
}

fn public_text(pair: &KeyPair) -> Zeroizing<String> {
    text_of(PUBLIC_TITLE, pair, false)
}

/// The text of a file, and its mode.
fn read(path: &Path) -> Result<(Zeroizing<String>, u32), KeyFileError> {
    let refuse = |source| KeyFileError::Read {
        path: path.to_owned(),
        source,
    };
    // Asked before opening: to open a pipe waits for its writer.
    if !std::fs::metadata(path).map_err(refuse)?.is_file() {
        return Err(refuse(io::Error::other("it is not a regular file")));
    }
    let file = File::open(path).map_err(refuse)?;
    let mode = file.metadata().map_err(refuse)?.permissions().mode() & 0o7777;
    let max = limits::KEY_FILE_BYTES.max();
    let mut text = Zeroizing::new(String::with_capacity(max as usize + 1));
    file.take(max + 1).read_to_string(&mut text).map_err(refuse)?;
    limits::KEY_FILE_BYTES
        .check(text.len() as u64)
        .map_err(|source| KeyFileError::Text {
            path: path.to_owned(),
            source: KeyTextError::Limit(source),
        })?;
    Ok((text, mode))
}

/// The lines, in their order and nothing else.
fn parse(text: &str) -> Result<KeyPair, KeyTextError> {
    let mut lines = text.lines();
    match lines.next() {
        Some(SECRET_TITLE) => {}
        Some(PUBLIC_TITLE) => return Err(KeyTextError::Public),
        _ => return Err(KeyTextError::Title),
    }
    let mut value = |name: &'static str| {
        let line = lines.next().and_then(|line| line.strip_prefix(name));
        line.and_then(|line| line.strip_prefix(": "))
            .ok_or(KeyTextError::Line(name))
    };
    let (id, public, secret) = (value("id")?, value("public")?, value("secret")?);
    let seed = Zeroizing::new(parse_key_bytes(secret).map_err(KeyTextError::Secret)?);
    let secret = SecretKey::from_seed(&seed);
    if secret.public().to_string() != public || secret.public().id().to_string() != id {
        return Err(KeyTextError::Mixed);
    }
    let comment = match lines.next() {
        None => "",
        Some(line) => line
            .strip_prefix("comment: ")
            .ok_or(KeyTextError::Line("comment"))?,
    };
    if lines.next().is_some() {
        return Err(KeyTextError::More);
    }
    let comment = Comment::new(comment).map_err(|_| KeyTextError::Line("comment"))?;
    Ok(KeyPair { secret, comment })
}

/// Why a key file cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It exists, or its folder cannot be written to.
    #[error("cannot create the key file `{}`", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("cannot read the key file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Others may read or change it.
    #[error(
        "the secret key `{}` has the mode {mode:04o}, so that others may use it; `chmod 600` it, and replace it if someone did", path.display()
    )]
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is no secret key.
    #[error("`{}` is no secret key file", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong with its text.
        source: KeyTextError,
    },
}

/// Why a text is no secret key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTextError {
    /// Something else.
    #[error("its first line is not `{SECRET_TITLE}`")]
    Title,
    /// The other file of the pair.
    #[error("it is a public key; the secret one lies beside it, without `.pub`")]
    Public,
    /// A line is not there, or not in its place.
    #[error("the line `{0}: ...` is missing or malformed")]
    Line(&'static str),
    /// The secret has not the form of one.
    #[error("its secret is malformed")]
    Secret(#[source] KeyError),
    /// The lines are of several keys.
    #[error("its id or public key does not belong to its secret")]
    Mixed,
    /// Something follows.
    #[error("it has more lines than a key has")]
    More,
    /// It is too long.
    #[error(transparent)]
    Limit(LimitExceeded),
}

#[cfg(test)]
mod tests;
