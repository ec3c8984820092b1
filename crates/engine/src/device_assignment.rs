//! Which device runs which part of a program (spec, "Parallel execution").

use std::collections::BTreeMap;
use std::fmt;

use crate::device::DeviceId;

/// A place in a grid of processes: replicas by partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which of the replicas, that run the same program on other data.
    pub replica: u32,
    /// Which of the partitions, that run one program together.
    pub partition: u32,
}

/// A device for each place of a grid, each device at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAssignment {
    partitions: u32,
    devices: Vec<DeviceId>,
    places: BTreeMap<DeviceId, Place>,
}

/// Devices that are no grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceAssignmentError {
    /// Their number is not that of the places.
    Count {
        /// Places.
        places: u64,
        /// Devices.
        devices: usize,
    },
    /// One stands at two places.
    Twice(DeviceId),
    /// There is no place.
    Empty,
}

impl fmt::Display for DeviceAssignmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { places, devices } => {
                write!(f, "{devices} devices were given for {places} places")
            }
            Self::Twice(device) => write!(f, "device {device} stands at two places"),
            Self::Empty => f.write_str("a grid has one replica and one partition at least"),
        }
    }
}

impl std::error::Error for DeviceAssignmentError {}

impl DeviceAssignment {
    /// The devices of a grid, replica by replica.
    ///
    /// # Errors
    /// See [`DeviceAssignmentError`].
    pub fn new(
        replicas: u32,
        partitions: u32,
        devices: Vec<DeviceId>,
    ) -> Result<Self, DeviceAssignmentError> {
        let places = u64::from(replicas) * u64::from(partitions);
        if places == 0 {
            return Err(DeviceAssignmentError::Empty);
        }
        if places != devices.len() as u64 {
            let devices = devices.len();
            return Err(DeviceAssignmentError::Count { places, devices });
        }
        let mut found = BTreeMap::new();
        let numbers = (0..replicas)
            .flat_map(|replica| (0..partitions).map(move |partition| Place { replica, partition }));
        for (device, place) in devices.iter().zip(numbers) {
            if found.insert(*device, place).is_some() {
                return Err(DeviceAssignmentError::Twice(*device));
            }
        }
        Ok(Self {
            partitions,
            devices,
            places: found,
        })
    }

    /// One device that runs everything.
    #[must_use]
    pub fn of_one(device: DeviceId) -> Self {
        let place = Place {
            replica: 0,
            partition: 0,
        };
        Self {
            partitions: 1,
            devices: vec![device],
            places: BTreeMap::from([(device, place)]),
        }
    }

    /// The device at a place; `None` outside the grid.
    #[must_use]
    pub fn device(&self, place: Place) -> Option<DeviceId> {
        if place.partition >= self.partitions {
            return None;
        }
        let number = u64::from(place.replica) * u64::from(self.partitions) + u64::from(place.partition);
        self.devices.get(usize::try_from(number).ok()?).copied()
    }

    /// The place of a device, if it has one.
    #[must_use]
    pub fn place(&self, device: DeviceId) -> Option<Place> {
        self.places.get(&device).copied()
    }

    /// All devices, replica by replica.
    #[must_use]
    pub fn devices(&self) -> &[DeviceId] {
        &self.devices
    }

    /// Number of partitions.
    #[must_use]
    pub const fn partitions(&self) -> u32 {
        self.partitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_places() {
        let grid = DeviceAssignment::new(2, 3, (10..16).map(DeviceId).collect()).unwrap();
        let place = Place {
            replica: 1,
            partition: 2,
        };
        assert_eq!(grid.device(place), Some(DeviceId(15)));
        assert_eq!(grid.place(DeviceId(15)), Some(place));
        let outside = Place {
            partition: 3,
            ..place
        };
        assert_eq!((grid.device(outside), grid.place(DeviceId(9))), (None, None));
        let refused = |replicas, devices: &[u32]| {
            let devices = devices.iter().copied().map(DeviceId).collect();
            DeviceAssignment::new(replicas, 1, devices).unwrap_err()
        };
        assert_eq!(refused(2, &[1, 1]), DeviceAssignmentError::Twice(DeviceId(1)));
        assert_eq!(refused(0, &[]), DeviceAssignmentError::Empty);
        assert!(matches!(refused(3, &[1, 2]), DeviceAssignmentError::Count { .. }));
    }
}
