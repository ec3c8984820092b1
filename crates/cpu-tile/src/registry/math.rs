//! Functions of real numbers.

use super::Registry;

pub(super) fn register(_registry: &mut Registry) {}
