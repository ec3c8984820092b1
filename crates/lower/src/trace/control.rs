//! Calls, tuples, tokens, branches and loops.

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Operation, RegionId};
use artifact_ir::op::Control;

use super::{Frame, Tracer};
use crate::error::LowerError;
use crate::graph::{Carried, Definition, ItemKind, Sequence, Tensor, TensorId, Value};

impl<'m> Tracer<'m> {
    pub(super) fn control(
        &mut self,
        frame: &mut Frame<'m>,
        op: &'m Operation,
        control: &'m Control,
    ) -> Result<Vec<Value>, LowerError> {
        match control {
            Control::Call(call) => self.call_symbol(frame, op, &call.callee.root),
            Control::Composite(composite) => self.call_symbol(frame, op, &composite.decomposition.root),
            Control::Tuple => Ok(vec![Value::Tuple(frame.operands(op)?)]),
            Control::GetTupleElement(get) => {
                let index = usize::try_from(get.index).unwrap_or(usize::MAX);
                match op.operands.first().map(|id| frame.value(*id)).transpose()? {
                    Some(Value::Tuple(values)) if index < values.len() => Ok(vec![values[index].clone()]),
                    _ => Err(LowerError::unsupported("a component of no tuple", op.source)),
                }
            }
            Control::OptimizationBarrier => frame.operands(op),
            Control::AfterAll | Control::CreateToken => Ok(vec![Value::Token]),
            Control::While => self.while_loop(frame, op),
            Control::If | Control::Case => self.branch(frame, op),
            Control::CustomCall(call) if call.call_target_name.as_str() == Some("Sharding") => {
                frame.operands(op)
            }
            Control::AsyncDone
            | Control::AsyncStart
            | Control::CustomCall(_)
            | Control::FuncReturn
            | Control::Return => self.other(frame, op),
        }
    }

    fn call_symbol(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
        name: &str,
    ) -> Result<Vec<Value>, LowerError> {
        let module = self.module;
        let callee = module
            .function(name)
            .and_then(|id| module.functions[id].body.as_ref());
        let body = callee
            .ok_or_else(|| LowerError::unsupported(format!("there is no body of @{name}"), op.source))?;
        self.call(body, frame.operands(op)?)
    }

    /// Traces a region as a sequence of its own; what it returns are the sequence's results.
    fn region(
        &mut self,
        frame: &mut Frame<'m>,
        region: RegionId,
        arguments: Vec<Value>,
    ) -> Result<(Sequence, Vec<Value>), LowerError> {
        let block = frame.body.single_block(region).ok_or_else(|| {
            LowerError::unsupported("a region has not exactly one block", SourceOffset::NONE)
        })?;
        self.open();
        let results = self.block(frame, block, arguments);
        let mut sequence = self.close();
        let results = results?;
        sequence.results = results.iter().flat_map(Value::tensors).collect();
        Ok((sequence, results))
    }

    /// A tensor of the type of another one that is made by a loop or a branch.
    fn like(&mut self, tensor: TensorId, source: SourceOffset) -> TensorId {
        let Tensor { element, dims, .. } = self.tensors[tensor].clone();
        let sequence = self.sequences.last().map_or(0, |sequence| sequence.id);
        self.tensors.push(Tensor {
            element,
            dims,
            definition: Definition::Given,
            source,
            sequence,
        })
    }

    /// The same structure with other tensors.
    fn renamed(&mut self, value: &Value, source: SourceOffset) -> Value {
        match value {
            Value::Tensor(tensor) => Value::Tensor(self.like(*tensor, source)),
            Value::Token => Value::Token,
            Value::Tuple(values) => {
                Value::Tuple(values.iter().map(|value| self.renamed(value, source)).collect())
            }
        }
    }

