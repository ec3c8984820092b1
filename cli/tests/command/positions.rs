//! Which array is whose: arguments that a user does not give, and those that an exporter left out.

use crate::{Scratch, floats, jax_export, npy, npz, run};

/// Takes the position of its platform, as JAX writes it.
const TWO_PLATFORMS: &str = r#"func.func public @main(
    %arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<3xf32>
) -> tensor<3xf32> {
    %0 = "stablehlo.case"(%arg0) ({
        %1 = stablehlo.negate %arg1 : tensor<3xf32>
        stablehlo.return %1 : tensor<3xf32>
    }, {
        stablehlo.return %arg1 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
}"#;

#[test]
fn a_position_that_nothing_tells_is_not_made_up() {
    let scratch = Scratch::new();
    let program = scratch.file("m.mlir", TWO_PLATFORMS);
    let (untold, told) = (scratch.path("untold.artifact"), scratch.path("told.artifact"));
    let x = npy("<f4", "(3,)", &floats(&[1.0, 2.0, 3.0]));
    let with = |position: i32| {
        let position = npy("<i4", "()", &position.to_le_bytes());
        scratch.file("x.npz", npz(&[("arr_0", &position), ("arr_1", &x)]))
    };
    run(&[&"export", &program, &"-o", &untold])
        .expect(0)
        .says("warning: ")
        .says("nothing says which platforms it is for");
    for file in [&program, &untold] {
        run(&[&"run", file, &"--random", &"1"])
            .expect(3)
            .says("nothing says which platforms it is for")
            .says("artifact export --platform");
        run(&[&"run", file, &"--random", &"1", &"--platform", &"tpu"])
            .expect(3)
            .says("nothing says which platforms it is for");
        run(&[&"run", file, &"--inputs", &with(0)])
            .expect(0)
            .says("[-1.0, -2.0, -3.0]");
        run(&[&"run", file, &"--inputs", &with(1)])
            .expect(0)
            .says("[1.0, 2.0, 3.0]");
    }
    run(&[
        &"convert",
        &program,
        &"--to",
        &"jax",
        &"-o",
        &scratch.path("m.bin"),
    ])
    .expect(3)
    .says("export an artifact of it with their names");

    // Who names them in order is asked for the arrays alone.
    let platforms: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"--platform", &"cpu", &"--platform", &"tpu"];
    let [a, b, c, d] = platforms;
    let exported = run(&[&"export", &program, a, b, c, d, &"-o", &told]).expect(0);
    assert_eq!(exported.err, "");
    let alone = scratch.file("alone.npz", npz(&[("arr_0", &x)]));
    run(&[&"run", &told, &"--inputs", &alone])
        .expect(0)
        .says("[-1.0, -2.0, -3.0]");
    run(&[&"run", &told, &"--inputs", &alone, &"--platform", &"tpu"])
        .expect(0)
        .says("[1.0, 2.0, 3.0]");
    run(&[&"run", &told, &"--inputs", &with(0)])
        .expect(3)
        .says("no argument `arr_1`");
    let expected = npy("<f4", "(3,)", &floats(&[-1.0, -2.0, -3.0]));
    scratch.file("told.inputs.npz", npz(&[("arr_0", &x)]));
    scratch.file("told.expected.npz", npz(&[("arr_0", &expected)]));
    run(&[&"check", &told]).expect(0).says("1 passed");
}

#[test]
fn an_artifact_for_another_platform() {
    let scratch = Scratch::new();
    let (program, file) = (scratch.file("m.mlir", crate::ADD), scratch.path("m.artifact"));
    run(&[&"export", &program, &"--platform", &"cuda", &"-o", &file]).expect(0);
    run(&[&"run", &file, &"--random", &"1"])
        .expect(6)
        .says("--platform with the name of one runs what the program does there");
    run(&[&"run", &file, &"--random", &"1", &"--platform", &"cuda"]).expect(0);
}

#[test]
fn inputs_that_jax_left_out() {
    let scratch = Scratch::new();
    let other = scratch.file(
        "other.npz",
        npz(&[("other", &npy("<f4", "(2,)", &floats(&[0.0; 2])))]),
    );
    run(&[&"run", &jax_export("unused"), &"--inputs", &other])
        .expect(3)
        .says("the program does not use 2 inputs of the function, which JAX left out");
    let nothing = "func.func @main() -> tensor<f32> {
        %0 = stablehlo.constant dense<1.0> : tensor<f32>
        return %0 : tensor<f32>
    }";
    let nothing = scratch.file("nothing.mlir", nothing);
    run(&[&"run", &nothing, &"--inputs", &other])
        .expect(3)
        .says("its arguments are none");
}
