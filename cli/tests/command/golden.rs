//! Artifacts of every released version, in `fixtures/artifacts`: each is verified, run on its inputs, and compared.
//! `cargo xtask goldens` sees to it that none ever changes.

use std::path::{Path, PathBuf};

use artifact_container::release::READER_RELEASES;
use serde_json::Value;

use crate::{Scratch, run};

/// Every golden artifact with the version that its folder names, such as `0.9`.
fn goldens() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/artifacts");
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut entries: Vec<PathBuf> = entries.collect();
        entries.sort();
        entries
    };
    let mut goldens = Vec::new();
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let version = name.strip_prefix('v').unwrap().replace('_', ".");
        let artifacts = entries(&folder)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == "artifact"));
        let before = goldens.len();
        goldens.extend(artifacts.map(|path| (version.clone(), path)));
        assert!(goldens.len() > before, "{} has no artifact", folder.display());
    }
    goldens
}

fn inspected(file: &Path) -> Value {
    run(&[&"verify", &file]).expect(0);
    let shown = run(&[&"inspect", &file, &"--json"]).expect(0).out;
    serde_json::from_str(&shown).unwrap()
}

/// Runs an artifact on the inputs beside `golden` with every engine, and compares with the results there.
fn runs(file: &Path, golden: &Path) {
    let beside = |suffix: &str| golden.with_extension(suffix);
    let (inputs, expected) = (beside("inputs.npz"), beside("expected.npz"));
    // One of its results is the position of the largest of numbers that differ by their last bit: the evaluator alone, in whose
    // order they were summed, has to find the one that is stored.
    let is_ambiguous = golden.file_stem().is_some_and(|name| name == "symbolic_rows");
    for engine in ["reference", "cpu"] {
        let ended = run(&[
            &"run",
            &file,
            &"--engine",
            &engine,
            &"--inputs",
            &inputs,
            &"--expect",
            &expected,
            &"--rtol",
            &"1e-5",
            &"--atol",
            &"1e-5",
        ]);
        if is_ambiguous && engine == "cpu" {
            assert!(
                ended.out.contains("2 of 3 results agree") || ended.out.contains("3 of 3"),
                "{}",
                ended.out
            );
        } else {
            ended.expect(0).says("results agree");
        }
    }
}

/// The trust file beside `golden`: versions before 1.0 have no seals.
fn trust(golden: &Path) -> Option<PathBuf> {
    let trust = golden.with_file_name("trust.toml");
    trust.exists().then_some(trust)
}

#[test]
fn every_released_version_has_artifacts() {
    let found: Vec<String> = goldens().into_iter().map(|(version, _)| version).collect();
    for release in READER_RELEASES {
        let version = release.container.to_string();
        assert!(found.contains(&version), "container {version}");
    }
}

#[test]
fn every_released_artifact_is_read_and_runs() {
    let goldens = goldens();
    assert!(goldens.len() >= 2);
    for (version, golden) in goldens {
        let shown = inspected(&golden);
        assert_eq!(shown["container_version"], version, "{}", golden.display());
        assert_eq!(shown["compatibility"]["reads"], true);
        runs(&golden, &golden);
    }
}

#[test]
fn every_released_seal_is_trusted() {
    let mut sealed = 0;
    for (version, golden) in goldens() {
        let Some(trust) = trust(&golden) else {
            assert_eq!(version, "0.9");
            continue;
        };
        run(&[&"verify", &golden, &"--trust", &trust]).expect(0);
        sealed += 1;
    }
    assert!(sealed > 0);
}

/// What is upgraded is of this version, says what it was made of, and computes the same.
#[test]
fn every_released_artifact_is_upgraded() {
    let scratch = Scratch::new();
    for (version, golden) in goldens() {
        let upgraded = scratch.path("upgraded.artifact");
        let said = run(&[&"upgrade", &golden, &"-o", &upgraded]).expect(0);
        runs(&upgraded, &golden);
        let (old, new) = (inspected(&golden), inspected(&upgraded));
        assert_eq!(new["container_version"], "1.0");
        assert_eq!(new["manifest"]["signature"], old["manifest"]["signature"]);
        assert_eq!(new["manifest"]["constants"], old["manifest"]["constants"]);
        if version != "1.0" {
            assert_eq!(new["manifest"]["metadata"]["upgraded-from"], old["file_digest"]);
            said.says(&format!("container {version} -> 1.0"));
        }
    }
}
