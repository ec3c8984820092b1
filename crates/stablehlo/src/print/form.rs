//! Which spelling an operation gets.
//!
//! A short form says less than the generic one: types that follow from others are not in it. So an operation gets its short form
//! only when everything that the form leaves out is what a reader would assume.

use artifact_core::entity::EntityId;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Block, Body, OpId, Operation, RegionId, ValueId};
use artifact_ir::op::{Binary, Chlo, Contraction, Control, Creation, Linalg, Op, Reduction, Shape, Sharding};
use artifact_ir::types::{Element, TensorType, Type};

use super::dialect::ConvRoles;
use super::{OperationForm, PrintOptions};

/// How an operation is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `"dialect.name"(%0) <{...}> ({...}) {...} : (...) -> ...`.
    Generic,
    /// The short form of an operation without regions.
    Plain,
    /// `reduce(..) applies stablehlo.add across dimensions = [0]`.
    Applies,
    /// `reduce(..) across dimensions = [0] .. reducer(..) {..}`.
    Reducer,
    /// `while(..) cond {..} do {..}`.
    While,
    /// `sdy.manual_computation(..) .. (%arg0: T) {..}`.
    Sharded,
}

/// The form of every operation of a body.
#[derive(Debug)]
pub(super) struct Forms(Vec<Form>);

impl Forms {
    pub(super) fn of(body: &Body, options: &PrintOptions) -> Self {
        let forms = body.ops.iter().map(|(_, operation)| match options.form {
            OperationForm::Generic => Form::Generic,
            OperationForm::Pretty => form(body, operation, options.locations),
        });
        Self(forms.collect())
    }

    pub(super) fn get(&self, op: OpId) -> Form {
        self.0.get(op.index()).copied().unwrap_or(Form::Generic)
    }
}

fn form(body: &Body, operation: &Operation, locations: bool) -> Form {
    let Some(spec) = operation.op.spec() else {
        return Form::Generic;
    };
    let counts_fit = spec.operands.allows(operation.operands.len())
        && spec.results.allows(operation.results.len())
        && spec.regions.allows(operation.regions.len());
    if !counts_fit {
        return Form::Generic;
    }
    match &operation.op {
        Op::Reduction(Reduction::Reduce(_)) => reduce_form(body, operation, locations),
        Op::Control(Control::While) if is_short_while(body, operation, locations) => Form::While,
        Op::Sharding(Sharding::ManualComputation(_) | Sharding::NamedComputation(_)) => {
            match operation.regions.as_slice() {
                [region] if only_block(body, *region).is_some() => Form::Sharded,
                _ => Form::Generic,
            }
        }
        _ if operation.regions.is_empty() && is_plain(body, operation) => Form::Plain,
        _ => Form::Generic,
    }
}

/// Whether an operation without regions has a short form that says everything about it.
fn is_plain(body: &Body, operation: &Operation) -> bool {
    let ty = |value: &ValueId| body.ty(*value);
    match &operation.op {
        Op::Unary(_) | Op::Binary(_) | Op::Elementwise(_) => true,
        Op::Creation(Creation::Constant(constant)) => {
            let literal = constant.value.ty();
            let same =
                matches!(operation.results.first().map(ty), Some(Type::Tensor(result)) if result == literal);
            same && matches!(literal.element, Element::Plain(_))
        }
        Op::Creation(_) => true,
        Op::Shape(Shape::Slice(slice)) => {
            let rank = slice.start_indices.len();
            slice.limit_indices.len() == rank && slice.strides.len() == rank
        }
        Op::Shape(_) => true,
        Op::Contraction(Contraction::Convolution(convolution)) => {
            ConvRoles::of(&convolution.dimension_numbers).is_some()
        }
        Op::Contraction(contraction) => !matches!(contraction, Contraction::DynamicConv(_)),
        Op::Linalg(linalg) => matches!(linalg, Linalg::Fft(_) | Linalg::Cholesky(_)),
        Op::Control(control) => is_plain_control(body, operation, control),
        Op::Chlo(chlo) => is_plain_chlo(chlo),
        Op::Sharding(sharding) => is_plain_sharding(body, operation, sharding),
        Op::Indexing(_) | Op::Reduction(_) | Op::Collective(_) | Op::Testing(_) | Op::Foreign(_) => false,
    }
}

fn is_plain_control(body: &Body, operation: &Operation, control: &Control) -> bool {
    let types =
        |values: &[ValueId]| -> Vec<Type> { values.iter().map(|value| body.ty(*value).clone()).collect() };
    let operands = &operation.operands;
    match control {
        Control::AfterAll => !operands.is_empty(),
        Control::OptimizationBarrier => !operands.is_empty() && types(operands) == types(&operation.results),
        Control::Tuple => {
            let result = operation.results.first().map(|value| body.ty(*value));
            !operands.is_empty() && matches!(result, Some(Type::Tuple(items)) if **items == *types(operands))
        }
        Control::Call(_)
        | Control::Composite(_)
        | Control::CreateToken
        | Control::CustomCall(_)
        | Control::FuncReturn
        | Control::GetTupleElement(_)
        | Control::Return => true,
        Control::AsyncDone | Control::AsyncStart | Control::Case | Control::If | Control::While => false,
    }
}

