//! What a program itself says of its dimensions: names for sizes, and constraints, as far as its assertions state any.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use artifact_dims::{Comparison, Constraint, Expr, Range, Scope, ScopeBuilder, Variable};
use artifact_ir::module::{FunctionId, Module, ValueId};
use artifact_ir::op::{Control, Op, Shape};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Assertion, Fact, Refined, refine};

use super::unfit;
use crate::error::ExportError;
use crate::signature::Signature;

/// The attribute by which JAX names sizes that it passes on.
const GLOBAL_CONSTANT: &str = "jax.global_constant";

/// The signature with the constraints that the program's assertions and operations state for its named dimensions, each at
/// least 1. The shapes of results follow.
pub(crate) fn constrained(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
) -> Result<Signature, ExportError> {
    signature.dimensions = Scope::default();
    if super::variables(&signature.inputs).is_empty() {
        return Ok(signature);
    }
    let refined = refined(module, entry, &signature)?;
    signature.dimensions = super::scope_of(
        &super::variables(&signature.inputs),
        constraints(&refined.assertions),
    )?;
    super::required::completed(module, entry, signature)
}

/// Everything that the assertions state of dimensions, each once.
fn constraints(assertions: &[Assertion]) -> Vec<Constraint> {
    let mut stated: Vec<Constraint> = Vec::new();
    let all = assertions
        .iter()
        .flat_map(|assertion| assertion.constraints.iter().flatten());
    for constraint in all {
        if !stated.contains(constraint) {
            stated.push(constraint.clone());
        }
    }
    stated
}

