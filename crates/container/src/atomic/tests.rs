use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn a_secret_is_never_in_a_file_that_others_may_open() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::as_named(&directory.path().join("key")).unwrap();
    let file = AtomicFile::begin(target, 0o600).unwrap();
    let mode = file.temporary.as_file().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn temporary_names_are_short_and_whole_characters() {
    let check = |name: &OsStr, expected: &[u8]| assert_eq!(temporary::name(name).as_bytes(), expected);
    let of = |begin: &str| format!(".{begin}.partial").into_bytes();
    check(OsStr::new("m.artifact"), b".m.artifact.partial");
    check(OsStr::new(&"z".repeat(249)), &of(&"z".repeat(120)));
    // The 42nd character would end at byte 122.
    let text = format!("ab{}", "\u{20ac}".repeat(50));
    check(OsStr::new(&text), &of(&format!("ab{}", "\u{20ac}".repeat(39))));
    let bytes = [&b"."[..], &[0xff; 120], &b".partial"[..]].concat();
    check(OsStr::from_bytes(&[0xff; 200]), &bytes);
}
