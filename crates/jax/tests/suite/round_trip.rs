//! What is written is read as the same.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_dims::Expr;
use artifact_jax::{
    AbstractDevice, AbstractMesh, AxisType, Dimension, DisabledCheck, Effect, Exported, MeshAxis,
    NamedSharding, PartitionSpec, PyTree, SerializationVersion, Sharding, write,
};

use crate::sample::{exported, fixtures, leaf, read_bytes};

fn check(exported: &Exported) {
    let file = write(exported).unwrap();
    assert_eq!(read_bytes(&file).unwrap(), *exported);
    assert_eq!(write(exported).unwrap(), file, "equal values, equal bytes");
}

#[test]
fn files_of_jax() {
    for (name, bytes) in fixtures() {
        let exported = read_bytes(&bytes).unwrap();
        check(&exported);
        let length = write(&exported).unwrap().len();
        assert!(
            length <= bytes.len() + 8,
            "{name}: {length} bytes, JAX writes {}",
            bytes.len()
        );
    }
}

#[test]
fn the_smallest_and_the_fullest_value() {
    let mut value = exported();
    check(&value);
    value.jax_version = None;
    value.serialization_version = SerializationVersion(1);
    value.function_name = "größe".to_owned();
    value.platforms = Vec::new();
    value.ordered_effects = vec![Effect {
        type_name: "<class 'a'>".to_owned(),
    }];
    value.unordered_effects = vec![
        Effect {
            type_name: String::new(),
        };
        2
    ];
    value.disabled_checks = vec![
        DisabledCheck::ShapeAssertions,
        DisabledCheck::CustomCall("ALL".to_owned()),
        DisabledCheck::Platform,
    ];
    value.module = Blob::new(Vec::new());
    value.module_kept_var_idx = Vec::new();
    value.uses_global_constants = false;
    check(&value);
    let mut first = value.clone();
    let mut second = exported();
    second.vjp = Some(Box::new(value));
    first.vjp = Some(Box::new(second));
    check(&first);
    assert_eq!(first.vjp_order(), 2);
}

#[test]
fn every_kind_of_node() {
    let mut value = exported();
    let custom = |auxdata: &[u8], children| PyTree::Custom {
        name: "n".to_owned(),
        auxdata: Blob::new(auxdata.to_vec()),
        children,
    };
    value.outputs.tree = PyTree::List(vec![
        PyTree::None,
        PyTree::Tuple(Vec::new()),
        PyTree::Dict(vec![
            (String::new(), PyTree::List(Vec::new())),
            (
                "k".to_owned(),
                custom(&[0, 255], vec![PyTree::Leaf, PyTree::None]),
            ),
        ]),
        custom(&[], Vec::new()),
    ]);
    check(&value);
}

#[test]
fn shardings_that_share_meshes() {
    let axis = |name: &str, axis_type| MeshAxis {
        name: name.to_owned(),
        size: 2,
        axis_type,
    };
    let device = |num_cores, platform: Option<&str>| AbstractDevice {
        device_kind: "TPU v9".to_owned(),
        num_cores,
        platform: platform.map(str::to_owned),
    };
    let mesh = |device| {
        Arc::new(AbstractMesh {
            axes: vec![
                axis("a", AxisType::Auto),
                axis("e", AxisType::Explicit),
                axis("m", AxisType::Manual),
                axis("r", AxisType::Auto),
            ],
            device,
        })
    };
    let named = |mesh: &Arc<AbstractMesh>, axes: &[&str], memory_kind: Option<&str>| {
        Sharding::Named(Arc::new(NamedSharding {
            mesh: Arc::clone(mesh),
            spec: PartitionSpec {
                partitions: vec![axes.iter().map(|axis| (*axis).to_owned()).collect()],
                reduced: ["r".to_owned()].into(),
                unreduced: ["m".to_owned()].into(),
            },
            memory_kind: memory_kind.map(str::to_owned),
        }))
    };
    let first = mesh(Some(device(Some(0), Some("tpu"))));
    let second = mesh(Some(device(None, None)));
    let single = Arc::new(AbstractMesh::default());
    let nowhere = Sharding::Named(Arc::new(NamedSharding {
        mesh: single,
        spec: PartitionSpec::default(),
        memory_kind: None,
    }));
    let shardings = [
        named(&first, &["a", "e"], None),
        nowhere,
        Sharding::Unspecified,
        named(&second, &[], Some("pinned_host")),
        named(&first, &["a", "e"], None),
        named(&mesh(None), &[], Some("")),
    ];
    let mut value = exported();
    value.outputs.tree = PyTree::Tuple(vec![PyTree::Leaf; shardings.len()]);
    value.outputs.leaves = shardings
        .map(|sharding| artifact_jax::Leaf {
            sharding,
            ..leaf(&["b", "4"])
        })
        .to_vec();
    check(&value);
}

/// Equal types are written once, however many values have them.
#[test]
fn equal_types_are_shared() {
    let of_count = |count: usize| {
        let mut value = exported();
        value.outputs.tree = PyTree::List(vec![PyTree::Leaf; count]);
        value.outputs.leaves = (0..count).map(|_| leaf(&["b", "2*b + 1"])).collect();
        check(&value);
        write(&value).unwrap().len()
    };
    // A leaf and the offset to it; two positions, two offsets.
    assert_eq!(of_count(1_001) - of_count(1), 1_000 * (8 + 16));
}

#[test]
fn a_dimension_is_an_expression_or_the_text_of_one() {
    let parsed: Dimension = "a + b".parse().unwrap();
    assert_eq!(parsed.text(), "a + b");
    let expr: Expr = "a + b".parse().unwrap();
    let printed = Dimension::from(expr.clone());
    assert_eq!(printed.expr(), parsed.expr());
    assert_eq!(printed.text(), "b + a", "as JAX prints it");
    assert_ne!(printed, parsed, "equality is that of the texts");
}
