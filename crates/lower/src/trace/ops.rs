//! Sorts operations: what kernels are made of, what a plan has a step for, and the rest.

use artifact_core::entity::EntityId as _;
use artifact_ir::literal::Literal;
use artifact_ir::module::{Body, Operation};
use artifact_ir::op::{
    Binary, Chlo, Contraction, Creation, Elementwise, Indexing, Op, Reduction, Sharding, Testing,
};
use artifact_ir::types::{Element, TensorType};

use super::{Frame, Tracer};
use crate::error::LowerError;
use crate::graph::{Definition, Dimensions, Item, ItemKind, TensorId, Value};
use crate::kernel::{InstrKind, has_routines};
use crate::region;
use crate::view::View;

impl<'m> Tracer<'m> {
    /// Sorts one operation; its results come back.
    pub(super) fn operation(
        &mut self,
        frame: &mut Frame<'m>,
        op: &'m Operation,
    ) -> Result<Vec<Value>, LowerError> {
        let found = match &op.op {
            Op::Control(control) => return self.control(frame, op, control),
            Op::Elementwise(Elementwise::Clamp) => self.clamp(frame, op)?,
            _ if is_elementwise(frame.body, op) => self.elementwise(frame, op)?,
            Op::Reduction(Reduction::Map(_)) => self.map(frame, op)?,
            Op::Creation(creation) => self.creation(frame, op, creation)?,
            Op::Shape(shape) => self.shape(frame, op, shape)?,
            Op::Reduction(Reduction::Reduce(reduce)) => self.reduce(frame, op, &reduce.dimensions)?,
            Op::Contraction(contraction) => self.contraction(frame, op, contraction)?,
            Op::Sharding(
                Sharding::ShardingConstraint(_) | Sharding::Reshard(_) | Sharding::PropagationBarrier(_),
            ) => {
                return frame.operands(op);
            }
            Op::Indexing(Indexing::Scatter(_)) if op.results.len() == 1 => return self.scatter(frame, op),
            Op::Testing(Testing::Probe(_)) => {
                // What it records is read by other operations, all of which one run of the evaluator must do.
                return Err(LowerError::unsupported(
                    "a probe has no place in a plan",
                    op.source,
                ));
            }
            _ => None,
        };
        match found {
            Some(tensor) => Ok(vec![Value::Tensor(tensor)]),
            None => self.other(frame, op),
        }
    }

    /// An operation that becomes a function of the library.
    pub(super) fn other(&mut self, frame: &Frame<'m>, op: &Operation) -> Result<Vec<Value>, LowerError> {
        let (function, captured) = self.library.add(frame.body, op);
        let ids = op.operands.iter().chain(&captured);
        let operands = ids
            .map(|id| frame.value(*id).cloned())
            .collect::<Result<_, _>>()?;
        let types = op.results.iter().map(|id| frame.body.ty(*id).clone());
        let results: Vec<Value> = types
            .map(|ty| self.given(&ty, op.source))
            .collect::<Result<_, _>>()?;
        let kind = ItemKind::Operation {
            function,
            is_pure: op.op.is_pure(),
            operands,
            results: results.clone(),
        };
        self.push(kind, op.op.name(), op.source);
        Ok(results)
    }

    /// An update of a copy of its operand, which need not be a copy where nothing else needs the operand.
    fn scatter(&mut self, frame: &Frame<'m>, op: &Operation) -> Result<Vec<Value>, LowerError> {
        let results = self.other(frame, op)?;
        let (Some(Value::Tensor(result)), Some(base)) = (results.first(), op.operands.first()) else {
            return Ok(results);
        };
        let (result, base) = (*result, frame.tensor(*base)?);
        let Some(sequence) = self.sequences.last_mut() else {
            return Ok(results);
        };
        let Some(Item {
            kind: ItemKind::Operation { operands, .. },
            ..
        }) = sequence.items.last_mut()
        else {
            return Ok(results);
        };
        if self.tensors[base].dims == self.tensors[result].dims
            && let Some(operand) = operands.first_mut()
        {
            *operand = Value::Tensor(result);
            let copy = ItemKind::Write {
                base: Some(base),
                parts: Vec::new(),
                result,
            };
            let place = sequence.items.len() - 1;
            sequence.items.insert(
                place,
                Item {
                    kind: copy,
                    name: op.op.name().to_owned(),
                    source: op.source,
                },
            );
        }
        Ok(results)
    }

