//! Exports of JAX through artifacts and back, and programs that become exports. `tests/jaxlib/rewritten_exports.py` has what
//! is written here judged by JAX.

use std::path::{Path, PathBuf};

use artifact_core::blob::Blob;
use artifact_forge::{Forgery, Section};
use artifact_jax::{DisabledCheck, Exported, PyTree};

use crate::{ADD, Ended, Scratch, floats, jax_export, npy, run};

fn read(path: &Path) -> Exported {
    artifact_jax::read(Blob::new(std::fs::read(path).unwrap())).unwrap()
}

/// The value without its programs, which may be spelled otherwise.
fn without_programs(mut exported: Exported) -> Exported {
    exported.module = Blob::new(Vec::new());
    exported.vjp = exported.vjp.map(|vjp| Box::new(without_programs(*vjp)));
    exported
}

/// An artifact of an export, and the export that is made of the artifact.
struct Exchanged {
    scratch: Scratch,
    artifact: PathBuf,
    back: PathBuf,
}

impl Exchanged {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new();
        // What a file holds counts, and not its name.
        let export = scratch.file("export", std::fs::read(jax_export(name)).unwrap());
        let (artifact, back) = (scratch.path("artifact.bin"), scratch.path("back.mlir"));
        run(&[&"export", &export, &"-o", &artifact]).expect(0);
        run(&[&"convert", &artifact, &"--to", &"jax", &"-o", &back]).expect(0);
        Self {
            scratch,
            artifact,
            back,
        }
    }

    fn inspect(&self) -> String {
        run(&[&"inspect", &self.artifact]).expect(0).out
    }

    /// The artifact with other bytes in its manifest is refused with this message.
    #[track_caller]
    fn refused(&self, from: &[u8], to: &[u8], message: &str) {
        self.refused_with(3, from, to, message);
    }

    #[track_caller]
    fn refused_with(&self, code: i32, from: &[u8], to: &[u8], message: &str) {
        let file = std::fs::read(&self.artifact).unwrap();
        let forged = Forgery::of(&file).manifest(from, to).write();
        let forged = self.scratch.file("forged.artifact", forged);
        let back = self.scratch.path("forged.bin");
        run(&[&"convert", &forged, &"--to", &"jax", &"-o", &back])
            .expect(code)
            .says(message);
        assert!(!back.exists());
    }
}

