//! Sizes that an operation needs to be equal.
//!
//! The rules of operations take two sizes that are no numbers for equal, because they may be. Which of them must be is asked of
//! the same rules: sizes are replaced by numbers, and where equal numbers are accepted and different ones never are, the rule
//! needs the sizes to be equal. So no operation has to say it a second time.

use std::collections::{BTreeMap, HashSet};

use artifact_dims::{Assignment, Comparison, Constraint, Expr, Variable};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::inference::{OpContext, infer};
use artifact_ir::module::{Body, FunctionId, Module, OpId, Operation, RegionId};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{Dim, TensorType, Type};

use crate::analysis::Instance;
use crate::decide::Decider;
use crate::error::RefineError;
use crate::fact::Fact;

/// Two sizes that an operation needs to be equal, of which that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What must hold, an equality.
    pub constraint: Constraint,
    /// Full name of the operation.
    pub operation: String,
    /// The operation.
    pub source: SourceOffset,
    /// Whether it holds for no sizes.
    pub(crate) is_refuted: bool,
}

/// Sizes of one operation that are compared with each other. One with more is left to whoever runs the program.
const SIZES_MAX: usize = 32;

/// Numbers that stand for one size and another, equal or not. Both 0 and 1 are among them, which rules treat as special.
const EQUAL: [u64; 3] = [12, 1, 5040];
const DIFFERENT: [(u64, u64); 8] = [
    (6, 12),
    (12, 6),
    (1, 12),
    (12, 1),
    (0, 12),
    (12, 0),
    (12, 5040),
    (5040, 12),
];

/// Collects what one operation requires.
struct Requirements<'a, 's> {
    op: &'a Operation,
    decider: &'a mut Decider<'s>,
    found: Vec<Requirement>,
}

impl Requirements<'_, '_> {
    fn needs_equal(&mut self, left: &Expr, right: &Expr) {
        let answer = self.decider.decide(left, Comparison::Eq, right);
        if answer == Some(true) {
            return;
        }
        let (left, right) = if left.as_constant().is_some() {
            (right, left)
        } else {
            (left, right)
        };
        self.found.push(Requirement {
            constraint: Constraint::new(left.clone(), Comparison::Eq, right.clone()),
            operation: self.op.op.name().to_owned(),
            source: self.op.source,
            is_refuted: answer == Some(false),
        });
    }
}

/// What two descriptions of one value require, where both know a size and say it in different ways.
pub(crate) fn of_meeting(op: &Operation, a: &Type, b: &Type, decider: &mut Decider<'_>) -> Vec<Requirement> {
    let mut requirements = Requirements {
        op,
        decider,
        found: Vec::new(),
    };
    if let (Type::Tensor(a), Type::Tensor(b)) = (a, b) {
        for (a, b) in a.dims.iter().zip(&b.dims) {
            let is_symbolic = matches!(a, Dim::Symbolic(_)) || matches!(b, Dim::Symbolic(_));
            if let (true, Some(a), Some(b)) = (is_symbolic && a != b, a.expression(), b.expression()) {
                requirements.needs_equal(&a, &b);
            }
        }
    }
    requirements.found
}

/// What the rules of an operation require of the sizes of its operands and results. `context` has its results with all that
/// is known of them.
pub(crate) fn of_rules(
    op: &Operation,
    context: &OpContext<'_>,
    decider: &mut Decider<'_>,
) -> Vec<Requirement> {
    let types = || context.operands.iter().chain(context.results).copied();
    let mut sizes: Vec<Expr> = Vec::new();
    let (mut symbolic, mut numbers) = (Vec::new(), Vec::new());
    for dim in types().filter_map(Type::as_tensor).flat_map(|ty| ty.dims.iter()) {
        let Some(size) = dim.expression().filter(|size| !sizes.contains(size)) else {
            continue;
        };
        match dim {
            Dim::Symbolic(_) => symbolic.push(size.clone()),
            Dim::Static(_) | Dim::Unknown => numbers.push(size.clone()),
        }
        sizes.push(size);
        if sizes.len() > SIZES_MAX {
            return Vec::new();
        }
    }
    if sizes.len() < 2 || symbolic.is_empty() || holds_of_different(op, context, &symbolic) {
        return Vec::new();
    }
    let mut requirements = Requirements {
        op,
        decider,
        found: Vec::new(),
    };
    for (index, size) in symbolic.iter().enumerate() {
        for other in symbolic[index + 1..].iter().chain(&numbers) {
            if must_be_equal(op, context, size, other, &numbers) {
                requirements.needs_equal(size, other);
            }
        }
    }
    requirements.found
}

/// Whether the rules accept variables that have nothing in common: then they require nothing, and no pair need be looked at.
fn holds_of_different(op: &Operation, context: &OpContext<'_>, symbolic: &[Expr]) -> bool {
    let variables = symbolic.iter().flat_map(Expr::variables);
    let mut values = Assignment::default();
    let mut next = 5040;
    for variable in variables.collect::<std::collections::BTreeSet<Variable>>() {
        values.insert(variable, next);
        next += 1321;
    }
    let mut numbers = BTreeMap::new();
    for size in symbolic {
        let Some(number) = size
            .evaluate(&values)
            .ok()
            .and_then(|size| u64::try_from(size).ok())
        else {
            return false;
        };
        numbers.insert(size.clone(), Dim::Static(number));
    }
    accepts(op, context, &|size| numbers.get(size).cloned())
}

