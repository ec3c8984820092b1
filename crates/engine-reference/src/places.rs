//! Where the operations of a program stood in the file that it was read from, which bytecode does not keep.

use artifact_core::entity::EntityId as _;
use artifact_engine::encoding::{Malformed, Reader, Writer};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Body, Module, OpId, RegionId};

/// The places of each function that has one, by name.
#[derive(Debug)]
pub(crate) struct Places(Vec<FunctionPlaces>);

#[derive(Debug)]
struct FunctionPlaces {
    name: String,
    own: SourceOffset,
    /// Of its operations, in the order of the text.
    ops: Vec<SourceOffset>,
}

impl Places {
    pub(crate) fn of_module(module: &Module) -> Self {
        let places = module.functions.iter().filter_map(|(_, function)| {
            let ops = function.body.as_ref().map(in_order).unwrap_or_default();
            let place = |id: &OpId| function.body.as_ref().map(|body| body.ops[*id].source);
            let places = FunctionPlaces {
                name: function.name.to_string(),
                own: function.source,
                ops: ops.iter().filter_map(place).collect(),
            };
            let is_somewhere = |place: &SourceOffset| *place != SourceOffset::NONE;
            (is_somewhere(&places.own) || places.ops.iter().any(is_somewhere)).then_some(places)
        });
        Self(places.collect())
    }

    /// Puts the places where the operations are now, and tells whether these are as many as there were. Functions that are there
    /// no more are decompositions that nothing uses.
    pub(crate) fn put(&self, module: &mut Module) -> bool {
        // What the reader put there are places in the bytecode, which mean nothing to anybody.
        let ids: Vec<_> = module.functions.iter().map(|(id, _)| id).collect();
        for id in ids {
            let function = &mut module.functions[id];
            let said = self.0.iter().find(|said| *said.name == *function.name);
            function.source = said.map_or(SourceOffset::NONE, |said| said.own);
            let Some(body) = &mut function.body else {
                continue;
            };
            let ops = in_order(body);
            if said.is_some_and(|said| said.ops.len() != ops.len()) {
                return false;
            }
            let places = said.map(|said| said.ops.as_slice()).unwrap_or_default();
            for (position, op) in ops.into_iter().enumerate() {
                body.ops[op].source = places.get(position).copied().unwrap_or(SourceOffset::NONE);
            }
        }
        true
    }

    pub(crate) fn encode(&self, writer: &mut Writer) {
        writer.count(self.0.len());
        for FunctionPlaces { name, own, ops } in &self.0 {
            writer.text(name);
            write(*own, writer);
            writer.count(ops.len());
            ops.iter().for_each(|place| write(*place, writer));
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        // A length, a place and a count at least.
        let count = reader.count(8 + PLACE_BYTES + 8)?;
        let mut function = || {
            let name = reader.text()?.to_owned();
            let own = read(reader)?;
            let count = reader.count(PLACE_BYTES)?;
            let ops = (0..count).map(|_| read(reader)).collect::<Result<_, _>>()?;
            Ok(FunctionPlaces { name, own, ops })
        };
        (0..count).map(|_| function()).collect::<Result<_, _>>().map(Self)
    }
}

const PLACE_BYTES: usize = 4;

fn write(place: SourceOffset, writer: &mut Writer) {
    let offset = place.get().and_then(|offset| u32::try_from(offset).ok());
    writer.u32(offset.unwrap_or(u32::MAX));
}

fn read(reader: &mut Reader<'_>) -> Result<SourceOffset, Malformed> {
    // The largest number is that of no place.
    Ok(SourceOffset::new(reader.u32()? as usize))
}

/// The operations that stand in blocks, regions where their operation stands.
fn in_order(body: &Body) -> Vec<OpId> {
    let mut found = Vec::with_capacity(body.ops.len());
    // Regions that are left, the next one last. Each is entered once: it belongs to one operation.
    let mut open: Vec<RegionId> = vec![body.root];
    let mut entered = vec![false; body.regions.len()];
    while let Some(region) = open.pop() {
        if std::mem::replace(&mut entered[region.index()], true) {
            continue;
        }
        let first = open.len();
        for block in &body.regions[region].blocks {
            for op in &body.blocks[*block].ops {
                found.push(*op);
                open.extend(&body.ops[*op].regions);
            }
        }
        open[first..].reverse();
    }
    found
}
