//! Programs that JAX exported for several devices: the shapes of their arguments and results are cut and put together again.
//!
//! Their data are in archives that no crate beside the command line reads, so the bytes here are made up.

use artifact_sharding::Sharding;
use artifact_testkit::corpus;
use serde_json::Value;

use crate::table;

/// The sizes of `tensor<4x12x32xf32>`, and the bytes of an element.
fn tensor(text: &str) -> (Vec<u64>, usize) {
    let inner = text.strip_prefix("tensor<").unwrap().strip_suffix('>').unwrap();
    let (sizes, element) = inner.rsplit_once('x').unwrap_or(("", inner));
    let sizes = sizes.split('x').filter(|size| !size.is_empty());
    let bits: usize = element.trim_start_matches(char::is_alphabetic).parse().unwrap();
    (sizes.map(|size| size.parse().unwrap()).collect(), bits / 8)
}

/// Checks each array of one side of a program, and says how many there are.
fn check(program: &Value, specs: &str, types: &str) -> usize {
    let specs = program[specs].as_array().unwrap();
    let mesh = table::mesh(&program["mesh"], &program["device_order"]);
    for case in program["cases"].as_array().unwrap() {
        let types = case[types].as_array().unwrap();
        assert_eq!(specs.len(), types.len());
        for (spec, array) in specs.iter().zip(types) {
            let (shape, width) = tensor(array.as_str().unwrap());
            let sharding = Sharding::new(mesh.clone(), &table::spec(spec)).unwrap();
            let cuts = table::spec(spec).0.iter().map(Vec::len).sum::<usize>();
            assert_eq!(sharding.is_replicated(), cuts == 0, "{spec}");
            let devices = program["num_devices"].as_u64().unwrap() as usize;
            assert_eq!(sharding.shards(&shape).unwrap().len(), devices);
            table::check_round_trip(&shape, &sharding, width);
        }
    }
    specs.len()
}

#[test]
fn arrays_of_sharded_programs() {
    // The first says so when the corpus is not there.
    let manifest = corpus::folder("jax_sharded").and_then(|_| corpus::text("jax_sharded/manifest.json"));
    let Some(manifest) = manifest else {
        return;
    };
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let programs = manifest["programs"].as_object().unwrap();
    assert!(programs.len() >= 6);
    let count = |program| check(program, "in_specs", "in_types") + check(program, "out_specs", "out_types");
    let arrays: usize = programs.values().map(count).sum();
    assert!(arrays >= 40, "{arrays} arrays");
}