/// Whether the rules accept the two sizes if they are equal, and never if they are not. `numbers` are the sizes of the operation
/// that are numbers: one of 3 may be broadcast from one of 3 as well as from one of 1.
fn must_be_equal(
    op: &Operation,
    context: &OpContext<'_>,
    size: &Expr,
    other: &Expr,
    numbers: &[Expr],
) -> bool {
    let with = |of_size: u64, of_other: u64| {
        accepts(op, context, &|found| {
            if found == size {
                Some(Dim::Static(of_size))
            } else {
                (found == other).then_some(Dim::Static(of_other))
            }
        })
    };
    let of_op = numbers.iter().filter_map(Expr::as_constant);
    let of_op: Vec<u64> = of_op.filter_map(|number| u64::try_from(number).ok()).collect();
    match other.as_constant().and_then(|number| u64::try_from(number).ok()) {
        Some(number) => {
            let others = [0, 1, number.saturating_add(1), number.saturating_mul(2)];
            let mut others = others
                .into_iter()
                .chain(of_op)
                .filter(|of_size| *of_size != number);
            with(number, number) && !others.any(|of_size| with(of_size, number))
        }
        None => {
            let of_op = || of_op.iter().copied().chain([1]);
            let mut pairs = of_op().flat_map(|a| of_op().map(move |b| (a, b)));
            EQUAL.iter().any(|number| with(*number, *number))
                && !DIFFERENT.iter().any(|(a, b)| with(*a, *b))
                && !pairs.any(|(a, b)| a != b && with(a, b))
        }
    }
}

/// Whether the rules accept numbers in place of sizes; those that have none are unknown.
fn accepts(op: &Operation, context: &OpContext<'_>, number: &impl Fn(&Expr) -> Option<Dim>) -> bool {
    let replaced = |ty: &&Type| {
        let Type::Tensor(tensor) = ty else {
            return Type::clone(ty);
        };
        let mut tensor = TensorType::clone(tensor);
        for dim in &mut tensor.dims {
            if let Dim::Symbolic(size) = dim {
                *dim = number(size).unwrap_or(Dim::Unknown);
            }
        }
        // A bound is a requirement of its own, which the caller of the program checks.
        tensor.encoding = None;
        Type::from(tensor)
    };
    let operands: Vec<Type> = context.operands.iter().map(replaced).collect();
    let results: Vec<Type> = context.results.iter().map(replaced).collect();
    let context = OpContext {
        operands: &operands.iter().collect::<Vec<_>>(),
        results: &results.iter().collect::<Vec<_>>(),
        ..*context
    };
    infer(&op.op, &context).is_ok()
}

/// What must hold whenever the program runs, each once: what only a branch or the body of a loop requires is left out, because
/// it may not run.
///
/// # Errors
/// When a requirement holds for no sizes.
pub(crate) fn of_program(
    module: &Module,
    instances: &[Instance],
    entry: usize,
) -> Result<Vec<Requirement>, RefineError> {
    let mut always = Always {
        module,
        instances,
        seen: HashSet::from([entry]),
        pending: vec![entry],
        equal: HashSet::new(),
        found: Vec::new(),
    };
    while let Some(index) = always.pending.pop() {
        always.instance(&instances[index])?;
    }
    Ok(always.found)
}

/// The operations that always run.
struct Always<'a> {
    module: &'a Module,
    instances: &'a [Instance],
    seen: HashSet<usize>,
    pending: Vec<usize>,
    /// The sizes that those of `found` need to be equal, in both orders.
    equal: HashSet<(Expr, Expr)>,
    found: Vec<Requirement>,
}

impl Always<'_> {
    fn instance(&mut self, instance: &Instance) -> Result<(), RefineError> {
        let function: FunctionId = instance.function;
        let Some(body) = &self.module.functions[function].body else {
            return Ok(());
        };
        let mut regions = vec![body.root];
        while let Some(region) = regions.pop() {
            let Some(block) = body.single_block(region) else {
                continue;
            };
            for id in &body.blocks[block].ops {
                self.operation(instance, *id)?;
                regions.extend(entered(instance, body, *id));
            }
        }
        Ok(())
    }

    fn operation(&mut self, instance: &Instance, id: OpId) -> Result<(), RefineError> {
        for callee in instance.callees.get(&id).into_iter().flatten() {
            if *callee < self.instances.len() && self.seen.insert(*callee) {
                self.pending.push(*callee);
            }
        }
        let notes = instance.notes.get(&id);
        for requirement in notes.into_iter().flat_map(|notes| &notes.requirements) {
            let Constraint { left, right, .. } = &requirement.constraint;
            if requirement.is_refuted {
                let reason = format!("needs {left} and {right} to be equal, which they are for no sizes");
                return Err(RefineError::operation(&requirement.operation, reason).at(requirement.source));
            }
            if self.equal.insert((left.clone(), right.clone())) {
                self.equal.insert((right.clone(), left.clone()));
                self.found.push(requirement.clone());
            }
        }
        Ok(())
    }
}

/// The regions of an operation that run whenever it does.
fn entered(instance: &Instance, body: &Body, id: OpId) -> Vec<RegionId> {
    let op = &body.ops[id];
    match &op.op {
        Op::Control(Control::If | Control::Case) => {
            let taken = op.operands.first().map(|operand| instance.fact(*operand));
            let branch = taken.and_then(Fact::branch);
            let last = op.regions.len().saturating_sub(1);
            let position = branch.map(|branch| usize::try_from(branch).unwrap_or(usize::MAX).min(last));
            let region = position.and_then(|position| op.regions.get(position));
            region.copied().into_iter().collect()
        }
        Op::Control(Control::While) => Vec::new(),
        _ => op.regions.clone(),
    }
}
