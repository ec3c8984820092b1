//! Several processes: the table that four processes of JAX wrote (`fixtures/process_shardings.json`), and what is refused.

use std::collections::BTreeMap;

use artifact_sharding::{
    Mesh, PartitionSpec, ProcessError, ProcessGroup, ProcessSharding, Sharding, ShardingError, assemble,
    slice,
};
use serde_json::Value;

use crate::table;

const TABLE: &str = include_str!("../../../../fixtures/process_shardings.json");

/// Two devices for each of four processes, as the table has it.
const PROCESSES: [u32; 8] = [0, 0, 1, 1, 2, 2, 3, 3];

/// The shape of the array and where the part of each device begins in the data of its process, position by position.
type Built = (Vec<u64>, Vec<Vec<u64>>);

fn built(processes: &ProcessSharding<'_>, row: &Value, order: &[u64]) -> Result<Built, ProcessError> {
    let local = table::numbers(&row["local"]);
    let shape = match &row["given"] {
        Value::Null => processes.global_shape(&local)?,
        given => table::numbers(given),
    };
    let mut starts = BTreeMap::new();
    for process in 0..4 {
        let shards = processes.local_shards(process, &local, &shape)?;
        starts.extend(shards.into_iter().map(|shard| (shard.device, shard.start)));
    }
    let starts = order.iter().map(|device| starts[&(*device as u32)].clone());
    Ok((shape, starts.collect()))
}

/// For each process the first one of its group, as the table has it.
fn first_of_groups(processes: &ProcessSharding<'_>, dimension: usize) -> Result<Vec<u64>, ProcessError> {
    let group = |process| processes.group(process, dimension);
    let groups = (0..4).map(group).collect::<Result<Vec<ProcessGroup>, _>>()?;
    let first = |group: &ProcessGroup| groups.iter().position(|other| other == group).unwrap() as u64;
    Ok(groups.iter().map(first).collect())
}

#[test]
fn processes_hold_what_those_of_jax_hold() {
    let rows = table::rows(TABLE);
    assert!(rows.len() >= 27);
    for row in rows {
        let sharding = table::sharding(&row);
        let processes = ProcessSharding::new(&sharding, &PROCESSES).unwrap();
        for (dimension, expected) in row["groups"].as_array().unwrap().iter().enumerate() {
            let found = first_of_groups(&processes, dimension);
            let uniform = found.as_ref().err() != Some(&ProcessError::NotUniform { dimension });
            assert_eq!(uniform, !expected.is_null(), "{row}");
            assert!(!uniform || found.unwrap() == table::numbers(expected), "{row}");
        }
        let found = built(&processes, &row, &table::numbers(&row["order"]));
        assert_eq!(found.is_ok(), !row["shape"].is_null(), "{found:?} {row}");
        if let Ok((shape, starts)) = found {
            assert_eq!(shape, table::numbers(&row["shape"]), "{row}");
            assert_eq!(starts, table::list(&row["starts"], table::numbers), "{row}");
        }
    }
}

/// What each process cuts from an array and puts together as its own data comes out of these data again, device by device.
#[test]
fn data_of_a_process_are_its_parts_moved_together() {
    for row in table::rows(TABLE)
        .iter()
        .filter(|row| row["given"].is_null() && !row["shape"].is_null())
    {
        let sharding = table::sharding(row);
        let processes = ProcessSharding::new(&sharding, &PROCESSES).unwrap();
        let shape = table::numbers(&row["shape"]);
        let array = table::array(&shape, 1);
        for process in 0..4 {
            let local = processes.local_shape(process, &shape).unwrap();
            assert_eq!(local, table::numbers(&row["local"]), "{row}");
            let shards = sharding.shards(&shape).unwrap();
            let within = processes.local_shards(process, &local, &shape).unwrap();
            let whole = |device| shards.iter().find(|shard| shard.device == device).unwrap();
            let mut data = vec![0; local.iter().product::<u64>() as usize];
            for shard in &within {
                let part = slice(&array, &shape, 1, whole(shard.device)).unwrap();
                assemble(&mut data, &local, 1, shard, &part).unwrap();
            }
            for shard in &within {
                let part = slice(&array, &shape, 1, whole(shard.device)).unwrap();
                assert_eq!(slice(&data, &local, 1, shard).unwrap(), part, "{row}");
            }
        }
    }
}

