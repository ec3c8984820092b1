//! Writing to standard output.

use std::io::{ErrorKind, Write};

use crate::failure::{Failure, Outcome};

/// Writes text. A reader that has gone away (`artifact ... | head`) is no failure.
pub(crate) fn text(text: &str) -> Outcome<()> {
    bytes(text.as_bytes())
}

/// Writes bytes, as [`text`] does.
pub(crate) fn bytes(bytes: &[u8]) -> Outcome<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input("standard output cannot be written").because(&error))
        }
        _ => Ok(()),
    }
}

/// Writes a note to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
