//! Every way in which a file and a reader do not fit, met with files that are forged.
//!
//! `docs/VERSIONING.md` has a row for each kind, which names the test here; a test compares the two.

use std::path::PathBuf;

use artifact_container::compat::IncompatibleKind;
use artifact_container::release::RELEASED;
use artifact_core::digest::Digest;
use artifact_forge::{Forgery, MARKER, Section, text};
use serde_json::Value;

use crate::{ADD, Ended, Scratch, run};

/// An artifact of one addition, forged.
struct Forged {
    scratch: Scratch,
    file: PathBuf,
}

impl Forged {
    fn new(forge: impl FnOnce(Forgery) -> Forgery) -> Self {
        let scratch = Scratch::new();
        let program = scratch.file("add.mlir", ADD);
        let file = scratch.path("add.artifact");
        run(&[&"export", &program, &"-o", &file]).expect(0);
        let forgery = forge(Forgery::of(&std::fs::read(&file).unwrap()));
        let file = scratch.file("forged.artifact", forgery.write());
        Self { scratch, file }
    }

    fn run(&self) -> Ended {
        run(&[&"run", &self.file, &"--random", &"1"])
    }

    fn inspect(&self) -> Ended {
        run(&[&"inspect", &self.file])
    }

    #[track_caller]
    fn json(&self, code: i32) -> Value {
        let out = run(&[&"inspect", &self.file, &"--json"]).expect(code).out;
        serde_json::from_str(&out).unwrap()
    }

    /// It cannot be run, and whoever asks why is told: in words, and as JSON.
    #[track_caller]
    fn is_refused(&self, kind: IncompatibleKind, parts: &[&str]) {
        let refused = self.run().expect(4);
        let mut refused = refused.says("written by: ").says("readable by: ").says("help: ");
        for part in parts {
            refused = refused.says(part);
        }
        run(&[&"convert", &self.file]).expect(4).says(parts[0]);
        let output = self.scratch.path("upgraded.artifact");
        run(&[&"upgrade", &self.file, &"-o", &output])
            .expect(4)
            .says(parts[0]);
        assert_eq!(
            self.scratch.names(),
            ["add.artifact", "add.mlir", "forged.artifact"]
        );
        let json = self.json(if self.is_described() { 0 } else { 4 });
        let incompatible = if self.is_described() {
            assert_eq!(json["compatibility"]["reads"], false);
            &json["compatibility"]["incompatible"]
        } else {
            assert_eq!(
                (&json["error"]["kind"], &json["error"]["exit_code"]),
                (&kind.as_str().into(), &4.into())
            );
            &json["error"]["incompatible"]
        };
        assert_eq!(incompatible["kind"], kind.as_str());
        for key in ["message", "written_by", "readable_by", "remedy"] {
            assert!(
                incompatible[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key}: {json}"
            );
        }
        assert_eq!(incompatible["reader"]["container"]["newest"], "1.0");
    }

    /// Whether `inspect` shows what is there, though it cannot be run.
    fn is_described(&self) -> bool {
        self.inspect().code == Some(0)
    }
}

#[test]
fn container_too_new() {
    let forged = Forged::new(|file| file.version([2, 0]));
    forged.is_refused(
        IncompatibleKind::ContainerTooNew,
        &[
            "container version 2.0 and needs a reader of 2.0 or newer",
            "reads 0.9 to 1.0",
            "install a newer release",
            "--for-reader 1.0",
        ],
    );
    assert!(!forged.is_described());
}

#[test]
fn container_too_old() {
    let forged = Forged::new(|file| file.version([0, 8]));
    forged.is_refused(
        IncompatibleKind::ContainerTooOld,
        &["container version 0.8", "reads 0.9 to 1.0", "artifact upgrade"],
    );
    assert!(!forged.is_described());
}

/// A newer minor version is read, described and run, and not rewritten.
#[test]
fn writer_too_old() {
    let forged = Forged::new(|mut file| {
        file.written = [1, 7];
        file
    });
    forged.run().expect(0);
    forged.inspect().expect(0).says("1.7 (oldest reader 1.0)");
    assert_eq!(forged.json(0)["compatibility"]["reads"], true);
    run(&[&"upgrade", &forged.file])
        .expect(4)
        .says("container version 1.7")
        .says("would lose what is newer")
        .says("the release that wrote it");
    assert_eq!(IncompatibleKind::WriterTooOld.as_str(), "writer-too-old");
}