/// The program with all that follows from the shapes of the arguments.
pub(super) fn refined(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Refined, ExportError> {
    let facts: Vec<Fact> = super::facts(module, entry, signature);
    refine(module, entry, &facts, &signature.dimensions).map_err(|error| unfit(&error))
}

/// Whether the program itself enforces the constraints of a signature, so that whoever calls it need not know them; the
/// first that it does not, if any.
pub(crate) fn unstated(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Option<Constraint>, ExportError> {
    let stated = constrained(module, entry, signature.clone())?;
    let declared = signature.dimensions.constraints().iter().cloned();
    let ranges = signature.dimensions.ranges().flat_map(|(variable, range)| {
        let upper = range.max.map(|max| Constraint {
            left: Expr::from(variable.clone()),
            comparison: Comparison::Le,
            right: Expr::constant(max),
        });
        let multiple = (range.multiple_of.get() > 1)
            .then(|| {
                Expr::from(variable.clone())
                    .modulo(&Expr::constant(range.multiple_of.get().into()))
                    .ok()
            })
            .flatten();
        let multiple = multiple.map(|left| Constraint {
            left,
            comparison: Comparison::Eq,
            right: Expr::constant(0),
        });
        let lower = (range.min > 1).then(|| Constraint {
            left: Expr::from(variable.clone()),
            comparison: Comparison::Ge,
            right: Expr::constant(range.min),
        });
        [lower, upper, multiple].into_iter().flatten()
    });
    let mut all = declared.chain(ranges);
    Ok(all.find(|constraint| !stated.dimensions.decide(constraint).is_yes()))
}

/// The signature with a name for each size of an argument that the program leaves open. Sizes that the program asserts or needs
/// to be equal have one name: that under which JAX passes the size on, where it does.
pub(crate) fn opened(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Signature, ExportError> {
    let mut signature = signature.clone();
    let mut fresh = name_sizes(module, entry, &mut signature)?;
    if fresh.is_empty() {
        return Ok(signature);
    }
    signature.dimensions = Scope::default();
    // Each round but the last replaces a name, and mostly all that can be: there are no more rounds than names.
    loop {
        let values = equalities(&refined(module, entry, &signature)?, &mut fresh)?;
        if values.is_empty() {
            break;
        }
        for input in &mut signature.inputs {
            input.ty = substituted(&input.ty, &values)?;
        }
    }
    constrained(module, entry, signature)
}

/// The signature with a name for each open size, which may be 0 as far as the program does not assert otherwise.
pub(crate) fn open_from_zero(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
) -> Result<Signature, ExportError> {
    let mut signature = signature.clone();
    let fresh = name_sizes(module, entry, &mut signature)?;
    if fresh.is_empty() {
        return Ok(signature);
    }
    let asserting = |asserted: Vec<Constraint>| {
        let ranges = fresh.iter().map(|name| (name.clone(), Range::at_least(0)));
        let scope = ranges.fold(Scope::builder(), |scope, (name, range)| scope.range(name, range));
        let scope = asserted.into_iter().fold(scope, ScopeBuilder::constraint);
        scope
            .build()
            .map_err(|error| ExportError::input(error.to_string()))
    };
    signature.dimensions = asserting(Vec::new())?;
    signature.dimensions = asserting(constraints(&refined(module, entry, &signature)?.assertions))?;
    Ok(signature)
}

/// Names the open sizes of the arguments; returns the names.
fn name_sizes(
    module: &Module,
    entry: FunctionId,
    signature: &mut Signature,
) -> Result<BTreeSet<Variable>, ExportError> {
    let passed_on = sizes_passed_on(module, entry);
    let mut taken: BTreeSet<Variable> = super::variables(&signature.inputs);
    let mut fresh = BTreeSet::new();
    let mut numbers = 0..;
    for (argument, input) in signature.inputs.iter_mut().enumerate() {
        let Type::Tensor(ty) = &input.ty else { continue };
        let mut named = TensorType::clone(ty);
        for (index, dim) in named
            .dims
            .iter_mut()
            .enumerate()
            .filter(|(_, dim)| **dim == Dim::Unknown)
        {
            let known = passed_on
                .get(&(argument, index as u64))
                .filter(|name| !taken.contains(*name));
            let variable = match known {
                Some(variable) => variable.clone(),
                None => numbered(&mut numbers, &taken)?,
            };
            taken.insert(variable.clone());
            fresh.insert(variable.clone());
            *dim = Expr::from(variable).into();
        }
        input.ty = named.into();
    }
    Ok(fresh)
}

fn numbered(
    numbers: &mut impl Iterator<Item = u32>,
    taken: &BTreeSet<Variable>,
) -> Result<Variable, ExportError> {
    for number in numbers {
        let variable = super::variable(&format!("d{number}"))?;
        if !taken.contains(&variable) {
            return Ok(variable);
        }
    }
    Err(ExportError::input("the program has too many open sizes"))
}

/// The names under which sizes of arguments are passed on, by argument and dimension.
fn sizes_passed_on(module: &Module, entry: FunctionId) -> HashMap<(usize, u64), Variable> {
    let mut names = HashMap::new();
    let Some(body) = &module.functions[entry].body else {
        return names;
    };
    let block = body.entry_block().map(|block| &body.blocks[block]);
    let arguments = block.map_or(&[][..], |block| &block.arguments);
    let positions: HashMap<ValueId, usize> = arguments.iter().copied().zip(0..).collect();
    let mut sizes: HashMap<ValueId, (usize, u64)> = HashMap::new();
    for (_, operation) in body.ops.iter() {
        if let Op::Shape(Shape::GetDimensionSize(size)) = &operation.op
            && let ([operand], [result]) = (&operation.operands[..], &operation.results[..])
            && let (Some(position), Ok(dimension)) = (positions.get(operand), u64::try_from(size.dimension))
        {
            sizes.insert(*result, (*position, dimension));
        }
    }
    for (_, operation) in body.ops.iter() {
        let Op::Control(Control::Call(call)) = &operation.op else {
            continue;
        };
        let callee = module.function(&call.callee.root).map(|id| &module.functions[id]);
        let parameters = callee.map_or(&[][..], |callee| &callee.arguments);
        for (operand, parameter) in operation.operands.iter().zip(parameters) {
            let name = parameter
                .attributes
                .get(GLOBAL_CONSTANT)
                .and_then(|name| name.as_str());
            if let (Some(place), Some(Ok(variable))) = (sizes.get(operand), name.map(Variable::new)) {
                names.entry(*place).or_insert(variable);
            }
        }
    }
    names
}

/// Names that assertions and operations say to be other sizes, which none of these names is in. They are taken from `fresh`.
fn equalities(
    program: &Refined,
    fresh: &mut BTreeSet<Variable>,
) -> Result<BTreeMap<Variable, Expr>, ExportError> {
    let mut values: BTreeMap<Variable, Expr> = BTreeMap::new();
    let asserted = constraints(&program.assertions);
    // The first of two names that came up is kept.
    let required = program.requirements.iter().map(|one| {
        let Constraint { left, right, .. } = one.constraint.clone();
        Constraint::new(right, Comparison::Eq, left)
    });
    for Constraint {
        left,
        comparison,
        right,
    } in asserted.into_iter().chain(required)
    {
        if comparison != Comparison::Eq {
            continue;
        }
        let (left, right) = (replaced(&left, &values)?, replaced(&right, &values)?);
        let named = |name: &Expr, size: &Expr| {
            let variable = name.as_variable().filter(|name| fresh.contains(*name))?;
            let within = size.variables().contains(variable);
            (!within).then(|| (variable.clone(), size.clone()))
        };
        let Some((variable, size)) = named(&left, &right).or_else(|| named(&right, &left)) else {
            continue;
        };
        fresh.remove(&variable);
        let one = BTreeMap::from([(variable.clone(), size.clone())]);
        for value in values.values_mut() {
            *value = replaced(value, &one)?;
        }
        values.insert(variable, size);
    }
    Ok(values)
}

fn replaced(size: &Expr, values: &BTreeMap<Variable, Expr>) -> Result<Expr, ExportError> {
    size.substitute(values)
        .map_err(|error| ExportError::input(error.to_string()))
}

fn substituted(ty: &Type, values: &BTreeMap<Variable, Expr>) -> Result<Type, ExportError> {
    let Type::Tensor(tensor) = ty else {
        return Ok(ty.clone());
    };
    let mut tensor = TensorType::clone(tensor);
    for dim in &mut tensor.dims {
        if let Dim::Symbolic(size) = dim {
            *dim = replaced(size, values)?.into();
        }
    }
    Ok(tensor.into())
}
