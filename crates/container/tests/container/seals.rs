//! Seals in files: what they change, what damage to them does, and that a file is never seen half sealed.

use std::path::{Path, PathBuf};

use crate::sample::{chain, small};
use artifact_container::fuzzing::{read_everything, reseal};
use artifact_container::seal::{
    Comment, DroppedSeals, InvalidSeal, Scope, Seal, Sealed, SecretKey, Signing, seal_file,
};
use artifact_container::trust::{SealStatus, Timestamp, TrustPolicy};
use artifact_container::{Container, Error, ErrorKind};
use tempfile::TempDir;

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

/// The sample in a folder of its own.
pub(crate) fn sample_file() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.artifact");
    artifact_container::atomic::atomic_write(&path, &small()).unwrap();
    (directory, path)
}

pub(crate) fn seal(path: &Path, seed: u8, replace: bool) -> Result<Sealed, Error> {
    let signing = Signing {
        key: &key(seed),
        scope: Scope::new("test/small").unwrap(),
        comment: Comment::new("a remark").unwrap(),
        replace,
    };
    seal_file(path, &signing)
}

/// The sample with seals of `seeds`.
pub(crate) fn sealed(seeds: &[u8]) -> Vec<u8> {
    let (_directory, path) = sample_file();
    for seed in seeds {
        seal(&path, *seed, false).unwrap();
    }
    std::fs::read(&path).unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_unix_seconds(0)
}

fn statuses(bytes: &[u8]) -> Vec<SealStatus> {
    let container = Container::from_bytes(bytes.to_vec()).unwrap();
    let assessment = TrustPolicy::nobody().assess(&container, now()).unwrap();
    assessment.seals.into_iter().map(|seal| seal.status).collect()
}

