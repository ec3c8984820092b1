//! What commands do to files: which they read, which they pass over, which they write and which they refuse.

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::{ADD, Scratch, ended, run};

/// A program that any `check` passes.
const RUNS: &str = "func.func public @main() {\n  func.return\n}\n";

fn old() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/artifacts/v0_9/symbolic_rows.artifact")
}

#[test]
fn a_link_to_something_else_than_a_file_is_not_replaced() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let file = scratch.path("add.artifact");
    run(&[&"export", &program, &"-o", &file]).expect(0);
    let old = old();
    let dims = scratch.path("dims.artifact");
    run(&[&"upgrade", &old, &"-o", &dims]).expect(0);
    let link = scratch.path("out.npz");
    let check = |end: &str| {
        symlink(end, &link).unwrap();
        let says = "other than a regular file, which is not replaced";
        let refused = |arguments: &[&dyn AsRef<OsStr>]| run(arguments).expect(3).says(says);
        refused(&[&"export", &program, &"-o", &link]);
        refused(&[&"convert", &program, &"-o", &link]);
        refused(&[&"upgrade", &old, &"-o", &link]);
        refused(&[&"run", &file, &"--random", &"1", &"--output", &link]);
        refused(&[&"specialize", &dims, &"--dim", &"b=2", &"-o", &link]);
        assert_eq!(std::fs::read_link(&link).unwrap().as_os_str(), end);
        std::fs::remove_file(&link).unwrap();
    };
    check("/dev/null");
    // Standard output of the command is a pipe.
    check("/proc/self/fd/1");
    symlink("out.npz", &link).unwrap();
    run(&[&"export", &program, &"-o", &link])
        .expect(3)
        .says("symbolic links");
}

/// What is at the other names of a file is not rewritten, which nobody would see.
#[test]
fn other_names_of_a_file_are_counted() {
    let scratch = Scratch::new();
    let old = std::fs::read(old()).unwrap();
    let (file, key) = (scratch.file("m.artifact", &old), scratch.path("key"));
    run(&[&"keygen", &"-o", &key]).expect(0);
    let says = "m.artifact had other names (hard links): ";
    let linked = |name: &str| std::fs::hard_link(&file, scratch.path(name)).unwrap();
    linked("a");
    linked("b");
    run(&[&"upgrade", &file]).expect(0).says(&format!("{says}2;"));
    assert_eq!(std::fs::read(scratch.path("a")).unwrap(), old);
    linked("c");
    run(&[&"sign", &file, &"--key", &key])
        .expect(0)
        .says(&format!("{says}1;"));
    let again = run(&[&"sign", &file, &"--key", &key, &"--replace"]).expect(0);
    assert!(!again.err.contains("other names"), "{}", again.err);
}

#[test]
fn folders_say_what_they_pass_over() {
    let scratch = Scratch::new();
    scratch.file("p/runs.mlir", RUNS);
    scratch.file("p/a.txt", "notes");
    scratch.file("p/empty.mlir", "");
    // What is wrong is not passed over.
    let marked = scratch.file("p/marked.mlir", format!("\u{feff}{RUNS}"));
    let (folder, out) = (scratch.path("p"), scratch.path("out"));
    let says = "passed over: 2, such as";
    run(&[&"check", &folder])
        .expect(1)
        .says(says)
        .says("empty.mlir")
        .says("byte order mark");
    run(&[&"convert", &folder, &"--output-dir", &out])
        .expect(3)
        .says(says)
        .says("byte order mark")
        .says("1 of 2 files could not be converted");
    assert!(out.join("runs.mlir").is_file());
    std::fs::remove_file(marked).unwrap();
    run(&[&"check", &folder]).expect(0).says(says);
    run(&[&"convert", &folder, &"--output-dir", &out])
        .expect(0)
        .says(says);
}

