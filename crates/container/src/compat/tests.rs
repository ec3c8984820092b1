//! Every mismatch, of a reader that is not this release's own.

use artifact_core::date::Date;

use super::*;

fn version(text: &str) -> FormatVersion {
    text.parse().unwrap()
}

fn file() -> Requirements {
    Requirements {
        window: Window {
            written: version("1.2"),
            oldest_reader: version("1.0"),
        },
        manifest: Some(ManifestRequirements {
            producer: Producer {
                name: "artifact".into(),
                version: "3.1.4".into(),
                released: Date::new(2024, 2, 29),
            },
            program_format: "stablehlo-text".into(),
            program_version: ProgramVersion::new(1, 13, 0),
            features: vec![],
            calling_convention: 1,
            platforms: vec!["cpu".into(), "cuda".into()],
        }),
        unknown_kinds: vec![],
        unknown_codecs: vec![],
    }
}

fn reader() -> Reader {
    Reader::current()
        .with_calling_conventions([1])
        .with_platforms(["cpu"])
}

/// Changes the sample file, and expects a kind and parts of message, readers and remedy.
fn refused(change: impl FnOnce(&mut Requirements), kind: &str, parts: &[&str]) {
    let mut file = file();
    change(&mut file);
    let error = reader().check(&file).unwrap_err();
    assert_eq!(error.kind().as_str(), kind);
    let all = format!(
        "{error}; {}; {}; {}",
        error.written_by(),
        error.readable_by(),
        error.remedy()
    );
    for part in parts {
        assert!(all.contains(part), "`{all}` does not say `{part}`");
    }
}

fn manifest(file: &mut Requirements) -> &mut ManifestRequirements {
    file.manifest.as_mut().unwrap()
}

#[test]
fn a_newer_minor_version_is_read() {
    assert_eq!(reader().check(&file()), Ok(()));
    let mut any = file();
    manifest(&mut any).platforms.clear();
    assert_eq!(reader().check(&any), Ok(()));
}

#[test]
fn containers() {
    refused(
        |file| {
            file.window.oldest_reader = version("2.0");
            file.manifest = None;
        },
        "container-too-new",
        &[
            "version 1.2 and needs a reader of 2.0",
            "reads 0.9 to 1.0",
            "cannot learn of",
            "newer release",
        ],
    );
    refused(
        |file| file.window.written = version("0.8"),
        "container-too-old",
        &[
            "version 0.8",
            "reads 0.9 to 1.0",
            "still read container 0.8",
            "artifact upgrade",
        ],
    );
}

#[test]
fn names_that_are_not_known() {
    refused(
        |file| manifest(file).features = vec!["new".into(), "symbolic-dimensions".into(), "newer".into()],
        "unknown-feature",
        &[
            "requires `new`, `newer`",
            "artifact 3.1.4, released 2024-02-29",
            "--for-reader 1.0",
        ],
    );
    refused(
        |file| file.unknown_kinds.push(("moon".into(), SectionKind::new(99))),
        "unknown-section-kind",
        &["`moon` of kind-99", "(container 1.2)", "--for-reader 1.0"],
    );
    refused(
        |file| file.unknown_codecs.push(("moon".into(), 7)),
        "unknown-codec",
        &["`moon`", "codec 7", "--for-reader 1.0"],
    );
    refused(
        |file| manifest(file).calling_convention = 2,
        "unknown-calling-convention",
        &["convention 2", "knows 1"],
    );
}

#[test]
fn programs() {
    refused(
        |file| manifest(file).program_format = "poem".into(),
        "unknown-program-format",
        &["the program is poem 1.13.0", "stablehlo-text 0.9.0 to 1.20.0"],
    );
    refused(
        |file| manifest(file).program_version = ProgramVersion::new(1, 20, 1),
        "program-too-new",
        &["1.20.1", "reads 0.9.0 to 1.20.0", "--stablehlo 1.20.0"],
    );
    refused(
        |file| manifest(file).program_version = ProgramVersion::new(0, 8, 9),
        "program-too-old",
        &["0.8.9", "reads 0.9.0 to 1.20.0", "artifact upgrade"],
    );
    refused(
        |file| manifest(file).platforms = vec!["tpu".into(), "rocm".into()],
        "platform-not-offered",
        &["tpu, rocm", "offers cpu", "export the program for this platform"],
    );
}

#[test]
fn a_writer_does_not_rewrite_what_is_newer() {
    let error = reader().check_rewritten(&file(), version("1.1")).unwrap_err();
    assert_eq!(error.kind(), IncompatibleKind::WriterTooOld);
    assert!(error.to_string().contains("version 1.2"), "{error}");
    assert_eq!(reader().check_rewritten(&file(), version("1.2")), Ok(()));
}

/// Who writes is told which reader has what is needed.
#[test]
fn writing_for_a_reader_without_a_feature() {
    let older = Reader::with_features([]);
    let mut needs = file();
    manifest(&mut needs).features = vec![release::SYMBOLIC_DIMENSIONS.into()];
    let error = older.check_written(&needs).unwrap_err();
    let said = format!("{error}; {}", error.remedy());
    assert!(
        said.contains("`symbolic-dimensions` (since container 1.0)"),
        "{said}"
    );
    assert!(said.contains("--for-reader 1.0"), "{said}");
}

#[test]
fn read_for_five_years() {
    assert_eq!(file().readable_until(), Date::new(2029, 2, 28));
    let mut preview = file();
    manifest(&mut preview).producer.released = None;
    assert_eq!(preview.readable_until(), None);
    assert_eq!(file().oldest_release().unwrap().container, version("1.0"));
}

#[test]
fn texts_of_kinds_are_unique() {
    let texts: BTreeSet<_> = IncompatibleKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(texts.len(), IncompatibleKind::ALL.len());
}
