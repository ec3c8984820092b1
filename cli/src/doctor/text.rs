//! The report for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Report;
use super::probe::Plugin;
use crate::environment::{self, ENGINE};
use crate::output;

pub(super) fn of(report: &Report) -> String {
    let mut text = String::new();
    let source = match ENGINE.value() {
        Some(_) => format!("from {}", ENGINE.name),
        None => "by default".to_owned(),
    };
    let usable = match report.is_chosen_there() {
        true => "",
        false => ", which cannot be used",
    };
    // A text takes whatever is written to it.
    let chosen = report.chosen.as_ref();
    let chosen = chosen.map_or_else(|_| "none".to_owned(), ToString::to_string);
    let _ = writeln!(text, "engine: {chosen} ({source}){usable}");
    let _ = writeln!(text, "\nengines");
    engine(&mut text, "cpu", &cpu(report));
    engine(&mut text, "reference", "the evaluator, on any machine");
    for one in &report.plugins {
        plugin(&mut text, one);
    }
    if report.plugins.is_empty() {
        engine(&mut text, "pjrt", "no plugin is named or installed");
    }
    let _ = writeln!(text, "\nPython packages, where plugins are found by name");
    for folder in &report.folders {
        let _ = writeln!(text, "  {}", output::path(folder));
    }
    if report.folders.is_empty() {
        let _ = writeln!(text, "  none");
    }
    let cache = report.cache.as_ref();
    let cache = cache.map_or_else(
        || "none: no folder is named".to_owned(),
        |folder| output::path(folder),
    );
    let _ = writeln!(text, "\ncache\n  {cache}\n\nenvironment");
    for variable in environment::ALL {
        let value = variable.value();
        let unset = || format!("unset: {}", variable.meaning);
        let value = value.map_or_else(unset, |value| value.display().to_string());
        let _ = writeln!(text, "  {:<22} {value}", variable.name);
    }
    text
}

fn engine(text: &mut String, name: &str, what: &str) {
    let _ = writeln!(text, "  {name:<11} {what}");
}

fn cpu(report: &Report) -> String {
    match &report.cpu {
        Ok(targets) => {
            let runs = targets.iter().filter(|support| support.missing.is_none());
            let runs: Vec<String> = runs.map(|support| support.target.to_string()).collect();
            format!("machine code for {}", runs.join(", "))
        }
        Err(error) => format!("unusable: {error}"),
    }
}

fn plugin(text: &mut String, plugin: &Plugin) {
    let name = plugin
        .name
        .map_or_else(|| "pjrt".to_owned(), |name| format!("pjrt:{name}"));
    engine(text, &name, &output::path(&plugin.path));
    let what = match &plugin.found {
        Ok(found) => description(found),
        Err(reason) => format!("unusable: {reason}"),
    };
    engine(text, "", &output::one_line(&what));
}

fn description(found: &Value) -> String {
    let text = |name: &str| found[name].as_str().unwrap_or("?").to_owned();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for device in found["devices"].as_array().into_iter().flatten() {
        *kinds.entry(device["kind"].as_str().unwrap_or("?")).or_default() += 1;
    }
    let devices: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{count} x {kind}"))
        .collect();
    let (api, platform, stablehlo) = (text("api"), text("platform"), text("stablehlo"));
    format!(
        "PJRT C API {api}, platform {platform}, devices: {}, StableHLO {stablehlo}",
        devices.join(", ")
    )
}
