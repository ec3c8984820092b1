//! Files that are damaged, and files that are made to cost much: each is refused, or read as something that comes back.

use artifact_core::blob::Blob;
use artifact_flatbuffer::{TableBuilder, Writer};
use artifact_jax::{ErrorKind, ReadOptions, looks_cut_off, looks_like, read_with, write};
use artifact_proto::jax_exported as schema;

use crate::sample::{avals, chain, fixture, older_file, read_bytes};

/// Reads anything that can be read, and what was written for it.
fn comes_back(bytes: &[u8]) -> bool {
    let options = ReadOptions {
        keep_hlo_shardings: true,
        accept_newer_versions: true,
    };
    let _ = (looks_like(bytes), looks_cut_off(bytes));
    let Ok(exported) = read_with(Blob::new(bytes.to_vec()), &options) else {
        return false;
    };
    if let Ok(written) = write(&exported) {
        assert_eq!(read_with(Blob::new(written), &options).unwrap(), exported);
    }
    true
}

#[test]
fn truncation_at_every_byte() {
    for name in ["schema12/nothing.bin", "schema12/vjp1.bin", "schema12/trees.bin"] {
        let file = fixture(name);
        for length in 0..file.len() {
            // The zero and the padding after the last string.
            let padding = file.len() - length <= 4;
            assert!(padding || !comes_back(&file[..length]), "{name} to {length}");
        }
        assert!(comes_back(&file));
    }
}

/// One bit of every byte but those of the program, which is not looked into.
#[test]
fn a_flipped_bit_of_every_byte() {
    for name in [
        "schema11/shardings.bin",
        "schema12/nothing.bin",
        "schema12/unused.bin",
    ] {
        let mut file = fixture(name);
        let program = file.windows(4).position(|bytes| bytes == b"ML\xefR").unwrap();
        let length = read_bytes(&file).unwrap().module.len();
        let mut refused = 0;
        for byte in (0..program).chain(program + length..file.len()) {
            let bit = 1 << (byte % 8);
            file[byte] ^= bit;
            refused += usize::from(!comes_back(&file));
            file[byte] ^= bit;
        }
        // There is no checksum: what is refused contradicts the rest.
        assert!(refused > 100, "{name}: {refused}");
    }
}

/// Refused with this message. What it costs is measured by the benchmark `exports`.
fn check_refused(want: &str, file: &[u8]) {
    let error = read_bytes(file).unwrap_err();
    assert!(chain(&error).contains(want), "{}", chain(&error));
}

#[test]
fn deep_trees() {
    let nested = |levels: usize| {
        older_file(|writer, table| {
            let mut node = writer.table(TableBuilder::default());
            for _ in 0..levels {
                let children = writer.vector(&[node]).unwrap();
                let tuple = TableBuilder::default()
                    .set(schema::PyTreeDef::KIND, schema::PyTreeDefKind::Tuple)
                    .set(schema::PyTreeDef::CHILDREN, children);
                node = writer.table(tuple);
            }
            table.set(schema::Exported::IN_TREE, node)
        })
    };
    // Half of what a thread has by default.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let deepest = small.spawn(move || comes_back(&nested(127))).unwrap();
    assert!(deepest.join().unwrap());
    let message = "the nesting of a tree of arguments or results is 129 levels, over the limit of 128";
    check_refused(message, &nested(128));
    check_refused(message, &nested(20_000));
}

#[test]
fn long_chains_of_gradients() {
    let mut writer = Writer::new();
    let mut function = None;
    let leaf = writer.table(TableBuilder::default());
    let types = avals(&mut writer, &["4"]);
    let unspecified = writer.table(TableBuilder::default());
    let shardings = writer.vector(&[unspecified]).unwrap();
    let name = writer.text("f").unwrap();
    let module = writer.bytes(b"ML\xefR").unwrap();
    for _ in 0..10_000 {
        let table = TableBuilder::default()
            .set(schema::Exported::SERIALIZATION_VERSION, 3)
            .set(schema::Exported::FUNCTION_NAME, name)
            .set(schema::Exported::IN_TREE, leaf)
            .set(schema::Exported::OUT_TREE, leaf)
            .set(schema::Exported::IN_AVALS, types)
            .set(schema::Exported::OUT_AVALS, types)
            .set(schema::Exported::IN_SHARDINGS, shardings)
            .set(schema::Exported::OUT_SHARDINGS, shardings)
            .set(schema::Exported::NR_DEVICES, 1)
            .set(schema::Exported::MLIR_MODULE_SERIALIZED, module)
            .set_some(schema::Exported::VJP, function);
        function = Some(writer.table(table));
    }
    let file = writer.finish(function.unwrap()).unwrap();
    check_refused("the order of the vjp is 33 orders, over the limit of 32", &file);
}

