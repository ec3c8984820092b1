//! What programs may rely on: `docs/json.md` and the output of `--json`.

use std::path::Path;

use artifact_forge::Forgery;
use serde_json::Value;

use crate::{ADD, Scratch, artifact, ended, run};

/// The pointers that a section of the page lists.
fn documented(section: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let heading = format!("\n## {section}\n");
    let (_, text) = page.split_once(&heading).unwrap();
    let rows = text.split("\n## ").next().unwrap().lines();
    let cells = rows.filter_map(|row| row.strip_prefix("| `/")?.split(" | ").next());
    let fields = cells.flat_map(|cell| cell.split(", "));
    let pointers: Vec<String> = fields
        .map(|field| format!("/{}", field.trim_start_matches("`/").trim_end_matches('`')))
        .collect();
    assert!(!pointers.is_empty(), "{section}");
    pointers
}

/// Every field that the page lists is in the output.
#[track_caller]
fn check(section: &str, printed: &str) -> Value {
    let value: Value = serde_json::from_str(printed).unwrap();
    for pointer in documented(section) {
        assert!(value.pointer(&pointer).is_some(), "no {pointer} in {value:#}");
    }
    value
}

#[test]
fn the_page_is_true() {
    let scratch = Scratch::new();
    let (program, file) = (scratch.file("add.mlir", ADD), scratch.path("add.artifact"));
    run(&[&"export", &program, &"-o", &file]).expect(0);
    let of_artifact = run(&[&"inspect", &file, &"--json"]).expect(0).out;
    check("`inspect --json` of an artifact", &of_artifact);
    let section = "`inspect --json` of another program, and with `--program`";
    for inspected in [&program, &file] {
        let of_program = run(&[&"inspect", inspected, &"--json", &"--program"])
            .expect(0)
            .out;
        check(section, &of_program);
    }

    let key = scratch.path("key");
    let public = run(&[&"keygen", &"-o", &key]).expect(0).out;
    run(&[&"sign", &file, &"--key", &key]).expect(0);
    let trust = format!(
        "version = 1\nsigners = 1\n[[keys]]\nname = \"k\"\npublic_key = \"{}\"\nscopes = [\"*\"]\n",
        public.lines().last().unwrap()
    );
    let trust = scratch.file("trust.toml", trust);
    let verified = run(&[&"verify", &file, &"--json", &"--trust", &trust])
        .expect(0)
        .out;
    check("`verify --json`", &verified);

    let ran = run(&[&"run", &program, &"--random", &"1", &"--json", &"--profile"])
        .expect(0)
        .out;
    check("`run --json`", &ran);

    let checked = run(&[&"check", &program, &"--json"]).expect(0).out;
    check("`check --json`", checked.lines().next().unwrap());

    let absent = Path::new("/absent.so");
    let mut doctor = artifact();
    doctor
        .env("ARTIFACT_PJRT_PLUGIN", absent)
        .args(["doctor", "--json"]);
    let found = check("`doctor --json`", &ended(doctor.output().unwrap()).expect(0).out);
    let plugin = &found["plugins"][0];
    assert_eq!(
        (&plugin["path"], &plugin["name"]),
        (&"/absent.so".into(), &Value::Null)
    );
    assert!(plugin["unusable"].is_string());
}

#[test]
fn failures() {
    let scratch = Scratch::new();
    let (program, file) = (scratch.file("add.mlir", ADD), scratch.path("add.artifact"));
    run(&[&"export", &program, &"-o", &file]).expect(0);
    let newer = Forgery::of(&std::fs::read(&file).unwrap())
        .version([9, 9])
        .write();
    let newer = scratch.file("newer.artifact", newer);
    let printed = run(&[&"inspect", &newer, &"--json"]).expect(4).out;
    let value = check("Failures", &printed);
    assert_eq!(value["error"]["kind"], "container-too-new");
    for field in [
        "kind",
        "message",
        "file",
        "reader",
        "written_by",
        "readable_by",
        "remedy",
    ] {
        assert!(value["error"]["incompatible"].get(field).is_some(), "{field}");
    }
    let junk = scratch.file("junk", "hello");
    let printed = run(&[&"inspect", &junk, &"--json"]).expect(3).out;
    assert_eq!(check("Failures", &printed)["error"]["kind"], "bad-input");
}
