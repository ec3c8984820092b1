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
    let check = |name: &OsStr, expected: &[u8]| assert_eq!(temporary_prefix(name).as_bytes(), expected);
    check(OsStr::new("m.artifact"), b".m.artifact.");
    check(
        OsStr::new(&"z".repeat(249)),
        format!(".{}.", "z".repeat(64)).as_bytes(),
    );
    // The 22nd character would end at byte 66.
    check(
        OsStr::new(&"\u{20ac}".repeat(30)),
        format!(".{}.", "\u{20ac}".repeat(21)).as_bytes(),
    );
    check(
        OsStr::from_bytes(&[0xff; 100]),
        &[&b"."[..], &[0xff; 64], &b"."[..]].concat(),
    );
}