    fn elementwise(&mut self, frame: &Frame<'m>, op: &Operation) -> Result<Option<TensorId>, LowerError> {
        let Some((ty, operands)) = self.alike(frame, op)? else {
            return Ok(None);
        };
        self.apply(&op.op, operands, &ty, op).map(Some)
    }

    /// The type of an elementwise operation's result, and its operands in that shape; `None` where elements are not plain.
    fn alike(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
    ) -> Result<Option<(TensorType, Vec<TensorId>)>, LowerError> {
        let ty = Self::result_type(frame, op, 0)?;
        let operands = frame.tensors(op)?;
        let all_plain = operands
            .iter()
            .all(|id| self.tensors[*id].element.as_plain().is_some());
        if !all_plain || ty.element.as_plain().is_none() {
            return Ok(None);
        }
        let ty = self.sized(ty, &op.op, &operands);
        let rank = self.dims(&ty, op.source)?.len();
        let spread = |tracer: &mut Self, id: TensorId| tracer.spread(id, rank, &ty, op);
        let operands = operands.into_iter().map(|id| spread(self, id));
        let operands = operands.collect::<Result<_, _>>()?;
        Ok(Some((ty, operands)))
    }

    fn apply(
        &mut self,
        apply: &Op,
        operands: Vec<TensorId>,
        ty: &TensorType,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        let apply = apply.clone();
        self.lazy(ty, Definition::Apply { op: apply, operands }, op)
    }

    /// Spec, "clamp": `minimum(maximum(operand, min), max)`.
    fn clamp(&mut self, frame: &Frame<'m>, op: &Operation) -> Result<Option<TensorId>, LowerError> {
        let Some((ty, operands)) = self.alike(frame, op)? else {
            return Ok(None);
        };
        let [low, value, high] = operands[..] else {
            return Ok(None);
        };
        let raised = self.apply(&Op::Binary(Binary::Maximum), vec![value, low], &ty, op)?;
        self.apply(&Op::Binary(Binary::Minimum), vec![raised, high], &ty, op)
            .map(Some)
    }

    /// The operations of the region, on whole arrays.
    fn map(&mut self, frame: &Frame<'m>, op: &Operation) -> Result<Option<TensorId>, LowerError> {
        let ([region], Some((ty, operands))) = (&op.regions[..], self.alike(frame, op)?) else {
            return Ok(None);
        };
        let Some(kernel) = region::kernel(frame.body, *region) else {
            return Ok(None);
        };
        let mut values: Vec<TensorId> = Vec::with_capacity(kernel.body.len());
        for instr in &kernel.body {
            let ty = ty.with_element(Element::Plain(instr.element));
            let value = match &instr.kind {
                InstrKind::Input(number) => operands[*number as usize],
                InstrKind::Constant(bytes) => self.lazy(&ty, Definition::Splat(bytes.clone()), op)?,
                InstrKind::Apply {
                    op: apply,
                    operands: own,
                } => {
                    let operands = own.iter().map(|id| values[id.index()]).collect();
                    self.apply(apply, operands, &ty, op)?
                }
                InstrKind::MultiplyAdd(_) | InstrKind::Reduce { .. } => return Ok(None),
            };
            values.push(value);
        }
        Ok(kernel.outputs.first().map(|output| values[output.value.index()]))
    }

    /// The type of a result, with the sizes of an operand of its shape, which may say them where the result does not.
    fn sized(&self, ty: &TensorType, op: &Op, operands: &[TensorId]) -> TensorType {
        let like = match op {
            Op::Elementwise(Elementwise::Clamp | Elementwise::Select) => 1,
            _ => 0,
        };
        let shaped = operands.get(like).map(|id| &self.tensors[*id].dims);
        match shaped {
            Some(dims) if dims.len() == ty.rank() => {
                let dims: Vec<_> = dims
                    .iter()
                    .map(|dim| self.sizes.expression(*dim).clone().into())
                    .collect();
                TensorType::new(dims, ty.element.clone())
            }
            _ => ty.clone(),
        }
    }

