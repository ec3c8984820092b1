//! The group of one.

use artifact_ir::types::ElementType;

use super::{Check, Checked, Suite, ensure, told};
use crate::collectives::{Collectives, Combine, Group, Rank, SingleProcess};
use crate::completion::wait;
use crate::device_assignment::DeviceAssignment;

pub(super) const CHECKS: &[Check] = &[
    ("a process alone gets back what it gives", alone),
    ("the devices are a grid", grid),
];

fn alone(_suite: &Suite<'_>) -> Checked {
    let process = SingleProcess;
    let group = Group {
        members: vec![process.rank()],
        channel: 1,
    };
    let value = [1, 2, 3, 4];
    let same = |got: Vec<u8>| ensure(got == value, || format!("{got:?}"));
    same(told(wait(process.all_gather(&group, &value)))?)?;
    same(told(wait(process.all_to_all(&group, &value)))?)?;
    let reduced = process.all_reduce(&group, &value, ElementType::UI8, Combine::Add);
    same(told(wait(reduced))?)?;
    let pairs = [(Rank(0), Rank(0))];
    same(told(wait(process.permute(&group, &value, &pairs)))?)?;
    let nothing = told(wait(process.permute(&group, &value, &[])))?;
    ensure(nothing == [0; 4], || {
        format!("nobody sends, and {nothing:?} came")
    })?;
    let others = Group {
        members: vec![Rank(0), Rank(1)],
        channel: 1,
    };
    let missing = wait(process.all_gather(&others, &value));
    ensure(missing.is_err(), || {
        "a process that is not there answered".to_owned()
    })
}

fn grid(suite: &Suite<'_>) -> Checked {
    let devices: Vec<_> = suite.engine.devices().iter().map(|device| device.id).collect();
    let count = u32::try_from(devices.len()).map_err(|error| error.to_string())?;
    let grid = DeviceAssignment::new(1, count, devices).map_err(|error| error.to_string())?;
    for device in grid.devices() {
        let back = grid.place(*device).and_then(|place| grid.device(place));
        ensure(back == Some(*device), || {
            format!("device {device} is not at its place")
        })?;
    }
    Ok(())
}
