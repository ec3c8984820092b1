//! Operations: results, generic form, and what all forms end with.

use artifact_ir::attribute::NamedAttributes;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, Definition, NewOperation, OpId, Value, ValueId};
use artifact_ir::op::{Control, ForeignOp, Op, OpSpec};
use artifact_ir::types::Type;

use super::cursor::{Parser, Read};
use super::scope::Binding;
use crate::lex::{Kind, Token};

/// Results that a statement names: `%a:2` is one name for two.
#[derive(Clone, Copy, Debug)]
struct ResultName {
    token: Token,
    count: u32,
}

/// An operation while it is read.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// Full name.
    pub(super) name: &'a str,
    /// Where the name stands, which is the operation's place.
    pub(super) offset: usize,
    pub(super) operands: Vec<ValueId>,
    /// Where each operand stands.
    pub(super) operand_offsets: Vec<usize>,
    /// The operation's own attributes, those of `<{...}>` and of a pretty form; discardable ones may be among them.
    pub(super) attributes: NamedAttributes,
    pub(super) results: Vec<Type>,
    /// The operation itself, once it had to be made because it has regions.
    pub(super) placed: Option<OpId>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(name: &'a str, offset: usize) -> Self {
        Self {
            name,
            offset,
            operands: Vec::new(),
            operand_offsets: Vec::new(),
            attributes: NamedAttributes::new(),
            results: Vec::new(),
            placed: None,
        }
    }
}

