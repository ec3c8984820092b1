//! Names for the sizes that a program leaves open.
//!
//! JAX computes the value of each of its names from the sizes of arguments, and passes it on to the function that does the
//! work, with the name as an attribute. Where that value determines a size, the size is said by the name. Other sizes get
//! names of ours, one for all that the program asserts or needs to be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

use artifact_dims::{Algebra, Comparison, Constraint, Expr, Variable};
use artifact_ir::module::{Body, FunctionId, Module, ValueId};
use artifact_ir::op::{Control, Op, Shape};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::Refined;

use super::elimination::Elimination;
use super::stated::{Claims, all_constraints, constraints, refined, scoped, substituted};
use crate::error::ExportError;
use crate::signature::Signature;

/// The attribute by which JAX names sizes that it passes on.
const GLOBAL_CONSTANT: &str = "jax.global_constant";

/// How often the program is looked at for sizes that are equal. Those that only come up later keep a name each, and are equal by
/// a constraint.
const ROUNDS_MAX: usize = 32;

/// The smallest size that an open size may have where the program does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// An array may be empty.
    Zero,
    /// As everywhere in JAX.
    One,
}

impl Least {
    const fn size(self) -> i64 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

/// The signature with a name for each size of an argument that the program leaves open. Sizes that the program asserts or
/// needs to be equal have one name: that under which JAX passes the size on, where it does, else one that is not among the
/// `reserved`.
pub(crate) fn opened(
    module: &Module,
    entry: FunctionId,
    signature: &Signature,
    least: Least,
    reserved: &BTreeSet<Variable>,
) -> Result<Signature, ExportError> {
    let before = super::variables(&signature.inputs);
    let mut opening = Opening {
        signature: signature.clone(),
        fresh: BTreeSet::new(),
        numbered: BTreeSet::new(),
        claims: Claims::of(&signature.dimensions),
        before,
        least,
    };
    opening.name_sizes(module, entry, reserved)?;
    if opening.fresh.is_empty() {
        return Ok(opening.signature);
    }
    opening.loosen()?;
    // Each round but the last replaces a name, and mostly all that can be.
    let mut program = refined(module, entry, &opening.signature)?;
    for _ in 0..ROUNDS_MAX {
        let values = equalities(&program, &mut opening.fresh)?;
        if values.is_empty() {
            break;
        }
        opening.replace(&values)?;
        program = refined(module, entry, &opening.signature)?;
    }
    let names = opening.names(module, entry, &program)?;
    if !names.is_empty() {
        opening.replace(&names)?;
    }
    scoped(module, entry, opening.signature, &opening.claims)
}

/// A signature in which sizes get names.
struct Opening {
    signature: Signature,
    /// Names that stand for one size, and for which something else may stand.
    fresh: BTreeSet<Variable>,
    /// Those of them that are numbers.
    numbered: BTreeSet<Variable>,
    claims: Claims,
    /// The variables of the signature as it was.
    before: BTreeSet<Variable>,
    least: Least,
}

impl Opening {
    /// Lets new names be as small as they may be, and forgets constraints.
    fn loosen(&mut self) -> Result<(), ExportError> {
        let variables = super::variables(&self.signature.inputs);
        if self.least == Least::Zero {
            let new = variables.difference(&self.before).cloned();
            self.claims.may_be_empty.extend(new);
        }
        self.signature.dimensions = super::scope(&variables, &self.claims.may_be_empty, [])?;
        Ok(())
    }

    fn replace(&mut self, values: &BTreeMap<Variable, Expr>) -> Result<(), ExportError> {
        for input in &mut self.signature.inputs {
            input.ty = substituted(&input.ty, values)?;
        }
        self.loosen()
    }

