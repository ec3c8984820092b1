//! `artifact keygen`, `sign`, `verify`, and `run --trust`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{ADD, Scratch, run};

/// An artifact and the keys `one` and `two`.
struct Sealing {
    scratch: Scratch,
    file: PathBuf,
}

impl Sealing {
    fn new() -> Self {
        let scratch = Scratch::new();
        let (program, file) = (scratch.file("add.mlir", ADD), scratch.path("add.artifact"));
        run(&[&"export", &program, &"-o", &file]).expect(0);
        for name in ["one", "two"] {
            run(&[&"keygen", &"-o", &scratch.path(name), &"--comment", &name]).expect(0);
        }
        Self { scratch, file }
    }

    fn key(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// A line of the file of a public key.
    fn public(&self, name: &str, line: &str) -> String {
        let text = std::fs::read_to_string(self.scratch.path(&format!("{name}.pub"))).unwrap();
        let mut values = text.lines().filter_map(|found| found.strip_prefix(line));
        values.next().unwrap().trim_start_matches(": ").to_owned()
    }

    fn sign(&self, name: &str, scope: &str) {
        let options = ["--scope", scope, "--comment", "by hand"];
        run(&[
            &"sign",
            &self.file,
            &"--key",
            &self.key(name),
            &options[0],
            &options[1],
            &options[2],
            &options[3],
        ])
        .expect(0)
        .says("sealed by key");
    }

    /// A trust file that asks for `signers` of `names`; `more` stands in the entry of the last.
    fn trust(&self, signers: u16, names: &[&str], more: &str) -> PathBuf {
        let keys: String = names
            .iter()
            .map(|name| {
                let key = self.public(name, "public");
                format!("[[keys]]\nname = \"{name}\"\npublic_key = \"{key}\"\nscopes = [\"prod/*\"]\n")
            })
            .collect();
        let text = format!("version = 1\nsigners = {signers}\n{keys}{more}\n");
        self.scratch.file("trust.toml", text)
    }

    #[track_caller]
    fn check(&self, trust: &Path, code: i32, says: &str) {
        run(&[&"verify", &self.file, &"--trust", &trust])
            .expect(code)
            .says(says);
        let ran = run(&[&"run", &self.file, &"--random", &"1", &"--trust", &trust]).expect(code);
        if code != 0 {
            ran.says(says).says("is not trusted by");
        }
    }
}

#[test]
fn keys_are_made_once_and_for_their_owner() {
    let scratch = Scratch::new();
    let path = scratch.path("release.key");
    let made = run(&[&"keygen", &"-o", &path]).expect(0).out;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(scratch.names(), ["release.key", "release.key.pub"]);
    let public = std::fs::read_to_string(scratch.path("release.key.pub")).unwrap();
    let key = made.lines().last().unwrap();
    assert!(public.starts_with("artifact public key v1\nid: "), "{public}");
    assert!(public.contains(&format!("\npublic: {key}\n")), "{public}{made}");
    let before = std::fs::read(&path).unwrap();
    assert!(
        !made.contains(
            std::str::from_utf8(&before)
                .unwrap()
                .split("secret: ")
                .nth(1)
                .unwrap()
                .trim()
        )
    );
    run(&[&"keygen", &"-o", &path])
        .expect(3)
        .says("no key was made")
        .says("neither a key nor its .pub");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let other = scratch.path("other.key");
    run(&[&"keygen", &"-o", &other, &"--comment", &"a\nb"]).expect(2);
    run(&[&"keygen", &"-o", &scratch.path("none/key")])
        .expect(3)
        .says("there is no directory")
        .says("help: make the folder first");
    run(&[&"keygen", &"-o", &other]).expect(0);
    assert_ne!(std::fs::read(&other).unwrap(), before);
}

#[test]
fn sealed_verified_and_run() {
    let sealing = Sealing::new();
    let trust = sealing.trust(1, &["one"], "");
    sealing.check(
        &trust,
        5,
        "the trust policy needs 1 signer and finds 0 among 0 seals",
    );
    let before = std::fs::read(&sealing.file).unwrap();
    sealing.sign("one", "prod/add");
    assert!(std::fs::read(&sealing.file).unwrap().starts_with(&before));
    sealing.check(&trust, 0, "met: the trust policy needs 1 signer");
    // Who does not care about seals reads it as before.
    run(&[&"run", &sealing.file, &"--random", &"1"]).expect(0);
    run(&[&"inspect", &sealing.file])
        .expect(0)
        .says("`artifact verify` checks them");
    run(&[&"verify", &sealing.file])
        .expect(0)
        .says("valid: key ")
        .says(" has signed this file; scope `prod/add`")
        .says("none was given, so no seal counts");
}

#[test]
fn several_signers() {
    let sealing = Sealing::new();
    let trust = sealing.trust(2, &["one", "two"], "");
    sealing.sign("one", "prod/add");
    let id = sealing.public("one", "id");
    sealing.check(
        &trust,
        5,
        &format!("needs 2 signers and finds 1 among 1 seal: key {id} (`one`) counts"),
    );
    run(&[&"sign", &sealing.file, &"--key", &sealing.key("one")])
        .expect(3)
        .says(&format!("error: the key {id} has sealed "))
        .says("already, and nothing was changed\n  help: --replace")
        .says("in the place of the old one");
    sealing.sign("two", "prod/add");
    sealing.check(&trust, 0, "finds 2 among 2 seals");
    run(&[
        &"sign",
        &sealing.file,
        &"--key",
        &sealing.key("two"),
        &"--replace",
    ])
    .expect(0)
    .says("seal replaced");
    // The new seal is for no scope.
    sealing.check(&trust, 5, "(`two`) is not trusted for the scope ``");
}

#[test]
fn why_a_seal_does_not_count() {
    let sealing = Sealing::new();
    sealing.sign("one", "prod/add");
    let digest = {
        let shown = run(&[&"inspect", &sealing.file, &"--json"]).expect(0).out;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        shown["file_digest"].as_str().unwrap().to_owned()
    };
    let (one, two) = (sealing.public("one", "public"), sealing.public("two", "public"));
    let revoked = format!("[[revoked_keys]]\npublic_key = \"{one}\"\nreason = \"lost\"");
    let file = format!("[[revoked_files]]\nfile_digest = \"{digest}\"\nreason = \"wrong weights\"");
    let another = format!("[[keys]]\nname = \"x\"\npublic_key = \"{two}\"\nscopes = [\"*\"]\n");
    let policies = [
        (1, &["two"][..], String::new(), "is not trusted"),
        (
            1,
            &["one"],
            "not_before = 9000-01-01T00:00:00Z".to_owned(),
            "is not valid before 9000-01-01T00:00:00Z",
        ),
        (
            1,
            &["one"],
            "not_after = 2000-01-01T00:00:00+01:00".to_owned(),
            "expired after 1999-12-31T23:00:00Z",
        ),
        (1, &["one"], format!("{another}{revoked}"), "is revoked: lost"),
        (1, &["one"], file, "revokes the file"),
    ];
    for (signers, names, more, says) in policies {
        sealing.check(&sealing.trust(signers, names, &more), 5, says);
    }
}

#[test]
fn findings_as_json() {
    let sealing = Sealing::new();
    sealing.sign("one", "prod/add");
    sealing.sign("two", "test");
    let trust = sealing.trust(1, &["one"], "");
    let found = run(&[&"verify", &sealing.file, &"--trust", &trust, &"--json"])
        .expect(0)
        .out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["seals"][0]["status"], "trusted");
    assert_eq!(found["seals"][0]["name"], "one");
    assert_eq!(found["seals"][0]["key_id"], sealing.public("one", "id").as_str());
    assert_eq!(found["seals"][0]["scope"], "prod/add");
    assert_eq!(found["seals"][1]["status"], "untrusted");
    assert_eq!(
        found["seals"][1]["public_key"],
        sealing.public("two", "public").as_str()
    );
    assert_eq!(found["policy"]["is_met"], true);
    let bare = run(&[&"verify", &sealing.file, &"--json"]).expect(0).out;
    let bare: serde_json::Value = serde_json::from_str(&bare).unwrap();
    assert_eq!(bare["seals"][0]["status"], "valid");
    assert!(bare["policy"].is_null());
}

