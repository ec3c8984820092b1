use super::*;
use crate::seal::PublicKey;

fn pair(comment: &str) -> KeyPair {
    KeyPair {
        secret: SecretKey::from_seed(&[7; 32]),
        comment: Comment::new(comment).unwrap(),
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn round_trip() {
    let directory = tempfile::tempdir().unwrap();
    for (name, comment) in [("a", ""), ("b.key", "release: 2026 é")] {
        let path = directory.path().join(name);
        let public = write_key_pair(&path, &pair(comment)).unwrap();
        assert_eq!(public, directory.path().join(format!("{name}.pub")));
        assert_eq!((mode(&path), mode(&public)), (0o600, 0o644));
        let read = read_secret_key(&path).unwrap();
        assert_eq!(read.secret.public(), pair("").secret.public());
        assert_eq!(read.comment.as_str(), comment);
        let text = std::fs::read_to_string(&public).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("public: "))
            .unwrap();
        assert_eq!(line.parse::<PublicKey>().unwrap(), read.secret.public());
        assert!(!text.contains("secret"));
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_half_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let names = || {
        let entries = std::fs::read_dir(directory.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    for taken in ["key", "key.pub"] {
        let path = directory.path().join(taken);
        crate::atomic::atomic_write(&path, b"mine").unwrap();
        let error = write_key_pair(&directory.path().join("key"), &pair("")).unwrap_err();
        assert!(
            matches!(&error, KeyFileError::Create { path: named, source }
            if *named == path && source.kind() == io::ErrorKind::AlreadyExists),
            "{error:?}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(names(), [taken]);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_key_that_others_may_use_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    write_key_pair(&path, &pair("")).unwrap();
    for others in [0o640, 0o604, 0o620, 0o601] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(others)).unwrap();
        let error = read_secret_key(&path).unwrap_err();
        assert!(matches!(error, KeyFileError::Permissions { mode, .. } if mode == others));
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    read_secret_key(&path).unwrap();
}

#[test]
fn texts_that_are_no_key() {
    let good = secret_text(&pair("mine"));
    let other = KeyPair {
        secret: SecretKey::from_seed(&[8; 32]),
        comment: Comment::default(),
    };
    let line = |name: &str, of: &KeyPair| {
        let text = secret_text(of);
        text.lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .to_owned()
    };
    let swapped = |name: &str| good.replace(&line(name, &pair("")), &line(name, &other));
    let cases = [
        (String::new(), KeyTextError::Title),
        ("-----BEGIN PRIVATE KEY-----\n".to_owned(), KeyTextError::Title),
        (public_text(&pair("")).to_string(), KeyTextError::Public),
        (good.replace("id: ", "id "), KeyTextError::Line("id")),
        (good.replace("secret: ", "seed: "), KeyTextError::Line("secret")),
        (good.replace("comment", "remark"), KeyTextError::Line("comment")),
        (
            good.replace("secret: ed25519:0", "secret: ed25519:x"),
            KeyTextError::Secret(KeyError::Text),
        ),
        (swapped("id"), KeyTextError::Mixed),
        (swapped("public"), KeyTextError::Mixed),
        (swapped("secret"), KeyTextError::Mixed),
        (format!("{}more\n", *good), KeyTextError::More),
    ];
    assert!(parse(&good).is_ok());
    for (text, expected) in cases {
        assert_eq!(parse(&text).unwrap_err(), expected, "{text}");
    }
    // The last line may be absent, and its end may; nothing before it may.
    let secret_end = good.find("\ncomment").unwrap();
    for end in 0..secret_end {
        assert!(parse(&good[..end]).is_err(), "{end}");
    }
    assert!(parse(&good[..secret_end]).is_ok());
}
