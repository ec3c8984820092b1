//! A small artifact that the tests share.

use std::error::Error as StdError;
use std::io::Cursor;

use artifact_container::manifest::{Dim, Manifest, Producer, ProgramFormat, Signature, Value};
use artifact_container::release::RELEASED;
use artifact_container::{ConstantSource, ConstantType, ContainerBuilder, Error};

pub(crate) fn manifest() -> Manifest {
    let value = |name: &str| Value {
        name: name.into(),
        dtype: "f32".into(),
        shape: Some(vec![Dim::Size(2)]),
    };
    Manifest {
        producer: Producer {
            name: "test".into(),
            version: "1.0.0".into(),
            released: Some(RELEASED),
        },
        program: ProgramFormat {
            name: "stablehlo-text".into(),
            version: "1.20.0".into(),
        },
        signature: Signature {
            function: "main".into(),
            inputs: vec![value("x")],
            outputs: vec![value("y")],
        },
        platforms: vec!["cpu".into()],
        required_features: vec![],
        calling_convention: 1,
        custom_calls: vec![],
        custom_call_waivers: vec![],
        constants: vec![],
        dimensions: None,
        interface: None,
        derivatives: vec![],
        created: None,
        metadata: [("k".to_owned(), "v".to_owned())].into(),
    }
}

pub(crate) fn bytes_type(length: usize) -> ConstantType {
    ConstantType {
        dtype: "ui8".into(),
        shape: vec![length as u64],
    }
}

/// Content in which no two chunks are alike.
pub(crate) fn content(length: usize, seed: u8) -> Vec<u8> {
    let period: Vec<u8> = (0..=250_u8).map(|byte| byte.wrapping_mul(7) ^ seed).collect();
    let mut content = period.repeat(length.div_ceil(period.len()));
    content.truncate(length);
    content
}

pub(crate) fn build(builder: ContainerBuilder<'_>) -> Vec<u8> {
    let mut output = Cursor::new(Vec::new());
    builder.write_to(&mut output).unwrap();
    output.into_inner()
}

/// Program, one constant, manifest.
pub(crate) fn small() -> Vec<u8> {
    let mut builder = ContainerBuilder::new(manifest(), b"module {}");
    builder.constant(bytes_type(100), ConstantSource::Bytes(&[7; 100]));
    build(builder)
}

/// The messages of an error and its sources, as an edge prints them.
pub(crate) fn chain(error: &Error) -> String {
    let mut messages = vec![error.to_string()];
    let mut next = error.source();
    while let Some(source) = next {
        messages.push(source.to_string());
        next = source.source();
    }
    messages.join(": ")
}
