//! What there is to run programs with, and plugins by name.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::plugins::xla;
use super::{Ended, Scratch, artifact, ended};

const PROGRAM: &str = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}";

fn with(environment: &[(&str, &Path)], arguments: &[&str]) -> Ended {
    let mut command = artifact();
    for (name, value) in environment {
        command.env(name, value);
    }
    ended(command.args(arguments).output().unwrap())
}

fn report(environment: &[(&str, &Path)]) -> (Option<i32>, Value) {
    let ended = with(environment, &["doctor", "--json"]);
    let report = serde_json::from_str(&ended.out);
    (
        ended.code,
        report.unwrap_or_else(|error| panic!("{error}: {}", ended.out)),
    )
}

#[test]
fn an_empty_environment() {
    let (code, report) = report(&[]);
    assert_eq!(code, Some(0));
    assert_eq!(
        (&report["engine"], &report["usable"]),
        (&"cpu".into(), &true.into())
    );
    assert_eq!(report["plugins"], Value::Array(Vec::new()));
    assert_eq!(report["cache"], Value::Null);
    let text = with(&[], &["doctor"]);
    assert_eq!(text.code, Some(0));
    for line in [
        "engine: cpu (by default)\n",
        "no plugin is named or installed",
        "none: no folder is named",
    ] {
        assert!(text.out.contains(line), "{}", text.out);
    }
}