    fn while_loop(&mut self, frame: &mut Frame<'m>, op: &'m Operation) -> Result<Vec<Value>, LowerError> {
        let [condition, body] = op.regions[..] else {
            return Err(LowerError::unsupported("a loop has not two regions", op.source));
        };
        let inits = frame.operands(op)?;
        let kept = kept_values(frame, body);
        let renamed = |(index, value): (usize, &Value)| match kept.contains(&index) {
            // What every turn passes on as it is needs no buffer of the loop's own.
            true => value.clone(),
            false => self.renamed(value, op.source),
        };
        let values: Vec<Value> = inits.iter().enumerate().map(renamed).collect();
        let (condition, predicate) = self.region(frame, condition, values.clone())?;
        let (body, next) = self.region(frame, body, values.clone())?;
        let flat = |values: &[Value]| values.iter().flat_map(Value::tensors).collect::<Vec<_>>();
        let [predicate] = flat(&predicate)[..] else {
            return Err(LowerError::unsupported(
                "a condition is not one tensor",
                op.source,
            ));
        };
        let (inits, tensors, next) = (flat(&inits), flat(&values), flat(&next));
        if self.tensors_differ(&inits, &next) {
            return Err(LowerError::open_size("a value that a loop carries", op.source));
        }
        let carried = inits.into_iter().zip(tensors).zip(next);
        let carried = carried
            .filter(|((init, tensor), _)| init != tensor)
            .map(|((init, tensor), next)| Carried { init, tensor, next });
        let carried: Vec<Carried> = carried.collect();
        let carried = carried
            .into_iter()
            .filter(|one| !self.stays_constant(one, op))
            .collect();
        self.push(
            ItemKind::While {
                carried,
                condition,
                predicate,
                body,
            },
            op.op.name(),
            op.source,
        );
        Ok(values)
    }

    /// Whether a loop carries one constant from its beginning to its end: then the tensor is that constant,
    /// which is made before the loop where somebody needs it in memory.
    fn stays_constant(&mut self, one: &Carried, op: &Operation) -> bool {
        let [init, next] = [one.init, one.next].map(|tensor| &self.tensors[tensor].definition);
        let is_same = match (init, next) {
            (Definition::Literal(init), Definition::Literal(next)) => init == next,
            (Definition::Splat(init), Definition::Splat(next)) => init == next,
            _ => false,
        };
        if is_same {
            self.tensors[one.tensor].definition = init.clone();
            self.push(ItemKind::Tensor(one.tensor), op.op.name(), op.source);
        }
        is_same
    }

    /// Whether values that must have one shape have several.
    fn tensors_differ(&self, left: &[TensorId], right: &[TensorId]) -> bool {
        let differ = |(a, b): (&TensorId, &TensorId)| self.tensors[*a].dims != self.tensors[*b].dims;
        left.len() != right.len() || left.iter().zip(right).any(differ)
    }

    fn branch(&mut self, frame: &mut Frame<'m>, op: &'m Operation) -> Result<Vec<Value>, LowerError> {
        let index = op
            .operands
            .first()
            .ok_or_else(|| LowerError::unsupported("a branch has no index", op.source))?;
        let index = frame.tensor(*index)?;
        let mut branches = Vec::with_capacity(op.regions.len());
        let mut first: Option<Vec<Value>> = None;
        for region in &op.regions {
            let (sequence, values) = self.region(frame, *region, Vec::new())?;
            branches.push(sequence);
            first.get_or_insert(values);
        }
        let values: Vec<Value> = first
            .unwrap_or_default()
            .iter()
            .map(|value| self.renamed(value, op.source))
            .collect();
        let results: Vec<TensorId> = values.iter().flat_map(Value::tensors).collect();
        if branches
            .iter()
            .any(|branch| self.tensors_differ(&results, &branch.results))
        {
            return Err(LowerError::open_size("a result of a branch", op.source));
        }
        self.push(
            ItemKind::Case {
                index,
                branches,
                results,
            },
            op.op.name(),
            op.source,
        );
        Ok(values)
    }
}

/// Which values the body of a loop returns as it got them.
fn kept_values(frame: &Frame<'_>, body: RegionId) -> Vec<usize> {
    let Some(block) = frame
        .body
        .single_block(body)
        .map(|block| &frame.body.blocks[block])
    else {
        return Vec::new();
    };
    let returned = block
        .ops
        .last()
        .map(|id| frame.body.ops[*id].operands.as_slice())
        .unwrap_or_default();
    let pairs = block.arguments.iter().zip(returned).enumerate();
    pairs
        .filter(|(_, (argument, returned))| argument == returned)
        .map(|(index, _)| index)
        .collect()
}