/// `jax._src.sharding_impls.get_process_index_and_count` shows these two grids.
#[test]
fn groups_are_counted_by_their_first_part() {
    let groups = |order: Vec<u32>, dimension| {
        let mesh = Mesh::new([("x", 2), ("y", 4)])
            .unwrap()
            .with_order(order)
            .unwrap();
        let sharding = Sharding::new(mesh, &PartitionSpec::of_names(&[&["x"], &["y"]])).unwrap();
        let processes = ProcessSharding::new(&sharding, &PROCESSES).unwrap();
        let group = |process| processes.group(process, dimension).unwrap();
        assert!((0..4).all(|process| group(process).count == group(0).count));
        (group(0).count, [0, 1, 2, 3].map(|process| group(process).number))
    };
    // 0123 over 1032.
    assert_eq!(groups(vec![0, 2, 4, 6, 3, 1, 7, 5], 0), (1, [0, 0, 0, 0]));
    assert_eq!(groups(vec![0, 2, 4, 6, 3, 1, 7, 5], 1), (2, [0, 0, 1, 1]));
    // 0101 over 2323.
    assert_eq!(groups(vec![0, 2, 1, 3, 4, 6, 5, 7], 0), (2, [0, 0, 1, 1]));
    assert_eq!(groups(vec![0, 2, 1, 3, 4, 6, 5, 7], 1), (2, [0, 1, 0, 1]));
    // Beyond what is cut, all hold the same.
    assert_eq!(groups(vec![0, 1, 2, 3, 4, 5, 6, 7], 9), (1, [0, 0, 0, 0]));
}

#[test]
fn distinct_parts_of_a_process() {
    let mesh = || Mesh::new([("x", 2), ("y", 4)]).unwrap();
    let held = |spec: &[&[&str]], processes: &[u32; 8], process| {
        let sharding = Sharding::new(mesh(), &PartitionSpec::of_names(spec)).unwrap();
        let processes = ProcessSharding::new(&sharding, processes).unwrap();
        let shards = processes.shards(process, &[8]).unwrap();
        let part = |shard: &artifact_sharding::Shard| (shard.device, shard.start[0]);
        shards.iter().map(part).collect::<Vec<_>>()
    };
    assert_eq!(held(&[&["x"]], &PROCESSES, 1), [(2, 0)]);
    assert_eq!(held(&[&["y"]], &PROCESSES, 3), [(6, 4), (7, 6)]);
    assert_eq!(held(&[&["y"]], &[5, 9, 5, 9, 5, 9, 5, 9], 9), [(1, 2), (3, 6)]);
    assert_eq!(held(&[&["x", "y"]], &[0, 0, 0, 0, 0, 1, 0, 0], 1), [(5, 5)]);
    assert_eq!(held(&[], &PROCESSES, 2), [(4, 0)]);
}

#[test]
fn what_is_refused() {
    let mesh = Mesh::new([("x", 4)]).unwrap();
    let sharding = Sharding::new(mesh, &PartitionSpec::of_names(&[&["x"]])).unwrap();
    for processes in [&[0, 0, 0][..], &[0; 5], &[]] {
        let refused = ProcessSharding::new(&sharding, processes);
        assert!(matches!(refused, Err(ProcessError::Devices { devices: 4, .. })));
    }
    let processes = ProcessSharding::new(&sharding, &[0, 0, 1, 1]).unwrap();
    let refused = |found: Result<Vec<u64>, ProcessError>| found.unwrap_err();
    let nobody = ProcessError::NoDevice(2);
    assert_eq!(refused(processes.local_shape(2, &[8])), nobody);
    assert_eq!(processes.shards(2, &[8]).unwrap_err(), nobody);
    assert_eq!(processes.group(2, 0).unwrap_err(), nobody);
    let large = ProcessError::TooLarge { dimension: 0 };
    assert_eq!(refused(processes.global_shape(&[u64::MAX / 2 + 1])), large);
    let rank = ProcessError::Sharding(ShardingError::Rank { spec: 1, array: 0 });
    assert_eq!(refused(processes.global_shape(&[])), rank);
    assert!(processes.global_shape(&[2; 65]).is_err());
    let uneven = ShardingError::Uneven {
        dimension: 0,
        size: 6,
        parts: 4,
    };
    assert_eq!(
        refused(processes.global_shape(&[3])),
        ProcessError::Sharding(uneven)
    );
    let ranks = ProcessError::LocalRank { local: 2, array: 1 };
    assert_eq!(processes.local_shards(0, &[4, 1], &[8]).unwrap_err(), ranks);
    let size = processes.local_shards(1, &[5], &[8]).unwrap_err().to_string();
    assert!(size.contains("size 5"), "{size}");
    assert!(size.contains("neither the 4 that it holds nor the 8"), "{size}");
    // One process holds three parts and the other one.
    let uneven = ProcessSharding::new(&sharding, &[0, 0, 0, 1]).unwrap();
    assert_eq!(
        refused(uneven.global_shape(&[3])),
        ProcessError::NotUniform { dimension: 0 }
    );
    assert_eq!(uneven.local_shape(0, &[8]).unwrap(), [6]);
    assert_eq!(uneven.local_shape(1, &[8]).unwrap(), [2]);
}
