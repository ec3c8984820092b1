//! A trust policy at the door: who is let in, and that nothing of a refused file is decoded.

use std::path::Path;

use crate::sample::chain;
use crate::seals::{key, sample_file, seal, sealed};
use artifact_container::fuzzing::reseal;
use artifact_container::trust::{SealStatus, Timestamp, TrustError, TrustPolicy};
use artifact_container::{Container, Error, ErrorKind, ReadOptions};

fn policy(signers: u16, seeds: &[u8]) -> TrustPolicy {
    let keys: String = seeds
        .iter()
        .map(|seed| {
            let public = key(*seed).public();
            format!("[[keys]]\nname = \"key {seed}\"\npublic_key = \"{public}\"\nscopes = [\"test/*\"]\n")
        })
        .collect();
    TrustPolicy::parse(&format!("version = 1\nsigners = {signers}\n{keys}")).unwrap()
}

fn open(path: &Path, policy: &TrustPolicy) -> Result<Container, Error> {
    let now = Timestamp::from_unix_seconds(0);
    Container::open_trusted(path, &ReadOptions::default(), policy, now).map(|(container, _)| container)
}

fn write(path: &Path, bytes: &[u8]) {
    artifact_container::atomic::atomic_write(path, bytes).unwrap();
}

#[test]
fn who_is_let_in() {
    let (_directory, path) = sample_file();
    let error = open(&path, &policy(1, &[1])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    seal(&path, 1, false).unwrap();
    let container = open(&path, &policy(1, &[1])).unwrap();
    assert_eq!(container.program().unwrap(), b"module {}");
    let (id, _) = container.sections().find("constant/0").unwrap();
    assert_eq!(container.constant_bytes(id).unwrap(), [7; 100]);
    let error = open(&path, &policy(2, &[1, 2])).unwrap_err();
    let id = key(1).public().id();
    let expected = format!(
        "cannot read the artifact `{}`: the trust policy needs 2 signers and finds 1 among 1 seal: key {id} (`key 1`) counts",
        path.display()
    );
    assert_eq!(chain(&error), expected);
    seal(&path, 2, false).unwrap();
    let (_, verdict) = Container::open_trusted(
        &path,
        &ReadOptions::default(),
        &policy(2, &[1, 2]),
        Timestamp::from_unix_seconds(0),
    )
    .unwrap();
    assert_eq!(verdict.assessment().signers(), 2);
}

#[test]
fn an_open_file_can_be_evaluated() {
    let container = Container::from_bytes(sealed(&[1])).unwrap();
    let now = Timestamp::from_unix_seconds(0);
    policy(1, &[1]).evaluate(&container, now).unwrap();
    match policy(1, &[2]).evaluate(&container, now).unwrap_err() {
        TrustError::Refused(assessment) => {
            assert_eq!(assessment.seals[0].status, SealStatus::Untrusted);
            assert_eq!(assessment.file_digest, container.file_digest());
        }
        other => panic!("{other}"),
    }
}

#[test]
fn seals_that_cannot_be_read_admit_nobody() {
    let (_directory, path) = sample_file();
    let good = sealed(&[1]);
    for at in [good.len() - 1, crate::sample::small().len() + 20] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        write(&path, &bytes);
        let error = open(&path, &policy(1, &[1])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Untrusted, "{}", chain(&error));
        assert!(
            chain(&error).contains("nobody vouches for it: the seal block is damaged"),
            "{}",
            chain(&error)
        );
        Container::open(&path).unwrap();
    }
}

/// A file of someone else is refused for that, although its manifest is none: so the manifest was not looked at.
#[test]
fn nothing_is_decoded_before_the_policy_is_met() {
    let (_directory, path) = sample_file();
    let mut bytes = sealed(&[2]);
    let container = Container::from_bytes(bytes.clone()).unwrap();
    let (_, manifest) = container.sections().find("manifest").unwrap();
    let place = manifest.offset as usize..(manifest.offset + manifest.stored_length) as usize;
    bytes[place].fill(0xff);
    reseal(&mut bytes);
    write(&path, &bytes);
    assert_eq!(
        open(&path, &policy(1, &[1])).unwrap_err().kind(),
        ErrorKind::Untrusted
    );
    assert_eq!(Container::open(&path).unwrap_err().kind(), ErrorKind::FixInput);
}