    /// Names the open sizes of the arguments.
    fn name_sizes(
        &mut self,
        module: &Module,
        entry: FunctionId,
        reserved: &BTreeSet<Variable>,
    ) -> Result<(), ExportError> {
        let passed_on = sizes_passed_on(module, entry);
        let mut taken = self.before.clone();
        let mut numbers = 0..;
        for (argument, input) in self.signature.inputs.iter_mut().enumerate() {
            let Type::Tensor(ty) = &input.ty else { continue };
            let mut named = TensorType::clone(ty);
            let dims = named.dims.iter_mut().enumerate();
            for (index, dim) in dims.filter(|(_, dim)| **dim == Dim::Unknown) {
                let known = passed_on.get(&(argument, index as u64));
                let variable = match known.filter(|name| !taken.contains(*name)) {
                    Some(variable) => variable.clone(),
                    None => {
                        let variable = numbered(&mut numbers, |name| {
                            taken.contains(name) || reserved.contains(name)
                        })?;
                        self.numbered.insert(variable.clone());
                        variable
                    }
                };
                taken.insert(variable.clone());
                self.fresh.insert(variable.clone());
                *dim = Expr::from(variable).into();
            }
            input.ty = named.into();
        }
        Ok(())
    }

    /// What names that are passed on say of sizes that have a number for a name, such as `2*b` of `d0`.
    fn names(
        &self,
        module: &Module,
        entry: FunctionId,
        refined: &Refined,
    ) -> Result<BTreeMap<Variable, Expr>, ExportError> {
        let stated = constraints(&refined.assertions);
        let all = super::scope(
            &super::variables(&self.signature.inputs),
            &self.claims.may_be_empty,
            stated.iter().cloned(),
        )?;
        let mut taken = super::variables(&self.signature.inputs);
        let mut sizes = Elimination::default();
        for (operand, name) in passed_on(module, entry) {
            let Some(value) = refined.integers.get(&operand) else {
                continue;
            };
            let value = sizes.applied(value)?;
            // The name may not exclude sizes that the program takes.
            let may_be_name = all.decide(&at_least_of(&value, self.least)).is_yes();
            if !taken.contains(&name)
                && may_be_name
                && let Some((variable, size)) = self.solved(&value, &name, &stated)
            {
                // What the program asserts may have names that are eliminated.
                let size = sizes.applied(&size)?;
                if !size.variables().contains(&variable) {
                    taken.insert(name);
                    sizes.eliminate(variable, size);
                }
            }
        }
        sizes.finish()
    }

    /// The only numbered name in `value`, and what it is when `value` has this name.
    fn solved(&self, value: &Expr, name: &Variable, stated: &[Constraint]) -> Option<(Variable, Expr)> {
        let variables = value.variables();
        let mut numbered = variables.intersection(&self.numbered);
        let (Some(variable), None) = (numbered.next(), numbered.next()) else {
            return None;
        };
        let size = Expr::from(variable.clone());
        let free = |rest: &Expr| !rest.variables().contains(variable);
        let equal = stated
            .iter()
            .filter(|constraint| constraint.comparison == Comparison::Eq);
        // Expressions that are 0: nothing, and what the program asserts to be.
        let zeros = equal.filter_map(|constraint| constraint.left.sub(&constraint.right).ok());
        let zeros: Vec<Expr> = std::iter::once(Expr::constant(0)).chain(zeros).collect();
        let name = Expr::from(name.clone());
        divisors(value).into_iter().find_map(|factor| {
            let factor = Expr::constant(factor);
            let rest = size.sub(&factor.mul(value).ok()?).ok()?;
            let candidates = zeros.iter().flat_map(|zero| [rest.sub(zero), rest.add(zero)]);
            let rest = candidates.filter_map(Result::ok).find(free)?;
            let solved = factor.mul(&name).ok()?.add(&rest).ok()?;
            Some((variable.clone(), solved))
        })
    }
}

fn at_least_of(value: &Expr, least: Least) -> Constraint {
    Constraint::new(value.clone(), Comparison::Ge, Expr::constant(least.size()))
}

/// The next name with a number that is not taken.
pub(super) fn numbered(
    numbers: &mut impl Iterator<Item = u32>,
    is_taken: impl Fn(&Variable) -> bool,
) -> Result<Variable, ExportError> {
    for number in numbers {
        let variable = super::variable(&format!("d{number}"))?;
        if !is_taken(&variable) {
            return Ok(variable);
        }
    }
    Err(ExportError::input("the program has too many open sizes"))
}

/// The constants by which an expression divides, and 1.
fn divisors(value: &Expr) -> BTreeSet<i64> {
    let mut divisors = Divisors(BTreeSet::from([1]));
    let Ok(()) = value.compute(&mut divisors);
    divisors.0
}

/// Collects constant divisors.
struct Divisors(BTreeSet<i64>);

impl Algebra for Divisors {
    type Value = ();
    type Error = Infallible;

