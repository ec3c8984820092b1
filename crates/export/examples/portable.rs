//! Portable bytecode of many programs in many versions, for other implementations to compare.
//!
//! `portable write PROGRAMS OUTPUT VERSION..` writes `OUTPUT/VERSION/NAME.mlirbc` for every `NAME.mlir` of a folder, and a line
//! `VERSION NAME: reason` in `OUTPUT/refused.txt` for each that the version cannot say.
//!
//! `portable split TEXT OUTPUT` makes each function of a text a program of its own, with the functions that it names.
//!
//! `portable compare PROGRAMS OTHERS` reads every `OTHERS/VERSION/NAME.mlirbc`, and compares its digest with that of the text.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example is told what to do on its command line, and writes files that nobody else reads meanwhile"
)]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use artifact_chlo::{Form, legalize, recognise};
use artifact_core::blob::Blob;
use artifact_export::{StablehloVersion, portable};
use artifact_ir::digest::{ProgramDigest, program_digest};
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::bytecode::read;
use artifact_stablehlo::parse::parse_module;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", programs, output, versions @ ..] => {
            write(Path::new(programs), Path::new(output), versions)
        }
        ["split", text, output] => split(Path::new(text), Path::new(output)),
        ["compare", programs, others] => compare(Path::new(programs), Path::new(others)),
        _ => Err("usage: portable write PROGRAMS OUTPUT VERSION.. | portable split TEXT OUTPUT | portable compare PROGRAMS OTHERS".into()),
    }
}

fn write(programs: &Path, output: &Path, versions: &[&str]) -> Outcome<()> {
    let mut refused = Vec::new();
    let (mut count, mut written) = (0, 0);
    for path in with_extension(programs, "mlir")? {
        let module = program(&path)?;
        count += 1;
        for version in versions {
            match portable(module.clone(), version.parse::<StablehloVersion>()?, false) {
                Ok(bytes) => {
                    let folder = output.join(version);
                    fs::create_dir_all(&folder)?;
                    fs::write(
                        folder.join(stem(&path)).with_added_extension("mlirbc"),
                        bytes.to_vec(),
                    )?;
                    written += 1;
                }
                Err(error) => refused.push(format!("{version} {}: {error}\n", stem(&path))),
            }
        }
    }
    fs::create_dir_all(output)?;
    fs::write(output.join("refused.txt"), refused.concat())?;
    println!(
        "{}: {count} programs, {written} files in {} versions, {} refused",
        programs.display(),
        versions.len(),
        refused.len()
    );
    Ok(())
}

fn split(text: &Path, output: &Path) -> Outcome<()> {
    let text = fs::read_to_string(text)?;
    let lines = text
        .split_inclusive('\n')
        .filter(|line| !line.trim_start().starts_with("//"));
    let text: String = lines.collect();
    let starts = text.match_indices("\nfunc.func ").map(|(start, _)| start + 1);
    let starts: Vec<usize> = starts.chain([text.len()]).collect();
    let functions: Vec<&str> = starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
    fs::create_dir_all(output)?;
    for (index, function) in functions.iter().enumerate() {
        let mut needed = vec![index];
        let mut next = 0;
        while let Some(one) = needed.get(next) {
            let named = symbols(functions[*one]);
            let others = (0..functions.len()).filter(|other| named.contains(&name(functions[*other])));
            let others: Vec<usize> = others.filter(|other| !needed.contains(other)).collect();
            needed.extend(others);
            next += 1;
        }
        let program: String = needed.iter().map(|one| functions[*one]).collect();
        fs::write(output.join(name(function)).with_added_extension("mlir"), program)?;
    }
    println!("{}: {} functions", output.display(), functions.len());
    Ok(())
}

/// The name of a function, which its text begins with.
fn name(function: &str) -> &str {
    symbols(function).first().copied().unwrap_or_default()
}

/// What a text names by symbols.
fn symbols(text: &str) -> Vec<&str> {
    let parts = text.split('@').skip(1);
    let is_other = |letter: char| !(letter.is_alphanumeric() || "_.$-".contains(letter));
    parts
        .filter_map(|part| part.trim_start_matches('"').split(is_other).next())
        .collect()
}

fn compare(programs: &Path, others: &Path) -> Outcome<()> {
    let mut digests = HashMap::new();
    let (mut same, mut failures) = (0, Vec::new());
    for folder in fs::read_dir(others)? {
        let folder = folder?.path();
        let form = form(&folder)?;
        for path in with_extension(&folder, "mlirbc")? {
            let text = programs.join(stem(&path)).with_added_extension("mlir");
            let wanted = match digests.entry((text, form)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let digest = text_digest(&new.key().0, form)?;
                    *new.insert(digest)
                }
            };
            match read_digest(&path) {
                Err(error) => failures.push(format!("{}: {error}", path.display())),
                Ok(digest) if digest == wanted => same += 1,
                Ok(_) => failures.push(format!("{}: another program than its text", path.display())),
            }
        }
    }
    println!(
        "{}: {same} files are the programs of their texts",
        others.display()
    );
    if failures.is_empty() {
        Ok(())
    } else {
        println!("{}", failures.join("\n"));
        Err(format!("{} files are not the programs of their texts", failures.len()).into())
    }
}

/// What CHLO operations become in the version that a folder is named after.
fn form(folder: &Path) -> Outcome<Form> {
    let version: StablehloVersion = folder.file_name().unwrap_or_default().to_string_lossy().parse()?;
    let version = version.get();
    Ok(Form::for_vhlo(version.major, version.minor))
}

/// The digest of a text as it comes back from a version without operations of CHLO, which recognises composites.
fn text_digest(path: &Path, form: Form) -> Outcome<ProgramDigest> {
    let mut module = program(path)?;
    legalize(&mut module, form)?;
    recognise(&mut module);
    Ok(program_digest(&module))
}

fn read_digest(path: &Path) -> Outcome<ProgramDigest> {
    let mut module = read(&Blob::new(fs::read(path)?))?.module;
    if let Some(finding) = verify(&module).first() {
        return Err(finding.to_string().into());
    }
    recognise(&mut module);
    Ok(program_digest(&module))
}

fn program(path: &Path) -> Outcome<Module> {
    let refused = |finding: &dyn Display| format!("{} is no portable program: {finding}", path.display());
    let module = parse_module(&fs::read_to_string(path)?).into_module();
    let module =
        module.map_err(|found| refused(&found.iter().map(ToString::to_string).collect::<String>()))?;
    match verify(&module).first() {
        Some(finding) => Err(refused(finding).into()),
        None => Ok(module),
    }
}

/// The files of a folder whose name ends so, in order.
fn with_extension(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
    }
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.sort();
    Ok(paths)
}

/// A file's name without its last extension.
fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
