//! Names of values: `%arg0` for arguments, `%0` and `%0#1` for results, counted through a function in the order of its text.

use artifact_core::entity::EntityId;
use artifact_ir::module::{BlockId, Body, OpId, RegionId, ValueId};

use super::form::{Form, Forms};
use super::writer::Writer;

/// A value's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// The value is in no block that the function's text shows.
    Detached,
    Argument(u32),
    /// The only result of an operation.
    Result(u32),
    /// One of several.
    Part {
        base: u32,
        index: u32,
    },
}

/// The names of a body's values.
#[derive(Debug)]
pub(super) struct Names {
    values: Vec<Name>,
}

/// What is to be named next.
enum Step {
    Region(RegionId),
    Block(BlockId, usize),
    Op(OpId),
}

impl Names {
    pub(super) fn of(body: &Body, forms: &Forms) -> Self {
        let mut namer = Namer {
            body,
            values: vec![Name::Detached; body.values.len()],
            arguments: 0,
            results: 0,
        };
        let mut steps = vec![Step::Region(body.root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Region(region) => {
                    let blocks = &body.regions[region].blocks;
                    steps.extend(blocks.iter().rev().map(|block| Step::Block(*block, 0)));
                }
                Step::Block(block, next) => {
                    if next == 0 {
                        namer.block(block);
                    }
                    if let Some(op) = body.blocks[block].ops.get(next) {
                        steps.push(Step::Block(block, next + 1));
                        steps.push(Step::Op(*op));
                    }
                }
                Step::Op(op) => {
                    let form = forms.get(op);
                    namer.operation(op, form);
                    if form != Form::Applies {
                        let regions = &body.ops[op].regions;
                        steps.extend(regions.iter().rev().map(|region| Step::Region(*region)));
                    }
                }
            }
        }
        Self { values: namer.values }
    }
}

struct Namer<'a> {
    body: &'a Body,
    values: Vec<Name>,
    arguments: u32,
    results: u32,
}

impl Namer<'_> {
    fn set(&mut self, value: ValueId, name: Name) {
        if let Some(slot) = self.values.get_mut(value.index()) {
            *slot = name;
        }
    }

    fn block(&mut self, block: BlockId) {
        for argument in &self.body.blocks[block].arguments {
            // The arguments of a short `while` have their names already.
            if self.values.get(argument.index()) == Some(&Name::Detached) {
                self.set(*argument, Name::Argument(self.arguments));
                self.arguments += 1;
            }
        }
    }

    fn operation(&mut self, op: OpId, form: Form) {
        let operation = &self.body.ops[op];
        let base = self.results;
        match operation.results.as_slice() {
            [] => {}
            [result] => {
                self.set(*result, Name::Result(base));
                self.results += 1;
            }
            several => {
                for (index, result) in several.iter().enumerate() {
                    let index = index as u32;
                    self.set(*result, Name::Part { base, index });
                }
                self.results += 1;
            }
        }
        if form == Form::While {
            let first = self.arguments;
            for region in &operation.regions {
                let blocks = &self.body.regions[*region].blocks;
                for argument in blocks
                    .iter()
                    .flat_map(|block| &self.body.blocks[*block].arguments)
                    .enumerate()
                {
                    let (index, argument) = argument;
                    self.set(*argument, Name::Argument(first + index as u32));
                }
            }
            self.arguments += operation.operands.len() as u32;
        }
    }
}

impl Writer {
    /// A value's name.
    pub(super) fn value(&mut self, names: &Names, value: ValueId) {
        match names.values.get(value.index()) {
            Some(Name::Argument(number)) => write!(self, "%arg{number}"),
            Some(Name::Result(number)) => write!(self, "%{number}"),
            Some(Name::Part { base, index }) => write!(self, "%{base}#{index}"),
            // The verifier refuses such a use; the text must not read as another value.
            Some(Name::Detached) | None => write!(self, "%detached_{}", value.index()),
        }
    }

    /// What stands before an operation: `%0 = ` or `%0:2 = `.
    pub(super) fn result_names(&mut self, names: &Names, results: &[ValueId]) {
        match results.first().and_then(|first| names.values.get(first.index())) {
            Some(Name::Result(number)) => write!(self, "%{number} = "),
            Some(Name::Part { base, .. }) => write!(self, "%{base}:{} = ", results.len()),
            _ => {}
        }
    }
}
