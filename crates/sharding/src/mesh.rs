//! A grid of devices with named axes.

use artifact_core::limit::Limit;

use crate::error::ShardingError;

/// Devices of a mesh. A table of them is made, so they are counted before.
const DEVICES: Limit = Limit::new("the number of devices of a mesh", 1 << 18, "devices");
/// Axes of a mesh.
const AXES: Limit = Limit::new("the number of axes of a mesh", 64, "axes");

/// A grid of devices (`jax.sharding.Mesh`, `sdy.mesh`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    axes: Vec<(String, u64)>,
    /// The number of the device at each position, where it is not the position.
    order: Option<Vec<u32>>,
}

impl Mesh {
    /// A mesh of axes, major to minor, each with its name and its size. One without axes is a single device.
    ///
    /// # Errors
    /// Names that are empty or not distinct, sizes of 0, more than 64 axes or 2^18 devices.
    pub fn new<N: Into<String>>(axes: impl IntoIterator<Item = (N, u64)>) -> Result<Self, ShardingError> {
        let mut found: Vec<(String, u64)> = Vec::new();
        for (name, size) in axes {
            AXES.check(found.len() as u64 + 1)?;
            found.push((name.into(), size));
        }
        let axes = found;
        let mut count = 1_u64;
        for (at, (name, size)) in axes.iter().enumerate() {
            if name.is_empty() || axes[..at].iter().any(|(other, _)| other == name) {
                return Err(ShardingError::AxisName(name.clone()));
            }
            if *size == 0 {
                return Err(ShardingError::EmptyAxis(name.clone()));
            }
            count = count.saturating_mul(*size);
            DEVICES.check(count)?;
        }
        Ok(Self { axes, order: None })
    }

    /// The mesh with other numbers for its devices, position by position (`device_ids` of `sdy.mesh`).
    ///
    /// # Errors
    /// Numbers that are not each from 0 to the number of devices once.
    pub fn with_order(self, order: Vec<u32>) -> Result<Self, ShardingError> {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted
            .iter()
            .map(|number| u64::from(*number))
            .eq(0..self.device_count())
        {
            return Err(ShardingError::DeviceOrder);
        }
        Ok(Self {
            order: Some(order),
            ..self
        })
    }

    /// The axes with their sizes, major to minor.
    #[must_use]
    pub fn axes(&self) -> &[(String, u64)] {
        &self.axes
    }

    /// Number of devices.
    #[must_use]
    pub fn device_count(&self) -> u64 {
        self.axes.iter().map(|(_, size)| size).product()
    }

    /// The number of the device at a position; `None` where there is none.
    #[must_use]
    pub fn device(&self, position: u64) -> Option<u32> {
        let at = usize::try_from(position).ok()?;
        match &self.order {
            Some(order) => order.get(at).copied(),
            None if position < self.device_count() => u32::try_from(position).ok(),
            None => None,
        }
    }

    /// The coordinates of a position along the axes; `None` where there is no such position.
    #[must_use]
    pub fn coordinates(&self, position: u64) -> Option<Vec<u64>> {
        let along = |axis| self.coordinate(position, axis);
        (position < self.device_count()).then(|| (0..self.axes.len()).map(along).collect())
    }

    /// The position with these coordinates, one for each axis; `None` outside the grid.
    #[must_use]
    pub fn position(&self, coordinates: &[u64]) -> Option<u64> {
        if coordinates.len() != self.axes.len() {
            return None;
        }
        let mut axes = self.axes.iter().zip(coordinates);
        axes.try_fold(0, |position, ((_, size), coordinate)| {
            (coordinate < size).then_some(position * size + coordinate)
        })
    }

    /// Where an axis is, and its size.
    pub(crate) fn axis(&self, name: &str) -> Option<(usize, u64)> {
        let at = self.axes.iter().position(|(axis, _)| axis == name)?;
        Some((at, self.axes[at].1))
    }

    /// The coordinate of a position along an axis.
    pub(crate) fn coordinate(&self, position: u64, axis: usize) -> u64 {
        let minor: u64 = self.axes[axis + 1..].iter().map(|(_, size)| size).product();
        position / minor % self.axes[axis].1
    }
}
