//! A program that went through an artifact is the same program, wherever its constants lie.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::io::Cursor;
use std::sync::Arc;

use artifact_container::manifest::{CustomCall, Manifest};
use artifact_container::{Container, ContainerBuilder};
use artifact_export::{ExportErrorKind, Exported, Loaded, PackOptions, pack};
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::source::SourceText;
use artifact_testkit::corpus::programs;

fn module(text: &str) -> Module {
    let parsed = parse_module(text).into_module();
    parsed.unwrap_or_else(|found| panic!("{}", SourceText::new("test", text).render_all(&found)))
}

fn packed(module: &Module) -> Vec<u8> {
    let exported =
        Exported::new(module.clone()).unwrap_or_else(|error| panic!("{error}: {:?}", error.diagnostics));
    let mut file = Cursor::new(Vec::new());
    pack(&exported, &PackOptions::default(), &mut file).unwrap();
    file.into_inner()
}

fn loaded(file: Vec<u8>) -> Loaded {
    let container = Arc::new(Container::from_bytes(file).unwrap());
    Loaded::from_container(&container).unwrap_or_else(|error| panic!("{error}: {:?}", error.diagnostics))
}

/// Packs, loads and restores a program; returns the number of constants that had left it.
#[track_caller]
fn comes_back(module: &Module) -> usize {
    let file = packed(module);
    assert_eq!(file, packed(module), "the same program gave other bytes");
    let loaded = loaded(file);
    let constants = loaded.constants().len();
    let restored = loaded.into_module().unwrap();
    let found = artifact_ir::verify::verify(&restored);
    assert!(found.is_empty(), "{found:?}");
    // A constant that moved to the entry is another program to the digest, and the same one once it is packed again.
    assert_eq!(packed(module), packed(&restored));
    constants
}

/// `dense<[0.0, 1.0, ...]>` of 2048 elements, which is above what stays in a program.
fn large(first: u32) -> String {
    let elements: Vec<String> = (first..first + 2048).map(|i| format!("{i}.0")).collect();
    format!("dense<[{}]> : tensor<2048xf32>", elements.join(", "))
}

#[test]
fn a_constant_of_the_entry() {
    let module = module(&format!(
        "func.func @main(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %c = stablehlo.constant {}
           %small = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
           %even = stablehlo.constant dense<1.0> : tensor<2048xf32>
           %r = stablehlo.add %x, %c : tensor<2048xf32>
           return %r : tensor<2048xf32>
         }}",
        large(0)
    ));
    assert_eq!(comes_back(&module), 1);
    let loaded = loaded(packed(&module));
    let restored = loaded.into_module().unwrap();
    assert_eq!(program_digest(&module), program_digest(&restored));
}

#[test]
fn equal_constants_are_one() {
    let module = module(&format!(
        "func.func @main() -> (tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>) {{
           %a = stablehlo.constant {0}
           %b = stablehlo.constant {0}
           %c = stablehlo.constant {1}
           return %a, %b, %c : tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>
         }}",
        large(0),
        large(1)
    ));
    assert_eq!(comes_back(&module), 2);
}

#[test]
fn constants_of_functions_and_regions() {
    let module = module(&format!(
        "func.func private @shift(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %c = stablehlo.constant {0}
           %r = stablehlo.add %x, %c : tensor<2048xf32>
           return %r : tensor<2048xf32>
         }}
         func.func private @twice(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %a = call @shift(%x) : (tensor<2048xf32>) -> tensor<2048xf32>
           %b = call @shift(%a) : (tensor<2048xf32>) -> tensor<2048xf32>
           return %b : tensor<2048xf32>
         }}
         func.func public @main(%p: tensor<i1>, %x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %r = \"stablehlo.if\"(%p) ({{
             %a = func.call @twice(%x) : (tensor<2048xf32>) -> tensor<2048xf32>
             stablehlo.return %a : tensor<2048xf32>
           }}, {{
             %c = stablehlo.constant {1}
             stablehlo.return %c : tensor<2048xf32>
           }}) : (tensor<i1>) -> tensor<2048xf32>
           return %r : tensor<2048xf32>
         }}",
        large(0),
        large(7)
    ));
    assert_eq!(comes_back(&module), 2);
}

/// As deep as a file can make it; nothing may recurse along calls.
#[test]
fn a_long_chain_of_calls() {
    const FUNCTIONS: usize = 5_000;
    let mut text = String::new();
    for i in 0..FUNCTIONS {
        text += &format!(
            "func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{
               %r = call @f{}(%x) : (tensor<f32>) -> tensor<f32>
               return %r : tensor<f32>
             }}\n",
            i + 1
        );
    }
    text += &format!(
        "func.func private @f{FUNCTIONS}(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }}
         func.func public @main(%x: tensor<f32>) -> tensor<f32> {{
           %r = call @f0(%x) : (tensor<f32>) -> tensor<f32>
           return %r : tensor<f32>
         }}"
    );
    assert_eq!(comes_back(&module(&text)), 0);
}

/// A decomposition is called by name from an attribute: its arguments are fixed.
#[test]
fn constants_of_decompositions_stay() {
    let module = module(&format!(
        "func.func private @body(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %c = stablehlo.constant {}
           %r = stablehlo.add %x, %c : tensor<2048xf32>
           return %r : tensor<2048xf32>
         }}
         func.func public @main(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %r = stablehlo.composite \"my.op\" %x {{decomposition = @body}} : (tensor<2048xf32>) -> tensor<2048xf32>
           %s = call @body(%r) : (tensor<2048xf32>) -> tensor<2048xf32>
           return %s : tensor<2048xf32>
         }}",
        large(0)
    ));
    assert_eq!(comes_back(&module), 0);
}