/// The cell of an older reader and newer data: keys, optional sections and codecs that it does not know are of no concern.
#[test]
fn what_a_later_minor_version_adds_is_ignored() {
    let forged = Forged::new(|mut file| {
        file.written = [1, 7];
        file.sections.push(Section::plain(98, 0, "moon", b"cheese"));
        let mut compressed = Section::plain(5, 0, "vjp/1", b"in a codec of 1.7");
        (compressed.codec, compressed.raw) = (7, Some((1000, Digest::of(b"unknown"))));
        file.sections.push(compressed);
        let file = file.manifest(b"\xa8producer\x83", b"\xa8producer\x84\xa3new\x91\xc0");
        let derivatives = b"\xabderivatives\x91\x83\xa9signature\x83\xa8function\xa4main\xa6inputs\x90\xa7outputs\x90\xaccustom_calls\x90\xa9constants\x90";
        let fields = [
            b"\x8c".as_slice(),
            derivatives,
            b"\xa5newer\x81\xa1x\xc2\xa8producer",
        ]
        .concat();
        file.manifest(b"\x8a\xa8producer", &fields)
    });
    forged.run().expect(0).says("sum: tensor<2x3xf32>");
    run(&[&"verify", &forged.file]).expect(0).says("every byte");
    run(&[&"inspect", &forged.file]).expect(0).says("vjp/1");
}

#[test]
fn unknown_feature() {
    let forged = Forged::new(|file| {
        let features = [b"required_features\x91".as_slice(), &text("moon")].concat();
        file.manifest(b"required_features\x90", &features)
    });
    forged.is_refused(
        IncompatibleKind::UnknownFeature,
        &[
            "requires `moon`",
            "that know `moon`",
            "artifact 0",
            "--for-reader 1.0",
        ],
    );
    forged
        .inspect()
        .expect(0)
        .says("cannot run it (unknown-feature)")
        .says("moon");
}

#[test]
fn unknown_section_kind() {
    let forged = Forged::new(|mut file| {
        file.sections.push(Section::plain(99, 1, "moon", b"cheese"));
        file
    });
    forged.is_refused(
        IncompatibleKind::UnknownSectionKind,
        &[
            "section `moon` of kind-99 is required",
            "(container 1.0)",
            "--for-reader 1.0",
        ],
    );
    // One that is not required is of no concern.
    let forged = Forged::new(|mut file| {
        file.sections.push(Section::plain(99, 0, "moon", b"cheese"));
        file
    });
    forged.run().expect(0);
}

#[test]
fn unknown_codec() {
    let with_codec = |name: &'static str| {
        Forged::new(move |mut file| {
            let section = file.section(name);
            section.codec = 7;
            section.raw = Some((section.stored.len() as u64, Digest::of(&section.stored)));
            file
        })
    };
    let forged = with_codec("program");
    forged.is_refused(
        IncompatibleKind::UnknownCodec,
        &["section `program` is required", "codec 7", "--for-reader 1.0"],
    );
    assert!(forged.is_described());
    run(&[&"verify", &forged.file]).expect(0);
    // Nothing can be said of a file whose manifest is closed.
    let forged = with_codec("manifest");
    forged.is_refused(
        IncompatibleKind::UnknownCodec,
        &["section `manifest` is required"],
    );
    assert!(!forged.is_described());
}

#[test]
fn unknown_program_format() {
    let forged = Forged::new(|file| file.manifest(&text(artifact_export::PROGRAM_FORMAT), &text("poem")));
    forged.is_refused(
        IncompatibleKind::UnknownProgramFormat,
        &[
            "the program is poem",
            "0.9.0 to 1.20.0",
            "readable by: readers of container 1.0",
        ],
    );
    forged.inspect().expect(0).says("this release does not read poem");
}

/// The program as another version of its format.
fn with_version(version: &str) -> Forged {
    Forged::new(|file| file.manifest(b"\xa61.20.0", &text(version)))
}

#[test]
fn program_too_new() {
    for version in ["1.20.1", "1.21.0", "2.0.0"] {
        with_version(version).is_refused(
            IncompatibleKind::ProgramTooNew,
            &[version, "reads 0.9.0 to 1.20.0", "--stablehlo 1.20.0"],
        );
    }
}

