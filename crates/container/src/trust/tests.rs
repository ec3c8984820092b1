use super::*;
use crate::seal::{Comment, InvalidSeal, Scope, SecretKey};
use crate::trust::trust_file::TrustFileError;
use artifact_core::digest::Digest;

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn public(seed: u8) -> String {
    secret(seed).public().to_string()
}

fn file() -> FileDigest {
    FileDigest::new(Digest::of(b"a file"))
}

fn seal(seed: u8, scope: &str) -> Ed25519Seal {
    let (scope, comment) = (Scope::new(scope).unwrap(), Comment::new("c").unwrap());
    Ed25519Seal::sign(&secret(seed), file(), scope, comment)
}

fn at(text: &str) -> Timestamp {
    #[derive(serde::Deserialize)]
    struct At {
        at: toml::value::Datetime,
    }
    let At { at } = toml::from_str(&format!("at = {text}")).unwrap();
    Timestamp::of_toml(&at).unwrap()
}

/// A policy of one key.
fn one(rest: &str) -> TrustPolicy {
    let key = public(1);
    let text = format!("version = 1\nsigners = 1\n[[keys]]\nname = \"one\"\npublic_key = \"{key}\"\n{rest}");
    TrustPolicy::parse(&text).unwrap_or_else(|error| panic!("{error}: {error:?}\n{text}"))
}

#[track_caller]
fn check(policy: &TrustPolicy, seal: &Ed25519Seal, now: &str, expected: SealStatus) {
    let assessed = policy.assess_seal(file(), &Seal::Ed25519(seal.clone()), at(now));
    assert_eq!(assessed.status, expected);
}

const NOW: &str = "2026-06-01T12:00:00Z";

#[test]
fn dates_count_to_the_second() {
    let policy =
        one("scopes = [\"*\"]\nnot_before = 2026-01-01T00:00:00+01:00\nnot_after = 2026-12-31T23:59:59Z");
    let sealed = seal(1, "");
    let (from, until) = (at("2025-12-31T23:00:00Z"), at("2026-12-31T23:59:59Z"));
    check(
        &policy,
        &sealed,
        "2025-12-31T22:59:59Z",
        SealStatus::NotYetValid(from),
    );
    check(&policy, &sealed, "2025-12-31T23:00:00Z", SealStatus::Trusted);
    check(&policy, &sealed, "2026-12-31T23:59:59Z", SealStatus::Trusted);
    check(
        &policy,
        &sealed,
        "2027-01-01T00:00:00Z",
        SealStatus::Expired(until),
    );
}

#[test]
fn scopes_are_signed_and_checked() {
    let policy = one("scopes = [\"production/*\", \"staging\"]");
    let cases = [
        ("production/vision", true),
        ("production/", true),
        ("production", false),
        ("staging", true),
        ("staging/x", false),
        ("", false),
        ("test/production/", false),
    ];
    for (scope, counts) in cases {
        let expected = if counts {
            SealStatus::Trusted
        } else {
            SealStatus::OutOfScope
        };
        check(&policy, &seal(1, scope), NOW, expected);
    }
    check(&one("scopes = [\"*\"]"), &seal(1, ""), NOW, SealStatus::Trusted);
}

#[test]
fn revocation_comes_before_trust_and_validity_before_both() {
    let revoked = format!(
        "scopes = [\"*\"]\n[[keys]]\nname = \"two\"\npublic_key = \"{}\"\nscopes = [\"*\"]\n\
         [[revoked_keys]]\npublic_key = \"{}\"\nreason = \"lost\"\n",
        public(2),
        public(1)
    );
    let policy = one(&revoked);
    check(&policy, &seal(1, ""), NOW, SealStatus::Revoked("lost".to_owned()));
    check(&policy, &seal(2, ""), NOW, SealStatus::Trusted);
    check(&policy, &seal(3, ""), NOW, SealStatus::Untrusted);
    let other = FileDigest::new(Digest::of(b"another file"));
    let assessed = policy.assess_seal(other, &Seal::Ed25519(seal(1, "")), at(NOW));
    assert_eq!(assessed.status, SealStatus::Invalid(InvalidSeal::Signature));
}

#[test]
fn a_revoked_file_is_refused_whoever_sealed_it() {
    let text = format!(
        "scopes = [\"*\"]\n[[revoked_files]]\nfile_digest = \"{}\"\nreason = \"wrong weights\"",
        file()
    );
    let mut seals = Seals::default();
    seals.insert(Seal::Ed25519(seal(1, "")), false).unwrap();
    let assessment = one(&text).assess_seals(file(), &seals, at(NOW));
    assert_eq!(assessment.signers(), 1);
    assert!(!assessment.is_met());
    assert_eq!(
        assessment.to_string(),
        format!("the trust policy revokes the file {}: wrong weights", file())
    );
    assert!(
        one("scopes = [\"*\"]")
            .assess_seals(file(), &seals, at(NOW))
            .is_met()
    );
}

