//! Reading the tables that JAX wrote, and an array to cut.

use artifact_sharding::{AxisRef, Mesh, PartitionSpec, Sharding, assemble, slice};
use serde_json::Value;

pub(crate) fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn list<T>(value: &Value, entry: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(entry).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<u64> {
    list(value, |value| value.as_u64().unwrap())
}

/// The axes and the order of a row.
pub(crate) fn mesh(axes: &Value, order: &Value) -> Mesh {
    let axis = |axis: &Value| (axis[0].as_str().unwrap().to_owned(), axis[1].as_u64().unwrap());
    let mesh = Mesh::new(list(axes, axis)).unwrap();
    mesh.with_order(list(order, |device| device.as_u64().unwrap() as u32))
        .unwrap()
}

/// Per dimension a list of axes, or, as the corpus has it, one axis or null.
pub(crate) fn spec(value: &Value) -> PartitionSpec {
    let axis = |name: &Value| AxisRef::whole(name.as_str().unwrap());
    let axes = |value: &Value| match value {
        Value::Null => Vec::new(),
        Value::String(_) => vec![axis(value)],
        _ => list(value, axis),
    };
    PartitionSpec(list(value, axes))
}

pub(crate) fn sharding(row: &Value) -> Sharding {
    Sharding::new(mesh(&row["mesh"], &row["order"]), &spec(&row["spec"])).unwrap()
}

/// Bytes of an array of which no two near elements are the same.
pub(crate) fn array(shape: &[u64], width: usize) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    (0..count as usize * width)
        .map(|at| (at * 7 % 251) as u8)
        .collect()
}

/// The distinct parts make the whole array, and copies are the same.
pub(crate) fn check_round_trip(shape: &[u64], sharding: &Sharding, width: usize) {
    let array = array(shape, width);
    let mut again = vec![0; array.len()];
    for shard in sharding.distinct_shards(shape).unwrap() {
        let part = slice(&array, shape, width, &shard).unwrap();
        assemble(&mut again, shape, width, &shard, &part).unwrap();
    }
    assert_eq!(again, array, "{shape:?}");
    let bytes: usize = sharding
        .distinct_shards(shape)
        .unwrap()
        .iter()
        .map(|shard| shard.shape.iter().product::<u64>() as usize * width)
        .sum();
    assert_eq!(
        bytes,
        array.len(),
        "{shape:?}: each element is in one distinct part"
    );
}
