//! The manifest's own rules, and what it makes of older and newer data.

use super::*;

fn manifest() -> Manifest {
    Manifest {
        producer: Producer {
            name: "p".into(),
            version: "1".into(),
            released: None,
        },
        program: ProgramFormat {
            name: "f".into(),
            version: "1.0.0".into(),
        },
        signature: Signature {
            function: "main".into(),
            inputs: vec![],
            outputs: vec![],
        },
        platforms: vec![],
        required_features: vec!["a".into(), "b".into()],
        calling_convention: 1,
        custom_calls: vec![],
        custom_call_waivers: vec![],
        constants: vec![],
        dimensions: None,
        interface: None,
        derivatives: vec![],
        created: None,
        metadata: BTreeMap::new(),
    }
}

/// What a newer writer adds is ignored, at the top and within.
#[test]
fn unknown_fields_are_ignored() {
    let bytes = manifest().encode().unwrap();
    assert_eq!(bytes[0], 0x8a, "ten fields");
    let newer = [&[0x8b][..], &bytes[1..], b"\xa5newer\x81\xa1x\x92\x01\xc0"].concat();
    assert_eq!(Manifest::decode(&newer).unwrap(), manifest());
    let producer = b"\x82\xa4name\xa1p";
    let at = bytes
        .windows(producer.len())
        .position(|window| window == producer)
        .unwrap();
    let within = [&bytes[..at], b"\x83\xa2zz\x90", &bytes[at + 1..]].concat();
    assert_eq!(Manifest::decode(&within).unwrap(), manifest());
}

#[test]
fn missing_and_mistyped_fields_are_refused() {
    let refused = |from: &[u8], to: &[u8]| {
        let bytes = manifest().encode().unwrap();
        let at = bytes
            .windows(from.len())
            .position(|window| window == from)
            .unwrap();
        let changed = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        let error = Manifest::decode(&changed).unwrap_err().read(None);
        let source = std::error::Error::source(&error).unwrap();
        format!(
            "{source}: {}",
            source.source().map(ToString::to_string).unwrap_or_default()
        )
    };
    assert!(refused(b"\xa8producer", b"\xa8producet").contains("missing field `producer`"));
    assert!(
        refused(b"\xb2calling_convention\x01", b"\xb2calling_convention\xff").contains("cannot be decoded")
    );
    assert!(refused(b"\x92\xa1a\xa1b", b"\x92\xa1b\xa1a").contains("not sorted"));
    assert!(refused(b"\x92\xa1a\xa1b", b"\x92\xa1a\xa1a").contains("not sorted"));
    assert!(refused(b"\xa51.0.0", b"\xa51.0.x").contains("not a version of the form MAJOR.MINOR.PATCH"));
    let stray = refused(b"custom_call_waivers\x90", b"custom_call_waivers\x91\xa1t");
    assert!(stray.contains("waiver for the custom call `t`"), "{stray}");
}

#[test]
fn the_release_date_is_a_day_and_required_since_1_0() {
    let mut dated = manifest();
    dated.producer.released = Date::new(2026, 11, 30);
    let bytes = dated.encode().unwrap();
    assert_eq!(Manifest::decode(&bytes).unwrap(), dated);
    assert!(dated.check_version(FormatVersion::new(1, 0)).is_ok());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(
        text.contains("\u{fffd}2026-11-30") && text.contains("\u{fffd}released"),
        "{text:?}"
    );
    let at = bytes
        .windows(10)
        .position(|window| window == b"2026-11-30")
        .unwrap();
    let wrong = [&bytes[..at], b"2026-11-31", &bytes[at + 10..]].concat();
    assert!(Manifest::decode(&wrong).is_err() && Preamble::decode(&wrong).is_err());
    assert!(manifest().check_version(FormatVersion::new(1, 0)).is_err());
    assert!(manifest().check_version(FormatVersion::new(0, 9)).is_ok());
}

/// A later version may give any other field another form: what decides is read all the same.
#[test]
fn the_preamble_needs_nothing_else() {
    let bytes = manifest().encode().unwrap();
    let at = bytes
        .windows(9)
        .position(|window| window == b"signature")
        .unwrap();
    let later = [&bytes[..at], b"signatuRe", &bytes[at + 9..]].concat();
    assert!(Manifest::decode(&later).is_err());
    let preamble = Preamble::decode(&later).unwrap();
    assert_eq!(preamble.features, ["a", "b"]);
    assert_eq!(preamble.program_version, ProgramVersion::new(1, 0, 0));
}

#[test]
fn constants_are_the_arguments_after_the_inputs() {
    let constant = |argument| Constant {
        argument,
        section: "constant/0".into(),
        dtype: "f32".into(),
        shape: vec![1],
        digest: RawDigest::new(Digest::of(b"")),
    };
    let check = |arguments: &[u32]| {
        let mut manifest = manifest();
        let shape = Some(vec![
            Dim::Size(u64::MAX),
            Dim::Unknown,
            Dim::Expression("n".into()),
        ]);
        manifest.signature.inputs = vec![Value {
            name: "x".into(),
            dtype: "f32".into(),
            shape,
        }];
        manifest.constants = arguments.iter().copied().map(constant).collect();
        manifest
            .encode()
            .and_then(|bytes| Manifest::decode(&bytes))
            .map(|back| assert_eq!(back, manifest))
    };
    assert!(check(&[]).is_ok() && check(&[1, 2]).is_ok());
    for wrong in [&[0][..], &[2], &[1, 1], &[1, 3]] {
        assert!(check(wrong).is_err(), "{wrong:?}");
    }
}