#[test]
fn as_many_signers_as_asked_for() {
    let keys: String = (1..=3)
        .map(|seed| {
            format!(
                "[[keys]]\nname = \"{seed}\"\npublic_key = \"{}\"\nscopes = [\"*\"]\n",
                public(seed)
            )
        })
        .collect();
    let policy = TrustPolicy::parse(&format!("version = 1\nsigners = 2\n{keys}")).unwrap();
    let mut seals = Seals::default();
    for (seed, met) in [(1, false), (9, false), (2, true), (3, true)] {
        seals.insert(Seal::Ed25519(seal(seed, "")), false).unwrap();
        assert_eq!(
            policy.assess_seals(file(), &seals, at(NOW)).is_met(),
            met,
            "{seed}"
        );
    }
    // The same signer does not count twice: there is no second seal.
    let mut twice = Seals::default();
    twice.insert(Seal::Ed25519(seal(1, "a")), false).unwrap();
    let there = twice.insert(Seal::Ed25519(seal(1, "b")), false).unwrap();
    assert_eq!(there, Some(secret(1).public().id()));
    assert_eq!(twice.len(), 1);
    assert!(
        !TrustPolicy::nobody()
            .assess_seals(file(), &seals, at(NOW))
            .is_met()
    );
}

#[test]
fn a_refusal_says_who_signed_and_why_each_does_not_count() {
    let policy = one("scopes = [\"a\"]\nnot_after = 2026-01-01T00:00:00Z");
    let mut seals = Seals::default();
    seals.insert(Seal::Ed25519(seal(1, "a")), false).unwrap();
    seals.insert(Seal::Ed25519(seal(2, "a")), false).unwrap();
    seals
        .insert(
            Seal::Unknown {
                algorithm: 7,
                content: vec![],
            },
            false,
        )
        .unwrap();
    let (one, two) = (secret(1).public().id(), secret(2).public().id());
    assert_eq!(
        policy.assess_seals(file(), &seals, at(NOW)).to_string(),
        format!(
            "the trust policy needs 1 signer and finds 0 among 3 seals: key {one} (`one`) expired after \
             2026-01-01T00:00:00Z; key {two} is not trusted; a seal is of the unknown algorithm 7"
        )
    );
    let none = policy
        .assess_seals(file(), &Seals::default(), at(NOW))
        .to_string();
    assert_eq!(none, "the trust policy needs 1 signer and finds 0 among 0 seals");
}

