//! Locations, each spelled once under an alias: shared ones could grow without bound where they are used.

use std::collections::HashMap;

use artifact_ir::location::{Location, LocationId, Locations};

use super::writer::Writer;

/// The numbers of the locations that were mentioned, in order of first mention.
#[derive(Debug, Default)]
pub(super) struct LocationAliases {
    numbers: HashMap<LocationId, usize>,
    /// Children before parents, as a reader needs them.
    order: Vec<LocationId>,
}

impl LocationAliases {
    /// The number of a location, given out on first mention. Its children get theirs before it.
    fn number(&mut self, locations: &Locations, id: LocationId) -> usize {
        if let Some(number) = self.numbers.get(&id) {
            return *number;
        }
        let mut stack = vec![id];
        while let Some(next) = stack.last().copied() {
            let missing: Vec<LocationId> = children(locations.get(next))
                .into_iter()
                .filter(|child| *child != LocationId::UNKNOWN && *child < next)
                .filter(|child| !self.numbers.contains_key(child))
                .collect();
            if missing.is_empty() {
                stack.pop();
                if !self.numbers.contains_key(&next) {
                    self.order.push(next);
                    self.numbers.insert(next, self.order.len());
                }
            } else {
                stack.extend(missing.into_iter().rev());
            }
        }
        self.order.len()
    }
}

/// What a location is made of. A location is interned after its children; an id that is not older is no child.
fn children(location: &Location) -> Vec<LocationId> {
    match location {
        Location::Unknown | Location::File { .. } => Vec::new(),
        Location::Name { child, .. } => vec![*child],
        Location::CallSite { callee, caller } => vec![*callee, *caller],
        Location::Fused { children, .. } => children.clone(),
    }
}

impl Writer {
    /// ` loc(#loc1)`; nothing for an unknown location.
    pub(super) fn location(&mut self, aliases: &mut LocationAliases, locations: &Locations, id: LocationId) {
        if id != LocationId::UNKNOWN {
            write!(self, " loc(#loc{})", aliases.number(locations, id));
        }
    }

    /// The definitions of all aliases that were mentioned, one a line.
    pub(super) fn location_definitions(&mut self, aliases: &LocationAliases, locations: &Locations) {
        for (index, id) in aliases.order.iter().enumerate() {
            write!(self, "#loc{} = loc(", index + 1);
            self.location_body(aliases, locations.get(*id));
            self.push(")\n");
        }
    }

    fn location_body(&mut self, aliases: &LocationAliases, location: &Location) {
        match location {
            Location::Unknown => self.push("unknown"),
            Location::File { file, start, end } => {
                self.string(file.as_bytes());
                write!(self, ":{}:{}", start.0, start.1);
                if let Some(end) = end {
                    write!(self, " to {}:{}", end.0, end.1);
                }
            }
            Location::Name { name, child } => {
                self.string(name.as_bytes());
                if *child != LocationId::UNKNOWN {
                    self.push("(");
                    self.location_reference(aliases, *child);
                    self.push(")");
                }
            }
            Location::CallSite { callee, caller } => {
                self.push("callsite(");
                self.location_reference(aliases, *callee);
                self.push(" at ");
                self.location_reference(aliases, *caller);
                self.push(")");
            }
            Location::Fused { metadata, children } => {
                self.push("fused");
                if let Some(metadata) = metadata {
                    write!(self, "<{metadata}>");
                }
                self.push("[");
                self.list(children, |writer, child| {
                    writer.location_reference(aliases, *child)
                });
                self.push("]");
            }
        }
    }

    fn location_reference(&mut self, aliases: &LocationAliases, id: LocationId) {
        match aliases.numbers.get(&id) {
            Some(number) => write!(self, "#loc{number}"),
            None => self.push("unknown"),
        }
    }
}