/// Those of one operand and one result give one type for both.
fn is_plain_sharding(body: &Body, operation: &Operation, sharding: &Sharding) -> bool {
    let ty = |value: &ValueId| body.ty(*value);
    match sharding {
        Sharding::Constant(constant) => {
            let literal = constant.value.ty();
            let same =
                matches!(operation.results.first().map(ty), Some(Type::Tensor(result)) if result == literal);
            same && matches!(literal.element, Element::Plain(_))
        }
        Sharding::ManualComputation(_) | Sharding::NamedComputation(_) => false,
        Sharding::Return | Sharding::ShardingGroup(_) => true,
        _ => operation.operands.first().map(ty) == operation.results.first().map(ty),
    }
}

/// The functions of one operand; the rest of CHLO is rare enough for the generic form.
fn is_plain_chlo(chlo: &Chlo) -> bool {
    matches!(
        chlo,
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
            | Chlo::Sinh
            | Chlo::Square
            | Chlo::Tan
    )
}

/// The arguments of a region with one block, and that block.
fn only_block(body: &Body, region: RegionId) -> Option<&Block> {
    body.single_block(region).map(|block| &body.blocks[block])
}

/// Short `while` names its arguments once for both regions, gives their types once, and their locations not at all.
fn is_short_while(body: &Body, operation: &Operation, locations: bool) -> bool {
    let types =
        |values: &[ValueId]| -> Vec<Type> { values.iter().map(|value| body.ty(*value).clone()).collect() };
    let carried = types(&operation.operands);
    !carried.is_empty()
        && types(&operation.results) == carried
        && operation.regions.iter().all(|region| {
            only_block(body, *region).is_some_and(|block| {
                types(&block.arguments) == carried && !(locations && has_locations(block))
            })
        })
}

fn has_locations(block: &Block) -> bool {
    block
        .argument_locations
        .iter()
        .any(|location| *location != LocationId::UNKNOWN)
}

fn reduce_form(body: &Body, operation: &Operation, locations: bool) -> Form {
    let block = operation
        .regions
        .first()
        .and_then(|region| only_block(body, *region));
    match block {
        Some(block) if applied(body, operation, block, locations).is_some() => Form::Applies,
        Some(block) if is_paired(operation, block) => Form::Reducer,
        _ => Form::Generic,
    }
}

/// Inputs, initial values and arguments of the region come in pairs.
fn is_paired(operation: &Operation, block: &Block) -> bool {
    operation.operands.len().is_multiple_of(2) && block.arguments.len() == operation.operands.len()
}

/// The name of the one commutative operation that a region applies to its two arguments and returns.
pub(super) fn applied_name<'a>(body: &'a Body, operation: &Operation) -> Option<&'a str> {
    let block = only_block(body, *operation.regions.first()?)?;
    body.ops.get(*block.ops.first()?).map(|inner| inner.op.name())
}

/// The inner operation, when `applies` says everything about the region.
fn applied<'a>(
    body: &'a Body,
    operation: &Operation,
    block: &Block,
    locations: bool,
) -> Option<&'a Operation> {
    let [inner, end] = block.ops.as_slice() else {
        return None;
    };
    let (inner, end) = (&body.ops[*inner], &body.ops[*end]);
    let forwards = *inner.operands == *block.arguments
        && block.arguments.len() == 2
        && operation.operands.len() == 2
        && inner.results.len() == 1
        && matches!(end.op, Op::Control(Control::Return))
        && end.operands == inner.results;
    let bare = inner.attributes.is_empty() && end.attributes.is_empty();
    let Type::Tensor(input) = body.ty(*operation.operands.first()?) else {
        return None;
    };
    let element = Type::from(TensorType::new([], input.element.clone()));
    let one_type = block
        .arguments
        .iter()
        .chain(&inner.results)
        .all(|value| *body.ty(*value) == element);
    let place = |location: LocationId| location == LocationId::UNKNOWN || location == operation.location;
    let one_place = !locations || (place(inner.location) && place(end.location) && !has_locations(block));
    (is_commutative(&inner.op) && forwards && bare && one_type && one_place).then_some(inner)
}

/// The operations that readers accept after `applies`.
fn is_commutative(op: &Op) -> bool {
    matches!(
        op,
        Op::Binary(
            Binary::Add
                | Binary::And
                | Binary::Maximum
                | Binary::Minimum
                | Binary::Multiply
                | Binary::Or
                | Binary::Xor
        )
    )
}

/// How the types of a short form are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeSyntax {
    /// `(A, B) -> C`.
    Functional,
    /// `A` when operands and result have one type, else as [`TypeSyntax::Functional`].
    Same,
    /// `P, A` when both choices have the result's type, else as [`TypeSyntax::Functional`].
    Select,
    /// `C` when both operands are of the type of its parts, else as [`TypeSyntax::Functional`].
    Complex,
    /// `A -> B`.
    Arrow,
    /// The results only.
    Results,
}

/// Whether the short spelling of the types says all of them.
pub(super) fn types_are_short(body: &Body, operation: &Operation, syntax: TypeSyntax) -> bool {
    let ty = |value: &ValueId| body.ty(*value);
    let Some(result) = operation.results.first().map(ty) else {
        return false;
    };
    let mut operands = operation.operands.iter().map(ty);
    match syntax {
        TypeSyntax::Functional => false,
        TypeSyntax::Arrow | TypeSyntax::Results => true,
        // A function type alone would read as the functional spelling; no value has one.
        TypeSyntax::Same => operands.all(|operand| operand == result),
        TypeSyntax::Select => operands.skip(1).all(|operand| operand == result),
        TypeSyntax::Complex => match result {
            Type::Tensor(tensor) => match &tensor.element {
                Element::Plain(element) if element.is_complex() => {
                    let part = Type::from(tensor.with_element(element.part()));
                    operands.all(|operand| *operand == part)
                }
                _ => false,
            },
            _ => false,
        },
    }
}
