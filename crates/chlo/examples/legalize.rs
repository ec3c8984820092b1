//! Legalizes every program of a folder that holds CHLO operations, for other readers to check.
//!
//! `legalize FORM INPUT OUTPUT`: the form is `composites-with-regions`, `composites` or `calls`; programs that do not verify, or
//! have no CHLO operation, are left out.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example is told what to do on its command line, and writes files that nobody else reads meanwhile"
)]

use std::error::Error;
use std::path::Path;

use artifact_chlo::{Form, legalize};
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [form, input, output] = arguments.as_slice() else {
        return Err("usage: legalize FORM INPUT OUTPUT".into());
    };
    let form = match form.as_str() {
        "composites-with-regions" => Form::CompositesWithRegions,
        "composites" => Form::Composites,
        "calls" => Form::Calls,
        other => return Err(format!("`{other}` is no form").into()),
    };
    std::fs::create_dir_all(output)?;
    let mut count = 0;
    for entry in std::fs::read_dir(input)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "mlir") {
            count += usize::from(legalize_file(&path, Path::new(output), form)?);
        }
    }
    println!("{count} programs of {input} legalized");
    Ok(())
}

/// Whether the program was one to legalize.
fn legalize_file(path: &Path, output: &Path, form: Form) -> Result<bool, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let Ok(mut module) = parse_module(&text).into_module() else {
        return Ok(false);
    };
    if !text.contains("chlo.") || !verify(&module).is_empty() {
        return Ok(false);
    }
    legalize(&mut module, form).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_name().ok_or("a file has no name")?;
    std::fs::write(output.join(name), print_module(&module, &PrintOptions::default()))?;
    Ok(true)
}