/// The example of the documentation, with one line replaced, or added where there is none to replace.
fn edited(from: &str, to: &str) -> String {
    let text = format!(
        "version = 1\nsigners = 1\n\n[[keys]]\nname = \"one\"\npublic_key = \"{}\"\nscopes = [\"a/*\"]\n\
         not_before = 2026-01-01T00:00:00Z\nnot_after = 2026-12-31T23:59:59Z\n\n\
         [[revoked_keys]]\npublic_key = \"{}\"\nreason = \"lost\"\n\n\
         [[revoked_files]]\nfile_digest = \"{}\"\nreason = \"wrong\"\n",
        public(1),
        public(2),
        file()
    );
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn trust_files_that_are_refused() {
    TrustPolicy::parse(&edited("version", "version")).unwrap();
    let again = format!(
        "[[keys]]\nname = \"two\"\npublic_key = \"{}\"\nscopes = [\"*\"]\n",
        public(1)
    );
    let cases = [
        ("version = 1", "", "the trust file has not the form of one"),
        (
            "version = 1",
            "version = 2",
            "the trust file has version 2, this tool reads 1; upgrade the tool",
        ),
        (
            "version = 1",
            "version = 1\nextra = 1",
            "the trust file has not the form of one",
        ),
        ("signers = 1", "", "the trust file has not the form of one"),
        (
            "signers = 1",
            "signers = \"1\"",
            "the trust file has not the form of one",
        ),
        (
            "signers = 1",
            "signers = -1",
            "the trust file has not the form of one",
        ),
        (
            "signers = 1",
            "signers = 0",
            "`signers = 0` cannot stand: one key can count (it is trusted and not revoked), so write 1",
        ),
        (
            "signers = 1",
            "signers = 2",
            "`signers = 2` cannot stand: one key can count (it is trusted and not revoked), so write 1",
        ),
        ("[[keys]]", "[[key]]", "the trust file has not the form of one"),
        (
            "name = \"one\"",
            "name = \"one\"\nscope = \"*\"",
            "the trust file has not the form of one",
        ),
        (
            "name = \"one\"",
            "name = \"\"",
            "the name of a key is one line of 1 to 255 bytes",
        ),
        (
            "name = \"one\"",
            "name = \"a\\nb\"",
            "the name of a key is one line of 1 to 255 bytes",
        ),
        ("ed25519:", "", "the key `one` is malformed"),
        ("scopes = [\"a/*\"]", "", "the trust file has not the form of one"),
        (
            "scopes = [\"a/*\"]",
            "scopes = []",
            "the key `one` is believed for no scope; `[\"*\"]` believes it for any",
        ),
        ("\"a/*\"", "\"*/a\"", "the scope `*/a` is malformed"),
        ("\"a/*\"", "\"**\"", "the scope `**` is malformed"),
        (
            "2026-01-01T00:00:00Z",
            "2026-01-01",
            "a date of the key `one` is wrong",
        ),
        (
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "a date of the key `one` is wrong",
        ),
        (
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.5Z",
            "a date of the key `one` is wrong",
        ),
        (
            "2026-01-01T00:00:00Z",
            "\"2026-01-01T00:00:00Z\"",
            "the trust file has not the form of one",
        ),
        (
            "2026-01-01T00:00:00Z",
            "2027-01-01T00:00:00Z",
            "the key `one` ends before it begins: not_after is before not_before",
        ),
        ("reason = \"lost\"", "", "the trust file has not the form of one"),
        (
            "reason = \"lost\"",
            "reason = \"\"",
            "the reason of a revocation is one line of 1 to 255 bytes",
        ),
        (
            &public(2),
            &public(1),
            "`signers = 1` cannot stand: no key of the file can count, so add one that is not revoked",
        ),
        (&public(2), "ed25519:00", "a revoked key is malformed"),
        (
            &file().to_string(),
            "abc",
            "the file digest `abc` is not 64 hexadecimal digits",
        ),
        (
            "[[revoked_keys]]",
            &format!("{again}[[revoked_keys]]"),
            &format!("`{}` is named twice", public(1)),
        ),
        (
            "[[revoked_keys]]",
            &format!("{}[[revoked_keys]]", again.replace("two", "one")),
            "`one` is named twice",
        ),
        (
            "version = 1",
            "version = ",
            "the trust file has not the form of one",
        ),
    ];
    for (from, to, expected) in cases {
        let text = edited(from, to);
        match TrustPolicy::parse(&text) {
            Ok(_) => panic!("accepted:\n{text}"),
            Err(error) => assert_eq!(error.to_string(), expected, "{error:?}\n{text}"),
        }
    }
    let weak = format!("ed25519:{}", "00".repeat(32));
    let error = TrustPolicy::parse(&edited(&public(1), &weak)).unwrap_err();
    assert!(
        matches!(
            &error,
            TrustFileError::Key {
                source: crate::seal::KeyError::SmallOrder,
                ..
            }
        ),
        "{error:?}"
    );
    let long = " ".repeat(crate::limits::TRUST_FILE_BYTES.max() as usize + 1);
    assert!(matches!(TrustPolicy::parse(&long), Err(TrustFileError::Limit(_))));
    let deep = format!("version = 1\nsigners = 1\nkeys = {}", "[".repeat(100_000));
    assert!(matches!(TrustPolicy::parse(&deep), Err(TrustFileError::Form(_))));
}

#[test]
fn revoked_twice_is_refused() {
    let text = format!(
        "{0}[[revoked_files]]\nfile_digest = \"{1}\"\nreason = \"again\"\n",
        edited("version", "version"),
        file()
    );
    let error = TrustPolicy::parse(&text).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` is named twice", file()));
}

/// Seconds as `date --utc --date=TEXT +%s` prints them.
#[test]
fn timestamps() {
    let cases = [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", -1),
        ("2000-02-29T12:34:56Z", 951_827_696),
        ("2000-03-01T00:00:00Z", 951_868_800),
        ("2100-02-28T23:59:59Z", 4_107_542_399),
        ("2100-03-01T00:00:00Z", 4_107_542_400),
        ("2024-12-31T23:59:59Z", 1_735_689_599),
        ("2026-01-01T00:00:00Z", 1_767_225_600),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ];
    for (text, seconds) in cases {
        assert_eq!(at(text).unix_seconds(), seconds, "{text}");
        assert_eq!(Timestamp::from_unix_seconds(seconds).to_string(), text);
    }
    assert_eq!(at("2026-01-01T01:30:00+01:30"), at("2026-01-01T00:00:00Z"));
    assert_eq!(at("2025-12-31T19:00:00-05:00"), at("2026-01-01T00:00:00Z"));
    // Any number is printed.
    let ends = [i64::MIN, i64::MAX].map(|seconds| Timestamp::from_unix_seconds(seconds).to_string());
    assert!(ends.iter().all(|text| text.ends_with('Z')), "{ends:?}");
}

#[test]
fn days_that_are_not_in_the_calendar() {
    let date = |year, month, day| toml::value::Datetime {
        date: Some(toml::value::Date { year, month, day }),
        time: Some(toml::value::Time {
            hour: 0,
            minute: 0,
            second: None,
            nanosecond: None,
        }),
        offset: Some(toml::value::Offset::Z),
    };
    for (year, month, day) in [
        (2026, 0, 1),
        (2026, 13, 1),
        (2026, 1, 0),
        (2026, 4, 31),
        (2026, 2, 29),
        (2100, 2, 29),
    ] {
        assert_eq!(
            Timestamp::of_toml(&date(year, month, day)),
            Err(TimestampError::Date),
            "{year} {month} {day}"
        );
    }
    assert!(Timestamp::of_toml(&date(2000, 2, 29)).is_ok());
}