#[test]
fn what_a_folder_holds_and_cannot_be_read_is_a_failure() {
    let scratch = Scratch::new();
    scratch.file("p/runs.mlir", RUNS);
    symlink("nowhere", scratch.path("p/gone.mlir")).unwrap();
    let (folder, out) = (scratch.path("p"), scratch.path("out"));
    let check = |name: &str| {
        run(&[&"check", &folder])
            .expect(1)
            .says(name)
            .says("1 passed, 1 failed");
        run(&[&"convert", &folder, &"--output-dir", &out])
            .expect(3)
            .says(name)
            .says("1 of 2 files could not be converted");
        assert!(out.join("runs.mlir").is_file());
    };
    check("gone.mlir");
    std::fs::remove_file(scratch.path("p/gone.mlir")).unwrap();
    let secret = scratch.file("p/secret.mlir", RUNS);
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o0)).unwrap();
    // Root reads every file.
    if std::fs::File::open(&secret).is_err() {
        check("secret.mlir");
    }
    std::fs::remove_file(&secret).unwrap();
    let inner = scratch.file("p/inner/runs.mlir", RUNS);
    let inner = inner.parent().unwrap();
    std::fs::set_permissions(inner, PermissionsExt::from_mode(0o0)).unwrap();
    if std::fs::read_dir(inner).is_err() {
        check("inner");
    }
    std::fs::set_permissions(inner, PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn conversion_goes_on_after_a_failure() {
    let scratch = Scratch::new();
    for name in ["a", "m", "z"] {
        scratch.file(&format!("p/{name}.mlir"), RUNS);
    }
    for name in ["b", "n"] {
        scratch.file(&format!("p/{name}.mlir"), "module @wrong {");
    }
    let out = scratch.path("out");
    let ended = run(&[&"convert", &scratch.path("p"), &"--output-dir", &out]).expect(3);
    assert_eq!(ended.err.matches("is refused").count(), 2, "{}", ended.err);
    ended.says("2 of 5 files could not be converted");
    for (name, there) in [("a", true), ("b", false), ("m", true), ("n", false), ("z", true)] {
        assert_eq!(out.join(name).with_extension("mlir").is_file(), there, "{name}");
    }
}

/// A name with a line break in it is no line of its own, wherever it is printed.
#[test]
fn names_do_not_forge_messages() {
    let scratch = Scratch::new();
    let odd = |name: &str| scratch.path(&format!("p/odd\nforged: {name}"));
    let program = scratch.file("p/odd\nforged: add.mlir", ADD);
    let wrong = scratch.file("p/odd\nforged: wrong.mlir", "module @wrong {");
    scratch.file("p/odd\nforged: text", "notes");
    let (file, link) = (odd("add.artifact"), odd("link"));
    symlink("nowhere", &link).unwrap();
    let key = odd("key");
    let commands: [&[&dyn AsRef<OsStr>]; 11] = [
        &[&"export", &program, &"-o", &file],
        &[&"keygen", &"-o", &key],
        &[&"sign", &file, &"--key", &key],
        &[&"upgrade", &file],
        &[&"upgrade", &file, &"-o", &odd("copy")],
        &[&"verify", &file],
        &[&"inspect", &wrong],
        &[&"inspect", &odd("none")],
        &[&"run", &file, &"--inputs", &odd("text")],
        &[&"check", &scratch.path("p")],
        &[
            &"convert",
            &scratch.path("p"),
            &"--output-dir",
            &scratch.path("out"),
        ],
    ];
    let mut named = 0;
    for command in commands {
        let ended = run(command);
        let all = ended.out + &ended.err;
        let forged = all.lines().find(|line| line.starts_with("forged"));
        assert_eq!(forged, None, "{all}");
        named += usize::from(all.contains("forged"));
    }
    assert_eq!(named, 10, "all but `verify` name a file");
}

#[test]
fn comments_show_all_that_they_hold() {
    let scratch = Scratch::new();
    let key = scratch.path("key");
    let made = |comment: &str| run(&[&"keygen", &"-o", &key, &"--comment", &comment]);
    made("\u{202e}abc").expect(2).says("\\u{202e}");
    made("a\u{200b}b").expect(2).says("\\u{200b}");
    assert!(scratch.names().is_empty());
    made("Schl\u{fc}ssel \u{65e5}\u{672c}").expect(0);
}

/// A limit on the size of files is an error like a full disk, and leaves no part of a file.
#[test]
fn the_file_size_limit_is_an_error() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let limited = |blocks: &str, arguments: &[&OsStr]| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -f \"$0\"; exec \"$@\"", blocks]);
        ended(
            shell
                .arg(env!("CARGO_BIN_EXE_artifact"))
                .args(arguments)
                .output()
                .unwrap(),
        )
    };
    let output = scratch.path("add.artifact");
    let arguments = [
        OsStr::new("export"),
        program.as_ref(),
        OsStr::new("-o"),
        output.as_ref(),
    ];
    // In units of 512 or 1024 bytes; the file has more.
    limited("1", &arguments).expect(3).says("File too large");
    assert_eq!(scratch.names(), ["add.mlir"]);
    limited("unlimited", &arguments).expect(0);
    assert!(output.metadata().unwrap().len() > 1024);
    // An archive of results that is too large says so once.
    let results = "func.func @main() -> tensor<1000xi64> {
      %0 = stablehlo.iota dim = 0 : tensor<1000xi64>
      return %0 : tensor<1000xi64>
    }";
    let (program, output) = (scratch.file("iota.mlir", results), scratch.path("results.npz"));
    let arguments = [
        OsStr::new("run"),
        program.as_ref(),
        OsStr::new("--output"),
        output.as_ref(),
    ];
    let ended = limited("1", &arguments).expect(3);
    assert_eq!(ended.err.matches("File too large").count(), 1, "{}", ended.err);
    assert!(!output.exists());
    limited("unlimited", &arguments).expect(0);
}