#[test]
fn an_engine_that_is_not_there() {
    let engine = |name: &'static str| [("ARTIFACT_ENGINE", Path::new(name))];
    let (code, found) = report(&engine("pjrt:cuda"));
    assert_eq!((code, &found["usable"]), (Some(6), &false.into()));
    let (code, _) = report(&engine("pjrt:/absent.so"));
    assert_eq!(code, Some(6));
    let wrong = with(&engine("gpu"), &["doctor"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    // What there is is told all the same.
    assert!(
        wrong.out.contains("engine: none (from ARTIFACT_ENGINE)"),
        "{}",
        wrong.out
    );
    assert!(wrong.err.contains("ARTIFACT_ENGINE is \"gpu\""), "{}", wrong.err);
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", PROGRAM);
    let arguments = [
        "run",
        program.to_str().unwrap(),
        "--random",
        "1",
        "--engine",
        "pjrt:cuda",
    ];
    let run = with(&[], &arguments);
    assert_eq!(run.code, Some(6));
    assert!(
        run.err
            .contains("no Python package has installed a plugin for cuda"),
        "{}",
        run.err
    );
}

/// A library that is built of C.
fn library(scratch: &Scratch, code: &str) -> PathBuf {
    let (source, path) = (scratch.file("plugin.c", code), scratch.path("plugin.so"));
    let mut compiler = Command::new("cc");
    let status = compiler
        .args(["-shared", "-fPIC", "-o"])
        .arg(&path)
        .arg(source)
        .status();
    assert!(status.unwrap().success());
    path
}

#[test]
fn broken_plugins_end_no_process_but_their_own() {
    let broken = [
        ("void *GetPjrtApi(void) { return 0; }", "its GetPjrtApi gives nothing"),
        ("int nothing;", "it exports no GetPjrtApi"),
        ("#include <stdlib.h>\nvoid *GetPjrtApi(void) { abort(); }", "it ended the process that looked at it: signal: 6"),
        ("#include <stdlib.h>\nvoid *GetPjrtApi(void) { exit(0); }", "it ended the process that looked at it: exit status: 0"),
        (
            "struct { unsigned long size; void *extension; unsigned long version_size; void *e; int major, minor; void *calls[100]; } api
             = { 840, 0, 24, 0, 1, 0 };
             void *GetPjrtApi(void) { return &api; }",
            "it speaks version 1.0 of the PJRT C API; known here are 0.61",
        ),
    ];
    for (code, why) in broken {
        let scratch = Scratch::new();
        let path = library(&scratch, code);
        let (ended, report) = report(&[("ARTIFACT_PJRT_PLUGIN", &path)]);
        assert_eq!(ended, Some(0));
        let reason = report["plugins"][0]["unusable"].as_str().unwrap();
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn a_plugin_by_the_name_that_its_package_has() {
    let Some(xla) = xla() else { return };
    let scratch = Scratch::new();
    let packages = "lib/python3.11/site-packages/fastatomstruct_xla_cpu";
    std::fs::create_dir_all(scratch.path(packages)).unwrap();
    symlink(&xla, scratch.path(packages).join("libpjrt_cpu.so")).unwrap();
    let prefix = scratch.path("");
    let environment: [(&str, &Path); 2] = [
        ("VIRTUAL_ENV", &prefix),
        ("ARTIFACT_ENGINE", Path::new("pjrt:cpu")),
    ];
    let (code, report) = report(&environment);
    assert_eq!((code, &report["usable"]), (Some(0), &true.into()));
    let plugin = &report["plugins"][0];
    assert_eq!(
        (&plugin["name"], &plugin["platform"]),
        (&"cpu".into(), &"cpu".into())
    );
    assert!(!plugin["devices"].as_array().unwrap().is_empty());
    let program = scratch.file("add.mlir", PROGRAM);
    // The path of the program comes from the test, and the engine from the environment.
    let run = with(&environment, &["run", program.to_str().unwrap(), "--random", "1"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let few = with(
        &environment,
        &[
            "run",
            program.to_str().unwrap(),
            "--random",
            "1",
            "--devices",
            "9",
        ],
    );
    assert_eq!(few.code, Some(0), "{}", few.err);
    // Nor are there fewer devices to compile for.
    let compile = ["compile", program.to_str().unwrap(), "--devices", "9"];
    let compiled = with(&environment, &compile);
    assert_eq!(compiled.code, Some(0), "{}", compiled.err);
    // The plugin's own log stays away.
    assert_eq!(few.err, "");
}

#[test]
fn several_devices_are_those_of_a_plugin() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", PROGRAM);
    let run = |count: &str| {
        with(
            &[],
            &[
                "run",
                program.to_str().unwrap(),
                "--random",
                "1",
                "--devices",
                count,
            ],
        )
    };
    let refused = run("2");
    assert_eq!(refused.code, Some(6));
    assert!(
        refused
            .err
            .contains("it has one device, and --devices asks for more"),
        "{}",
        refused.err
    );
    assert_eq!(run("0").code, Some(2));
    assert_eq!(run("1").code, Some(0));
}

#[test]
fn a_folder_of_caches_has_an_absolute_path() {
    let wrong = with(&[("ARTIFACT_CACHE_DIR", Path::new("here"))], &["doctor"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .err
            .contains("ARTIFACT_CACHE_DIR is \"here\", which is no absolute path"),
        "{}",
        wrong.err
    );
    // Of what others define, such a path says nothing.
    let (_, report) = report(&[
        ("XDG_CACHE_HOME", Path::new("here")),
        ("HOME", Path::new("/home/me")),
    ]);
    assert_eq!(report["cache"], "/home/me/.cache/artifact");
    let (_, root) = self::report(&[("HOME", Path::new("/"))]);
    assert_eq!(root["cache"], Value::Null);
}

#[test]
fn a_pipe_is_no_plugin() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe.so");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (code, report) = report(&[("ARTIFACT_PJRT_PLUGIN", &pipe)]);
    assert_eq!(code, Some(0));
    assert_eq!(report["plugins"][0]["unusable"], "it is no file");
}

#[test]
fn a_name_that_is_none() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", PROGRAM);
    let arguments = ["run", program.to_str().unwrap(), "--random", "1"];
    let named = with(&[], &[&arguments[..], &["--engine", "pjrt:CPU"]].concat());
    assert_eq!(named.code, Some(6));
    let help = "it is taken for a path; the names of plugins are cpu, cuda, rocm, tpu";
    assert!(named.err.contains(help), "{}", named.err);
    let variable = [("ARTIFACT_PJRT_PLUGIN", Path::new("pjrt:cpu"))];
    let named = with(&variable, &[&arguments[..], &["--engine", "pjrt"]].concat());
    let help = "ARTIFACT_PJRT_PLUGIN is taken for a path";
    assert!(named.err.contains(help), "{}", named.err);
}

/// It may take a minute until a plugin answers.
#[test]
fn a_plugin_is_looked_at_once() {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let code = format!(
        "#include <stdio.h>\nvoid *GetPjrtApi(void) {{ FILE *log = fopen(\"{}\", \"a\"); fputc('.', log); fclose(log); return 0; }}",
        log.display()
    );
    let path = library(&scratch, &code);
    let engine = format!("pjrt:{}", path.display());
    let (code, report) = report(&[("ARTIFACT_ENGINE", Path::new(&engine))]);
    assert_eq!((code, &report["usable"]), (Some(6), &false.into()));
    assert_eq!(report["plugins"].as_array().unwrap().len(), 1);
    assert_eq!(std::fs::read_to_string(log).unwrap(), ".");
}