#[test]
fn damage() {
    let sealing = Sealing::new();
    let plain = std::fs::read(&sealing.file).unwrap();
    sealing.sign("one", "prod/add");
    let trust = sealing.trust(1, &["one"], "");
    let sealed = std::fs::read(&sealing.file).unwrap();
    // In the seal: who needs it refuses, who does not reads on, and `verify` says so either way.
    let mut bytes = sealed.clone();
    bytes[plain.len() + 60] ^= 1;
    let bad = sealing.scratch.file("bad.artifact", &bytes);
    run(&[&"verify", &bad])
        .expect(3)
        .says("the seal block is damaged");
    run(&[&"run", &bad, &"--random", &"1", &"--trust", &trust])
        .expect(5)
        .says("nobody vouches for it")
        .says("the seal block is damaged");
    run(&[&"run", &bad, &"--random", &"1"]).expect(0);
    run(&[&"sign", &bad, &"--key", &sealing.key("two")])
        .expect(3)
        .says("the seal block is damaged");
    // A lie in the seal with a good checksum.
    artifact_container::fuzzing::reseal(&mut bytes);
    let lie = sealing.scratch.file("lie.artifact", &bytes);
    run(&[&"verify", &lie]).expect(1).says("invalid");
    run(&[&"verify", &lie, &"--trust", &trust])
        .expect(5)
        .says("is invalid");
    // The seals of one file behind another.
    let other = sealing.scratch.file("other.mlir", ADD.replace("@add", "@sum"));
    let moved = sealing.scratch.path("moved.artifact");
    run(&[&"export", &other, &"-o", &moved]).expect(0);
    let moved = [std::fs::read(&moved).unwrap().as_slice(), &sealed[plain.len()..]].concat();
    let moved = sealing.scratch.file("moved.artifact", moved);
    run(&[&"verify", &moved]).expect(1).says("invalid");
    run(&[&"run", &moved, &"--random", &"1", &"--trust", &trust])
        .expect(5)
        .says("is invalid");
}

