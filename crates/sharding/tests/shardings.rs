//! Parts of arrays as JAX has them (`fixtures/shardings.json`), and what is refused.

#![expect(
    clippy::unwrap_used,
    reason = "the table is ours, and a part that does not fit fails the test"
)]

use artifact_sharding::{AxisRef, Mesh, PartitionSpec, Sharding, ShardingError, assemble, slice};
use serde_json::Value;

const TABLE: &str = include_str!("../../../fixtures/shardings.json");

fn numbers(value: &Value) -> Vec<u64> {
    let number = |value: &Value| value.as_u64().unwrap();
    value.as_array().unwrap().iter().map(number).collect()
}

fn mesh(value: &Value) -> Mesh {
    let axes = value.as_array().unwrap().iter();
    Mesh::new(axes.map(|axis| (axis[0].as_str().unwrap(), axis[1].as_u64().unwrap()))).unwrap()
}

fn spec(value: &Value) -> PartitionSpec {
    let names = |value: &Value| {
        let names = value.as_array().unwrap().iter();
        names.map(|name| AxisRef::whole(name.as_str().unwrap())).collect()
    };
    PartitionSpec(value.as_array().unwrap().iter().map(names).collect())
}

#[test]
fn parts_are_those_of_jax() {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let cases = table.as_array().unwrap();
    assert!(cases.len() >= 18);
    for case in cases {
        let shape = numbers(&case["shape"]);
        let sharding = Sharding::new(mesh(&case["mesh"]), &spec(&case["spec"])).unwrap();
        assert_eq!(
            sharding.shard_shape(&shape).unwrap(),
            numbers(&case["shard_shape"]),
            "{case}"
        );
        let shards = sharding.shards(&shape).unwrap();
        let starts: Vec<Vec<u64>> = case["starts"].as_array().unwrap().iter().map(numbers).collect();
        let found: Vec<Vec<u64>> = shards.iter().map(|shard| shard.start.clone()).collect();
        assert_eq!(found, starts, "{case}");
        let replicas: Vec<u64> = shards.iter().map(|shard| u64::from(shard.replica)).collect();
        assert_eq!(replicas, numbers(&case["replicas"]), "{case}");
        let copies = shards.iter().all(|shard| shard.shape == shape);
        assert_eq!(sharding.is_replicated(), copies, "{case}");
        check_round_trip(&shape, &sharding);
    }
}

/// The parts of which there is no other copy before them make the whole array.
fn check_round_trip(shape: &[u64], sharding: &Sharding) {
    const WIDTH: usize = 3;
    let count: u64 = shape.iter().product();
    let array: Vec<u8> = (0..count as usize * WIDTH)
        .map(|at| (at * 7 % 251) as u8)
        .collect();
    let mut again = vec![0; array.len()];
    for shard in sharding.shards(shape).unwrap() {
        let part = slice(&array, shape, WIDTH, &shard).unwrap();
        if shard.replica == 0 {
            assemble(&mut again, shape, WIDTH, &shard, &part).unwrap();
        }
    }
    assert_eq!(again, array, "{shape:?}");
}

fn starts(mesh: Mesh, axes: Vec<Vec<AxisRef>>, shape: &[u64]) -> Result<Vec<u64>, ShardingError> {
    let shards = Sharding::new(mesh, &PartitionSpec(axes))?.shards(shape)?;
    Ok(shards.iter().map(|shard| shard.start[0]).collect())
}