#[test]
fn nothing_that_an_export_says_is_lost() {
    let folder = jax_export("nothing").parent().unwrap().to_owned();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Arrays lie beside some.
        if path.extension().is_none_or(|extension| extension != "bin") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let exchanged = Exchanged::new(name);
        assert_eq!(
            without_programs(read(&exchanged.back)),
            without_programs(read(&path)),
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn names_of_arguments_survive_two_ways() {
    let exchanged = Exchanged::new("trees");
    let again = exchanged.scratch.path("again.artifact");
    run(&[&"export", &exchanged.back, &"-o", &again]).expect(0);
    let names = ["in  point.x: tensor<2xf32>", "in  ordered['b']: tensor<2xf32>"];
    for name in names {
        run(&[&"inspect", &again]).expect(0).says(name);
    }
    let (first, second) = (std::fs::read(&exchanged.artifact), std::fs::read(&again));
    assert_eq!(first.unwrap(), second.unwrap());
}

#[test]
fn what_an_export_says_is_shown() {
    let shown = |name: &str, lines: &[&str]| {
        let text = Exchanged::new(name).inspect();
        for line in lines {
            assert!(text.contains(line), "no `{line}` in\n{text}");
        }
        // The export itself shows the same.
        for line in lines {
            run(&[&"inspect", &jax_export(name)]).expect(0).says(line);
        }
    };
    shown(
        "unused",
        &[
            "unused inputs      2 of 3",
            "waived check       platform",
            "custom_call some_target",
        ],
    );
    shown(
        "vjp2",
        &["vjp/1", "vjp/2", "takes              ((f32[b], i32[]), {})"],
    );
    shown("donation", &["donates            state, into output 0"]);
    shown("layouts", &["layout             input 0: {0,1}"]);
    shown("weak_types", &["in  scale: tensor<f32>"]);
    shown("shardings", &["f32[8*b,16] over mesh 0 by ((data, model), None)"]);
    shown("memory_spaces", &["f32[4] in host memory"]);
    shown(
        "custom_call",
        &["some_target (api 1), used 1x, no guarantee, which the exporter accepted"],
    );
}

#[test]
fn constraints_are_those_that_the_program_asserts() {
    let exchanged = Exchanged::new("constraints");
    let dims = |file: &Path| run(&[&"inspect", &file, &"--dims"]).expect(0).out;
    for file in [&exchanged.artifact, &jax_export("constraints")] {
        let text = dims(file);
        assert!(
            text.contains("constraint - b + 8 >= 0") && text.contains("constraint - 2*b + a >= 0"),
            "{text}"
        );
    }
    let fixed = exchanged.scratch.path("fixed.artifact");
    let specialize = |a: &str, b: &str| {
        let (a, b) = (format!("a={a}"), format!("b={b}"));
        run(&[
            &"specialize",
            &exchanged.back,
            &"--dim",
            &a,
            &"--dim",
            &b,
            &"-o",
            &fixed,
        ])
    };
    specialize("20", "9").expect(3).says("b + 8 >= 0");
    specialize("6", "3").expect(0);
    // The gradient is static as well.
    let text = run(&[&"inspect", &fixed]).expect(0).out;
    assert_eq!(text.matches("in  x: tensor<6xf32>").count(), 1, "{text}");
    assert!(
        text.contains("takes              ((f32[6], f32[3], f32[3], f32[3]), {})"),
        "{text}"
    );
}

#[test]
fn a_program_for_several_platforms_is_told_which() {
    let exchanged = Exchanged::new("platforms");
    let values = floats(&[0.0, 0.0, 0.0]);
    let x = exchanged.scratch.file("x.npy", npy("<f4", "(3,)", &values));
    let x = format!("x={}", x.display());
    for file in [&exchanged.artifact, &jax_export("platforms")] {
        let start = |more: &[&str]| -> Ended {
            let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"run", file, &"--input", &x];
            arguments.extend(more.iter().map(|text| text as &dyn AsRef<std::ffi::OsStr>));
            run(&arguments)
        };
        // The sine on a CPU, the cosine elsewhere.
        start(&[]).expect(0).says("= [0.0, 0.0, 0.0]");
        start(&["--platform", "cpu"]).expect(0).says("= [0.0, 0.0, 0.0]");
        start(&["--platform", "tpu"]).expect(0).says("= [1.0, 1.0, 1.0]");
        start(&["--platform", "rocm"]).expect(6).says("cpu").says("tpu");
        start(&["--input", &x.replace("x=", "platform_index=")])
            .expect(3)
            .says("name the platform with --platform");
    }
    let output = exchanged.scratch.path("again.artifact");
    run(&[
        &"export",
        &jax_export("platforms"),
        &"--platform",
        &"cpu",
        &"-o",
        &output,
    ])
    .expect(2)
    .says("says itself which platforms");
}

#[test]
fn tokens_of_ordered_effects_are_passed_through() {
    let exchanged = Exchanged::new("effects");
    let x = exchanged
        .scratch
        .file("x.npy", npy("<f4", "(3,)", &floats(&[1.0, 2.0, 3.0])));
    let (x, results) = (
        format!("x={}", x.display()),
        exchanged.scratch.path("results.npz"),
    );
    for file in [&exchanged.artifact, &jax_export("effects")] {
        run(&[&"run", file, &"--input", &x])
            .expect(0)
            .says("= [2.0, 3.0, 4.0]");
        run(&[&"run", file, &"--input", &x, &"--output", &results]).expect(0);
        run(&[&"run", file, &"--input", &x, &"--expect", &results])
            .expect(0)
            .says("1 of 1 results agree");
    }
}

#[test]
fn unused_arguments_are_not_asked_for() {
    let exchanged = Exchanged::new("unused");
    let y = exchanged
        .scratch
        .file("y.npy", npy("<f4", "(3,)", &floats(&[1.0, 2.0, 3.0])));
    let y = format!("y={}", y.display());
    run(&[&"run", &exchanged.artifact, &"--input", &y])
        .expect(0)
        .says("= [2.0, 4.0, 6.0]");
}

const CALL: &str = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
";

#[test]
fn calls_without_a_guarantee_need_a_waiver() {
    let scratch = Scratch::new();
    let program = scratch.file("call.mlir", CALL);
    let (export, artifact) = (scratch.path("call.bin"), scratch.path("call.artifact"));
    let convert = ["convert", "--to", "jax", "-o"];
    let [command, to, jax, into] = convert;
    run(&[&command, &program, &to, &jax, &into, &export])
        .expect(3)
        .says("`mystery`, which has no guarantee");
    run(&[
        &command,
        &program,
        &to,
        &jax,
        &"--allow-custom-call",
        &"mystery",
        &into,
        &export,
    ])
    .expect(0);
    assert!(
        read(&export)
            .disabled_checks
            .contains(&DisabledCheck::CustomCall("mystery".into()))
    );
    // The export says that it was accepted, and so the artifact does, and what is made of that.
    run(&[&"export", &export, &"-o", &artifact]).expect(0);
    run(&[&"inspect", &artifact])
        .expect(0)
        .says("which the exporter accepted");
    run(&[&command, &artifact, &to, &jax, &into, &export]).expect(0);
    run(&[
        &"export",
        &export,
        &"--allow-custom-call",
        &"other",
        &"-o",
        &artifact,
    ])
    .expect(3)
    .says("waiver is given for `other`");
    run(&[
        &command,
        &program,
        &to,
        &"mlir",
        &"--allow-custom-call",
        &"mystery",
    ])
    .expect(2);
}

#[test]
fn a_program_of_text_becomes_flat_tuples() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let export = scratch.path("add.bin");
    run(&[&"convert", &program, &"--to", &"jax", &"-o", &export]).expect(0);
    let exported = read(&export);
    let arguments = PyTree::Tuple(vec![PyTree::Leaf, PyTree::Leaf]);
    assert_eq!(
        exported.inputs.tree,
        PyTree::Tuple(vec![arguments, PyTree::Dict(vec![])])
    );
    assert_eq!(exported.outputs.tree, PyTree::Tuple(vec![PyTree::Leaf]));
    assert_eq!(
        (
            exported.function_name.as_str(),
            exported.module_kept_var_idx.len()
        ),
        ("add", 2)
    );
    // Nobody named a platform, so that any will do.
    assert_eq!(exported.platforms, ["cpu"]);
    assert_eq!(exported.disabled_checks, [DisabledCheck::Platform]);
    assert!(!exported.uses_global_constants);
    run(&[&"inspect", &export])
        .expect(0)
        .says("in  bias: tensor<3xf32>");
}

