//! Who can read an artifact and until when, as text and as JSON.

use artifact_container::Container;
use artifact_container::compat::{Incompatible, Reader, Requirements};
use artifact_container::release::{RELEASED, SUPPORT_YEARS};
use serde_json::{Value, json};

use crate::output::one_line;

/// Lines of a label and a text.
pub(crate) fn lines(container: &Container) -> Vec<(&'static str, String)> {
    let file = container.requirements();
    vec![
        ("readable by", readers(file)),
        ("readable until", until(file)),
        ("program window", program_window(container)),
        ("this release", verdict(file)),
    ]
}

/// The releases that can read the file.
fn readers(file: &Requirements) -> String {
    let oldest = file.window.oldest_reader;
    let mut text = format!("container {oldest} and newer");
    if let Some(release) = file.oldest_release() {
        text += &format!(": artifact {} ({}) and later", release.version, release.released);
    }
    let features = file.manifest.iter().flat_map(|manifest| &manifest.features);
    let features: Vec<&str> = features.map(String::as_str).collect();
    if !features.is_empty() {
        text += &format!(", with {}", one_line(&features.join(", ")));
    }
    text
}

fn until(file: &Requirements) -> String {
    match file.readable_until() {
        None => "no promise: it does not say which release wrote it; `artifact upgrade` makes one that does"
            .to_owned(),
        Some(date) if date < RELEASED => {
            format!("{date}, which has passed; run `artifact upgrade` while a release still reads it")
        }
        Some(date) => format!("{date}, {SUPPORT_YEARS} years after the release that wrote it"),
    }
}

fn program_window(container: &Container) -> String {
    let format = &container.manifest().program.name;
    match artifact_export::reader().program_versions(format) {
        Some(versions) => format!("this release reads {} {versions}", one_line(format)),
        None => format!("this release does not read {}", one_line(format)),
    }
}

fn verdict(file: &Requirements) -> String {
    match artifact_export::reader().check(file) {
        Ok(()) => "reads it".to_owned(),
        Err(error) => format!(
            "cannot run it ({}): {}; {}",
            error.kind(),
            one_line(&error.to_string()),
            error.remedy()
        ),
    }
}

/// The same for programs.
pub(crate) fn json(container: &Container) -> Value {
    let file = container.requirements();
    let reader = artifact_export::reader();
    let release = file.oldest_release().map(|release| {
        json!({
            "container": release.container.to_string(),
            "version": release.version,
            "released": release.released.to_string(),
        })
    });
    let verdict = reader.check(file).err();
    let mut document = file_json(file);
    document["oldest_release"] = json!(release);
    document["readable_until"] = json!(file.readable_until().map(|date| date.to_string()));
    document["promise_has_passed"] = json!(file.readable_until().is_some_and(|date| date < RELEASED));
    document["this_reader"] = reader_json(&reader);
    document["reads"] = json!(verdict.is_none());
    document["incompatible"] = json!(verdict.as_ref().map(incompatible_json));
    document
}

/// What a failure says of a file and a reader that do not fit.
pub(crate) fn incompatible_json(incompatible: &Incompatible) -> Value {
    json!({
        "kind": incompatible.kind().as_str(),
        "message": incompatible.to_string(),
        "file": file_json(incompatible.file()),
        "reader": reader_json(incompatible.reader()),
        "written_by": incompatible.written_by(),
        "readable_by": incompatible.readable_by(),
        "remedy": incompatible.remedy(),
    })
}

fn file_json(file: &Requirements) -> Value {
    let manifest = file.manifest.as_ref().map(|manifest| {
        json!({
            "producer": {
                "name": manifest.producer.name,
                "version": manifest.producer.version,
                "released": manifest.producer.released.map(|date| date.to_string()),
            },
            "program": {
                "name": manifest.program_format,
                "version": manifest.program_version.to_string(),
            },
            "required_features": manifest.features,
            "calling_convention": manifest.calling_convention,
            "platforms": manifest.platforms,
        })
    });
    json!({
        "container_version": file.window.written.to_string(),
        "oldest_reader": file.window.oldest_reader.to_string(),
        "needs": manifest,
    })
}

fn reader_json(reader: &Reader) -> Value {
    let programs = reader.programs().map(|(name, versions)| {
        json!({
            "name": name,
            "oldest": versions.oldest.to_string(),
            "newest": versions.newest.to_string(),
        })
    });
    json!({
        "name": reader.name(),
        "container": {
            "oldest": reader.containers().oldest.to_string(),
            "newest": reader.containers().newest.to_string(),
        },
        "features": reader.features().collect::<Vec<_>>(),
        "programs": programs.collect::<Vec<_>>(),
    })
}
