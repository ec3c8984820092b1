//! `artifact upgrade`.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{ADD, Scratch, artifact, ended, run};

fn old() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/artifacts/v0_9/symbolic_rows.artifact")
}

fn inspected(file: &Path) -> Value {
    serde_json::from_str(&run(&[&"inspect", &file, &"--json"]).expect(0).out).unwrap()
}

#[test]
fn in_place_and_beside() {
    let scratch = Scratch::new();
    let file = scratch.file("m.artifact", std::fs::read(old()).unwrap());
    let beside = scratch.path("beside.artifact");
    let before = inspected(&file);
    assert_eq!(before["compatibility"]["readable_until"], Value::Null);
    run(&[&"inspect", &file]).expect(0).says("no promise");

    run(&[&"upgrade", &file, &"-o", &beside])
        .expect(0)
        .says("container 0.9 -> 1.0")
        .says("producer artifact 0.1.0, a preview -> artifact 0.1.0, released ")
        .says(", as before\n  container")
        .says("  content digest ");
    assert_eq!(inspected(&file), before, "the old file stays");
    run(&[&"upgrade", &file]).expect(0).says("m.artifact: ");
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(&beside).unwrap());

    let after = inspected(&file);
    assert_eq!(
        after["manifest"]["metadata"]["upgraded-from"],
        before["file_digest"]
    );
    assert_eq!(after["manifest"]["dimensions"], before["manifest"]["dimensions"]);
    assert_eq!(
        after["manifest"]["required_features"],
        before["manifest"]["required_features"]
    );
    assert!(after["compatibility"]["readable_until"].is_string());
    assert_eq!(scratch.names(), ["beside.artifact", "m.artifact"]);
}

#[test]
fn what_is_current_stays_as_it_is() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let (file, copy) = (scratch.path("add.artifact"), scratch.path("copy.artifact"));
    run(&[&"export", &program, &"-o", &file]).expect(0);
    let bytes = std::fs::read(&file).unwrap();
    run(&[&"upgrade", &file]).expect(0).says("container 1.0 already");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    let ended = run(&[&"upgrade", &file, &"-o", &copy]).expect(0);
    ended.says(&format!("{} is a copy of it", copy.display()));
    assert_eq!(std::fs::read(&copy).unwrap(), bytes);
}

#[test]
fn what_is_damaged_or_no_artifact_is_refused() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    run(&[&"upgrade", &program])
        .expect(3)
        .says("is not an artifact, and");
    let mut bytes = std::fs::read(old()).unwrap();
    // In the program, which no reader of the manifest looks at.
    bytes[200] ^= 1;
    let file = scratch.file("bad.artifact", &bytes);
    run(&[&"upgrade", &file])
        .expect(3)
        .says("section `program` is damaged");
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "the file is left as it was");
    run(&[&"upgrade", &file, &"-o", &file])
        .expect(2)
        .says("over the input");
}

#[test]
fn through_a_link() {
    let scratch = Scratch::new();
    let file = scratch.file("m.artifact", std::fs::read(old()).unwrap());
    let link = scratch.path("latest.artifact");
    std::os::unix::fs::symlink("m.artifact", &link).unwrap();
    run(&[&"upgrade", &link]).expect(0).says("container 0.9 -> 1.0");
    assert!(link.is_symlink());
    run(&[&"upgrade", &file]).expect(0).says("container 1.0 already");
}

/// Of `upgrade` and `sign` at once, both would report success, and one would lose what it did.
#[test]
fn while_it_is_being_signed() {
    let scratch = Scratch::new();
    let file = scratch.file("m.artifact", std::fs::read(old()).unwrap());
    let key = scratch.path("key");
    run(&[&"keygen", &"-o", &key]).expect(0);
    let signing = artifact_container::atomic::Original::lock(&file).unwrap();
    let says = "another process is rewriting the file";
    run(&[&"upgrade", &file]).expect(3).says(says);
    run(&[&"sign", &file, &"--key", &key]).expect(3).says(says);
    let program = scratch.file("add.mlir", ADD);
    run(&[&"export", &program, &"-o", &file]).expect(3).says(says);
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(old()).unwrap());
    // To read it is to disturb nobody.
    run(&[&"upgrade", &file, &"-o", &scratch.path("other")]).expect(0);
    drop(signing);
    run(&[&"upgrade", &file]).expect(0);
    run(&[&"sign", &file, &"--key", &key]).expect(0);
}

/// Who may write to a folder may replace a file of somebody else there; that file does not become his in silence.
#[test]
fn of_somebody_else() {
    let scratch = Scratch::new();
    let file = scratch.file("m.artifact", std::fs::read(old()).unwrap());
    // Only root can act for another.
    if std::fs::metadata(&file).unwrap().uid() != 0 {
        return;
    }
    for path in [scratch.0.path(), &file] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let nobody = 65_534;
    let upgrade = |more: &[&dyn AsRef<OsStr>]| {
        let mut command = artifact();
        command.uid(nobody).gid(nobody).arg("upgrade").arg(&file);
        command
            .args(more.iter().map(|argument| argument.as_ref()))
            .output()
    };
    let other = scratch.path("other.artifact");
    // Where the program was built, others may have no access.
    if let Ok(output) = upgrade(&[]) {
        ended(output)
            .expect(3)
            .says("would not belong to user 0 and group 0");
        assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(old()).unwrap());
        assert_eq!(scratch.names(), ["m.artifact"]);
        ended(upgrade(&[&"-o", &other]).unwrap()).expect(0);
    }
    std::os::unix::fs::chown(&file, Some(nobody), Some(nobody)).unwrap();
    run(&[&"upgrade", &file]).expect(0);
    let after = std::fs::metadata(&file).unwrap();
    assert_eq!(
        (after.uid(), after.gid(), after.mode() & 0o777),
        (nobody, nobody, 0o777)
    );
}