const OPEN: &str = "func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %equal = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%equal, %m, %n) {error_message = \"{0} is not {1}\", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %z = stablehlo.add %x, %y : tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}
";

#[test]
fn open_sizes_get_names() {
    let scratch = Scratch::new();
    let program = scratch.file("open.mlir", OPEN);
    let (export, artifact) = (scratch.path("open.bin"), scratch.path("open.artifact"));
    run(&[&"convert", &program, &"--to", &"jax", &"-o", &export]).expect(0);
    let exported = read(&export);
    let shape = |leaf: &artifact_jax::Leaf| -> Vec<String> {
        leaf.aval.shape.iter().map(ToString::to_string).collect()
    };
    let leaves: Vec<_> = exported
        .inputs
        .leaves
        .iter()
        .chain(&exported.outputs.leaves)
        .collect();
    // What the program asserts to be equal has one name.
    let name = shape(leaves[0])[0].clone();
    for leaf in leaves {
        assert_eq!(shape(leaf), [name.clone(), "2".to_owned()]);
    }
    assert!(exported.uses_global_constants);
    // A constraint that only the artifact knows would be lost.
    let shapes = "x: (b, 2); y: (b, 2)".replace('x', "arg0").replace('y', "arg1");
    run(&[
        &"export",
        &program,
        &"--shapes",
        &shapes,
        &"--constraint",
        &"b <= 4",
        &"-o",
        &artifact,
    ])
    .expect(0);
    run(&[&"convert", &artifact, &"--to", &"jax", &"-o", &export])
        .expect(3)
        .says("is none that the program asserts");
    run(&[&"export", &program, &"--shapes", &shapes, &"-o", &artifact]).expect(0);
    run(&[&"convert", &artifact, &"--to", &"jax", &"-o", &export]).expect(0);
    assert_eq!(shape(&read(&export).outputs.leaves[0])[0], "b");
}