/// Shardy, "sharding representation": `"x":(1)2` is the major half of an axis of 8, `"x":(2)4` what is left.
#[test]
fn parts_of_axes() {
    let mesh = || Mesh::new([("x", 8)]).unwrap();
    let cut = |axes: Vec<AxisRef>| starts(mesh(), vec![axes], &[8]);
    assert_eq!(
        cut(vec![AxisRef::part("x", 1, 2)]).unwrap(),
        [0, 0, 0, 0, 4, 4, 4, 4]
    );
    assert_eq!(
        cut(vec![AxisRef::part("x", 2, 4)]).unwrap(),
        [0, 2, 4, 6, 0, 2, 4, 6]
    );
    assert_eq!(
        cut(vec![AxisRef::part("x", 2, 2)]).unwrap(),
        [0, 0, 4, 4, 0, 0, 4, 4]
    );
    // Both parts in order are the axis; the other way round is another order.
    let (major, minor) = (AxisRef::part("x", 1, 2), AxisRef::part("x", 2, 4));
    assert_eq!(
        cut(vec![major.clone(), minor.clone()]).unwrap(),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
    assert_eq!(cut(vec![minor, major.clone()]).unwrap(), [0, 2, 4, 6, 1, 3, 5, 7]);
    let used = ShardingError::UsedTwice("\"x\":(1)4".to_owned());
    assert_eq!(cut(vec![major, AxisRef::part("x", 1, 4)]), Err(used));
    let parts = ShardingError::SubAxis("\"x\":(2)3".to_owned());
    assert_eq!(cut(vec![AxisRef::part("x", 2, 3)]), Err(parts));
    assert!(cut(vec![AxisRef::part("x", u64::MAX, 2)]).is_err());
    assert!(cut(vec![AxisRef::part("x", 0, 2)]).is_err());
}

#[test]
fn devices_may_have_other_numbers() {
    let mesh = || Mesh::new([("x", 2), ("y", 2)]).unwrap();
    let turned = mesh().with_order(vec![3, 1, 2, 0]).unwrap();
    let sharding = Sharding::new(turned, &PartitionSpec::of_names(&[&["x"]])).unwrap();
    let shards = sharding.shards(&[2]).unwrap();
    let found: Vec<(u32, u64)> = shards
        .iter()
        .map(|shard| (shard.device, shard.start[0]))
        .collect();
    assert_eq!(found, [(3, 0), (1, 0), (2, 1), (0, 1)]);
    for order in [vec![0, 1, 2], vec![0, 1, 2, 2], vec![0, 1, 2, 4]] {
        assert_eq!(mesh().with_order(order), Err(ShardingError::DeviceOrder));
    }
}

#[test]
fn what_is_refused() {
    let refused = |axes: &[(&str, u64)], why: &str| {
        let refusal = Mesh::new(axes.iter().copied()).unwrap_err().to_string();
        assert!(refusal.contains(why), "{refusal}");
    };
    refused(&[("x", 2), ("x", 2)], "two axes of a mesh are called `x`");
    refused(&[("", 2)], "no name");
    refused(&[("x", 0)], "has the size 0");
    refused(&[("x", u64::MAX), ("y", u64::MAX)], "over the limit of 262144");

    let refused = |spec: &[&[&str]], shape: &[u64], why: &str| {
        let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
        let sharding = Sharding::new(mesh, &PartitionSpec::of_names(spec));
        let refusal = sharding
            .and_then(|sharding| sharding.shards(shape))
            .unwrap_err()
            .to_string();
        assert!(refusal.contains(why), "{refusal}");
    };
    refused(&[&["z"]], &[8], "the mesh has no axis `z`");
    refused(&[&["x"], &["x"]], &[8, 8], "cuts an array twice");
    refused(&[&["x", "x"]], &[8], "cuts an array twice");
    refused(
        &[&["x"], &["y"]],
        &[8],
        "the spec is for 2 dimensions, and the array has 1",
    );
    refused(
        &[&[], &["x", "y"]],
        &[8, 12],
        "dimension 1 of size 12 cannot be cut into 8 parts of one size",
    );
}

#[test]
fn bytes_that_do_not_fit() {
    let sharding = Sharding::new(
        Mesh::new([("x", 2)]).unwrap(),
        &PartitionSpec::of_names(&[&["x"]]),
    )
    .unwrap();
    let mut shard = sharding.shards(&[4]).unwrap().remove(1);
    assert_eq!(slice(&[1, 2, 3, 4], &[4], 1, &shard).unwrap(), [3, 4]);
    assert!(slice(&[1, 2, 3], &[4], 1, &shard).is_err());
    assert!(slice(&[], &[u64::MAX, u64::MAX], 8, &shard).is_err());
    assert!(assemble(&mut [0; 4], &[4], 1, &shard, &[1]).is_err());
    shard.start[0] = 3;
    assert_eq!(slice(&[1, 2, 3, 4], &[4], 1, &shard), Err(ShardingError::Outside));
    shard.start[0] = u64::MAX;
    assert_eq!(slice(&[1, 2, 3, 4], &[4], 1, &shard), Err(ShardingError::Outside));
    // Nothing of nothing, whatever the other sizes are.
    let empty = sharding.shards(&[0, u64::MAX]).unwrap();
    assert_eq!(slice(&[], &[0, u64::MAX], 4, &empty[1]).unwrap(), [0_u8; 0]);
}