/// Each of 60 levels holds the next twice.
#[test]
fn shared_nodes() {
    let file = older_file(|writer, table| {
        let mut node = writer.table(TableBuilder::default());
        for _ in 0..60 {
            let children = writer.vector(&[node, node]).unwrap();
            let tuple = TableBuilder::default()
                .set(schema::PyTreeDef::KIND, schema::PyTreeDefKind::Tuple)
                .set(schema::PyTreeDef::CHILDREN, children);
            node = writer.table(tuple);
        }
        table.set(schema::Exported::IN_TREE, node)
    });
    check_refused("more objects are referred to than the budget", &file);
}

/// A megabyte of a vector that claims one leaf each.
#[test]
fn a_vector_as_long_as_the_file() {
    let file = older_file(|writer, table| {
        let positions = writer.vector::<u32>(&vec![0; 250_000]).unwrap();
        table.set(schema::Exported::IN_AVALS_IDXS, positions)
    });
    check_refused("the inputs have 1 leaves, but 250000 types", &file);
}

#[test]
fn texts_of_dimensions_that_are_costly_to_read() {
    let with = |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        older_file(|writer, table| {
            let avals = avals(writer, &texts);
            table.set(schema::Exported::IN_AVALS, avals)
        })
    };
    let costly = |index: usize| {
        let power = "*(a + b + c + d)^7".repeat(3);
        format!("floordiv(a{power}, b + {index})")
    };
    check_refused("cannot be read", &with(&[String::from("a^100000000")]));
    let file = with(&(0..64).map(costly).collect::<Vec<_>>());
    check_refused("cannot be read", &file);
}

/// Different dimensions of many values, each of which takes its time.
#[test]
fn many_symbolic_dimensions() {
    let file = older_file(|writer, table| {
        let mut list = Vec::new();
        for index in 0..600 {
            let text = writer.text(&format!("b + {index}")).unwrap();
            let shape = writer.vector(&[text]).unwrap();
            let aval = TableBuilder::default().set(schema::AbstractValue::SHAPE, shape);
            list.push(writer.table(aval));
        }
        let unique = writer.vector(&list).unwrap();
        table.set(schema::Exported::UNIQUE_AVALS, unique)
    });
    let error = read_bytes(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    check_refused(
        "the number of symbolic dimensions is 513 dimensions, over the limit of 512",
        &file,
    );
}

/// Values that share a type with dimensions of many variables: what they share is looked at once, in checking and writing.
#[test]
fn many_values_of_one_large_type() {
    const COUNT: usize = 20_000;
    let names: Vec<String> = (0..100).map(|index| format!("n{index}")).collect();
    let sum = names.join(" + ");
    let shape = vec![sum.as_str(); 60];
    let file = older_file(|writer, table| {
        let leaf = writer.table(TableBuilder::default());
        let leaves = writer.vector(&vec![leaf; COUNT]).unwrap();
        let list = TableBuilder::default()
            .set(schema::PyTreeDef::KIND, schema::PyTreeDefKind::List)
            .set(schema::PyTreeDef::CHILDREN, leaves);
        let list = writer.table(list);
        let positions = writer.vector::<u32>(&vec![0; COUNT]).unwrap();
        table
            .set(schema::Exported::IN_TREE, list)
            .set(schema::Exported::UNIQUE_AVALS, avals(writer, &shape))
            .set(schema::Exported::IN_AVALS_IDXS, positions)
            .set(schema::Exported::IN_SHARDINGS_IDXS, positions)
    });
    assert!(comes_back(&file));
}
