//! Any bytes as a JAX export: recognising, reading and checking must return; and what was read must come back from what is
//! written for it.

#![no_main]

use artifact_core::blob::Blob;
use artifact_jax::{Exported, ReadOptions, Sharding, looks_cut_off, looks_like, read_with, write};
use libfuzzer_sys::fuzz_target;

/// Everything is read that can be.
const OPTIONS: ReadOptions = ReadOptions {
    keep_hlo_shardings: true,
    accept_newer_versions: true,
};

fuzz_target!(|bytes: &[u8]| {
    let _ = (looks_like(bytes), looks_cut_off(bytes));
    let Ok(exported) = read_with(Blob::new(bytes.to_vec()), &OPTIONS) else {
        return;
    };
    exported.check().expect("what was read agrees with itself");
    let written = write(&exported);
    if has_hlo_sharding(&exported) {
        assert!(written.is_err(), "HLO shardings are not written");
        return;
    }
    let written = written.expect("what was read can be written");
    let again = read_with(Blob::new(written), &OPTIONS).expect("what was written can be read");
    assert_eq!(exported, again, "it is the same");
});

fn has_hlo_sharding(exported: &Exported) -> bool {
    std::iter::successors(Some(exported), |function| function.vjp.as_deref())
        .flat_map(|function| function.inputs.leaves.iter().chain(&function.outputs.leaves))
        .any(|leaf| matches!(leaf.sharding, Sharding::Hlo(_)))
}
