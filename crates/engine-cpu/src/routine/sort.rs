//! Sorting: by keys, where the comparator compares them, or by the comparator itself.

use std::sync::Arc;

use artifact_cpu_routine::sort::{FloatOrder, Key, sort_by, sort_by_keys, supports, top_k as run_top_k};
use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::module::{Body, ValueId};
use artifact_ir::op::{Binary, Creation, Elementwise, Op, Sort};
use artifact_ir::types::ElementType;
use smallvec::SmallVec;

use super::function::Function;
use super::regions::{maker, only};
use super::{Array, BoundRoutine, Hands, Routine, Site};
use crate::error::CpuError;

/// What says which of two elements comes first.
#[derive(Debug)]
enum Order {
    Keys(Vec<Key>),
    /// A function of the left and the right element of each array in turn.
    Function(Function),
}

#[derive(Debug)]
struct BoundSort {
    dim: usize,
    order: Order,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
}

impl Routine for BoundSort {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let function = match &self.order {
            Order::Keys(_) => None,
            Order::Function(function) => function.ready(&hands),
        };
        let less = |left: &[*const u8], right: &[*const u8]| {
            let mut is_less = 0_u8;
            if let Some(function) = function {
                let pairs = left.iter().zip(right).flat_map(|(left, right)| [*left, *right]);
                // SAFETY: there are as many arrays as the function has pairs of arguments, and it returns a boolean.
                unsafe { function.call(pairs, &[&raw mut is_less], 1) };
            }
            is_less != 0
        };
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        // SAFETY: the caller's promise; results are arrays of their own.
        let inputs: SmallVec<[_; 4]> = self
            .inputs
            .iter()
            .map(|array| unsafe { array.view(buffers) })
            .collect();
        // SAFETY: as above.
        let outputs = self
            .outputs
            .iter()
            .map(|array| unsafe { array.view_mut(buffers) });
        let mut outputs: SmallVec<[_; 4]> = outputs.collect();
        match &self.order {
            Order::Keys(keys) => sort_by_keys(parallel, workspace, self.dim, keys, &inputs, &mut outputs)?,
            Order::Function(_) => sort_by(parallel, workspace, self.dim, &less, &inputs, &mut outputs)?,
        }
        Ok(())
    }
}

pub(super) fn sort(site: &Site<'_>, attributes: &Sort) -> Option<BoundRoutine> {
    let rank = site.operands.first()?.shape.len();
    let dim = attributes.dimension + if attributes.dimension < 0 { rank as i64 } else { 0 };
    let dim = usize::try_from(dim).ok().filter(|dim| *dim < rank)?;
    let (arguments, returned) = only(site.body, site.op)?;
    let comparator = Comparator {
        body: site.body,
        arguments,
        operands: &site.operands,
    };
    let mut keys = Vec::new();
    let order = match comparator.keys(returned, &mut keys) {
        Some(()) => Order::Keys(keys),
        None => {
            let pairs: Vec<ElementType> = site
                .operands
                .iter()
                .flat_map(|array| [array.element; 2])
                .collect();
            Order::Function(site.function(0, &pairs, &[ElementType::I1])?)
        }
    };
    let (inputs, outputs) = (site.operands.clone(), site.results.clone());
    Some(Arc::new(BoundSort {
        dim,
        order,
        inputs,
        outputs,
    }))
}

/// A region that says which of two elements comes first.
struct Comparator<'a> {
    body: &'a Body,
    /// Left and right element of each array in turn.
    arguments: &'a [ValueId],
    operands: &'a [Array],
}

/// An element as it is compared: of which array and side, and which values were made equal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Compared {
    argument: usize,
    zeros: bool,
    nans: bool,
}

