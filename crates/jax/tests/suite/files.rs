//! What the files of JAX hold. The expected values are those of the functions that were exported
//! (`fixtures/jax_exports.py`).

use std::fmt::Write as _;

use artifact_core::blob::Blob;
use artifact_jax::{Exported, Leaf, PyTree, SerializationVersion, Sharding, Values, read};
use artifact_testkit::corpus;

use crate::sample::{fixture, fixtures, read_bytes};

/// A function in lines: arguments, results, and what is not as usual.
fn describe(exported: &Exported) -> String {
    let mut text = String::new();
    let mut next = Some(exported);
    while let Some(function) = next {
        let name = &function.function_name;
        writeln!(
            text,
            "{name}{} -> {}",
            values(&function.inputs),
            values(&function.outputs)
        )
        .unwrap();
        unusual(function, &mut text);
        next = function.vjp.as_deref();
    }
    text
}

fn unusual(function: &Exported, text: &mut String) {
    let mut say = |what: &str, value: &dyn std::fmt::Debug, usual: bool| {
        if !usual {
            writeln!(text, "  {what} {value:?}").unwrap();
        }
    };
    let platforms = &function.platforms;
    let devices = function.devices.get();
    let all: Vec<u16> = (0..).take(function.inputs.leaves.len()).collect();
    let kept = &function.module_kept_var_idx;
    let effects = |list: &[artifact_jax::Effect]| -> Vec<String> {
        list.iter().map(|effect| effect.type_name.clone()).collect()
    };
    let ordered = effects(&function.ordered_effects);
    let unordered = effects(&function.unordered_effects);
    say("platforms", platforms, platforms == &["cpu"]);
    say("devices", &devices, devices == 1);
    say("takes", kept, *kept == all);
    say("ordered", &ordered, ordered.is_empty());
    say("unordered", &unordered, unordered.is_empty());
    say(
        "waives",
        &function.disabled_checks,
        function.disabled_checks.is_empty(),
    );
    say("uses", &"sizes or platform", !function.uses_global_constants);
    assert!(function.module.starts_with(b"ML\xefR"));
    assert_eq!(function.calling_convention_version.0, 10);
}

fn values(values: &Values) -> String {
    let mut leaves = values.leaves.iter();
    let text = tree(&values.tree, &mut leaves);
    assert_eq!(leaves.len(), 0);
    text
}

