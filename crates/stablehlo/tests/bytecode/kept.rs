//! What is kept of a module and what is left out, and that large constants are not copied.

use artifact_core::blob::Blob;
use artifact_ir::attribute::Attribute;
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_stablehlo::bytecode::{WriteOptions, read, write};
use artifact_stablehlo::print::{PrintOptions, print_module};

use super::{comes_back, parsed, reread, written};

/// One version for each version of MLIR's bytecode.
const VERSIONS: [&str; 6] = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.15.0", "1.20.0"];

fn with_locations(module: &Module) -> String {
    let options = PrintOptions {
        locations: true,
        ..PrintOptions::default()
    };
    print_module(module, &options)
}

const LOCATED: &str = r#"module {
  func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32> loc(callsite("f"("a.py":3:7) at "b.py":1:2))
    return %0 : tensor<f32> loc(fused["a", "b"("c.py":9:1)])
  } loc(unknown)
}"#;

#[test]
fn locations_are_written_on_demand() {
    let module = parsed(LOCATED);
    for version in VERSIONS {
        let kept = written(&module, version, true).expect("it has no more than a negation");
        assert_eq!(
            with_locations(&reread(kept).module),
            with_locations(&module),
            "{version}"
        );
        let stripped = written(&module, version, false).expect("it has no more than a negation");
        for path in ["a.py", "b.py", "c.py", "x\0"] {
            let found = stripped.windows(path.len()).any(|part| part == path.as_bytes());
            assert!(!found, "{path} is in the file of {version}");
        }
        let bare = with_locations(&reread(stripped).module);
        assert!(!bare.contains(".py"), "{bare}");
    }
}

/// Readers of before 1.9 know no ranges; where one begins is left.
#[test]
fn ranges_in_files_need_a_reader_that_knows_them() {
    let module = parsed(&LOCATED.replace("\"b.py\":1:2", "\"b.py\":1:2 to 4:5"));
    let again = |version| reread(written(&module, version, true).expect("it negates")).module;
    assert_eq!(with_locations(&again("1.9.0")), with_locations(&module));
    assert_eq!(with_locations(&again("1.8.0")), with_locations(&parsed(LOCATED)));
}

#[test]
fn the_module_has_a_name_and_attributes() {
    let text = r#"module @some_name attributes {mhlo.num_partitions = 2 : i32, mhlo.frontend = {a = "b", c = [1 : i64, true]}} {
      func.func private @only() -> tensor<f32>
      func.func @main(%x: tensor<f32> {jax.name = "x", tf.aliasing_output = 0 : i32}) -> (tensor<f32> {jax.result_info = "r"}) {
        %0 = stablehlo.negate %x {mhlo.note = "n"} : tensor<f32>
        return %0 : tensor<f32>
      }
    }"#;
    let module = parsed(text);
    let plain = PrintOptions::default();
    for version in VERSIONS {
        let again = reread(written(&module, version, false).expect("all of it is old")).module;
        assert_eq!(
            print_module(&again, &plain),
            print_module(&module, &plain),
            "{version}"
        );
    }
}

#[test]
fn shardings_come_back() {
    let text = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\", ?}, {\"y\":(1)2}], replicated={\"y\":(2)2}>}) -> tensor<8x8xf32> {
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>] manual_axes={\"x\"} (%a: tensor<4x8xf32>) {
          %1 = stablehlo.negate %a : tensor<4x8xf32>
          sdy.return %1 : tensor<4x8xf32>
        } : (tensor<8x8xf32>) -> tensor<8x8xf32>
        return %0 : tensor<8x8xf32>
    }";
    for version in ["1.11.0", "1.20.0"] {
        comes_back(text, version);
    }
    let module = parsed(text);
    let again = reread(written(&module, "1.20.0", false).expect("it is new enough")).module;
    let plain = PrintOptions::default();
    assert_eq!(print_module(&again, &plain), print_module(&module, &plain));
}

/// The bytes of every constant of a module that is no splat.
fn constants(module: &Module) -> Vec<Blob> {
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    let ops = bodies.flat_map(|body| body.ops.iter());
    ops.filter_map(|(_, operation)| match operation.op.attributes().get("value") {
        Some(Attribute::Elements(literal)) => literal.as_dense().cloned(),
        _ => None,
    })
    .collect()
}

#[test]
fn constants_are_views_of_the_file() {
    let text = "func.func @main() -> (tensor<4xf32>, tensor<3xi64>, tensor<2xcomplex<f64>>, tensor<5xui8>) {
        %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
        %1 = stablehlo.constant dense<[-1, 5, 1234567890123]> : tensor<3xi64>
        %2 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
        %3 = stablehlo.constant dense<[0, 1, 2, 254, 255]> : tensor<5xui8>
        return %0, %1, %2, %3 : tensor<4xf32>, tensor<3xi64>, tensor<2xcomplex<f64>>, tensor<5xui8>
    }";
    let module = parsed(text);
    for version in VERSIONS {
        let file = Blob::new(written(&module, version, false).expect("constants are old"));
        let inside = file.as_ptr_range();
        let again = read(&file).expect("what was written is read").module;
        let constants = constants(&again);
        assert_eq!(constants.len(), 4);
        for bytes in constants {
            let own = bytes.as_ptr_range();
            assert!(
                inside.start <= own.start && own.end <= inside.end,
                "a copy in {version}"
            );
        }
    }
}

#[test]
fn large_constants_are_views_of_the_module() {
    let numbers: Vec<String> = (0..4096).map(|number| format!("{number}.5")).collect();
    let text = format!(
        "func.func @main() -> tensor<4096xf32> {{
           %0 = stablehlo.constant dense<[{}]> : tensor<4096xf32>
           return %0 : tensor<4096xf32>
         }}",
        numbers.join(", ")
    );
    let module = parsed(&text);
    let bytes = constants(&module).remove(0);
    let encoded = write(&module, &WriteOptions::default()).expect("it is written");
    assert!(
        encoded
            .parts()
            .any(|part| part.as_ptr_range() == bytes.as_ptr_range())
    );
}

#[test]
fn equal_modules_give_equal_bytes() {
    let text = r#"module @m attributes {b.b = 1 : i32, a.a = "x"} {
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %c = stablehlo.constant dense<1.0> : tensor<4xf32>
        %0 = stablehlo.add %x, %c {z.z = true, y.y = 2 : i64} : tensor<4xf32>
        %1 = stablehlo.multiply %0, %c : tensor<4xf32>
        return %1 : tensor<4xf32>
      }
    }"#;
    let other = r#"module @m attributes {a.a = "x", b.b = 1 : i32} {
      func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
        %k = "stablehlo.constant"() <{value = dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
        %b = "stablehlo.add"(%a, %k) {y.y = 2 : i64, z.z = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %d = stablehlo.multiply %b, %k : tensor<4xf32>
        func.return %d : tensor<4xf32>
      }
    }"#;
    let (one, two) = (parsed(text), parsed(other));
    assert_eq!(program_digest(&one), program_digest(&two));
    for version in VERSIONS {
        let bytes = written(&one, version, false).expect("all of it is old");
        assert_eq!(
            bytes,
            written(&two, version, false).expect("all of it is old"),
            "{version}"
        );
        let again = reread(bytes.clone()).module;
        assert_eq!(
            bytes,
            written(&again, version, false).expect("it was written before"),
            "{version}"
        );
    }
}