impl Comparator<'_> {
    /// The keys of a comparator: one comparison, or one that decides and another where elements are equal.
    fn keys(&self, value: ValueId, keys: &mut Vec<Key>) -> Option<()> {
        let op = maker(self.body, value)?;
        match (&op.op, op.operands.as_slice()) {
            (Op::Elementwise(Elementwise::Compare(_)), _) => {
                keys.push(self.key(value, &[ComparisonDirection::Lt, ComparisonDirection::Gt])?);
                Some(())
            }
            (Op::Binary(Binary::Or), [first, rest]) => {
                keys.push(self.key(*first, &[ComparisonDirection::Lt, ComparisonDirection::Gt])?);
                let rest = maker(self.body, *rest)?;
                let (Op::Binary(Binary::And), [equal, next]) = (&rest.op, rest.operands.as_slice()) else {
                    return None;
                };
                let equal = self.key(*equal, &[ComparisonDirection::Eq])?;
                (keys.last()?.operand == equal.operand).then_some(())?;
                self.keys(*next, keys)
            }
            _ => None,
        }
    }

    fn key(&self, value: ValueId, directions: &[ComparisonDirection]) -> Option<Key> {
        let op = maker(self.body, value)?;
        let Op::Elementwise(Elementwise::Compare(compare)) = &op.op else {
            return None;
        };
        let [left, right] = op.operands[..] else {
            return None;
        };
        let (left, right) = (self.compared(left)?, self.compared(right)?);
        let direction = compare.comparison_direction;
        let operand = left.argument / 2;
        let sides = left.argument.is_multiple_of(2)
            && right
                == Compared {
                    argument: left.argument + 1,
                    ..left
                };
        let element = self.operands.get(operand)?.element;
        if !sides || !directions.contains(&direction) || !supports(element) {
            return None;
        }
        let is_total = compare.compare_type == Some(ComparisonType::TotalOrder);
        let order = match (element.is_float(), is_total, left.zeros && left.nans) {
            (false, _, _) | (true, true, false) => FloatOrder::Total,
            (true, true, true) => FloatOrder::NanLast,
            // NaN is before nothing and after nothing: no order of keys.
            (true, false, _) => return None,
        };
        if order == FloatOrder::Total && (left.zeros || left.nans) {
            return None;
        }
        Some(Key {
            operand,
            descending: direction == ComparisonDirection::Gt,
            order,
        })
    }

    /// An argument, or one in which zeros or NaNs were replaced by one of them.
    fn compared(&self, value: ValueId) -> Option<Compared> {
        if let Some(argument) = self.arguments.iter().position(|argument| *argument == value) {
            return Some(Compared {
                argument,
                zeros: false,
                nans: false,
            });
        }
        let op = maker(self.body, value)?;
        let (Op::Elementwise(Elementwise::Select), [condition, replacement, inner]) =
            (&op.op, op.operands.as_slice())
        else {
            return None;
        };
        let compared = self.compared(*inner)?;
        let condition = maker(self.body, *condition)?;
        let Op::Elementwise(Elementwise::Compare(compare)) = &condition.op else {
            return None;
        };
        let [a, b] = condition.operands[..] else {
            return None;
        };
        let same = |value: ValueId| self.compared(value).map(|own| own.argument) == Some(compared.argument);
        match compare.comparison_direction {
            ComparisonDirection::Eq if same(a) && self.is_zero(b) && self.is_zero(*replacement) => {
                Some(Compared {
                    zeros: true,
                    ..compared
                })
            }
            ComparisonDirection::Ne if same(a) && same(b) && self.is_nan(*replacement) => Some(Compared {
                nans: true,
                ..compared
            }),
            _ => None,
        }
    }

    fn constant(&self, value: ValueId) -> Option<(ElementType, &[u8])> {
        let Op::Creation(Creation::Constant(constant)) = &maker(self.body, value)?.op else {
            return None;
        };
        Some((constant.value.ty().element.as_plain()?, constant.value.uniform()?))
    }

    fn is_zero(&self, value: ValueId) -> bool {
        self.constant(value)
            .is_some_and(|(_, bytes)| bytes.iter().all(|byte| *byte == 0))
    }

    fn is_nan(&self, value: ValueId) -> bool {
        let Some((element, bytes)) = self.constant(value) else {
            return false;
        };
        let mut wide = [0; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = u64::from_le_bytes(wide);
        match element {
            ElementType::F32 => f32::from_bits(bits as u32).is_nan(),
            ElementType::F64 => f64::from_bits(bits).is_nan(),
            ElementType::BF16 => f32::from_bits((bits as u32) << 16).is_nan(),
            ElementType::F16 => bits & 0x7C00 == 0x7C00 && bits & 0x3FF != 0,
            _ => false,
        }
    }
}

#[derive(Debug)]
struct BoundTopK {
    input: Array,
    values: Array,
    positions: Array,
}

impl Routine for BoundTopK {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        // SAFETY: the caller's promise; results are arrays of their own.
        unsafe {
            let (mut values, mut positions) =
                (self.values.view_mut(buffers), self.positions.view_mut(buffers));
            Ok(run_top_k(
                parallel,
                workspace,
                &self.input.view(buffers),
                &mut values,
                &mut positions,
            )?)
        }
    }
}

pub(super) fn top_k(site: &Site<'_>) -> Option<BoundRoutine> {
    let ([input], [values, positions]) = (site.operands.as_slice(), site.results.as_slice()) else {
        return None;
    };
    let fits = supports(input.element) && positions.element.is_integer() && positions.element.bytes() >= 4;
    let own = BoundTopK {
        input: input.clone(),
        values: values.clone(),
        positions: positions.clone(),
    };
    fits.then(|| Arc::new(own) as BoundRoutine)
}
