//! What is refused, and what it says: files that contradict themselves, and values that do.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_flatbuffer::{TableBuilder, Writer};
use artifact_jax::{
    AbstractMesh, AxisType, ErrorKind, Exported, MeshAxis, NamedSharding, PartitionSpec, PyTree, ReadOptions,
    Sharding, read_with, write,
};
use artifact_proto::jax_exported as schema;

use crate::sample::{Table, avals, chain, exported, leaf, older_file, read_bytes};

fn check_file(want: &str, kind: ErrorKind, change: impl FnOnce(&mut Writer<'_>, Table) -> Table) {
    let error = read_bytes(&older_file(change)).unwrap_err();
    let found = chain(&error);
    assert_eq!(found, format!("cannot read the JAX export: {want}"));
    assert_eq!(error.kind(), kind, "{found}");
}

#[test]
fn versions() {
    let newer = |_: &mut Writer<'_>, table: Table| table.set(schema::Exported::SERIALIZATION_VERSION, 13);
    check_file(
        "the file has serialization version 13, and this tool reads up to 12; take a newer version of it, or export with a release of JAX that writes 12",
        ErrorKind::Upgrade,
        newer,
    );
    let options = ReadOptions {
        accept_newer_versions: true,
        ..ReadOptions::default()
    };
    assert!(read_with(Blob::new(older_file(newer)), &options).is_ok());
    check_file(
        "the file claims serialization version 0, which no release of JAX writes: it is damaged or no JAX export",
        ErrorKind::FixInput,
        |_, table| table.set(schema::Exported::SERIALIZATION_VERSION, 0),
    );
}

#[test]
fn values_of_enumerations_that_only_newer_writers_know() {
    let mut file = older_file(|_, table| table);
    let readable = read_bytes(&file).unwrap();
    assert_eq!(readable.inputs.leaves[0].aval.dtype, artifact_jax::DType::F32);
    // The only table whose vtable has three slots of which the second is absent is a value.
    let table = file
        .windows(5)
        .position(|bytes| bytes[4] == 10 && bytes[..4] != [0; 4])
        .unwrap();
    file[table + 4] = 30;
    let error = read_bytes(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upgrade, "{}", chain(&error));
    assert!(
        chain(&error).contains("DType has no value 30"),
        "{}",
        chain(&error)
    );
}

#[test]
fn lists_and_positions() {
    use schema::Exported as File;
    let fix = ErrorKind::FixInput;
    check_file("the inputs have 1 leaves, but 2 types", fix, |writer, table| {
        let positions = writer.vector::<u32>(&[0, 0]).unwrap();
        table.set(File::IN_AVALS_IDXS, positions)
    });
    check_file(
        "one of the inputs refers to position 1 of 0 types",
        fix,
        |writer, table| {
            let positions = writer.vector::<u32>(&[1]).unwrap();
            table.set(File::IN_AVALS_IDXS, positions)
        },
    );
    check_file(
        "one of the outputs refers to position 6 of 0 shardings",
        fix,
        |writer, table| {
            let positions = writer.vector::<u32>(&[7]).unwrap();
            table.set(File::OUT_SHARDINGS_IDXS, positions)
        },
    );
    check_file(
        "the outputs have 1 leaves, but 0 shardings",
        fix,
        |writer, table| {
            let none = writer.vector(&[]).unwrap();
            table.set(File::OUT_SHARDINGS, none)
        },
    );
    check_file("the function is for 0 devices", fix, |_, table| {
        table.set(File::NR_DEVICES_SHORT, -1)
    });
    check_file(
        "the program takes argument 1, and there are 1, counted from 0",
        fix,
        |writer, table| {
            let kept = writer.vector::<u16>(&[0, 1]).unwrap();
            table.set(File::MODULE_KEPT_VAR_IDX, kept)
        },
    );
}

#[test]
fn dimensions() {
    let dimension = |text: &'static str, want: &str| {
        let error = read_bytes(&older_file(|writer, table| {
            let avals = avals(writer, &["2", text]);
            table.set(schema::Exported::IN_AVALS, avals)
        }))
        .unwrap_err();
        assert!(chain(&error).contains(want), "{text}: {}", chain(&error));
    };
    dimension("a +", "one of the inputs, has a dimension that cannot be read");
    dimension("a, b", "one of the inputs, has a dimension that cannot be read");
    dimension("_", "one of the inputs, has a dimension that cannot be read");
    dimension("", "one of the inputs, has a dimension that cannot be read");
    dimension(
        "-3",
        "number 0 of the inputs: a dimension is -3, which is no size",
    );
    let long = Box::leak(("a".to_owned() + &" + a".repeat(2_000)).into_boxed_str());
    dimension(
        long,
        "the text of a dimension is 8001 bytes, over the limit of 4096",
    );
}

