//! Compiled modules as bytes.

use artifact_core::blob::Blob;

use super::programs::{ADD, CHAIN, ROWS};
use super::{Check, Checked, Suite, array, call, ensure, told};
use crate::compiled_module::CompiledModule;
use crate::options::ExecuteOptions;

pub(super) const CHECKS: &[Check] = &[
    (
        "there is a target that this machine runs, and a device",
        equipment,
    ),
    (
        "a module that went through bytes gives the same bits",
        through_bytes,
    ),
    (
        "equal programs give equal modules, where it says so",
        reproducible,
    ),
    ("damaged bytes are refused", damaged),
    ("a payload that was cut off is refused", cut_off),
];

fn module(suite: &Suite<'_>, text: &str) -> Result<CompiledModule, String> {
    told(suite.engine.compile(&suite.symbolic(text)?, &suite.options()))
}

fn equipment(suite: &Suite<'_>) -> Checked {
    let engine = &suite.engine;
    let own = engine.target();
    let runs = engine
        .targets()
        .iter()
        .any(|support| support.target == own && support.missing.is_none());
    ensure(runs, || format!("{own} is not among {:?}", engine.targets()))?;
    ensure(!engine.devices().is_empty(), || "it has no device".to_owned())?;
    let other = told((suite.make)())?;
    ensure(
        other.toolchain() == engine.toolchain() && other.name() == engine.name(),
        || "another engine of this kind has another identity".to_owned(),
    )
}

fn through_bytes(suite: &Suite<'_>) -> Checked {
    let module = module(suite, CHAIN)?;
    let back = told(CompiledModule::decode(&Blob::new(module.encode())))?;
    ensure(back == module, || "it came back as another".to_owned())?;
    let arguments = [array(&[5], &[0.5_f32, -2.0, 1.0, 8.0, 0.0])?];
    let run = |module: &CompiledModule| {
        let executable = told(suite.engine.load(module))?;
        told(call(&*executable, &arguments, &ExecuteOptions::default()))
    };
    let (first, second) = (run(&module)?.results, run(&back)?.results);
    ensure(first == second, || format!("{first:?}, then {second:?}"))
}

fn reproducible(suite: &Suite<'_>) -> Checked {
    if !suite.engine.features().compiles_to_equal_bytes {
        return Ok(());
    }
    for text in [ADD, CHAIN] {
        let (first, second) = (module(suite, text)?, module(suite, text)?);
        ensure(first == second, || "two compiles differ".to_owned())?;
    }
    Ok(())
}

/// Places in so many bytes, about a hundred of them.
fn places(length: usize) -> impl Iterator<Item = usize> {
    (0..length).step_by((length / 100).max(1))
}

fn damaged(suite: &Suite<'_>) -> Checked {
    let bytes = module(suite, ADD)?.encode();
    for place in places(bytes.len()) {
        let cut = CompiledModule::decode(&Blob::new(bytes[..place].to_vec()));
        ensure(cut.is_err(), || {
            format!("its first {place} bytes are taken for all")
        })?;
        let mut flipped = bytes.clone();
        flipped[place] ^= 1;
        let flipped = CompiledModule::decode(&Blob::new(flipped));
        ensure(flipped.is_err(), || {
            format!("a change of byte {place} is not seen")
        })?;
    }
    Ok(())
}

/// Bytes whose digest is right and whose end is missing: what a defect of a writer would leave.
fn cut_off(suite: &Suite<'_>) -> Checked {
    for text in [ADD, ROWS] {
        let module = match suite.engine.plan(&suite.symbolic(text)?, &suite.options()) {
            Ok(plan) if plan.is_complete() => module(suite, text)?,
            _ => continue,
        };
        let payload = module.payload().clone();
        for length in places(payload.len()) {
            let cut = module.clone().with_payload(Blob::new(payload[..length].to_vec()));
            match suite.engine.load(&cut) {
                Err(error) if CompiledModule::is_miss(&error) => {}
                Err(error) => return Err(format!("{length} bytes: {:?}: {error}", error.kind())),
                Ok(_) => return Err(format!("{length} of {} bytes were loaded", payload.len())),
            }
        }
    }
    Ok(())
}