    fn constant(&mut self, _: i64) -> Result<(), Infallible> {
        Ok(())
    }

    fn variable(&mut self, _: &Variable) -> Result<(), Infallible> {
        Ok(())
    }

    fn add(&mut self, (): (), (): ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn multiply(&mut self, (): (), (): ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn floordiv(&mut self, _: (&Expr, ()), (divisor, ()): (&Expr, ())) -> Result<(), Infallible> {
        self.0.extend(divisor.as_constant());
        Ok(())
    }

    fn maximum(&mut self, (): (), (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The values of the entry's body that are passed on under a name, with the name.
fn passed_on(module: &Module, entry: FunctionId) -> Vec<(ValueId, Variable)> {
    let mut names = Vec::new();
    let ops = module.functions[entry]
        .body
        .iter()
        .flat_map(|body| body.ops.iter());
    for (_, operation) in ops {
        let Op::Control(Control::Call(call)) = &operation.op else {
            continue;
        };
        let callee = module.function(&call.callee.root).map(|id| &module.functions[id]);
        let parameters = callee.map_or(&[][..], |callee| &callee.arguments);
        for (operand, parameter) in operation.operands.iter().zip(parameters) {
            let name = parameter.attributes.get(GLOBAL_CONSTANT);
            if let Some(Ok(name)) = name.and_then(|name| name.as_str()).map(Variable::new) {
                names.push((*operand, name));
            }
        }
    }
    names
}

/// The names under which sizes of arguments are passed on as they are, by argument and dimension.
fn sizes_passed_on(module: &Module, entry: FunctionId) -> HashMap<(usize, u64), Variable> {
    let sizes = module.functions[entry].body.as_ref().map(sizes_read);
    let sizes = sizes.unwrap_or_default();
    let mut names = HashMap::new();
    for (operand, name) in passed_on(module, entry) {
        if let Some(place) = sizes.get(&operand) {
            names.entry(*place).or_insert(name);
        }
    }
    names
}

/// The values that are sizes of arguments: of which, and of which dimension.
fn sizes_read(body: &Body) -> HashMap<ValueId, (usize, u64)> {
    let block = body.entry_block().map(|block| &body.blocks[block]);
    let arguments = block.map_or(&[][..], |block| &block.arguments);
    let positions: HashMap<ValueId, usize> = arguments.iter().copied().zip(0..).collect();
    let mut sizes = HashMap::new();
    for (_, operation) in body.ops.iter() {
        if let Op::Shape(Shape::GetDimensionSize(size)) = &operation.op
            && let ([operand], [result]) = (&operation.operands[..], &operation.results[..])
            && let (Some(position), Ok(dimension)) = (positions.get(operand), u64::try_from(size.dimension))
        {
            sizes.insert(*result, (*position, dimension));
        }
    }
    sizes
}

/// Names that assertions and operations say to be other sizes, which none of these names is in. They are taken from `fresh`.
fn equalities(
    program: &Refined,
    fresh: &mut BTreeSet<Variable>,
) -> Result<BTreeMap<Variable, Expr>, ExportError> {
    let mut values = Elimination::default();
    let asserted = all_constraints(&program.assertions);
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
        let (left, right) = (values.applied(&left)?, values.applied(&right)?);
        let named = |name: &Expr, size: &Expr| {
            let variable = name.as_variable().filter(|name| fresh.contains(*name))?;
            let within = size.variables().contains(variable);
            (!within).then(|| (variable.clone(), size.clone()))
        };
        let Some((variable, size)) = named(&left, &right).or_else(|| named(&right, &left)) else {
            continue;
        };
        fresh.remove(&variable);
        values.eliminate(variable, size);
    }
    values.finish()
}