#[test]
fn what_cannot_be_exported() {
    let refusal = |text: &str| Exported::new(module(text)).unwrap_err().to_string();
    let two = "func.func @f() { return }\nfunc.func @g() { return }";
    assert!(refusal(two).contains("no entry function"), "{}", refusal(two));
    let declared = "func.func private @main() -> tensor<f32>";
    assert!(refusal(declared).contains("has no body"), "{}", refusal(declared));
}

/// A body that sees nothing from outside keeps its constants, and so do the functions that it calls.
#[test]
fn constants_of_isolated_regions_stay() {
    let module = module(&format!(
        "sdy.mesh @m = <[\"x\"=2]>
         func.func private @shift(%x: tensor<2048xf32>) -> tensor<2048xf32> {{
           %c = stablehlo.constant {0}
           %r = stablehlo.add %x, %c : tensor<2048xf32>
           return %r : tensor<2048xf32>
         }}
         func.func public @main(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<2048xf32>) {{
           %r = sdy.manual_computation(%x) in_shardings=[<@m, [{{\"x\"}}]>] out_shardings=[<@m, [{{\"x\"}}]>] manual_axes={{\"x\"}} (%a: tensor<2048xf32>) {{
             %b = func.call @shift(%a) : (tensor<2048xf32>) -> tensor<2048xf32>
             %c = stablehlo.constant {1}
             %d = stablehlo.add %b, %c : tensor<2048xf32>
             sdy.return %d : tensor<2048xf32>
           }} : (tensor<4096xf32>) -> tensor<4096xf32>
           %s = stablehlo.constant {2}
           return %r, %s : tensor<4096xf32>, tensor<2048xf32>
         }}",
        large(0),
        large(1),
        large(2)
    ));
    assert_eq!(comes_back(&module), 1);
}

#[test]
fn programs_of_jax() {
    for folder in ["jax", "jax_sharded"] {
        for program in programs(folder).unwrap_or_default() {
            comes_back(&module(&program.text));
        }
    }
}

/// What the manifest says of the program is compared with the program, however sound the file is.
#[test]
fn a_manifest_that_lies() {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
    let container = Container::from_bytes(packed(&module(text))).unwrap();
    let program = container.program().unwrap();
    let check = |lie: fn(&mut Manifest), kind: ExportErrorKind, says: &str| {
        let mut manifest = container.manifest().clone();
        lie(&mut manifest);
        let mut file = Cursor::new(Vec::new());
        ContainerBuilder::new(manifest, &program)
            .write_to(&mut file)
            .unwrap();
        let container = Arc::new(Container::from_bytes(file.into_inner()).unwrap());
        let error = Loaded::from_container(&container).unwrap_err();
        let why = error
            .incompatibility()
            .map_or_else(|| error.to_string(), ToString::to_string);
        assert!(error.kind() == kind && why.contains(says), "{why}");
    };
    let fix = ExportErrorKind::FixInput;
    check(
        |manifest| manifest.signature.function = "f".into(),
        fix,
        "the program's entry is `main`",
    );
    check(
        |manifest| manifest.signature.inputs[0].dtype = "f64".into(),
        fix,
        "tensor<2xf32>",
    );
    check(
        |manifest| manifest.signature.outputs[0].shape = None,
        fix,
        "tensor<2xf32>",
    );
    let upgrade = ExportErrorKind::Upgrade;
    check(
        |manifest| manifest.program.version = "99.0.0".into(),
        upgrade,
        "stablehlo-bytecode 99.0.0; artifact",
    );
    check(
        |manifest| manifest.program.name = "vhlo".into(),
        upgrade,
        "the program is vhlo 1.20.0",
    );
    check(
        |manifest| manifest.calling_convention = 9,
        upgrade,
        "calling convention 9",
    );
    let call = |manifest: &mut Manifest| {
        manifest.custom_calls.push(CustomCall {
            target: "f".into(),
            api_version: 1,
            has_side_effect: false,
            count: 1,
        });
    };
    check(call, fix, "custom calls");
}

/// What a preview wrote as text is refused at its line, which who holds the artifact has not seen.
#[test]
fn a_program_that_is_wrong() {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
    let container = Container::from_bytes(packed(&module(text))).unwrap();
    let refusal = |format: &str, program: &[u8]| {
        let mut manifest = container.manifest().clone();
        manifest.program.name = format.to_owned();
        let mut file = Cursor::new(Vec::new());
        ContainerBuilder::new(manifest, program)
            .write_to(&mut file)
            .unwrap();
        let container = Arc::new(Container::from_bytes(file.into_inner()).unwrap());
        Loaded::from_container(&container).unwrap_err().to_string()
    };
    let wrong = b"func.func @main() {\n  return %missing : tensor<2xf32>\n}\n";
    let error = refusal("stablehlo-text", wrong);
    assert!(
        error.contains("program:2:") && error.contains("missing"),
        "{error}"
    );
    let error = refusal("stablehlo-bytecode", wrong);
    assert!(error.contains("not MLIR bytecode"), "{error}");
    let cut = &container.program().unwrap()[..60];
    let error = refusal("stablehlo-bytecode", cut);
    assert!(error.contains("the data ends too early"), "{error}");
}