impl<'a> Parser<'a> {
    /// One operation of a block, with the names of its results.
    pub(super) fn statement(&mut self) -> Read<()> {
        let mut names = Vec::new();
        if self.at(Kind::Percent) {
            loop {
                names.push(self.result_name()?);
                if !self.take(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::Equal)?;
        }
        let op = match self.kind() {
            Kind::String => self.generic_operation()?,
            Kind::Word => self.pretty_operation()?,
            _ => return Err(self.unexpected("an operation")),
        };
        self.define_results(op, &names)
    }

    fn result_name(&mut self) -> Read<ResultName> {
        let token = self.expect(Kind::Percent)?;
        let count = if self.take(Kind::Colon) {
            let offset = self.token.start();
            match self.integer::<u32>()? {
                0 => return Err(self.error(offset, "expected named operation to have at least 1 result")),
                count => count,
            }
        } else {
            1
        };
        Ok(ResultName { token, count })
    }

    fn define_results(&mut self, op: OpId, names: &[ResultName]) -> Read<()> {
        let operation = &self.body.ops[op];
        let (first, actual) = (operation.results.first().copied(), operation.results.len());
        let named: u64 = names.iter().map(|name| u64::from(name.count)).sum();
        if let Some(name) = names.first()
            && named != actual as u64
        {
            let message = format!("operation defines {actual} results but was provided {named} to bind");
            return Err(self.error(name.token.start(), message));
        }
        let mut next = first.map_or(0, |value| artifact_core::entity::EntityId::index(value) as u32);
        for name in names {
            let first = artifact_core::entity::EntityId::from_index(next);
            next += name.count;
            self.define(
                name.token,
                Binding::Values {
                    first,
                    count: name.count,
                },
            )?;
        }
        Ok(())
    }

    /// `"dialect.op"(%a) <{...}> ({...}) {...} : (A) -> B`.
    fn generic_operation(&mut self) -> Read<OpId> {
        let token = self.bump();
        let name = self.operation_name(token)?;
        let mut draft = Draft::new(name, token.start());
        self.list(Kind::LeftParen, |parser| parser.operand(&mut draft))?;
        if self.at(Kind::LeftSquare) {
            return Err(self.error_here(
                "successors are not supported: StableHLO programs have structured control flow only",
            ));
        }
        let foreign = OpSpec::find(name).is_none();
        if foreign && is_own_dialect(name) {
            return Err(self.error(token.start(), format!("unknown operation '{name}'")));
        }
        if self.take(Kind::Less) {
            draft.attributes = self.dictionary()?;
            self.expect(Kind::Greater)?;
        }
        if self.take(Kind::LeftParen) {
            self.region_list(&mut draft)?;
        }
        let offset = self.token.start();
        let more = self.optional_dictionary()?;
        let discardable = if foreign {
            more
        } else {
            self.merge(&mut draft.attributes, more, offset)?;
            NamedAttributes::new()
        };
        self.expect(Kind::Colon)?;
        self.functional_types(&mut draft)?;
        self.finish_operation(draft, discardable)
    }

    /// Regions up to `)`.
    pub(super) fn region_list(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let op = self.place(draft);
        self.list_until(Kind::RightParen, |parser| parser.region(op, None).map(|_| ()))
    }

    pub(super) fn operand(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        let offset = self.token.start();
        let value = self.value()?;
        draft.operands.push(value);
        draft.operand_offsets.push(offset);
        Ok(())
    }

    /// `(A, B) -> C`: checks the operands and sets the results.
    pub(super) fn functional_types(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        let offset = self.token.start();
        let function = if self.at(Kind::LeftParen) {
            self.function_type()?
        } else {
            match self.ty()? {
                Type::Function(function) => (*function).clone(),
                other => return Err(self.error(offset, format!("expected a function type, found {other}"))),
            }
        };
        self.check_operands(draft, &function.inputs, offset)?;
        draft.results = function.results;
        Ok(())
    }

    /// Refuses operands whose number or types are not those that are written at `offset`.
    pub(super) fn check_operands(&mut self, draft: &Draft<'_>, types: &[Type], offset: usize) -> Read<()> {
        if draft.operands.len() != types.len() {
            let message = format!(
                "{} operands present, but expected {}",
                draft.operands.len(),
                types.len()
            );
            return Err(self.error(offset, message));
        }
        for (index, ty) in types.iter().enumerate() {
            self.check_operand(draft, index, ty)?;
        }
        Ok(())
    }

    pub(super) fn check_operand(&mut self, draft: &Draft<'_>, index: usize, ty: &Type) -> Read<()> {
        let Some(value) = draft.operands.get(index) else {
            return Ok(());
        };
        let actual = self.body.ty(*value);
        if actual == ty {
            return Ok(());
        }
        let offset = draft.operand_offsets.get(index).copied().unwrap_or(draft.offset);
        let message = format!("use of value expects different type than prior uses: '{ty}' vs '{actual}'");
        Err(self.error(offset, message))
    }

    /// Makes the operation in its block before it is complete, so that its regions have a parent.
    pub(super) fn place(&mut self, draft: &mut Draft<'_>) -> OpId {
        if let Some(op) = draft.placed {
            return op;
        }
        let block = self.current_block();
        let mut operation = NewOperation::new(Control::OptimizationBarrier, Vec::new());
        operation.source = SourceOffset::new(draft.offset);
        let op = self.body.add_op(block, operation, Vec::new());
        draft.placed = Some(op);
        op
    }

    fn current_block(&mut self) -> artifact_ir::module::BlockId {
        match self.block {
            Some(block) => block,
            // Operations are read within blocks only; were one not, it would stand alone in a block of its own.
            None => {
                let root = self.body.root;
                self.body.add_block(root)
            }
        }
    }

    /// Reads the location, types the attributes, and adds the operation.
    pub(super) fn finish_operation(&mut self, draft: Draft<'a>, discardable: NamedAttributes) -> Read<OpId> {
        let location = self.trailing_location()?;
        let mut draft = draft;
        let (op, attributes) = match OpSpec::find(draft.name) {
            Some(spec) => {
                let op = self.typed(spec, &mut draft.attributes, draft.offset)?;
                (op, draft.attributes)
            }
            None => {
                let op = ForeignOp {
                    name: self.name(draft.name),
                    properties: draft.attributes,
                    terminator: false,
                };
                (Op::Foreign(Box::new(op)), discardable)
            }
        };
        let operation = NewOperation {
            op,
            operands: draft.operands.into(),
            attributes,
            location,
            source: SourceOffset::new(draft.offset),
        };
        Ok(match draft.placed {
            Some(placed) => {
                complete(&mut self.body, placed, operation, draft.results);
                placed
            }
            None => {
                let block = self.current_block();
                self.body.add_op(block, operation, draft.results)
            }
        })
    }

    /// Takes an operation's own attributes out of a dictionary.
    pub(super) fn typed(
        &mut self,
        spec: &OpSpec,
        attributes: &mut NamedAttributes,
        offset: usize,
    ) -> Read<Op> {
        // Text has these two in the spelling of older tools; the typed fields are named in one way.
        for (written, field) in SEGMENT_SIZES {
            if let Some(sizes) = attributes.remove(written) {
                attributes.insert(field, sizes);
            }
        }
        spec.read(attributes)
            .map_err(|error| self.error(offset, format!("'{}' op {error}", spec.name)))
    }

    /// Adds an operation that the text only implies.
    pub(super) fn implied_operation(
        &mut self,
        block: artifact_ir::module::BlockId,
        (op, operands, results): (Op, Vec<ValueId>, Vec<Type>),
        (location, offset): (LocationId, usize),
    ) -> Vec<ValueId> {
        let mut operation = NewOperation::new(op, operands);
        operation.location = location;
        operation.source = SourceOffset::new(offset);
        let op = self.body.add_op(block, operation, results);
        self.body.ops[op].results.to_vec()
    }
}

const SEGMENT_SIZES: [(&str, &str); 2] = [
    ("operandSegmentSizes", "operand_segment_sizes"),
    ("resultSegmentSizes", "result_segment_sizes"),
];

/// Fills in an operation that was placed before its regions were read.
fn complete(body: &mut Body, placed: OpId, operation: NewOperation, results: Vec<Type>) {
    let results = results
        .into_iter()
        .enumerate()
        .map(|(index, ty)| {
            let definition = Definition::Result {
                op: placed,
                index: index as u32,
            };
            body.values.push(Value { ty, definition })
        })
        .collect();
    let target = &mut body.ops[placed];
    target.op = operation.op;
    target.operands = operation.operands;
    target.results = results;
    target.attributes = operation.attributes;
    target.location = operation.location;
    target.source = operation.source;
}

/// Whether operations of this name are ours to know: another name in these dialects is a mistake.
pub(super) fn is_own_dialect(name: &str) -> bool {
    matches!(
        name.split('.').next(),
        Some("stablehlo" | "chlo" | "sdy" | "check" | "interpreter")
    )
}
