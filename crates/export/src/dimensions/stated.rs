//! What a program itself says of its dimensions: names for sizes, and constraints, as far as its assertions state any.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use artifact_dims::{Comparison, Constraint, Expr, Range, Scope, Variable};
use artifact_ir::module::{FunctionId, Module, ValueId};
use artifact_ir::op::{Control, Op, Shape};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Assertion, Fact, Refined, refine};

use super::unfit;
use crate::error::ExportError;
use crate::signature::Signature;

/// The attribute by which JAX names sizes that it passes on.
const GLOBAL_CONSTANT: &str = "jax.global_constant";

/// What is claimed of dimension variables before the program is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// Constraints on them.
    pub(crate) constraints: Vec<Constraint>,
    /// Those that may be 0, unless the constraints or the program say otherwise; others are at least 1.
    pub(crate) may_be_empty: BTreeSet<Variable>,
}

impl Claims {
    /// What a scope says.
    pub(super) fn of(scope: &Scope) -> Self {
        let ranges = scope.ranges();
        let within = ranges.flat_map(|(variable, range)| within_range(variable, range));
        let empty = scope.ranges().filter(|(_, range)| range.min <= 0);
        Self {
            constraints: scope.constraints().iter().cloned().chain(within).collect(),
            may_be_empty: empty.map(|(variable, _)| variable.clone()).collect(),
        }
    }
}

/// The signature with all that holds of its variables: what is claimed, and what the program's assertions state. The shapes of
/// results follow.
pub(crate) fn scoped(
    module: &Module,
    entry: FunctionId,
    mut signature: Signature,
    claims: &Claims,
) -> Result<Signature, ExportError> {
    signature.dimensions = Scope::default();
    let variables = super::variables(&signature.inputs);
    if variables.is_empty() {
        return Ok(signature);
    }
    let claimed = || claims.constraints.iter().cloned();
    let mut stated = |may_be_empty: &BTreeSet<Variable>| {
        signature.dimensions = super::scope(&variables, may_be_empty, claimed())?;
        Ok::<_, ExportError>(constraints(&refined(module, entry, &signature)?.assertions))
    };
    let mut may_be_empty = &claims.may_be_empty & &variables;
    let mut found = stated(&may_be_empty)?;
    let all = super::scope(&variables, &may_be_empty, claimed().chain(found.iter().cloned()))?;
    let before = may_be_empty.len();
    may_be_empty.retain(|variable| !all.decide(&at_least(variable, 1)).is_yes());
    if may_be_empty.len() < before {
        // With the better ranges, less is left to state.
        found = stated(&may_be_empty)?;
    }
    signature.dimensions = super::scope(&variables, &may_be_empty, claimed().chain(found))?;
    signature.outputs = super::outputs(module, entry, &signature)?;
    Ok(signature)
}

fn at_least(variable: &Variable, least: i64) -> Constraint {
    Constraint::new(
        Expr::from(variable.clone()),
        Comparison::Ge,
        Expr::constant(least),
    )
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

fn refined(module: &Module, entry: FunctionId, signature: &Signature) -> Result<Refined, ExportError> {
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
    let stated = scoped(module, entry, signature.clone(), &Claims::default())?;
    let declared = signature.dimensions.constraints().iter().cloned();
    let ranges = signature.dimensions.ranges();
    let ranges = ranges.flat_map(|(variable, range)| within_range(variable, range));
    let mut all = declared.chain(ranges);
    Ok(all.find(|constraint| !stated.dimensions.decide(constraint).is_yes()))
}

/// The constraints that say what a range does, but for a minimum of 0 or 1.
pub(super) fn within_range(variable: &Variable, range: &Range) -> impl Iterator<Item = Constraint> {
    let size = || Expr::from(variable.clone());
    let lower = (range.min > 1).then(|| at_least(variable, range.min));
    let upper = range
        .max
        .map(|max| Constraint::new(size(), Comparison::Le, Expr::constant(max)));
    let multiple = Expr::constant(range.multiple_of.get().into());
    let multiple = (range.multiple_of.get() > 1)
        .then(|| size().modulo(&multiple).ok())
        .flatten();
    let multiple = multiple.map(|left| Constraint::new(left, Comparison::Eq, Expr::constant(0)));
    [lower, upper, multiple].into_iter().flatten()
}

/// The smallest size that an open size may have where the program does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// An array may be empty.
    Zero,
    /// As everywhere in JAX.
    One,
}

/// The signature with a name for each size of an argument that the program leaves open. Sizes that the program asserts to
/// be equal have one name: that under which JAX passes the size on, where it does, else one that is not among the `reserved`.
pub(crate) fn opened(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
    least: Least,
    reserved: &BTreeSet<Variable>,
) -> Result<Signature, ExportError> {
    let mut signature = signature.clone();
    let mut fresh = name_sizes(module, entry, &mut signature, reserved)?;
    if fresh.is_empty() {
        return Ok(signature);
    }
    let mut claims = Claims::of(&signature.dimensions);
    if least == Least::Zero {
        claims.may_be_empty.extend(fresh.iter().cloned());
    }
    let variables = super::variables(&signature.inputs);
    signature.dimensions = super::scope(&variables, &claims.may_be_empty, [])?;
    // Each round but the last replaces a name, and mostly all that can be: there are no more rounds than names.
    loop {
        let values = equalities(&refined(module, entry, &signature)?.assertions, &mut fresh)?;
        if values.is_empty() {
            break;
        }
        for input in &mut signature.inputs {
            input.ty = substituted(&input.ty, &values)?;
        }
    }
    scoped(module, entry, signature, &claims)
}

/// Names the open sizes of the arguments; returns the names.
fn name_sizes(
    module: &Module,
    entry: FunctionId,
    signature: &mut Signature,
    reserved: &BTreeSet<Variable>,
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
                None => numbered(&mut numbers, &(&taken | reserved))?,
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

/// Names that assertions say to be other sizes, which none of these names is in. They are taken from `fresh`.
fn equalities(
    assertions: &[Assertion],
    fresh: &mut BTreeSet<Variable>,
) -> Result<BTreeMap<Variable, Expr>, ExportError> {
    let mut values: BTreeMap<Variable, Expr> = BTreeMap::new();
    for Constraint {
        left,
        comparison,
        right,
    } in constraints(assertions)
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

pub(super) fn replaced(size: &Expr, values: &BTreeMap<Variable, Expr>) -> Result<Expr, ExportError> {
    size.substitute(values)
        .map_err(|error| ExportError::input(error.to_string()))
}

pub(super) fn substituted(ty: &Type, values: &BTreeMap<Variable, Expr>) -> Result<Type, ExportError> {
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