/// Who may write into the file changes it after it was admitted: every later read is of what was admitted, or an error.
#[test]
fn what_is_used_is_what_was_admitted() {
    use std::os::unix::fs::FileExt;
    let (_directory, path) = sample_file();
    seal(&path, 1, false).unwrap();
    let container = open(&path, &policy(1, &[1])).unwrap();
    let (id, row) = container.sections().find("constant/0").unwrap();
    assert_eq!(container.constant_bytes(id).unwrap(), [7; 100]);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[9; 100], row.offset).unwrap();
    assert_eq!(container.constant_bytes(id).unwrap(), [7; 100], "it was copied");
    file.write_all_at(b"M", 128).unwrap();
    assert!(chain(&container.program().unwrap_err()).contains("is damaged"));
    // Replaced under its name: the open descriptor still has the old one.
    let (_other, path) = sample_file();
    seal(&path, 1, false).unwrap();
    let container = open(&path, &policy(1, &[1])).unwrap();
    write(&path, b"something else");
    assert_eq!(container.program().unwrap(), b"module {}");
}

/// One bit in each region of a sealed file, and what a reader with a policy is told: at the door, or when it reads the region.
#[test]
fn a_flipped_bit_in_each_region() {
    let (_directory, path) = sample_file();
    let (plain, file) = (crate::sample::small(), sealed(&[1]));
    let sections = Container::from_bytes(plain.clone()).unwrap();
    let place = |name: &str| sections.sections().find(name).unwrap().1.offset as usize;
    let (table, seals) = (sections.header().table_offset() as usize, plain.len());
    let wrong = Some(ErrorKind::FixInput);
    let cases = [
        ("magic", 0, wrong),
        ("version", 8, wrong),
        ("length", 16, wrong),
        ("reserved", 90, wrong),
        ("checksum", 100, wrong),
        ("program", place("program"), None),
        ("padding", place("program") + 20, None),
        ("constant", place("constant/0"), None),
        // The policy is met, for the table is as it was signed; then the manifest does not match it.
        ("manifest", place("manifest"), wrong),
        ("row", table, wrong),
        ("digest in a row", table + 40, wrong),
        ("name", plain.len() - 1, wrong),
        ("magic of the seals", seals, wrong),
        ("length of the seals", seals + 8, wrong),
        ("version of the seals", seals + 12, Some(ErrorKind::Untrusted)),
        ("key", seals + 24, Some(ErrorKind::Untrusted)),
        ("signature", file.len() - 40, Some(ErrorKind::Untrusted)),
        (
            "checksum of the seals",
            file.len() - 1,
            Some(ErrorKind::Untrusted),
        ),
    ];
    for (region, at, refused) in cases {
        let mut bytes = file.clone();
        bytes[at] ^= 1;
        write(&path, &bytes);
        match (open(&path, &policy(1, &[1])), refused) {
            (Err(error), Some(kind)) => assert_eq!(error.kind(), kind, "{region}: {}", chain(&error)),
            (Ok(container), None) => {
                let (constant, _) = container.sections().find("constant/0").unwrap();
                assert_eq!(container.program().is_err(), region == "program");
                assert_eq!(container.constant_bytes(constant).is_err(), region == "constant");
                assert!(container.verify_all().is_err(), "{region}");
            }
            (found, expected) => panic!("{region}: {:?}, not {expected:?}", found.map(drop)),
        }
    }
}

#[test]
fn truncated_among_the_seals() {
    let (_directory, path) = sample_file();
    let (plain, file) = (crate::sample::small(), sealed(&[1]));
    write(&path, &file);
    let shortened = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let policy = policy(1, &[1]);
    for length in (plain.len()..file.len()).rev() {
        shortened.set_len(length as u64).unwrap();
        let expected = if length == plain.len() {
            ErrorKind::Untrusted
        } else {
            ErrorKind::FixInput
        };
        assert_eq!(open(&path, &policy).unwrap_err().kind(), expected, "{length}");
    }
}
