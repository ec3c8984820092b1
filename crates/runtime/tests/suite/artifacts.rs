//! Programs from artifacts.

use std::io::Cursor;

use artifact_engine::{Buffer, Value};
use artifact_export::{Exported, Loaded, PackOptions, pack};
use artifact_ir::module::Module;
use artifact_runtime::{LoadError, Session};
use artifact_stablehlo::parse::parse_module;

use crate::probe::Probe;

fn packed(exported: &Exported) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    pack(exported, &PackOptions::default(), &mut bytes).unwrap();
    bytes.into_inner()
}

fn module(text: &str) -> Module {
    parse_module(text).into_module().unwrap()
}

/// A constant of 8 KiB, which is hoisted.
fn with_weights() -> Vec<u8> {
    let weights: String = (0..2048_u32)
        .map(|value| format!("{:08X}", value.swap_bytes()))
        .collect();
    let text = format!(
        "func.func @main(%x: tensor<2048xi32>) -> tensor<2048xi32> {{
           %c = stablehlo.constant dense<\"0x{weights}\"> : tensor<2048xi32>
           %r = stablehlo.add %x, %c : tensor<2048xi32>
           return %r : tensor<2048xi32> }}"
    );
    packed(&Exported::new(module(&text)).unwrap())
}

#[test]
fn constants_are_views_of_the_file() {
    let engine = Probe::new();
    let session = Session::new(engine.clone());
    let loaded = Loaded::from_bytes(with_weights()).unwrap();
    let program = session.load_artifact(&loaded).unwrap();
    let tens = Buffer::of_numbers(&[2048], &[10; 2048]).unwrap();
    let results = program.call(&[tens.into()]).unwrap().results;
    let sums: Vec<i32> = results[0].as_array().unwrap().to_numbers().unwrap();
    assert_eq!((sums[0], sums[2047]), (10, 2057));
    let constant = loaded.constants()[0].as_dense().unwrap();
    assert_eq!(engine.places.lock().unwrap()[1], constant.as_ptr() as usize);
}

#[test]
fn files_and_bytes() {
    let session = Session::new(Probe::new());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.artifact");
    std::io::Write::write_all(&mut std::fs::File::create(&path).unwrap(), &with_weights()).unwrap();
    let zeros = || Value::from(Buffer::of_numbers(&[2048], &[0; 2048]).unwrap());
    let from_file = session.load(&path).unwrap().call(&[zeros()]).unwrap();
    let from_bytes = session
        .load_bytes(with_weights())
        .unwrap()
        .call(&[zeros()])
        .unwrap();
    assert_eq!(from_file.results, from_bytes.results);
    let cut = with_weights()[..4000].to_vec();
    assert!(matches!(session.load_bytes(cut), Err(LoadError::Artifact(_))));
}

/// The position of the platform is no input of who calls.
#[test]
fn platforms() {
    let text = "func.func @main(%p: tensor<i32> {jax.global_constant = \"_platform_index\"}, %x: tensor<i32>) -> tensor<i32> {
        %r = stablehlo.subtract %x, %p : tensor<i32> return %r : tensor<i32> }";
    let for_platforms = |platforms: &[&str]| {
        let platforms = platforms.iter().map(|name| (*name).to_owned()).collect();
        let exported = Exported::new(module(text))
            .unwrap()
            .with_platforms(platforms)
            .unwrap();
        Session::new(Probe::new()).load_bytes(packed(&exported))
    };
    let program = for_platforms(&["cuda", "tpu", "cpu"]).unwrap();
    assert_eq!(program.inputs().len(), 1);
    let ten = Value::from(Buffer::of_numbers(&[], &[10]).unwrap());
    let results = program.call(&[ten]).unwrap().results;
    assert_eq!(results[0].as_array().unwrap().to_numbers::<i32>(), Some(vec![8]));
    let error = for_platforms(&["cuda", "tpu"]).unwrap_err();
    assert!(matches!(error, LoadError::Artifact(_)), "{error:?}");
}
