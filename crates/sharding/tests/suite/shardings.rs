//! Meshes and specs: the table of JAX (`fixtures/shardings.json`), sub-axes, and what is refused.

use artifact_sharding::{AxisRef, Mesh, PartitionSpec, Sharding, ShardingError};

use crate::table;

const TABLE: &str = include_str!("../../../../fixtures/shardings.json");

#[test]
fn parts_are_those_of_jax() {
    let rows = table::rows(TABLE);
    assert!(rows.len() >= 27);
    for row in rows {
        let shape = table::numbers(&row["shape"]);
        let sharding = table::sharding(&row);
        let part = table::numbers(&row["shard_shape"]);
        assert_eq!(sharding.shard_shape(&shape).unwrap(), part, "{row}");
        let shards = sharding.shards(&shape).unwrap();
        let found: Vec<Vec<u64>> = shards.iter().map(|shard| shard.start.clone()).collect();
        assert_eq!(found, table::list(&row["starts"], table::numbers), "{row}");
        let replicas: Vec<u64> = shards.iter().map(|shard| u64::from(shard.replica)).collect();
        assert_eq!(replicas, table::numbers(&row["replicas"]), "{row}");
        let devices: Vec<u64> = shards.iter().map(|shard| u64::from(shard.device)).collect();
        assert_eq!(devices, table::numbers(&row["order"]), "{row}");
        assert!(shards.iter().all(|shard| shard.shape == part), "{row}");
        assert_eq!(row["replicated"], sharding.is_replicated(), "{row}");
        table::check_round_trip(&shape, &sharding, 3);
    }
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
    // Shardy, `verifySubAxes`: "sub-axis sizes must be greater than 1".
    assert!(cut(vec![AxisRef::part("x", 2, 1)]).is_err());
    assert!(cut(vec![AxisRef::part("x", 2, 0)]).is_err());
    assert!(cut(vec![AxisRef::whole("x"), AxisRef::part("x", 1, 2)]).is_err());
}

/// Shardy, `AxisRefAttr::canCoexist`: all parts of an axis come from one way to cut it.
#[test]
fn parts_of_axes_nest() {
    let cut = |size: u64, parts: [(u64, u64); 2]| {
        let axes = parts.map(|(above, size)| vec![AxisRef::part("x", above, size)]);
        let mesh = Mesh::new([("x", size)]).unwrap();
        Sharding::new(mesh, &PartitionSpec(axes.to_vec()))
    };
    // 12 as 2 x 3 x 2: the outer and the inner part, in either order.
    assert!(cut(12, [(1, 2), (6, 2)]).is_ok());
    assert!(cut(12, [(6, 2), (1, 2)]).is_ok());
    let apart = ShardingError::NotNested {
        axis: "\"x\":(3)2".to_owned(),
        other: "\"x\":(1)2".to_owned(),
    };
    assert_eq!(cut(6, [(1, 2), (3, 2)]).unwrap_err(), apart);
    assert!(matches!(
        cut(12, [(6, 2), (1, 4)]),
        Err(ShardingError::NotNested { .. })
    ));
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
    assert!(Mesh::new((0_u64..).map(|axis| (format!("{axis}"), 1))).is_err());

    let refused = |spec: &[&[&str]], shape: &[u64], why: &str| {
        let mesh = Mesh::new([("x", 2), ("y", 4), ("one", 1)]).unwrap();
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
    // As JAX has it (`DuplicateSpecError`), even an axis of one device.
    refused(
        &[&["one"], &["one"]],
        &[8, 8],
        "the axis `\"one\"` cuts an array twice",
    );
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

/// Arrays and specs of any size cost no more than a named limit.
#[test]
fn sizes_are_limited() {
    let many = Mesh::new([("x", 1 << 18)]).unwrap();
    let sharding = Sharding::new(many.clone(), &PartitionSpec::of_names(&[&["x"]])).unwrap();
    assert_eq!(sharding.shards(&[1 << 20]).unwrap().len(), 1 << 18);
    let wide: Vec<u64> = vec![1 << 18; 64];
    let refusal = sharding.shards(&wide).unwrap_err().to_string();
    assert!(refusal.contains("over the limit of 4194304"), "{refusal}");
    assert!(sharding.shard_shape(&[0; 65]).is_err());
    assert!(Sharding::new(many.clone(), &PartitionSpec(vec![Vec::new(); 65])).is_err());
    // The largest size that can be cut.
    let last = sharding
        .shards(&[u64::MAX - (1 << 18) + 1])
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!(last.start[0] + last.shape[0], u64::MAX - (1 << 18) + 1);
    assert!(sharding.shards(&[u64::MAX]).is_err());
}