#[test]
fn sealing_changes_no_byte_before_the_seals() {
    let (_directory, path) = sample_file();
    let plain = Container::open(&path).unwrap();
    assert!(!plain.is_sealed());
    let first = seal(&path, 1, false).unwrap();
    let second = seal(&path, 2, false).unwrap();
    assert_eq!((first.seals, second.seals), (1, 2));
    assert_eq!(first.file_digest, plain.file_digest());
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(&small()));
    read_everything(&bytes).unwrap();
    let container = Container::open(&path).unwrap();
    assert!(container.is_sealed());
    assert_eq!(container.file_digest(), plain.file_digest());
    assert_eq!(container.content_digest(), plain.content_digest());
    assert_eq!(container.program().unwrap(), b"module {}");
    let seals = container.seals().unwrap();
    let signers: Vec<_> = seals
        .iter()
        .map(|seal| match seal {
            Seal::Ed25519(seal) => {
                assert_eq!(
                    (seal.scope().as_str(), seal.comment().as_str()),
                    ("test/small", "a remark")
                );
                seal.verify(container.file_digest()).unwrap()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(signers, [key(1).public(), key(2).public()]);
}

#[test]
fn the_same_seal_is_the_same_bytes() {
    assert_eq!(sealed(&[1, 2]), sealed(&[1, 2]));
}

#[test]
fn a_second_seal_of_a_key_is_refused_or_replaces_the_first() {
    let (_directory, path) = sample_file();
    seal(&path, 1, false).unwrap();
    seal(&path, 2, false).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = seal(&path, 1, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FixInput);
    let id = key(1).public().id();
    assert!(
        chain(&error).contains(&format!("the key {id} has sealed the file already")),
        "{}",
        chain(&error)
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let signing = Signing {
        key: &key(1),
        scope: Scope::default(),
        comment: Comment::new("anew").unwrap(),
        replace: true,
    };
    let replaced = seal_file(&path, &signing).unwrap();
    assert_eq!((replaced.seals, replaced.replaced), (2, true));
    let container = Container::open(&path).unwrap();
    let seals = container.seals().unwrap();
    let Some(Seal::Ed25519(first)) = seals.iter().next() else {
        panic!("{seals:?}");
    };
    assert_eq!((first.key_id(), first.comment().as_str()), (id, "anew"));
    first.verify(container.file_digest()).unwrap();
}

#[test]
fn no_more_seals_than_the_limit() {
    let (_directory, path) = sample_file();
    for seed in 0..64 {
        seal(&path, seed, false).unwrap();
    }
    let error = seal(&path, 64, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{}", chain(&error));
    assert_eq!(Container::open(&path).unwrap().seals().unwrap().len(), 64);
}

#[test]
fn a_damaged_file_is_not_sealed() {
    let (directory, path) = sample_file();
    let damaged = |at: usize, file: &[u8]| {
        let mut bytes = file.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    // The program, the padding, the constant; then the seals of a sealed file.
    let cases = [
        damaged(130, &small()),
        damaged(200, &small()),
        damaged(4100, &small()),
        damaged(small().len() + 40, &sealed(&[2])),
    ];
    for bytes in cases {
        artifact_container::atomic::atomic_write(&path, &bytes).unwrap();
        let error = seal(&path, 1, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FixInput, "{}", chain(&error));
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_link_is_followed_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, path) = sample_file();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = directory.path().join("latest.artifact");
    std::os::unix::fs::symlink("m.artifact", &link).unwrap();
    seal(&link, 1, false).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Container::open(&path).unwrap().is_sealed());
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn who_seals_at_the_same_time_is_told() {
    let (_directory, path) = sample_file();
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    let error = seal(&path, 1, false).unwrap_err();
    assert!(
        chain(&error).contains("another process is rewriting the file"),
        "{}",
        chain(&error)
    );
    drop(other);
    seal(&path, 1, false).unwrap();
}

/// The part of the next test that is killed. Alone, without the marker in its directory, it does nothing.
#[test]
fn child_that_seals_until_it_is_killed() {
    if Path::new("seal-here").exists() {
        seal(Path::new("m.artifact"), 1, false).unwrap();
    }
}

#[test]
fn a_kill_leaves_the_file_as_it_was() {
    let (directory, path) = sample_file();
    artifact_container::atomic::atomic_write(&directory.path().join("seal-here"), b"").unwrap();
    let run = |limit: &str| {
        let child =
            "ulimit -c 0; ulimit -f \"$1\"; exec \"$0\" --exact seals::child_that_seals_until_it_is_killed";
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", child])
            .arg(std::env::current_exe().unwrap())
            .arg(limit);
        shell.current_dir(directory.path()).output().unwrap()
    };
    // A file over the limit (units of 512 or 1024 bytes) kills the process with SIGXFSZ in the middle of a write.
    assert!(!run("2").status.success());
    assert_eq!(std::fs::read(&path).unwrap(), small());
    assert!(run("unlimited").status.success());
    assert_eq!(std::fs::read(&path).unwrap(), sealed(&[1]));
}

#[test]
fn truncation_at_every_byte() {
    let (plain, file) = (small(), sealed(&[1, 2]));
    for length in 0..file.len() {
        let result = read_everything(&file[..length]);
        if length == plain.len() {
            // The file without its seals is whole: it is a policy that misses them.
            result.unwrap();
            assert!(statuses(&file[..length]).is_empty());
            continue;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FixInput, "{length}: {}", chain(&error));
        if length > plain.len() {
            assert!(
                chain(&error).contains("was cut off or something was appended"),
                "{length}"
            );
            Container::from_bytes(file[..length].to_vec()).unwrap_err();
        }
    }
}

#[test]
fn what_follows_the_table_is_one_seal_block_or_nothing() {
    let (plain, file) = (small(), sealed(&[1]));
    let block = &file[plain.len()..];
    for tail in [
        &b"x"[..],
        &[0; 200],
        b"\x89SEAL\r\n\x1a",
        &[block, b"x"].concat(),
        &[block, block].concat(),
    ] {
        let error = Container::from_bytes([&plain, tail].concat()).unwrap_err();
        assert!(
            chain(&error).contains("was cut off or something was appended"),
            "{}",
            chain(&error)
        );
    }
    // One that announces more than the limit is not read.
    let mut huge = [&plain, block].concat();
    huge.resize(plain.len() + (1 << 20) + 1, 0);
    huge[plain.len() + 8..plain.len() + 12].copy_from_slice(&((1_u32 << 20) + 1).to_le_bytes());
    let error = Container::from_bytes(huge).unwrap_err();
    assert!(
        chain(&error).contains("something was appended"),
        "{}",
        chain(&error)
    );
}

/// Every bit of a sealed file, but for most of the long padding: what opening, complete verification and the seals say.
#[test]
fn every_flipped_bit() {
    let (plain, mut file) = (small(), sealed(&[1]));
    for bit in (0..200 * 8).chain(4090 * 8..file.len() * 8) {
        let (at, mask) = (bit / 8, 1 << (bit % 8));
        file[at] ^= mask;
        let error = read_everything(&file).expect_err("a flipped bit is seen");
        assert_eq!(error.kind(), ErrorKind::FixInput, "bit {bit}: {}", chain(&error));
        let opened = Container::from_bytes(file.clone());
        match at.checked_sub(plain.len()) {
            // Without magic or length it is something that was appended.
            Some(0..12) => assert!(
                chain(&opened.unwrap_err()).contains("something was appended"),
                "bit {bit}"
            ),
            Some(_) => {
                let container = opened.unwrap();
                assert_eq!(
                    container.program().unwrap(),
                    b"module {}",
                    "who needs no seal reads on"
                );
                let message = chain(&container.seals().unwrap_err());
                assert!(
                    message.contains("the seal block is damaged"),
                    "bit {bit}: {message}"
                );
                assert_eq!(chain(&container.verify_all().unwrap_err()), message);
            }
            None => {}
        }
        file[at] ^= mask;
    }
}

/// A liar computes every digest and checksum anew; the signature remains.
#[test]
fn a_byte_that_was_changed_by_a_liar_makes_the_seal_invalid() {
    let (plain, file) = (small(), sealed(&[1]));
    let container = Container::from_bytes(plain.clone()).unwrap();
    let (_, manifest) = container.sections().find("manifest").unwrap();
    let text = plain.windows(5).position(|window| window == b"1.0.0").unwrap();
    assert!(text as u64 > manifest.offset);
    let check = |at: usize, what: &str| {
        let mut lie = file.clone();
        lie[at] ^= 1;
        reseal(&mut lie);
        assert_eq!(
            statuses(&lie),
            [SealStatus::Invalid(InvalidSeal::Signature)],
            "{what}"
        );
    };
    check(128, "program");
    check(text, "manifest");
    // The last byte of the table is the end of the name `manifest`.
    check(plain.len() - 1, "table");
    let record = plain.len() + 16;
    let (scope, comment) = (record + 40, record + 40 + "test/small".len());
    let signature = comment + "a remark".len();
    check(scope, "scope");
    check(comment, "comment");
    for byte in 0..64 {
        check(signature + byte, "signature");
    }
    let mut other = file.clone();
    other[record + 8..record + 40].copy_from_slice(key(2).public().as_bytes());
    reseal(&mut other);
    assert_eq!(
        statuses(&other),
        [SealStatus::Invalid(InvalidSeal::Signature)],
        "another key"
    );
    let mut weak = file.clone();
    weak[record + 8..record + 40].fill(0);
    reseal(&mut weak);
    assert!(
        matches!(statuses(&weak)[..], [SealStatus::Invalid(InvalidSeal::Key(_))]),
        "{:?}",
        statuses(&weak)
    );
    // A seal of another file.
    let mut moved = [&plain[..], &file[plain.len()..]].concat();
    moved[128] = b'M';
    reseal(&mut moved);
    assert_eq!(
        statuses(&moved),
        [SealStatus::Invalid(InvalidSeal::Signature)],
        "another file"
    );
}

/// Two seals, edited, with every checksum computed anew.
#[track_caller]
fn check_lie(edit: &dyn Fn(&mut Vec<u8>), kind: ErrorKind, expected: &str) {
    let mut lie = sealed(&[1, 2]);
    edit(&mut lie);
    reseal(&mut lie);
    let error = Container::from_bytes(lie).unwrap().seals().unwrap_err();
    assert_eq!(error.kind(), kind, "{}", chain(&error));
    assert!(chain(&error).contains(expected), "{}", chain(&error));
}

fn put(at: usize, value: u16) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 2].copy_from_slice(&value.to_le_bytes())
}

#[test]
fn seal_blocks_that_lie() {
    let start = small().len();
    let check = check_lie;
    let wrong = ErrorKind::FixInput;
    check(
        &put(start + 12, 2),
        ErrorKind::Upgrade,
        "the seal block has version 2, this tool reads 1",
    );
    for count in [0, 1] {
        check(&put(start + 14, count), wrong, "not as many seals as it says");
    }
    check(
        &put(start + 14, 3),
        wrong,
        "seal 2 of the seal block is malformed",
    );
    check(
        &put(start + 14, 65),
        ErrorKind::Limit,
        "the number of seals is 65 seals, over the limit of 64",
    );
}

#[test]
fn seals_that_lie() {
    let (record, length) = (small().len() + 16, 104 + "test/small".len() + "a remark".len());
    let (check, wrong) = (check_lie, ErrorKind::FixInput);
    for bad in [0, 3, 4, 103, length as u16 - 1, length as u16 + 1, u16::MAX] {
        check(&put(record, bad), wrong, "seal 0 of the seal block is malformed");
    }
    check(
        &put(record + 4, u16::MAX),
        wrong,
        "its parts do not fill its length",
    );
    check(&put(record + 6, 0), wrong, "its parts do not fill its length");
    let set = |at: usize, byte: u8| move |bytes: &mut Vec<u8>| bytes[at] = byte;
    check(&set(record + 40, b' '), wrong, "a scope has ASCII letters");
    check(&set(record + 40, 0xff), wrong, "not UTF-8");
    check(&set(record + 52, b'\n'), wrong, "a comment is one line");
    let twice = |bytes: &mut Vec<u8>| bytes.copy_within(record..record + length, record + length);
    check(
        &twice,
        wrong,
        &format!("two seals of the key {}", key(1).public().id()),
    );
}

#[test]
fn a_seal_of_an_unknown_algorithm_is_kept_and_does_not_count() {
    let mut file = sealed(&[1, 2]);
    let record = small().len() + 16;
    file[record + 2..record + 4].copy_from_slice(&9_u16.to_le_bytes());
    reseal(&mut file);
    assert_eq!(
        statuses(&file),
        [SealStatus::UnknownAlgorithm(9), SealStatus::Untrusted]
    );
    let (_directory, path) = sample_file();
    artifact_container::atomic::atomic_write(&path, &file).unwrap();
    seal(&path, 3, false).unwrap();
    let grown = std::fs::read(&path).unwrap();
    let records = record..file.len() - 32;
    assert_eq!(grown[records.clone()], file[records]);
    assert_eq!(statuses(&grown)[..2], statuses(&file));
}

#[test]
fn seals_that_a_rewritten_file_loses_are_named() {
    assert_eq!(DroppedSeals::of(&Container::from_bytes(small()).unwrap()), None);
    let mut file = sealed(&[1, 2]);
    let container = Container::from_bytes(file.clone()).unwrap();
    let dropped = DroppedSeals::of(&container).unwrap();
    assert_eq!(dropped.file_digest, container.file_digest());
    let ids = [1, 2].map(|seed| key(seed).public().id());
    assert_eq!(dropped.signers, ids);
    let text = dropped.to_string();
    assert!(
        text.starts_with(&format!(
            "the seals of {}, {} are not carried over",
            ids[0], ids[1]
        )),
        "{text}"
    );
    let last = file.len() - 1;
    file[last] ^= 1;
    let dropped = DroppedSeals::of(&Container::from_bytes(file).unwrap()).unwrap();
    assert!(
        dropped.to_string().contains("whose keys this tool cannot read"),
        "{dropped}"
    );
}
