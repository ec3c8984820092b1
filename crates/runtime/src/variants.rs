//! What was compiled of one program, by what its engine had to know.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use artifact_dims::Assignment;
use artifact_engine::{EngineError, Executable};
use artifact_ir::literal::Literal;

/// Executables of one program that are kept, the ones that were used last.
const KEPT_MAX: usize = 64;

/// What was known when a program was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Of the residual dimensions.
    pub(crate) sizes: Assignment,
    /// Of the residual arguments, in their order.
    pub(crate) values: Vec<Literal>,
}

type Compiled = Result<Arc<dyn Executable>, EngineError>;

#[derive(Debug)]
struct Variant {
    key: Key,
    /// Whoever comes first compiles; others wait for that.
    compiled: Arc<OnceLock<Compiled>>,
}

#[derive(Debug, Default)]
pub(crate) struct Variants {
    /// The one that was used last stands last.
    kept: Mutex<Vec<Variant>>,
}

impl Variants {
    /// The executable for a key, which is compiled if nobody has done that yet. What failed is tried again by the next one who asks.
    pub(crate) fn of(&self, key: Key, compile: impl FnOnce() -> Compiled) -> Compiled {
        let slot = self.slot(key);
        let compiled = slot.get_or_init(compile).clone();
        if compiled.is_err() {
            self.locked()
                .retain(|variant| !Arc::ptr_eq(&variant.compiled, &slot));
        }
        compiled
    }

    fn slot(&self, key: Key) -> Arc<OnceLock<Compiled>> {
        let mut kept = self.locked();
        let known = kept.iter().position(|variant| variant.key == key);
        let variant = match known {
            Some(position) => kept.remove(position),
            None => Variant {
                key,
                compiled: Arc::default(),
            },
        };
        let slot = Arc::clone(&variant.compiled);
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push(variant);
        slot
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Variant>> {
        // What is kept is whole even where a thread panicked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
