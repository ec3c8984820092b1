//! `artifact inspect`.

use std::fmt::Write as _;

use artifact_container::manifest::{Constant, Manifest};
use artifact_container::{Codec, Container, ReadOptions, Section};
use artifact_export::ExportError;
use serde_json::json;

use crate::arguments::InspectArguments;
use crate::compatibility;
use crate::description::Description;
use crate::dimensions_text::dimensions_text;
use crate::failure::{Exit, Failure, Outcome};
use crate::interface_text::part_text;
use crate::output::{self, one_line};
use crate::program::is_artifact;

pub(crate) fn execute(options: &InspectArguments) -> Outcome<Exit> {
    let path = &options.program;
    if options.dims {
        output::text(&dimensions_text(path)?)?;
    } else if options.program_only || !is_artifact(path)? {
        let program = Description::of(path)?;
        match options.json {
            true => output::json(&pretty(&program.json())?),
            false => output::text(&program.text()),
        }?;
    } else {
        let refuse = |error: artifact_container::Error| Failure::export(path, &ExportError::from(error));
        let container = Container::open_with(path, &ReadOptions::describe_only()).map_err(refuse)?;
        match options.json {
            true => output::json(&pretty(&as_json(&container)?)?),
            false => output::text(&as_text(&container)),
        }?;
    }
    Ok(Exit::Ok)
}

fn pretty(document: &serde_json::Value) -> Outcome<String> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| text + "\n")
        .map_err(|error| Failure::internal("the description has no JSON form").because(&error))
}

fn as_text(container: &Container) -> String {
    let (header, manifest) = (container.header(), container.manifest());
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<20}{value}");
    };
    line(
        "container",
        format!(
            "{} (oldest reader {})",
            header.window().written,
            header.window().oldest_reader
        ),
    );
    line("file digest", container.file_digest().to_string());
    line("content digest", container.content_digest().to_string());
    line("producer", one_line(&manifest.producer.to_string()).into_owned());
    line(
        "program",
        one_line(&format!("{} {}", manifest.program.name, manifest.program.version)).into_owned(),
    );
    for (label, value) in compatibility::lines(container) {
        line(label, value);
    }
    line("platforms", list_or(&manifest.platforms, "any"));
    line("required features", list_or(&manifest.required_features, "none"));
    line("calling convention", manifest.calling_convention.to_string());
    if let Some(created) = manifest.created {
        line("created", format!("{created} s after 1970-01-01 UTC"));
    }
    for (key, value) in &manifest.metadata {
        line("metadata", format!("{} = {}", one_line(key), one_line(value)));
    }
    line("verified", "header, table and manifest".to_owned());
    let seals = if container.is_sealed() {
        "some; `artifact verify` checks them"
    } else {
        "none"
    };
    line("seals", seals.to_owned());
    sections_text(container, &mut text);
    let waivers = &manifest.custom_call_waivers;
    part_text(manifest.part(), waivers, &mut text);
    for (order, derivative) in (1..).zip(&manifest.derivatives) {
        let _ = writeln!(text, "\nvjp/{order}");
        part_text(derivative.part(), waivers, &mut text);
    }
    text
}

fn list_or(items: &[String], nothing: &str) -> String {
    if items.is_empty() {
        nothing.to_owned()
    } else {
        one_line(&items.join(", ")).into_owned()
    }
}

fn sections_text(container: &Container, text: &mut String) {
    let _ = writeln!(
        text,
        "\n{:<24}{:>14}{:>14}{:>14}  codec  raw digest",
        "section", "offset", "stored", "raw"
    );
    for (_, section) in container.sections().iter() {
        let _ = writeln!(
            text,
            "{:<24}{:>14}{:>14}{:>14}  {:<5}  {}",
            one_line(&section.name),
            section.offset,
            section.stored_length,
            section.raw_length,
            codec_name(section),
            section.raw_digest.digest().short()
        );
    }
}

const fn codec_name(section: &Section) -> &'static str {
    match section.codec {
        Codec::None => "none",
        Codec::Zstd => "zstd",
        _ => "unknown",
    }
}

fn as_json(container: &Container) -> Outcome<serde_json::Value> {
    let (header, manifest) = (container.header(), container.manifest());
    let sections = container.sections().iter().map(|(_, section)| {
        json!({
            "name": section.name,
            "kind": section.kind.number(),
            "required": section.required,
            "offset": section.offset,
            "stored_bytes": section.stored_length,
            "raw_bytes": section.raw_length,
            "codec": codec_name(section),
            "stored_digest": section.stored_digest.to_string(),
            "raw_digest": section.raw_digest.to_string(),
        })
    });
    Ok(json!({
        "container_version": header.window().written.to_string(),
        "oldest_reader": header.window().oldest_reader.to_string(),
        "compatibility": compatibility::json(container),
        "file_digest": container.file_digest().to_string(),
        "content_digest": container.content_digest().to_string(),
        "is_sealed": container.is_sealed(),
        "manifest": manifest_json(manifest)?,
        "sections": sections.collect::<Vec<_>>(),
    }))
}

/// The manifest, with digests as text.
fn manifest_json(manifest: &Manifest) -> Outcome<serde_json::Value> {
    let mut value = serde_json::to_value(manifest)
        .map_err(|error| Failure::internal("the manifest has no JSON form").because(&error))?;
    let with_texts = |value: &mut serde_json::Value, constants: &[Constant]| {
        let json = value["constants"].as_array_mut().into_iter().flatten();
        for (json, constant) in json.zip(constants) {
            json["digest"] = constant.digest.to_string().into();
        }
    };
    with_texts(&mut value, &manifest.constants);
    if let Some(derivatives) = value
        .get_mut("derivatives")
        .and_then(|value| value.as_array_mut())
    {
        for (json, derivative) in derivatives.iter_mut().zip(&manifest.derivatives) {
            with_texts(json, &derivative.constants);
        }
    }
    Ok(value)
}