#[test]
fn what_cannot_be_used() {
    let sealing = Sealing::new();
    let (key, public) = (sealing.key("one"), sealing.key("one.pub"));
    let program = sealing.scratch.file("p.mlir", ADD);
    let refused = run(&[&"sign", &program, &"--key", &key]).expect(3);
    assert!(!refused.err.contains("--replace"), "{}", refused.err);
    refused.says("p.mlir is not an artifact, and only an artifact has seals");
    run(&[&"sign", &sealing.file, &"--key", &program])
        .expect(3)
        .says("its first line is not");
    for mode in [0o644, 0o600] {
        std::fs::set_permissions(&public, std::fs::Permissions::from_mode(mode)).unwrap();
        let refused = run(&[&"sign", &sealing.file, &"--key", &public]).expect(3);
        assert!(!refused.err.contains("chmod"), "{}", refused.err);
        refused.says("it is a public key");
    }
    run(&[&"sign", &sealing.file, &"--key", &key, &"--scope", &"a b"]).expect(2);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    run(&[&"sign", &sealing.file, &"--key", &key])
        .expect(3)
        .says("chmod 600");
    let trust = sealing.trust(1, &["one"], "");
    run(&[&"run", &program, &"--random", &"1", &"--trust", &trust])
        .expect(3)
        .says("p.mlir is not an artifact, and --trust needs one: nothing else has seals");
    run(&[&"verify", &program])
        .expect(3)
        .says("p.mlir is not an artifact, and nothing else has digests and seals");
    let wrong = sealing
        .scratch
        .file("wrong.toml", "version = 1\nsigners = 1\nsigner = 2\n");
    run(&[&"verify", &sealing.file, &"--trust", &wrong])
        .expect(3)
        .says("unknown field `signer`");
    run(&[&"run", &sealing.file, &"--trust", &sealing.scratch.path("none")]).expect(3);
}

#[test]
fn what_is_made_of_a_sealed_file_says_that_it_has_no_seal() {
    let scratch = Scratch::new();
    let text = ADD.replace("2x3", "?x3").replace(
        "stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<?x3xf32>",
        "chlo.broadcast_add %arg0, %arg1 : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>",
    );
    let text = text.replace("stablehlo.add %arg0, %0", "stablehlo.add %0, %0");
    let (program, file) = (scratch.file("p.mlir", text), scratch.path("p.artifact"));
    run(&[&"export", &program, &"--shapes", &"x: (b, 3)", &"-o", &file]).expect(0);
    let key = scratch.path("key");
    run(&[&"keygen", &"-o", &key]).expect(0);
    run(&[&"sign", &file, &"--key", &key]).expect(0);
    run(&[&"convert", &file]).expect(0).says("are not carried over");
    let made = scratch.path("made.artifact");
    run(&[&"specialize", &file, &"--dim", &"b=2", &"-o", &made])
        .expect(0)
        .says("are not carried over");
    let digest = |file: &Path| {
        let shown = run(&[&"inspect", &file, &"--json"]).expect(0).out;
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()
    };
    let (of, made) = (digest(&file), digest(&made));
    assert_eq!(made["manifest"]["metadata"]["sealed-original"], of["file_digest"]);
    assert_eq!(
        (of["is_sealed"].clone(), made["is_sealed"].clone()),
        (true.into(), false.into())
    );
}
