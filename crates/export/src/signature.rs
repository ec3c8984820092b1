//! How a program is called: names and types of what goes in and comes out.

use std::collections::HashMap;

use artifact_dims::solve::{Mismatch, Mismatches, Size, solve};
use artifact_dims::{Assignment, EvaluateError, Expr, Scope};
use artifact_ir::location::{Location, LocationId, Locations};
use artifact_ir::module::ValueId;
use artifact_ir::module::{Function, Module, Parameter};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{Dim, Encoding, TensorType, Type};

/// One argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name: unique among the arguments, or among the results, and not empty.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Names and types of the arguments and results of the entry function, hoisted constants apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The entry function.
    pub function: String,
    /// What the user gives, in order.
    pub inputs: Vec<Argument>,
    /// What comes out, in order.
    pub outputs: Vec<Argument>,
    /// Ranges and constraints of the variables in the shapes.
    pub dimensions: Scope,
}

impl Signature {
    /// The signature of a function, with the names that its exporter recorded: JAX puts the name of an argument into its
    /// location, and that of a result into `jax.result_info`. Where there is none, or where two would be the same, names are
    /// `arg0`, `result0`.
    #[must_use]
    pub fn of(module: &Module, function: &Function) -> Self {
        let passed_on = names_passed_on(module, function);
        let argument_name = |parameter: &Parameter| location_name(&module.locations, parameter.location);
        Self {
            function: function.name.to_string(),
            inputs: name_all("arg", &function.arguments, |index, parameter| {
                argument_name(parameter).or_else(|| passed_on.get(&index).cloned())
            }),
            outputs: name_all("result", &function.results, |_, parameter| result_info(parameter)),
            dimensions: Scope::default(),
        }
    }
}

impl Signature {
    /// The values of the dimension variables for inputs of these types, one a type; `given` are values that the user chose.
    ///
    /// # Errors
    /// Every check that fails: ranks, element types, bounds, sizes that are numbers, and all that [`solve`] finds.
    pub fn bind(&self, types: &[Type], given: &Assignment) -> Result<Assignment, Mismatches> {
        let mut sizes = Vec::new();
        let mut failures = Vec::new();
        for (input, ty) in self.inputs.iter().zip(types) {
            let (Type::Tensor(declared), Type::Tensor(actual)) = (&input.ty, ty) else {
                continue;
            };
            let place = format!("`{}`", input.name);
            if declared.element != actual.element {
                let (expected, actual) = (declared.element.to_string(), actual.element.to_string());
                failures.push(Mismatch::Dtype {
                    place,
                    expected,
                    actual,
                });
            } else if declared.rank() != actual.rank() {
                let (expected, actual) = (input.shape_text(), actual.to_string());
                failures.push(Mismatch::Rank {
                    place,
                    expected,
                    actual,
                });
            } else {
                failures.extend(over_bounds(&input.name, declared, actual));
                let dims = declared.dims.iter().zip(&actual.dims).enumerate();
                sizes.extend(dims.filter_map(|(dim, (declared, actual))| {
                    Some(Size {
                        place: format!("{}.shape[{dim}]", input.name),
                        specification: declared.expression()?,
                        actual: actual.expression()?,
                    })
                }));
            }
        }
        match solve(&self.dimensions, &sizes, given) {
            Ok(values) if failures.is_empty() => Ok(values),
            Ok(_) => Err(Mismatches {
                failures,
                ..Mismatches::default()
            }),
            Err(mut mismatches) => {
                failures.append(&mut mismatches.failures);
                mismatches.failures = failures;
                Err(mismatches)
            }
        }
    }

    /// The types of the inputs for values of the dimension variables.
    ///
    /// # Errors
    /// When an expression has no value for them.
    pub fn input_types(&self, values: &Assignment) -> Result<Vec<Type>, EvaluateError> {
        self.inputs.iter().map(|input| input.type_for(values)).collect()
    }
}

/// Sizes over the bounds of a type. Bounds of named sizes are constraints of the signature.
fn over_bounds(name: &str, declared: &TensorType, actual: &TensorType) -> Vec<Mismatch> {
    let bounds = declared.bounds().unwrap_or_default();
    let dims = declared.dims.iter().zip(&actual.dims).zip(bounds).enumerate();
    let over = dims.filter_map(|(dim, ((declared, actual), bound))| {
        let (bound, actual) = ((*bound)?, actual.as_static()?);
        (*declared == Dim::Unknown && actual > bound).then(|| Mismatch::OverBound {
            place: format!("{name}.shape[{dim}]"),
            actual,
            bound,
        })
    });
    over.collect()
}