#[test]
fn trees() {
    let tree = |want: &str, node: TableBuilder<schema::PyTreeDef>, children: usize| {
        check_file(want, ErrorKind::FixInput, |writer, table| {
            let leaf = writer.table(TableBuilder::default());
            let children = writer.vector(&vec![leaf; children]).unwrap();
            let node = writer.table(node.set(schema::PyTreeDef::CHILDREN, children));
            table.set(schema::Exported::IN_TREE, node)
        });
    };
    let node = |kind| TableBuilder::default().set(schema::PyTreeDef::KIND, kind);
    use schema::PyTreeDefKind as Kind;
    tree("a leaf of a tree has 1 nodes below it", node(Kind::Leaf), 1);
    tree("a None of a tree has 2 nodes below it", node(Kind::None), 2);
    tree(
        "a dictionary of a tree has 0 keys and 1 values",
        node(Kind::Dict),
        1,
    );
    tree("the inputs have 2 leaves, but 1 types", node(Kind::Tuple), 2);
}

#[test]
fn values_that_contradict_themselves() {
    let check = |want: &str, change: &dyn Fn(&mut Exported)| {
        let mut value = exported();
        change(&mut value);
        let found = chain(&value.check().unwrap_err());
        assert_eq!(found, format!("the JAX export contradicts itself: {want}"));
        assert_eq!(
            chain(&write(&value).unwrap_err()),
            format!("cannot write the JAX export: {want}")
        );
    };
    assert!(exported().check().is_ok());
    check(
        "the tree of the outputs has 2 leaves, but there are 1",
        &|value| {
            value.outputs.tree = PyTree::List(vec![PyTree::Leaf, PyTree::Leaf]);
        },
    );
    check(
        "the size 'c' is in a shape of the outputs and in none of the inputs",
        &|value| {
            value.outputs.leaves = vec![leaf(&["b", "max(b, c)"])];
        },
    );
    check(
        "the arguments that the program takes are not ascending: 1 comes before 1",
        &|value| {
            value.module_kept_var_idx = vec![1, 1];
        },
    );
    check(
        "the order of the vjp is 40 orders, over the limit of 32",
        &|value| {
            for _ in 0..40 {
                let vjp = value.clone();
                value.vjp = Some(Box::new(vjp));
            }
        },
    );
    check(
        "the size 'c' is in a shape of the outputs and in none of the inputs",
        &|value| {
            let mut vjp = exported();
            vjp.outputs.leaves = vec![leaf(&["c"])];
            value.vjp = Some(Box::new(vjp));
        },
    );
    check(
        "the nesting of a tree of arguments or results is 129 levels, over the limit of 128",
        &|value| {
            for _ in 0..300 {
                let below = std::mem::replace(&mut value.outputs.tree, PyTree::None);
                value.outputs.tree = PyTree::Tuple(vec![below]);
            }
        },
    );
}

#[test]
fn shardings_that_do_not_fit() {
    let check = |want: &str, partitions: &[&[&str]], axes: &[&str]| {
        let axis = |name: &&str| MeshAxis {
            name: (*name).to_owned(),
            size: 2,
            axis_type: AxisType::Auto,
        };
        let partition = |axes: &&[&str]| axes.iter().map(|axis| (*axis).to_owned()).collect();
        let mut value = exported();
        value.inputs.leaves[0].sharding = Sharding::Named(Arc::new(NamedSharding {
            mesh: Arc::new(AbstractMesh {
                axes: axes.iter().map(axis).collect(),
                device: None,
            }),
            spec: PartitionSpec {
                partitions: partitions.iter().map(partition).collect(),
                ..PartitionSpec::default()
            },
            memory_kind: None,
        }));
        let found = value.check().err().map(|error| chain(&error));
        let want = (!want.is_empty())
            .then(|| format!("the JAX export contradicts itself: number 0 of the inputs: {want}"));
        assert_eq!(found, want);
    };
    check("", &[&["x", "y"]], &["x", "y"]);
    check(
        "its sharding divides 2 dimensions, and it has 1",
        &[&["x"], &[]],
        &["x"],
    );
    check(
        "its sharding names the axis 'z', which its mesh has not or which it has named before",
        &[&["z"]],
        &["x"],
    );
    check(
        "its sharding names the axis 'x', which its mesh has not or which it has named before",
        &[&["x", "x"]],
        &["x"],
    );
    check("its mesh has two axes named 'x'", &[], &["x", "x"]);
}
