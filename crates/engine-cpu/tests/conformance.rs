//! The suite of the port.

use std::sync::Arc;

use artifact_engine::{Engine, conformance};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

fn check(settings: &Settings) {
    let make = || Ok(Arc::new(CpuEngine::new(settings)?) as Arc<dyn Engine>);
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

#[test]
fn conforms() {
    check(&Settings::default());
}

#[test]
fn conforms_between_guard_pages() {
    check(&Settings {
        guard_pages: true,
        ..Settings::default()
    });
}