/// The encoding of a type without bounds of sizes that are numbers.
fn open_bounds(tensor: &TensorType) -> Option<Encoding> {
    let Some(Encoding::Bounds(bounds)) = &tensor.encoding else {
        return tensor.encoding.clone();
    };
    let sizes = tensor.dims.iter().zip(bounds);
    let open: Box<[_]> = sizes
        .map(|(dim, bound)| bound.filter(|_| !dim.is_static()))
        .collect();
    open.iter().any(Option::is_some).then_some(Encoding::Bounds(open))
}

impl Argument {
    /// The type for values of the dimension variables. Sizes that need others stay as they are.
    ///
    /// # Errors
    /// When an expression has no value for them.
    pub fn type_for(&self, values: &Assignment) -> Result<Type, EvaluateError> {
        let Type::Tensor(tensor) = &self.ty else {
            return Ok(self.ty.clone());
        };
        let mut tensor = TensorType::clone(tensor);
        for dim in &mut tensor.dims {
            if let Dim::Symbolic(expression) = dim
                && expression
                    .variables()
                    .iter()
                    .all(|variable| values.get(variable).is_some())
            {
                *dim = Expr::constant(expression.evaluate(values)?).into();
            }
        }
        tensor.encoding = open_bounds(&tensor);
        Ok(tensor.into())
    }

    /// The type with the expressions of its dimensions: `tensor<(2*b)x128xf32>`. Other types as MLIR writes them.
    #[must_use]
    pub fn shape_text(&self) -> String {
        let Type::Tensor(tensor) = &self.ty else {
            return self.ty.to_string();
        };
        let dim = |dim: &Dim| match dim {
            Dim::Symbolic(expression) => format!("({expression})x"),
            other => format!("{other}x"),
        };
        let dims: String = tensor.dims.iter().map(dim).collect();
        format!("tensor<{dims}{}>", tensor.element)
    }
}

/// Names by argument that the functions have to which arguments are passed on: JAX's symbolic exports keep them in the function
/// that `main` wraps.
fn names_passed_on(module: &Module, function: &Function) -> HashMap<usize, String> {
    let mut names = HashMap::new();
    let Some(body) = &function.body else { return names };
    let entry = body.entry_block().map(|block| &body.blocks[block]);
    let arguments = entry.map(|block| block.arguments.as_slice()).unwrap_or_default();
    let positions: HashMap<ValueId, usize> = arguments.iter().copied().zip(0..).collect();
    for (_, op) in body.ops.iter() {
        let Op::Control(Control::Call(call)) = &op.op else {
            continue;
        };
        let callee = module.function(&call.callee.root).map(|id| &module.functions[id]);
        let parameters = callee
            .map(|callee| callee.arguments.as_slice())
            .unwrap_or_default();
        for (operand, parameter) in op.operands.iter().zip(parameters) {
            let name = location_name(&module.locations, parameter.location);
            if let (Some(position), Some(name)) = (positions.get(operand), name) {
                names.entry(*position).or_insert(name);
            }
        }
    }
    names
}

fn location_name(locations: &Locations, id: LocationId) -> Option<String> {
    match locations.get(id) {
        Location::Name { name, .. } => Some(name.to_string()),
        _ => None,
    }
}

fn result_info(parameter: &Parameter) -> Option<String> {
    parameter
        .attributes
        .get("jax.result_info")
        .and_then(|info| info.as_str())
        .map(str::to_owned)
}

fn name_all(
    prefix: &str,
    parameters: &[Parameter],
    recorded: impl Fn(usize, &Parameter) -> Option<String>,
) -> Vec<Argument> {
    let names: Vec<Option<String>> = parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| recorded(index, parameter))
        .collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *uses.entry(name).or_default() += 1;
    }
    let usable = |name: &String| {
        let positional = name
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.parse::<usize>().is_ok());
        !name.is_empty() && uses.get(name.as_str()) == Some(&1) && !positional
    };
    let name_of = |index: usize| match &names[index] {
        Some(name) if usable(name) => name.clone(),
        _ => format!("{prefix}{index}"),
    };
    parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| Argument {
            name: name_of(index),
            ty: parameter.ty.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact_ir::types::ElementType;

    #[test]
    fn names_are_unique() {
        let mut module = Module::new();
        let mut function = Function::new("main");
        for name in ["x", "y", "y", "arg7", ""] {
            let location = Location::Name {
                name: name.into(),
                child: LocationId::UNKNOWN,
            };
            let location = module.locations.intern(location);
            let ty = Type::tensor(&[], ElementType::F32);
            function.arguments.push(Parameter {
                location,
                ..Parameter::new(ty)
            });
        }
        let signature = Signature::of(&module, &function);
        let names: Vec<&str> = signature.inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["x", "arg1", "arg2", "arg3", "arg4"]);
    }
}
