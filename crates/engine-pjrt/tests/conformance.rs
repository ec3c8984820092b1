//! The suite of the port, with XLA's CPU plugin.
//!
//! `ARTIFACT_PJRT_PLUGIN` names the plugin; `cargo xtask test` installs it and sets the variable.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read where the plugin is, and say that they did nothing without one"
)]

use std::path::PathBuf;
use std::sync::Arc;

use artifact_engine::{Engine, conformance};
use artifact_engine_pjrt::{PjrtEngine, Plugin, Settings};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

const VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";

#[test]
fn conforms() {
    let path = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let Some(path) = path.map(PathBuf::from) else {
        eprintln!("SKIPPED: {VARIABLE} names no plugin; `cargo xtask test` installs one");
        return;
    };
    let plugin = Plugin::open(&path).unwrap();
    let make = || Ok(Arc::new(PjrtEngine::new(&plugin, &Settings::default())?) as Arc<dyn Engine>);
    let read = |text: &str| {
        let module = parse_module(text)
            .into_module()
            .map_err(|findings| format!("{findings:?}"))?;
        match verify(&module).into_iter().next() {
            None => Ok(module),
            Some(finding) => Err(finding.to_string()),
        }
    };
    let findings = conformance::run(&make, &read);
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
