//! What a program is, whatever kind of file it is in: its digest, its functions, and how it is called.

use std::fmt::Write as _;
use std::path::Path;

use artifact_container::manifest::{CustomCall, Manifest};
use artifact_export::{Argument, ExportError, Loaded, Signature, custom_calls, program_identity};
use artifact_ir::custom_call;
use artifact_ir::digest::ProgramDigest;
use artifact_ir::module::{Function, Module, Visibility};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::interface_text::part_text;
use crate::output::one_line;
use crate::program::is_artifact;
use crate::source::{Origin, Source};

/// A file's programs, verified.
pub(crate) struct Description {
    origin: Origin,
    modules: Vec<(Module, ProgramDigest)>,
    /// What an export of JAX says of its functions; nothing of other files.
    exported: Vec<Manifest>,
}

impl Description {
    /// Reads all of the programs in a file, and of an artifact the constants too.
    pub(crate) fn of(path: &Path) -> Outcome<Self> {
        let refuse = |error: ExportError| Failure::export(path, &error);
        let (origin, modules, exported) = if is_artifact(path)? {
            let (origin, modules) = of_artifact(path).map_err(refuse)?;
            (origin, modules, Vec::new())
        } else {
            let source = Source::read(path)?;
            (source.origin()?, source.verified()?, source.exported_functions()?)
        };
        let modules = modules.into_iter().map(|module| {
            let digest = program_identity(&module).map_err(refuse)?;
            Ok((module, digest))
        });
        Ok(Self {
            origin,
            modules: modules.collect::<Outcome<_>>()?,
            exported,
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let mut line = |label: &str, value: &str| {
            let _ = writeln!(text, "{label:<20}{}", one_line(value));
        };
        let Origin {
            format,
            stablehlo,
            producer,
        } = &self.origin;
        line("format", format);
        line(
            "stablehlo",
            stablehlo.as_deref().unwrap_or("no version: it is text"),
        );
        line("producer", producer.as_deref().unwrap_or("not told"));
        if let Some(manifest) = self.exported.first() {
            line("platforms", &manifest.platforms.join(", "));
        }
        line("verified", "the whole program");
        for (module, digest) in &self.modules {
            // What was exported is shown below, as its caller knows it.
            module_text(module, *digest, self.exported.is_empty(), &mut text);
        }
        for (order, manifest) in self.exported.iter().enumerate() {
            if order > 0 {
                let _ = writeln!(text, "\nvjp/{order}");
            }
            part_text(manifest.part(), &manifest.custom_call_waivers, &mut text);
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let Origin {
            format,
            stablehlo,
            producer,
        } = &self.origin;
        json!({
            "format": format,
            "stablehlo": stablehlo,
            "producer": producer,
            "modules": self.modules.iter().map(|(module, digest)| module_json(module, *digest)).collect::<Vec<_>>(),
            "exported": self.exported.iter().map(exported_json).collect::<Vec<_>>(),
        })
    }
}

/// What is known of an exported function besides its program.
fn exported_json(manifest: &Manifest) -> Value {
    json!({
        "signature": manifest.signature,
        "platforms": manifest.platforms,
        "dimensions": manifest.dimensions,
        "interface": manifest.interface,
    })
}

/// The program of an artifact, with its constants.
fn of_artifact(path: &Path) -> Result<(Origin, Vec<Module>), ExportError> {
    let loaded = Loaded::open(path)?;
    let needs = loaded.requirements().manifest.as_ref();
    let origin = Origin {
        format: "artifact",
        stablehlo: needs.map(|needs| needs.program_version.to_string()),
        producer: needs.map(|needs| needs.producer.to_string()),
    };
    Ok((origin, vec![loaded.into_module()?]))
}

/// How the program is called, where it has an entry.
fn signature(module: &Module) -> Option<Signature> {
    let entry = module.entry()?;
    Some(Signature::of(module, &module.functions[entry]))
}

fn module_text(module: &Module, digest: ProgramDigest, with_signature: bool, text: &mut String) {
    let name = module.name.as_deref().unwrap_or("without a name");
    let _ = writeln!(text, "\nmodule {}", one_line(name));
    let _ = writeln!(text, "  program digest    {digest}");
    for function in functions(module).filter(|function| is_public(function)) {
        let name = one_line(&function.name);
        match signature(module).filter(|signature| *signature.function == *function.name) {
            Some(signature) => {
                let _ = writeln!(text, "  function {name}, the entry");
                if !with_signature {
                    continue;
                }
                arguments_text("in", &signature.inputs, text);
                arguments_text("out", &signature.outputs, text);
            }
            None => {
                let _ = writeln!(
                    text,
                    "  function {name}: {}",
                    one_line(&function.ty().to_string())
                );
            }
        }
    }
    let private = functions(module).filter(|function| !is_public(function)).count();
    if private > 0 {
        let _ = writeln!(text, "  private functions {private}");
    }
    for call in custom_calls(module).iter().filter(|_| with_signature) {
        let _ = writeln!(text, "  {}", custom_call_text(call, false));
    }
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.iter().map(|(_, function)| function)
}

fn is_public(function: &Function) -> bool {
    function.visibility == Visibility::Public
}

fn arguments_text(label: &str, arguments: &[Argument], text: &mut String) {
    for argument in arguments {
        let (name, shape) = (one_line(&argument.name), argument.shape_text());
        let _ = writeln!(text, "    {label:<4}{name}: {}", one_line(&shape));
    }
}

/// A custom call, and who stands for what it does. `waived` is whether the exporter accepted that nobody does.
pub(crate) fn custom_call_text(call: &CustomCall, waived: bool) -> String {
    let known = match custom_call::find(&call.target) {
        Some(target) => target
            .stable_since
            .map_or("known".to_owned(), |since| format!("stable since {since}")),
        None if waived => "no guarantee, which the exporter accepted".to_owned(),
        None => "no guarantee".to_owned(),
    };
    let effect = if call.has_side_effect {
        ", has a side effect"
    } else {
        ""
    };
    format!(
        "custom call {} (api {}), used {}x, {known}{effect}",
        one_line(&call.target),
        call.api_version,
        call.count
    )
}

fn module_json(module: &Module, digest: ProgramDigest) -> Value {
    let entry = signature(module).map(|signature| {
        json!({
            "function": signature.function,
            "inputs": arguments_json(&signature.inputs),
            "outputs": arguments_json(&signature.outputs),
        })
    });
    let functions = functions(module).map(|function| {
        json!({
            "name": *function.name,
            "is_public": is_public(function),
            "type": function.ty().to_string(),
        })
    });
    let calls = custom_calls(module);
    let calls = calls.iter().map(|call| {
        let known = custom_call::find(&call.target);
        json!({
            "target": call.target,
            "api_version": call.api_version,
            "has_side_effect": call.has_side_effect,
            "count": call.count,
            "is_known": known.is_some(),
            "stable_since": known.and_then(|known| known.stable_since).map(|since| since.to_string()),
        })
    });
    json!({
        "name": module.name.as_deref(),
        "program_digest": digest.to_string(),
        "entry": entry,
        "functions": functions.collect::<Vec<_>>(),
        "custom_calls": calls.collect::<Vec<_>>(),
    })
}

fn arguments_json(arguments: &[Argument]) -> Value {
    let argument = |argument: &Argument| json!({"name": argument.name, "type": argument.shape_text()});
    arguments.iter().map(argument).collect()
}