fn tree<'v>(node: &PyTree, leaves: &mut impl Iterator<Item = &'v Leaf>) -> String {
    let mut list = |nodes: &[PyTree]| -> String {
        let texts: Vec<String> = nodes.iter().map(|node| tree(node, leaves)).collect();
        texts.join(", ")
    };
    match node {
        PyTree::Leaf => leaf(leaves.next().unwrap()),
        PyTree::None => "None".to_owned(),
        PyTree::Tuple(nodes) => format!("({})", list(nodes)),
        PyTree::List(nodes) => format!("[{}]", list(nodes)),
        PyTree::Dict(entries) => {
            let entries = entries
                .iter()
                .map(|(name, node)| format!("{name}: {}", tree(node, leaves)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        PyTree::Custom {
            name,
            auxdata,
            children,
        } => format!("{name}<{}>({})", String::from_utf8_lossy(auxdata), list(children)),
    }
}

fn leaf(leaf: &Leaf) -> String {
    let aval = &leaf.aval;
    let shape: Vec<&str> = aval.shape.iter().map(|dimension| dimension.text()).collect();
    let mut text = format!("{:?}[{}]", aval.dtype, shape.join(","));
    if aval.memory_space != artifact_jax::MemorySpace::Device {
        write!(text, "@{:?}", aval.memory_space).unwrap();
    }
    if let Sharding::Named(named) = &leaf.sharding {
        let axes = named.mesh.axes.iter();
        let axes = axes.map(|axis| format!("{}={}:{:?}", axis.name, axis.size, axis.axis_type));
        let axes: Vec<String> = axes.collect();
        write!(text, "%{:?}over({})", named.spec.partitions, axes.join(" ")).unwrap();
        if let Some(kind) = &named.memory_kind {
            write!(text, "in {kind}").unwrap();
        }
    }
    text
}

#[test]
fn what_the_fixtures_hold() {
    let check = |name: &str, want: &[&str]| {
        for (schema, version, jax) in [("schema11", 3, None), ("schema12", 12, Some("0.12.0.1"))] {
            let exported = read_bytes(&fixture(&format!("{schema}/{name}.bin"))).unwrap();
            let found = describe(&exported);
            assert_eq!(
                found.lines().collect::<Vec<_>>(),
                want,
                "{schema}/{name}\n{found}"
            );
            assert_eq!(exported.serialization_version, SerializationVersion(version));
            assert_eq!(exported.jax_version.as_deref(), jax);
        }
    };
    let symbolic = "  uses \"sizes or platform\"";
    let first = "fun_vjp_jax((F32[b], I32[], F32[b]), {}) -> (F32[b], F0[])";
    let second = "fun_vjp_jax((F32[b], I32[], F32[b], F32[b], F0[]), {}) -> (F32[b], F0[], F32[b])";
    let times_sine = "times_sine((F32[b], I32[]), {}) -> F32[b]";
    check("vjp1", &[times_sine, symbolic, first, symbolic]);
    check("vjp2", &[times_sine, symbolic, first, symbolic, second, symbolic]);
    check(
        "dimensions",
        &[
            "function((F32[a,2*b], F32[b]), {}) -> (F32[2*a*b], F32[2*b + 1], F32[max(a, b),mod(a, 3) + 1,floordiv(a^2*b, 4) + 1])",
            symbolic,
        ],
    );
    let x = "F32[2]";
    let point = format!("jax_exports.Point<[\"x\", \"y\"]>({x}, {x})");
    let ordered = format!("collections.OrderedDict<[\"b\", \"a\"]>({x}, {x})");
    let nested = format!("{{empty: {{}}, größe: None, list: [{x}, ({x})]}}");
    let sevenfold = [x; 7].join(", ");
    check(
        "trees",
        &[
            &format!(
                "function(({point}, jax_exports.Scaled<2>({x}), None), {{nested: {nested}, ordered: {ordered}}}) -> ({{point: {point}, scaled: jax_exports.Scaled<3>({x})}}, (None, [{x}], ()))"
            ),
            &format!("fun_vjp_jax(({sevenfold}, {x}, {x}, {x}, {x}), {{}}) -> ({sevenfold})"),
            "  takes [7, 8, 9, 10]",
        ],
    );
    check(
        "effects",
        &[
            "function((F32[3]), {}) -> F32[3]",
            "  ordered [\"<class 'jax_exports.OrderedEffect'>\"]",
            "  unordered [\"<class 'jax_exports.UnorderedEffect'>\"]",
        ],
    );
    check(
        "platforms",
        &[
            "function((F32[3]), {}) -> F32[3]",
            "  platforms [\"cpu\", \"cuda\", \"tpu\"]",
            symbolic,
        ],
    );
    check(
        "keys",
        &["function((KeyFry[], KeyRbg[], KeyUnsafeRbg[]), {}) -> (KeyFry[], Ui32[4], KeyUnsafeRbg[])"],
    );
    check("nothing", &["<lambda>((), {}) -> ()"]);
}

#[test]
fn what_the_fixtures_hold_of_types_and_layouts() {
    let check = |name: &str, want: &[&str]| {
        for schema in ["schema11", "schema12"] {
            let exported = read_bytes(&fixture(&format!("{schema}/{name}.bin"))).unwrap();
            let found = describe(&exported);
            assert_eq!(
                found.lines().collect::<Vec<_>>(),
                want,
                "{schema}/{name}\n{found}"
            );
        }
    };
    let every = "Bool[], I8[1], I16[1,2], I32[1,2,3], Ui8[1,2,3,4], Ui16[], Ui32[1], F16[1,2], F32[1,2,3], C64[1,2,3,4], Bf16[], I4[1], Ui4[1,2], F8E4m3b11fnuz[1,2,3], F8E4m3fn[1,2,3,4], F8E4m3fnuz[], F8E5m2[1], F8E5m2fnuz[1,2], F8E4m3[1,2,3], F8E3m4[1,2,3,4], F8E8m0fnu[], F4E2m1fn[1], I64[], Ui64[], F64[], C128[]";
    check("dtypes", &[&format!("<lambda>(({every}), {{}}) -> ({every})")]);
    check(
        "unused",
        &[
            "<lambda>((F32[2], F32[3], F32[4]), {}) -> (F32[3], ())",
            "  takes [1]",
            "  waives [Platform, CustomCall(\"some_target\")]",
        ],
    );
    let mesh = "over(data=2:Auto model=4:Auto)in device";
    check(
        "shardings",
        &[
            &format!(
                "<lambda>((F32[8*b,16]%[[\"data\", \"model\"], []]{mesh}, F32[16,32]%[[], [\"model\"]]{mesh}, F32[4]), {{}}) -> (F32[8*b,32]%[[\"data\"]]{mesh}, F32[4])"
            ),
            "  devices 8",
            "  uses \"sizes or platform\"",
        ],
    );
    let mesh = "over(rows=2:Explicit columns=4:Explicit)in device";
    check(
        "explicit_mesh",
        &[
            &format!("<lambda>((F32[4,8]%[[\"rows\"]]{mesh}), {{}}) -> F32[4,8]%[[\"rows\"], []]{mesh}"),
            "  devices 8",
        ],
    );
    check(
        "memory_spaces",
        &["<lambda>((F32[4]@Host%[]over(x=1:Auto)in pinned_host, F32[4]), {}) -> (F32[4]@Host, F32[4])"],
    );
}

/// Those that are read are also written, and what is written is the same.
#[test]
fn every_file_of_the_corpus_is_read() {
    for folder in ["jax", "jax_sharded"] {
        let Some(files) = corpus::files(folder, "bin") else {
            return;
        };
        for corpus::File { name, bytes, .. } in files {
            let exported = read(Blob::new(bytes)).unwrap();
            assert!(exported.module.starts_with(b"ML\xefR"), "{name}");
            assert_eq!(exported.serialization_version, SerializationVersion(3), "{name}");
            let symbolic = name.ends_with(".sym.bin");
            assert_eq!(!exported.variables().is_empty(), symbolic, "{name}");
            assert_eq!(exported.uses_global_constants, symbolic, "{name}");
            let sharded = exported.devices.get() > 1;
            assert_eq!(sharded, folder == "jax_sharded", "{name}");
        }
    }
}

#[test]
fn the_program_and_custom_data_are_views_of_the_file() {
    for (name, bytes) in fixtures() {
        let file = Blob::new(bytes);
        let exported = read(file.clone()).unwrap();
        assert!(file.as_ptr_range().contains(&exported.module.as_ptr()), "{name}");
    }
}
