//! Any set of sections comes back, and no mutation of a file panics.

use crate::sample::{build, bytes_type, manifest, small};
use artifact_container::fuzzing::{read_everything, reseal};
use artifact_container::manifest::{Dim, Manifest, Value};
use artifact_container::{ConstantSource, Container, ContainerBuilder, SectionKind};
use proptest::prelude::*;

fn dims() -> impl Strategy<Value = Dim> {
    prop_oneof![
        any::<u64>().prop_map(Dim::Size),
        ".{0,8}".prop_map(Dim::Expression),
        Just(Dim::Unknown)
    ]
}

fn manifests() -> impl Strategy<Value = Manifest> {
    let shapes = prop::collection::vec(prop::option::of(prop::collection::vec(dims(), 0..4)), 0..5);
    let metadata = prop::collection::btree_map(".{0,8}", ".{0,40}", 0..4);
    (shapes, metadata, prop::option::of(any::<u64>())).prop_map(|(shapes, metadata, created)| {
        let mut manifest = manifest();
        let value = |(index, shape)| Value {
            name: format!("v{index}"),
            dtype: "f32".into(),
            shape,
        };
        manifest.signature.inputs = shapes.into_iter().enumerate().map(value).collect();
        (manifest.metadata, manifest.created) = (metadata, created);
        manifest
    })
}

fn payloads(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<u8>>> {
    // Few distinct bytes and short runs, so that equal constants and compressible sections occur.
    let payload =
        (prop::collection::vec(0..3_u8, 0..4), 1..3000_usize).prop_map(|(part, times)| part.repeat(times));
    prop::collection::vec(payload, count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sections_come_back(manifest in manifests(), program in payloads(1..2), constants in payloads(0..6), extras in payloads(0..3)) {
        let mut builder = ContainerBuilder::new(manifest.clone(), &program[0]);
        for constant in &constants {
            builder.constant(bytes_type(constant.len()), ConstantSource::Bytes(constant));
        }
        for (index, extra) in extras.iter().enumerate() {
            builder.extra(SectionKind::new(0x9000), false, format!("x/{index}"), extra.clone());
        }
        let file = build(builder);
        read_everything(&file).unwrap();
        let container = Container::from_bytes(file).unwrap();
        prop_assert_eq!(&container.program().unwrap(), &program[0]);
        prop_assert_eq!(&Manifest { constants: vec![], ..container.manifest().clone() }, &manifest);
        for (constant, bytes) in container.manifest().constants.iter().zip(&constants) {
            let (id, _) = container.sections().find(&constant.section).unwrap();
            prop_assert_eq!(container.constant_bytes(id).unwrap(), bytes.as_slice());
        }
        for (index, extra) in extras.iter().enumerate() {
            let (id, _) = container.sections().find(&format!("x/{index}")).unwrap();
            prop_assert_eq!(&container.section_bytes(id).unwrap(), extra);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn resealed_mutations_do_not_panic(
        // From the end: there lie the manifest and the table, most of the rest is padding.
        changes in prop::collection::vec((0..1100_usize, any::<u8>()), 1..4),
        header in prop::option::of((8..96_usize, any::<u8>())),
    ) {
        let mut file = small();
        for (back, byte) in changes {
            let at = file.len() - 1 - back;
            file[at] = byte;
        }
        if let Some((at, byte)) = header {
            file[at] = byte;
        }
        reseal(&mut file);
        // Either outcome is right; to return is what counts.
        drop(read_everything(&file));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(tail in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut file = [&artifact_container::MAGIC[..], &tail].concat();
        reseal(&mut file);
        prop_assert!(read_everything(&file).is_err());
    }
}