    /// A scalar operand in the shape of the result, as `select` and `clamp` allow it.
    fn spread(
        &mut self,
        id: TensorId,
        rank: usize,
        ty: &TensorType,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        if !self.tensors[id].dims.is_empty() || rank == 0 {
            return Ok(id);
        }
        let ty = ty.with_element(self.tensors[id].element.clone());
        self.view(&ty, View::Broadcast(Vec::new()), id, op)
    }

    /// A view of a tensor.
    pub(super) fn view(
        &mut self,
        ty: &TensorType,
        view: View,
        operand: TensorId,
        op: &Operation,
    ) -> Result<TensorId, LowerError> {
        let definition = match &self.tensors[operand].definition {
            // A repeated element stays one wherever it is seen from.
            Definition::Splat(element) => Definition::Splat(element.clone()),
            _ => Definition::View { view, operand },
        };
        self.lazy(ty, definition, op)
    }

    fn creation(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
        creation: &Creation,
    ) -> Result<Option<TensorId>, LowerError> {
        let ty = Self::result_type(frame, op, 0)?;
        match creation {
            Creation::Constant(constant) => self.constant(ty, &constant.value, op).map(Some),
            Creation::Iota(iota) | Creation::DynamicIota(iota) => {
                let dimension = usize::try_from(iota.iota_dimension).unwrap_or(0);
                let counts = matches!(ty.element.as_plain(), Some(element) if element.is_integer() || element.is_float());
                if !counts {
                    return Ok(None);
                }
                self.lazy(ty, Definition::Iota { dimension }, op).map(Some)
            }
            Creation::Rng(_) | Creation::RngBitGenerator(_) => Ok(None),
        }
    }

    fn constant(&mut self, ty: &TensorType, value: &Literal, op: &Operation) -> Result<TensorId, LowerError> {
        let definition = match value.uniform() {
            Some(element) if matches!(ty.element, Element::Plain(_)) => Definition::Splat(element.to_vec()),
            _ => Definition::Literal(value.clone()),
        };
        self.lazy(ty, definition, op)
    }

    fn reduce(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
        dimensions: &[i64],
    ) -> Result<Option<TensorId>, LowerError> {
        let combine = op
            .regions
            .first()
            .and_then(|region| region::combine(frame.body, *region));
        let Some(combine) = combine else {
            return Ok(None);
        };
        let [operand, init] = frame.tensors(op)?[..] else {
            return Ok(None);
        };
        let ty = Self::result_type(frame, op, 0)?;
        let plain = ty.element.as_plain().is_some_and(has_routines);
        if !plain || self.tensors[operand].element != ty.element || self.tensors[init].element != ty.element {
            return Ok(None);
        }
        let dimensions: Vec<usize> = dimensions
            .iter()
            .filter_map(|dim| usize::try_from(*dim).ok())
            .collect();
        let kept = |(index, dim): (usize, &crate::SizeId)| (!dimensions.contains(&index)).then_some(*dim);
        let dims: Vec<_> = self.tensors[operand]
            .dims
            .iter()
            .enumerate()
            .filter_map(kept)
            .collect();
        let dims: Vec<_> = dims
            .iter()
            .map(|dim| self.sizes.expression(*dim).clone().into())
            .collect();
        let ty = TensorType::new(dims, ty.element.clone());
        let result = self.tensor(&ty, Definition::Given, op.source)?;
        let kind = ItemKind::Reduce {
            operand,
            init,
            dimensions,
            combine,
            result,
        };
        self.push(kind, op.op.name(), op.source);
        Ok(Some(result))
    }

