//! Where an operation came from: the program's own story, as exporters record it.
//!
//! This is apart from the place in the file that is being read, which every operation also keeps
//! ([`crate::module::Operation::source`]) and which diagnostics point to.

use std::collections::HashMap;
use std::sync::Arc;

use artifact_core::entity::Arena;
use artifact_core::entity_id;
use foldhash::fast::RandomState;

entity_id! {
    /// A location of a module. The first one is always [`Location::Unknown`].
    pub struct LocationId("loc");
}

impl Default for LocationId {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl LocationId {
    /// The location of what has none.
    pub const UNKNOWN: Self = Self(0);
}

/// A location (MLIR, "Location attributes").
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// `unknown`.
    Unknown,
    /// `"file":line:column`, with an end when it is a range.
    File {
        /// The file's name as it was recorded.
        file: Arc<str>,
        /// First line and column, counted from 1; 0 when not recorded.
        start: (u32, u32),
        /// Last line and column of a range.
        end: Option<(u32, u32)>,
    },
    /// `"name"(child)`.
    Name {
        /// A name, such as that of an argument.
        name: Arc<str>,
        /// What is named; [`LocationId::UNKNOWN`] for nothing more.
        child: LocationId,
    },
    /// `callsite(callee at caller)`.
    CallSite {
        /// Inside the function.
        callee: LocationId,
        /// Where it was called.
        caller: LocationId,
    },
    /// `fused<metadata>[...]`.
    Fused {
        /// The metadata as it was written, if any.
        metadata: Option<Arc<str>>,
        /// What was fused.
        children: Vec<LocationId>,
    },
}

/// The locations of a module.
#[derive(Clone, Debug)]
pub struct Locations {
    arena: Arena<LocationId, Location>,
    /// Ids by location, filled when someone asks: most readers never do.
    ids: HashMap<Location, LocationId, RandomState>,
    /// How many locations `ids` holds, the first ones.
    indexed: usize,
}

impl Locations {
    /// Only the unknown location.
    #[must_use]
    pub fn new() -> Self {
        let mut locations = Self {
            arena: Arena::new(),
            ids: HashMap::default(),
            indexed: 0,
        };
        locations.push(Location::Unknown);
        locations
    }

    /// The id of `location`, made on first use.
    pub fn intern(&mut self, location: Location) -> LocationId {
        for (id, known) in self.arena.iter().skip(self.indexed) {
            self.ids.entry(known.clone()).or_insert(id);
        }
        self.indexed = self.arena.len();
        if let Some(id) = self.ids.get(&location) {
            return *id;
        }
        self.push(location)
    }

    /// Adds a location that is not there yet, such as one of a file that has each once; where it is there, it gets a second id.
    pub fn push(&mut self, location: Location) -> LocationId {
        self.arena.push(location)
    }

    /// The location called `id`; unknown for an id of another module.
    #[must_use]
    pub fn get(&self, id: LocationId) -> &Location {
        self.arena.get(id).unwrap_or(&Location::Unknown)
    }

    /// Number of locations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Whether there is nothing but the unknown location.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arena.len() <= 1
    }
}

impl Default for Locations {
    fn default() -> Self {
        Self::new()
    }
}
