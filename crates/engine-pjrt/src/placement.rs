//! Which part of an array each device holds.

use std::sync::Arc;

use artifact_ir::types::TensorType;
use artifact_sharding::{Shard, Sharding, ShardingError};

/// An argument or a result, and where its parts are.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) ty: Arc<TensorType>,
    /// By the number of the device; nothing where every device holds all of it.
    pub(crate) parts: Vec<Shard>,
    /// One device for each part.
    pub(crate) distinct: Vec<Shard>,
}

impl Placement {
    /// An array that every device holds whole.
    pub(crate) const fn whole(ty: Arc<TensorType>) -> Self {
        Self {
            ty,
            parts: Vec::new(),
            distinct: Vec::new(),
        }
    }

    /// An array that is divided.
    ///
    /// # Errors
    /// An array that cannot be cut so.
    pub(crate) fn divided(ty: Arc<TensorType>, sharding: &Sharding) -> Result<Self, ShardingError> {
        let shape = ty.static_shape().unwrap_or_default();
        let mut parts = sharding.shards(&shape)?;
        if sharding.is_replicated() {
            return Ok(Self::whole(ty));
        }
        parts.sort_unstable_by_key(|part| part.device);
        Ok(Self {
            parts,
            distinct: sharding.distinct_shards(&shape)?,
            ty,
        })
    }
}
