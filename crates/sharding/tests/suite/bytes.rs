//! Bytes of parts: by hand, and what does not fit.

use artifact_sharding::{Mesh, PartitionSpec, Shard, Sharding, ShardingError, assemble, slice};

/// The part of an array of numbers counted from 0, and the array with that part alone.
#[track_caller]
fn check(shape: &[u64], start: &[u64], part: &[u64], expected: &[u8]) {
    let shard = Shard {
        device: 0,
        start: start.to_vec(),
        shape: part.to_vec(),
        replica: 0,
    };
    let count: u64 = shape.iter().product();
    let array: Vec<u8> = (0..count as u8).collect();
    let bytes = slice(&array, shape, 1, &shard).unwrap();
    assert_eq!(bytes, expected);
    let mut alone = vec![99; array.len()];
    assemble(&mut alone, shape, 1, &shard, &bytes).unwrap();
    for (at, byte) in alone.iter().enumerate() {
        let is_in = expected.contains(&(at as u8));
        assert_eq!(*byte, if is_in { at as u8 } else { 99 });
    }
}

#[test]
fn parts_by_hand() {
    check(&[], &[], &[], &[0]);
    check(&[5], &[1], &[3], &[1, 2, 3]);
    check(&[3, 4], &[1, 0], &[2, 4], &[4, 5, 6, 7, 8, 9, 10, 11]);
    check(&[3, 4], &[1, 1], &[2, 2], &[5, 6, 9, 10]);
    check(&[2, 2, 3], &[0, 1, 0], &[2, 1, 3], &[3, 4, 5, 9, 10, 11]);
    check(&[2, 2, 3], &[0, 0, 2], &[2, 2, 1], &[2, 5, 8, 11]);
    check(&[2, 1, 3], &[1, 0, 1], &[1, 1, 2], &[4, 5]);
    check(&[2, 3], &[1, 3], &[1, 0], &[]);
    check(&[0, 3], &[0, 0], &[0, 3], &[]);
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
    let empty = sharding.shards(&[u64::MAX - 1, 2, 0]).unwrap();
    assert_eq!(
        slice(&[], &[u64::MAX - 1, 2, 0], 4, &empty[1]).unwrap(),
        [0_u8; 0]
    );
    assert!(slice(&[1], &[u64::MAX - 1, 2, 0], 4, &empty[1]).is_err());
    assert_eq!(
        slice(&[], &[2, 2, 2], 0, &sharding.shards(&[2, 2, 2]).unwrap()[0]).unwrap(),
        [0_u8; 0]
    );
    // Of another rank.
    assert_eq!(slice(&[], &[0], 4, &empty[1]), Err(ShardingError::Outside));
}