#[test]
fn program_too_old() {
    with_version("0.8.9").is_refused(
        IncompatibleKind::ProgramTooOld,
        &["0.8.9", "reads 0.9.0 to 1.20.0", "artifact upgrade"],
    );
    // The ends of the window are inside.
    for version in ["0.9.0", "1.20.0"] {
        assert_eq!(
            with_version(version).json(0)["compatibility"]["reads"],
            true,
            "{version}"
        );
    }
    with_version("1.20").run().expect(3).says("MAJOR.MINOR.PATCH");
}

#[test]
fn unknown_calling_convention() {
    let forged = Forged::new(|file| file.manifest(b"calling_convention\x01", b"calling_convention\x02"));
    forged.is_refused(
        IncompatibleKind::UnknownCallingConvention,
        &["calling convention 2", "knows 1"],
    );
}

/// Another machine of this release runs it, so the exit code is that of an engine which is not there.
#[test]
fn platform_not_offered() {
    let forged = Forged::new(|file| {
        let platforms = [b"platforms\x92".as_slice(), &text("tpu"), &text("rocm")].concat();
        file.manifest(b"platforms\x90", &platforms)
    });
    forged
        .run()
        .expect(6)
        .says("for the platforms tpu, rocm; this machine offers cpu")
        .says("export the program for this platform");
    assert_eq!(forged.json(0)["compatibility"]["reads"], true);
    assert_eq!(
        IncompatibleKind::PlatformNotOffered.as_str(),
        "platform-not-offered"
    );
    run(&[&"convert", &forged.file]).expect(0);
}

/// The producer's date, replaced.
fn released(date: &str) -> Forged {
    Forged::new(|file| file.manifest(&text(&RELEASED.to_string()), &text(date)))
}

#[test]
fn the_date_decides_until_when() {
    let json = released("2026-01-31").json(0);
    assert_eq!(json["compatibility"]["readable_until"], "2031-01-31");
    assert_eq!(json["compatibility"]["promise_has_passed"], false);
    released("2024-02-29")
        .inspect()
        .expect(0)
        .says("2029-02-28, 5 years after");
    let passed = released("2019-06-01");
    passed.inspect().expect(0).says("2024-06-01, which has passed");
    assert_eq!(passed.json(0)["compatibility"]["promise_has_passed"], true);
    // The promise has ended, which is no reason to refuse what can be read.
    passed.run().expect(0);
    released("9999-12-31")
        .inspect()
        .expect(0)
        .says("9999-12-31, 5 years");
    released("2026-02-30").run().expect(3);
}

#[test]
fn a_file_of_1_0_has_a_date() {
    let forged = Forged::new(|file| {
        let date = [text("released"), text(&RELEASED.to_string())].concat();
        let file = file.manifest(b"\xa8producer\x83", b"\xa8producer\x82");
        file.manifest(&date, b"")
    });
    forged
        .run()
        .expect(3)
        .says("container 1.0 requires `producer.released`");
}

/// Forging is a crate of its own, which the binary does not have: not even the binary that is built beside the tests.
#[test]
fn the_binary_cannot_forge() {
    let holds = |path: &std::path::Path| {
        let program = std::fs::read(path).unwrap();
        program
            .windows(MARKER.len())
            .any(|window| window == MARKER.as_bytes())
    };
    assert!(
        holds(&std::env::current_exe().unwrap()),
        "this test can forge, and it shows"
    );
    assert!(
        !holds(env!("CARGO_BIN_EXE_artifact").as_ref()),
        "the binary can forge"
    );
}

#[test]
fn the_page_has_a_row_for_every_kind() {
    let page = include_str!("../../../docs/VERSIONING.md");
    for kind in IncompatibleKind::ALL {
        let row = page.lines().find(|line| line.contains(&format!("| `{kind}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/VERSIONING.md has no row for `{kind}`"));
        let test = kind.as_str().replace('-', "_");
        assert!(row.contains(&format!("`mismatch::{test}`")), "{row}");
        assert!(
            include_str!("mismatch.rs").contains(&format!("\nfn {test}() {{")),
            "no test {test}"
        );
    }
}