#[test]
fn the_version_of_stablehlo_can_be_chosen() {
    let scratch = Scratch::new();
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.tan %x : tensor<f32> return %0 : tensor<f32> }";
    let program = scratch.file("tan.mlir", text);
    let export = scratch.path("tan.bin");
    let convert = |version: &str| {
        run(&[
            &"convert",
            &program,
            &"--to",
            &"jax",
            &"--stablehlo",
            &version,
            &"-o",
            &export,
        ])
    };
    convert("1.3.0")
        .expect(4)
        .says("'stablehlo.tan' needs StableHLO 1.4.0");
    convert("1.4.0").expect(0);
    run(&[&"inspect", &export]).expect(0).says("jax-export");
    run(&[&"convert", &program, &"--to", &"jax", &"--locations"]).expect(2);
}

#[test]
fn damaged_exports_are_refused() {
    let scratch = Scratch::new();
    let file = std::fs::read(jax_export("vjp1")).unwrap();
    let output = scratch.path("out.artifact");
    for length in [file.len() / 2, 64] {
        let cut = scratch.file("cut.bin", &file[..length]);
        run(&[&"export", &cut, &"-o", &output]).expect(3);
    }
    assert!(!output.exists());
}

/// Who reads a manifest believes it: one that says something else than the program, or nothing sensible, is refused.
#[test]
fn interfaces_that_lie_are_refused() {
    let unused = Exchanged::new("unused");
    unused.refused(
        b"kept_inputs\x91\x01",
        b"kept_inputs\x91\x00",
        "do not agree: the input `y` is tensor<3xf32>",
    );
    unused.refused(
        b"kept_inputs\x91\x01",
        b"kept_inputs\x92\x01\x02",
        "has 1 inputs that are data, the interface 2",
    );
    unused.refused(
        b"kept_inputs\x91\x01",
        b"kept_inputs\x91\x03",
        "takes argument 3, and there are 3",
    );
    unused.refused(b"devices\x01", b"devices\x00", "is for 0 devices");
    unused.refused_with(
        4,
        b"calling_convention\x0a",
        b"calling_convention\x08",
        "calling convention 8",
    );
    unused.refused(
        b"uses_global_constants\xc2",
        b"uses_global_constants\xc3",
        "says that it needs no refinement",
    );
    unused.refused(
        b"check\xabcustom_call",
        b"check\xabcustom_cell",
        "no check `custom_cell`",
    );
    unused.refused(b"devices\x01", b"devices\xc3", "cannot be decoded");
    let donation = Exchanged::new("donation");
    donation.refused(
        b"donations\x91\x82\xa5input\x00",
        b"donations\x91\x82\xa5input\x01",
        "other donated buffers",
    );
    let layouts = Exchanged::new("layouts");
    layouts.refused(
        b"mode\xa5{0,1}",
        b"mode\xa5{1,0}",
        "other donated buffers or layouts",
    );
    layouts.refused(
        b"sharding\x00",
        b"sharding\x01",
        "names sharding 1, and there are 1",
    );
    let mesh = Exchanged::new("explicit_mesh");
    mesh.refused(
        b"partitions\x91\x91\xa4rows",
        b"partitions\x91\x91\xa7columns",
        "laid out over other axes in the program",
    );
    layouts.refused(b"mesh\x00", b"mesh\x07", "names mesh 7, and there are 1");
    let platforms = Exchanged::new("platforms");
    platforms.refused(
        b"platforms\x93\xa3cpu\xa4cuda\xa3tpu",
        b"platforms\x91\xa3cpu",
        "takes position of a platform, and there are 1 platforms",
    );
    let effects = Exchanged::new("effects");
    effects.refused(
        b"\xafordered_effects",
        b"\xafordered_effectz",
        "missing field `ordered_effects`",
    );
}

/// Trees that end early, go on, nest without end, or are of no kind.
#[test]
fn trees_that_are_none_are_refused() {
    let nothing = Exchanged::new("nothing");
    let tuple = |children: u8| [b"\x82\xa4kind\xa5tuple\xa8children".as_slice(), &[children]].concat();
    let inputs = [b"inputs\x82\xa4tree\x93".as_slice(), &tuple(2)].concat();
    let with = |nodes: &[u8], count: u8| [b"inputs\x82\xa4tree".as_slice(), &[0x90 | count], nodes].concat();
    let rest = b"\x81\xa4kind\xa5tuple\x81\xa4kind\xa4dict";
    let original = [inputs, rest.to_vec()].concat();
    let check =
        |nodes: Vec<u8>, count: u8, message: &str| nothing.refused(&original, &with(&nodes, count), message);
    check(
        [tuple(3), rest.to_vec()].concat(),
        3,
        "a tree ends before its last node",
    );
    check([tuple(1), rest.to_vec()].concat(), 3, "nodes after its last one");
    check(
        [tuple(2), b"\x81\xa4kind\xa5tuple\x81\xa4kind\xa4dirt".to_vec()].concat(),
        3,
        "not the form of a `dirt`",
    );
    let leaf = b"\x81\xa4kind\xa4leaf\x81\xa4kind\xa4dict".to_vec();
    check([tuple(2), leaf].concat(), 3, "has 1 leaves");
    let nested: Vec<u8> = (0..200).flat_map(|_| tuple(1)).collect();
    let deep = [b"inputs\x82\xa4tree\xdc\x00\xc8".as_slice(), &nested].concat();
    nothing.refused(&original, &deep, "the nesting of a tree");
}

