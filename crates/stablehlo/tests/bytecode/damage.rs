//! Damaged files: reading must return, and quickly, whatever happened to a byte.

use artifact_core::blob::Blob;
use artifact_stablehlo::bytecode::{ReadErrorKind, read};

use super::{parsed, reread, use_it, written};

/// One version for each version of MLIR's bytecode.
const VERSIONS: [&str; 5] = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "1.20.0"];

/// A bit of everything: properties, regions, constants, locations, attributes.
const PROGRAM: &str = r#"module @m attributes {a.b = {c = [1 : i64, "d", 2.5 : f32]}} {
  func.func @main(%x: tensor<4xf32> loc("x")) -> (tensor<f32>, tensor<4xi1>) {
    %c = stablehlo.constant dense<[true, false, true, true]> : tensor<4xi1>
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.exponential %x {n.n = "e"} : tensor<4xf32> loc("f"("a.py":3:7))
    %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2 = func.call @f(%1) : (tensor<f32>) -> tensor<f32>
    return %2, %c : tensor<f32>, tensor<4xi1>
  }
  func.func private @f(%x: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.case"(%n) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %x : tensor<f32> }) : (tensor<i32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}"#;

fn file(version: &str) -> Vec<u8> {
    let text = PROGRAM.replace(
        "%0 = \"stablehlo.case\"",
        "%n = stablehlo.constant dense<1> : tensor<i32> %0 = \"stablehlo.case\"",
    );
    written(&parsed(&text), version, true).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_cut_file_is_refused() {
    for version in VERSIONS {
        let whole = file(version);
        reread(whole.clone());
        for length in 0..whole.len() {
            let error = read(&Blob::new(whole[..length].to_vec())).map(drop);
            let error = error.expect_err("a part of a file is no file");
            let kind = error.kind();
            assert_eq!(
                kind,
                ReadErrorKind::Malformed,
                "{length} bytes of {version}: {error}"
            );
        }
    }
}

#[test]
fn a_longer_file_is_refused() {
    for version in VERSIONS {
        for end in 0..=255 {
            let mut bytes = file(version);
            bytes.push(end);
            read(&Blob::new(bytes))
                .map(drop)
                .expect_err("nothing follows the last section");
        }
    }
}

#[test]
fn any_byte_may_be_another() {
    for version in VERSIONS {
        let whole = file(version);
        for place in 0..whole.len() {
            let byte = whole[place];
            let bits = (0..8).map(|bit| byte ^ 1 << bit);
            for other in bits.chain([0x00, 0xFF, byte.wrapping_add(1), byte.wrapping_sub(1)]) {
                let mut bytes = whole.clone();
                bytes[place] = other;
                use_it(&bytes);
            }
        }
    }
}

#[test]
fn any_byte_may_be_missing_or_doubled() {
    for version in VERSIONS {
        let whole = file(version);
        for place in 0..whole.len() {
            let mut less = whole.clone();
            less.remove(place);
            use_it(&less);
            let mut more = whole.clone();
            more.insert(place, whole[place]);
            use_it(&more);
        }
    }
}
