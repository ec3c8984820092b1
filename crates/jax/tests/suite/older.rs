//! Files of schemas that no JAX of this machine writes, made by hand: lists instead of tables of unique values, no memory
//! spaces, 16 bits for the number of devices, HLO shardings.

use artifact_core::blob::Blob;
use artifact_flatbuffer::{TableBuilder, Writer};
use artifact_jax::{ErrorKind, MemorySpace, ReadOptions, Sharding, read_with, write};
use artifact_proto::jax_exported as schema;

use crate::sample::{Table, chain, older_file, read_bytes};

#[test]
fn the_first_schema() {
    let exported = read_bytes(&older_file(|_, table| table)).unwrap();
    assert_eq!(exported.devices.get(), 1);
    assert_eq!(exported.inputs.leaves[0].aval.memory_space, MemorySpace::Device);
    assert_eq!(exported.inputs.leaves[0].aval.shape[0].text(), "4");
    assert_eq!(exported.inputs.leaves[0].sharding, Sharding::Unspecified);
    assert!(exported.platforms.is_empty());
    let again = read_bytes(&write(&exported).unwrap()).unwrap();
    assert_eq!(again, exported);
}

/// Results that are laid out as an `OpSharding` message says, of which the bytes do not matter here.
fn with_hlo_sharding(writer: &mut Writer<'_>, table: Table) -> Table {
    let hlo = TableBuilder::default()
        .set(schema::Sharding::KIND, schema::ShardingKind::HloSharding)
        .set(
            schema::Sharding::HLO_SHARDING_PROTO,
            writer.bytes(&[8, 1]).unwrap(),
        );
    let hlo = writer.table(hlo);
    let list = writer.vector(&[hlo]).unwrap();
    table.set(schema::Exported::OUT_SHARDINGS, list)
}

#[test]
fn hlo_shardings_are_refused_or_kept_as_bytes() {
    let file = older_file(with_hlo_sharding);
    let error = read_bytes(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Expired);
    assert_eq!(
        chain(&error),
        "cannot read the JAX export: the shardings of the outputs are stored as HLO shardings, which releases of JAX from 2026 on do not write or read; export the function again with a current release, or read the rest with the option to keep HLO shardings as bytes"
    );
    let options = ReadOptions {
        keep_hlo_shardings: true,
        ..ReadOptions::default()
    };
    let exported = read_with(Blob::new(file), &options).unwrap();
    assert_eq!(
        exported.outputs.leaves[0].sharding,
        Sharding::Hlo(Blob::new(vec![8, 1]))
    );
    assert_eq!(exported.function_name, "f");
    let error = write(&exported).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FixInput);
    assert_eq!(
        chain(&error),
        "cannot write the JAX export: number 0 of the outputs has an HLO sharding, which no current release of JAX reads; replace it by a named sharding, or by none"
    );
}

/// Schema 6 wrote both forms, and the named one counts.
#[test]
fn a_named_sharding_comes_before_an_hlo_sharding() {
    let file = older_file(|writer, table| {
        let mesh = writer.table(TableBuilder::default());
        let spec = writer.table(TableBuilder::default());
        let named = TableBuilder::default()
            .set(schema::NamedSharding::MESH, mesh)
            .set(schema::NamedSharding::SPEC, spec);
        let both = TableBuilder::default()
            .set(schema::Sharding::KIND, schema::ShardingKind::NamedSharding)
            .set(schema::Sharding::HLO_SHARDING_PROTO, writer.bytes(&[8]).unwrap())
            .set(schema::Sharding::NAMED_SHARDING, writer.table(named));
        let both = writer.table(both);
        let list = writer.vector(&[both]).unwrap();
        table.set(schema::Exported::IN_SHARDINGS, list)
    });
    let exported = read_bytes(&file).unwrap();
    let Sharding::Named(named) = &exported.inputs.leaves[0].sharding else {
        panic!("{:?}", exported.inputs.leaves);
    };
    assert!(named.mesh.axes.is_empty());
}
