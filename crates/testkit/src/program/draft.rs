//! A function that is being made: its values so far, and how operands are found for the next operation.

use std::sync::Arc;

use artifact_dims::{Assignment, Variable};
use artifact_ir::builder::{BuildError, Builder};
use artifact_ir::literal::Literal;
use artifact_ir::module::ValueId;
use artifact_ir::op::{BroadcastInDim, Creation, DynamicBroadcastInDim, Elementwise, Iota, Op, Shape, Unary};
use artifact_ir::op::{Concatenate, DimensionSize};
use artifact_ir::types::{Dim, ElementType, TensorType, Type};

use super::facts::Facts;
use super::value::{Known, Pattern, array, splat};
use crate::choices::Choices;

/// A value that was made, or why it could not be.
pub(super) type Made<T = Known> = Result<T, BuildError>;

/// What all functions of a program have in common.
#[derive(Debug)]
pub(super) struct Setting {
    /// Most elements of an array, at the largest sizes.
    pub(super) elements_max: u64,
    /// Whether there are few operations on arrays that are large enough for several threads.
    pub(super) is_large: bool,
    /// Whether a product and a sum may become one rounding.
    pub(super) contraction: bool,
    /// The sizes of each call; one without variables where all sizes are numbers.
    pub(super) bindings: Vec<Assignment>,
    pub(super) variables: Vec<Variable>,
    /// Functions that may be called: their names and types.
    pub(super) helpers: Vec<Helper>,
}

/// A function that takes exact values and returns one.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub(super) name: String,
    pub(super) arguments: Vec<Arc<TensorType>>,
    pub(super) result: Arc<TensorType>,
}