/// What a manifest says of a derivative is checked as what it says of the program.
#[test]
fn derivatives_that_lie_are_refused() {
    let exchanged = Exchanged::new("vjp1");
    let file = std::fs::read(&exchanged.artifact).unwrap();
    let swapped = |change: &dyn Fn(&mut Forgery)| {
        let mut forged = Forgery::of(&file);
        change(&mut forged);
        let forged = exchanged.scratch.file("forged.artifact", forged.write());
        let back = exchanged.scratch.path("forged.bin");
        run(&[&"convert", &forged, &"--to", &"jax", &"-o", &back]).expect(3)
    };
    let program = Forgery::of(&file).section("program").clone();
    swapped(&|forged| {
        let derivative = forged.section("vjp/1");
        *derivative = Section {
            kind: derivative.kind,
            flags: derivative.flags,
            name: derivative.name.clone(),
            ..program.clone()
        };
    })
    .says("the derivative `vjp/1`");
    swapped(&|forged| forged.sections.retain(|section| section.name != "vjp/1"))
        .says("has 0 derivatives, its manifest describes 1");
    // Whoever only runs the program has no use for the derivative.
    run(&[&"upgrade", &exchanged.artifact]).expect(0);
}

/// What JAX could read and not call is not written.
#[test]
fn what_jax_cannot_call() {
    let scratch = Scratch::new();
    let program = scratch.file("double.mlir", DOUBLE);
    let (artifact, output) = (scratch.path("double.artifact"), scratch.path("double.bin"));
    let convert = |file: &Path| run(&[&"convert", &file, &"--to", &"jax", &"-o", &output]);
    convert(&program)
        .expect(0)
        .says("JAX takes no size of 0, which a size of `arg0` may be here");
    std::fs::remove_file(&output).unwrap();
    for (shape, constraint, said) in [
        ("arg0: (b,)", "b >= 0", "lets the size 'b' be 0"),
        ("arg0: (b*c,)", "b >= 1", "cannot find 'b' from the size 'b*c'"),
    ] {
        let shapes: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"--shapes", &shape, &"--constraint", &constraint];
        let [a, b, c, d] = shapes;
        run(&[&"export", &program, a, b, c, d, &"-o", &artifact]).expect(0);
        convert(&artifact).expect(3).says(said);
        assert!(!output.exists());
    }
}

const DOUBLE: &str = "func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
";

#[test]
fn platforms_are_names() {
    let scratch = Scratch::new();
    let program = scratch.file("add.mlir", ADD);
    let (artifact, output) = (scratch.path("add.artifact"), scratch.path("add.bin"));
    let export = |platforms: &[&str]| {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"export", &program, &"-o", &artifact];
        for platform in platforms {
            arguments.extend([&"--platform" as &dyn AsRef<std::ffi::OsStr>, platform]);
        }
        run(&arguments)
    };
    for (platforms, said) in [
        (&[""][..], "an empty name"),
        (&["cpu "], "no name of a platform"),
        (&["c\npu"], "`c\\npu` is no name of a platform"),
        (&["Cuda"], "did you mean `cuda`?"),
        (&["cpu", "cpu"], "named twice"),
    ] {
        export(platforms).expect(2).says(said);
        assert!(!artifact.exists());
    }
    export(&["cpu", "cuda"]).expect(0);
    run(&[&"run", &artifact, &"--random", &"1"]).expect(0);
    run(&[&"convert", &artifact, &"--to", &"jax", &"-o", &output])
        .expect(3)
        .says("export it for one platform, or for none");
}