    fn contraction(
        &mut self,
        frame: &Frame<'m>,
        op: &Operation,
        contraction: &Contraction,
    ) -> Result<Option<TensorId>, LowerError> {
        let [left, right] = frame.tensors(op)?[..] else {
            return Ok(None);
        };
        let to_usize = |dims: &[i64]| dims.iter().filter_map(|dim| usize::try_from(*dim).ok()).collect();
        let ty = Self::result_type(frame, op, 0)?;
        let result = (0..ty.rank()).collect();
        let dimensions = match contraction {
            Contraction::DotGeneral(dot) => {
                let numbers = &dot.dot_dimension_numbers;
                Dimensions {
                    left_batch: to_usize(&numbers.lhs_batching_dimensions),
                    right_batch: to_usize(&numbers.rhs_batching_dimensions),
                    left_contracted: to_usize(&numbers.lhs_contracting_dimensions),
                    right_contracted: to_usize(&numbers.rhs_contracting_dimensions),
                    result,
                }
            }
            Contraction::Dot(_) => Dimensions {
                left_batch: Vec::new(),
                right_batch: Vec::new(),
                left_contracted: self.tensors[left].dims.len().checked_sub(1).into_iter().collect(),
                right_contracted: vec![0],
                result,
            },
            Contraction::Convolution(_)
            | Contraction::DynamicConv(_)
            | Contraction::Einsum(_)
            | Contraction::UnaryEinsum(_) => return Ok(None),
        };
        let elements = [
            &self.tensors[left].element,
            &self.tensors[right].element,
            &ty.element,
        ];
        if !multiplies(&elements) {
            return Ok(None);
        }
        let result = self.tensor(ty, Definition::Given, op.source)?;
        self.push(
            ItemKind::Product {
                left,
                right,
                dimensions,
                result,
            },
            op.op.name(),
            op.source,
        );
        Ok(Some(result))
    }
}

/// Whether products of these types have a step: both sides alike, and a result as wide or wider.
fn multiplies(elements: &[&Element; 3]) -> bool {
    let [Some(left), Some(right), Some(result)] = elements.map(Element::as_plain) else {
        return false;
    };
    let alike = left == right && left.bits() >= 8 && result.bits() >= left.bits();
    let same_class = left.is_float() == result.is_float() && left.is_complex() == result.is_complex();
    alike && has_routines(left) && has_routines(result) && same_class
}

/// Whether an operation works element by element on operands of one shape.
pub(crate) fn is_elementwise(body: &Body, op: &Operation) -> bool {
    match &op.op {
        Op::Unary(_) | Op::Binary(_) => true,
        Op::Elementwise(elementwise) => !changes_width(body, op, elementwise),
        Op::Chlo(chlo) => is_elementwise_chlo(chlo),
        _ => false,
    }
}

/// Whether a bit cast changes the number of elements.
fn changes_width(body: &Body, op: &Operation, elementwise: &Elementwise) -> bool {
    let bits =
        |id: &artifact_ir::module::ValueId| body.ty(*id).as_tensor().map(|ty| ty.element.storage().bits());
    match elementwise {
        Elementwise::BitcastConvert => {
            op.operands.first().and_then(bits) != op.results.first().and_then(bits)
        }
        Elementwise::UniformDequantize | Elementwise::UniformQuantize => true,
        _ => false,
    }
}

/// CHLO operations that work element by element on operands of one shape.
const fn is_elementwise_chlo(op: &Chlo) -> bool {
    matches!(
        op,
        Chlo::Acos
            | Chlo::Acosh
            | Chlo::Asin
            | Chlo::Asinh
            | Chlo::Atan
            | Chlo::Atanh
            | Chlo::BesselI1e
            | Chlo::Conj
            | Chlo::Cosh
            | Chlo::Digamma
            | Chlo::Erf
            | Chlo::ErfInv
            | Chlo::Erfc
            | Chlo::IsInf
            | Chlo::IsNegInf
            | Chlo::IsPosInf
            | Chlo::Lgamma
            | Chlo::NextAfter
            | Chlo::Polygamma
            | Chlo::Sinh
            | Chlo::Square
            | Chlo::Tan
            | Chlo::Zeta
    )
}