impl Setting {
    /// Elements of an array, at the largest sizes; `None` where that is not known.
    pub(super) fn count(&self, ty: &TensorType) -> Option<u64> {
        let sizes = self.bindings.iter().map(|binding| self.count_at(ty, binding));
        sizes.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    fn count_at(&self, ty: &TensorType, binding: &Assignment) -> Option<u64> {
        ty.dims
            .iter()
            .try_fold(1, |count: u64, dim| count.checked_mul(size_at(dim, binding)?))
    }

    /// The largest size that a dimension has.
    pub(super) fn size(&self, dim: &Dim) -> Option<u64> {
        let sizes = self.bindings.iter().map(|binding| size_at(dim, binding));
        sizes.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    pub(super) fn is_symbolic(&self) -> bool {
        !self.variables.is_empty()
    }
}

/// The size of a dimension where variables have these values.
pub(super) fn size_at(dim: &Dim, binding: &Assignment) -> Option<u64> {
    u64::try_from(dim.expression()?.evaluate(binding).ok()?).ok()
}

/// The function.
pub(super) struct Draft<'d, 'm> {
    pub(super) choices: &'d Choices,
    pub(super) setting: &'d Setting,
    pub(super) builder: &'d mut Builder<'m>,
    pub(super) values: Vec<Known>,
    /// How many regions it is inside of.
    pub(super) depth: usize,
}

impl<'m> Draft<'_, 'm> {
    /// Adds an operation with one result of an inferred type.
    pub(super) fn add(&mut self, op: impl Into<Op>, operands: &[&Known], facts: Facts) -> Made {
        let ids: Vec<ValueId> = operands.iter().map(|operand| operand.id).collect();
        let results = self.builder.op(op, &ids)?;
        Ok(self.keep(results[0], facts))
    }

    /// Adds an operation with one result of this type.
    pub(super) fn add_typed(
        &mut self,
        op: impl Into<Op>,
        operands: &[&Known],
        ty: TensorType,
        facts: Facts,
    ) -> Made {
        let ids: Vec<ValueId> = operands.iter().map(|operand| operand.id).collect();
        let results = self.builder.op_with_types(op, &ids, &[ty.into()])?;
        Ok(self.keep(results[0], facts))
    }

    /// Makes a value that exists one that operations may use.
    pub(super) fn keep(&mut self, id: ValueId, facts: Facts) -> Known {
        let known = self.known(id, facts);
        self.values.push(known.clone());
        known
    }

    /// A value that exists and that no later operation draws.
    pub(super) fn known(&self, id: ValueId, facts: Facts) -> Known {
        let ty = self.builder.ty(id).and_then(Type::as_tensor);
        let ty = ty.map_or_else(
            || Arc::new(TensorType::of_static(&[], ElementType::I1)),
            Arc::clone,
        );
        let facts = match ty.element.storage() {
            element if element.is_float() || element.is_complex() => facts,
            element => {
                let own = Facts::of(element);
                own.with_bounds(facts.low.max(own.low), facts.high.min(own.high))
            }
        };
        Known { id, ty, facts }
    }

    /// A constant that no later operation draws by itself.
    pub(super) fn constant(&mut self, literal: Literal, facts: Facts) -> Made {
        let id = self.builder.constant(literal)?;
        Ok(self.known(id, facts))
    }

    /// A scalar that is this number.
    pub(super) fn scalar(&mut self, element: ElementType, number: f64) -> Made {
        let literal = splat(TensorType::of_static(&[], element), number);
        let is_whole = number.fract() == 0.0;
        let facts = if is_whole {
            Facts::whole(number, number)
        } else {
            Facts::between(number, number)
        };
        self.constant(literal, facts)
    }

    /// Dimension lists and such, as an operand.
    pub(super) fn numbers(&mut self, numbers: &[i64]) -> Made {
        self.constant(Literal::of_i64s(numbers), Facts::of(ElementType::I64))
    }

    /// An array of one number in the shape of another value.
    pub(super) fn filled(&mut self, like: &TensorType, element: ElementType, number: f64) -> Made {
        let ty = like.with_element(element);
        if ty.is_static() {
            let scalar = self.scalar(element, number)?.facts;
            return self.constant(splat(ty, number), scalar);
        }
        let scalar = self.scalar(element, number)?;
        self.spread(&scalar, &[], ty)
    }

    /// A value repeated to a type of which every open size is that of a value.
    pub(super) fn spread(&mut self, value: &Known, dimensions: &[i64], ty: TensorType) -> Made {
        let broadcast_dimensions = dimensions.to_vec();
        if ty.is_static() {
            let op = Shape::BroadcastInDim(BroadcastInDim { broadcast_dimensions });
            return self.add_typed(op, &[value], ty, value.facts);
        }
        let shape = self.shape_operand(&ty)?;
        let op = Shape::DynamicBroadcastInDim(Box::new(DynamicBroadcastInDim {
            broadcast_dimensions,
            known_expanding_dimensions: None,
            known_nonexpanding_dimensions: None,
        }));
        self.add_typed(op, &[value, &shape], ty, value.facts)
    }

    /// The sizes of a type as an operand: constants where they are numbers, else computed from values that have them.
    pub(super) fn shape_operand(&mut self, ty: &TensorType) -> Made {
        if let Some(shape) = ty.static_shape() {
            let numbers: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
            return self.numbers(&numbers);
        }
        let mut parts = Vec::new();
        for dim in &ty.dims {
            parts.push(self.size_operand(dim)?.id);
        }
        let op = Shape::Concatenate(Concatenate { dimension: 0 });
        let id = self.builder.op(op, &parts)?[0];
        Ok(self.known(id, Facts::of(ElementType::I32)))
    }

    /// A vector of one `i32` that is a size.
    fn size_operand(&mut self, dim: &Dim) -> Made {
        let ty = TensorType::of_static(&[1], ElementType::I32);
        let facts = Facts::of(ElementType::I32);
        if let Some(size) = dim.as_static() {
            return self.constant(splat(ty, size as f64), facts);
        }
        let has = |known: &Known| known.ty.dims.iter().position(|own| own == dim);
        let found = self.values.iter().find_map(|known| Some((known.id, has(known)?)));
        let (id, dimension) = found.unwrap_or((self.values[0].id, 0));
        let dimension = dimension as i64;
        let size = self
            .builder
            .op(Shape::GetDimensionSize(DimensionSize { dimension }), &[id])?;
        let size = self.builder.op_with_types(Shape::Reshape, &size, &[ty.into()])?[0];
        Ok(self.known(size, facts))
    }

    /// Whether an array of this type is small enough, and its open sizes are those of values.
    pub(super) fn may_make(&self, ty: &TensorType) -> bool {
        let has = |dim: &Dim| dim.is_static() || self.values.iter().any(|known| known.ty.dims.contains(dim));
        ty.dims.iter().all(has)
            && self
                .setting
                .count(ty)
                .is_some_and(|count| count <= self.setting.elements_max)
    }

    /// A value that suits, more likely one that was made lately.
    pub(super) fn find(&self, suits: impl Fn(&Known) -> bool) -> Option<Known> {
        let found: Vec<&Known> = self.values.iter().rev().filter(|known| suits(known)).collect();
        if found.is_empty() {
            return None;
        }
        let at = match self.choices.below(4) {
            0 | 1 => 0,
            2 => self.choices.below(found.len().min(3)),
            _ => self.choices.below(found.len()),
        };
        Some(found[at].clone())
    }

    /// A value that suits, or a new constant of a shape and one of the elements, which has to.
    pub(super) fn find_or_make(&mut self, elements: &[ElementType], suits: impl Fn(&Known) -> bool) -> Made {
        let of_element = |known: &Known| elements.contains(&known.element()) && suits(known);
        match self.find(of_element) {
            Some(known) => Ok(known),
            None => {
                let element = *self.choices.pick(elements);
                let shape = super::shapes::shape(self.choices, self.setting, 3);
                self.fresh(&shape, element)
            }
        }
    }

    /// A new array of a static shape: numbers of a pattern whose facts are exact, kept for later operations.
    pub(super) fn fresh(&mut self, shape: &[u64], element: ElementType) -> Made {
        let ty = TensorType::of_static(shape, element);
        if self.choices.once_in(4) && !shape.is_empty() && !element.is_boolean() {
            return self.iota(ty);
        }
        let pattern = *self.choices.pick(&[
            Pattern::Small,
            Pattern::Ordinary,
            Pattern::Positive,
            Pattern::Zeros,
        ]);
        let literal = match self.choices.once_in(3) {
            true => splat(
                ty,
                (self.choices.below(5) as f64) - if element.is_unsigned_integer() { 0.0 } else { 2.0 },
            ),
            false => array(&Arc::new(ty), pattern, self.choices.seed()),
        };
        let facts = match literal.as_splat() {
            Some(_) => Facts::whole(-2.0, 4.0),
            None => pattern.facts(element),
        };
        let id = self.builder.constant(literal)?;
        Ok(self.keep(id, facts))
    }

    /// Positions along a dimension.
    pub(super) fn iota(&mut self, ty: TensorType) -> Made {
        let dimension = self.choices.below(ty.rank());
        let size = self.setting.size(&ty.dims[dimension]).unwrap_or(0) as f64;
        let element = ty.element.storage();
        let facts = match size <= super::facts::whole_max(element) {
            true => Facts::whole(0.0, size),
            false => Facts::ANY,
        };
        let iota = Iota {
            iota_dimension: dimension as i64,
        };
        if ty.is_static() && !self.choices.once_in(8) {
            return self.add_typed(Creation::Iota(iota), &[], ty, facts);
        }
        let shape = self.shape_operand(&ty)?;
        self.add_typed(Creation::DynamicIota(iota), &[&shape], ty, facts)
    }

    /// Another value of the shape of this one and an element; made where there is none.
    pub(super) fn partner(
        &mut self,
        of: &Known,
        element: ElementType,
        suits: impl Fn(&Known) -> bool,
    ) -> Made {
        let ty = of.ty.with_element(element);
        let found = self.find(|known| *known.ty == ty && suits(known));
        match found {
            Some(found) if !self.choices.once_in(6) => Ok(found),
            _ => self.made_partner(&ty, of),
        }
    }

    fn made_partner(&mut self, ty: &TensorType, of: &Known) -> Made {
        let element = ty.element.storage();
        let convertible = of.facts.is_exact() && !of.element().is_complex() && !element.is_complex();
        match self.choices.below(4) {
            1 if ty.is_static() => {
                let shape = ty.static_shape().unwrap_or_default();
                self.fresh(&shape, element)
            }
            2 if ty.rank() > 0 && !element.is_boolean() => self.iota(ty.clone()),
            3 if convertible => self.converted(of, element),
            _ => {
                let number = 1.0 + self.choices.below(3) as f64;
                self.filled(ty, element, if element.is_boolean() { 1.0 } else { number })
            }
        }
    }

    /// An exact value, converted.
    pub(super) fn converted(&mut self, value: &Known, element: ElementType) -> Made {
        let facts = conversion(value, element);
        let ty = value.ty.with_element(element);
        self.add_typed(Elementwise::Convert, &[value], ty, facts)
    }

    /// A value whose finite elements lie between two numbers, made of a float: by replacing what is not finite and by clamping.
    pub(super) fn tamed(&mut self, value: &Known, low: f64, high: f64) -> Made {
        let element = value.element();
        if value.facts.is_within(low, high) {
            return Ok(value.clone());
        }
        let mut value = value.clone();
        if value.facts.special {
            let finite = self.builder.op(Unary::IsFinite, &[value.id])?[0];
            let finite = self.known(finite, Facts::whole(0.0, 1.0));
            let one = self.filled(&value.ty, element, 1.0)?;
            let facts = Facts {
                special: false,
                any_nan: false,
                ..value.facts
            };
            value = self.add(
                Elementwise::Select,
                &[&finite, &value, &one],
                facts.or(&one.facts),
            )?;
        }
        let (least, most) = (self.scalar(element, low)?, self.scalar(element, high)?);
        let is_whole = value.facts.whole && low.fract() == 0.0 && high.fract() == 0.0;
        let facts = Facts {
            whole: is_whole,
            ..value.facts.with_bounds(
                value.facts.low.clamp(low, high),
                value.facts.high.clamp(low, high),
            )
        };
        self.add(Elementwise::Clamp, &[&least, &value, &most], facts)
    }
}

/// What is known of an exact value after a conversion.
fn conversion(value: &Known, element: ElementType) -> Facts {
    let facts = Facts {
        any_nan: true,
        ..value.facts
    };
    if element.is_float() || element.is_complex() {
        let eight_bits = element.bits() <= 8;
        let converted = facts.rounded(element);
        let inexact = facts.magnitude() > super::facts::whole_max(element) || !facts.whole;
        if eight_bits {
            return Facts {
                any_nan: true,
                ..Facts::ANY
            };
        }
        // Rounding may go up to the next number.
        let slack = if inexact {
            2.0 * super::facts::unit(element)
        } else {
            0.0
        };
        return converted.with_bounds(
            facts.low - slack * facts.low.abs(),
            facts.high + slack * facts.high.abs(),
        );
    }
    if facts.special || !facts.whole {
        return Facts::of(element);
    }
    let own = Facts::of(element);
    match facts.is_within(own.low, own.high) && !element.is_boolean() {
        true => facts,
        false => own,
    }
}
