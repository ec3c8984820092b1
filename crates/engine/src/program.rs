//! What an engine compiles.

use std::sync::Arc;

use artifact_dims::{Algebra, Assignment, Expr, ExprError, Scope, Variable};
use artifact_ir::literal::Literal;
use artifact_ir::module::{Function, FunctionId, Module};
use artifact_ir::types::{Dim, TensorType, Type};

use crate::error::EngineError;

/// What is known of an argument before the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArgumentFact {
    /// Its type, at least as exact as the one that the entry declares: sizes may be expressions over the variables of the scope.
    pub ty: Type,
    /// Its elements, where the program is compiled for these alone.
    pub value: Option<Literal>,
}

impl ArgumentFact {
    /// An argument of which only the type is known.
    #[must_use]
    pub const fn of_type(ty: Type) -> Self {
        Self { ty, value: None }
    }
}

/// A verified module, the function that a run starts with, and what is known of its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    entry: FunctionId,
    arguments: Vec<ArgumentFact>,
    scope: Scope,
}

impl Program {
    /// A program of a module that verifies. `scope` says what is known of the dimension variables in the facts.
    ///
    /// # Errors
    /// Invalid input when the entry has no body, or a fact contradicts it.
    pub fn new(
        module: Arc<Module>,
        entry: FunctionId,
        arguments: Vec<ArgumentFact>,
        scope: Scope,
    ) -> Result<Self, EngineError> {
        let function = module
            .functions
            .get(entry)
            .filter(|function| function.body.is_some());
        let function =
            function.ok_or_else(|| EngineError::invalid_input("the entry is no function with a body"))?;
        check_facts(function, &arguments).map_err(|error| error.at(function.source))?;
        Ok(Self {
            module,
            entry,
            arguments,
            scope,
        })
    }

    /// A program of which no more is known than it declares.
    ///
    /// # Errors
    /// Invalid input when the module has no entry with a body.
    pub fn of_module(module: Arc<Module>) -> Result<Self, EngineError> {
        let entry = module.entry();
        let entry = entry.ok_or_else(|| {
            EngineError::invalid_input("the module has no function `main`, and not exactly one other")
        })?;
        let declared = module.functions[entry].arguments.iter();
        let facts = declared
            .map(|argument| ArgumentFact::of_type(argument.ty.clone()))
            .collect();
        Self::new(module, entry, facts, Scope::default())
    }

    /// The module.
    #[must_use]
    pub const fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The function that a run starts with.
    #[must_use]
    pub const fn entry(&self) -> FunctionId {
        self.entry
    }

    /// The entry function.
    #[must_use]
    pub fn entry_function(&self) -> &Function {
        &self.module.functions[self.entry]
    }

    /// What is known of each argument, in order.
    #[must_use]
    pub fn arguments(&self) -> &[ArgumentFact] {
        &self.arguments
    }

    /// What is known of the dimension variables in the facts.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The program with numbers in place of dimension variables. Variables that have none stay.
    ///
    /// # Errors
    /// Invalid input when a size has no value for them, or not one that can be a size.
    pub fn with_sizes(&self, sizes: &Assignment) -> Result<Self, EngineError> {
        let fact = |fact: &ArgumentFact| {
            Ok(ArgumentFact {
                ty: with_sizes(&fact.ty, sizes)?,
                value: fact.value.clone(),
            })
        };
        let arguments: Result<_, EngineError> = self.arguments.iter().map(fact).collect();
        Ok(Self {
            arguments: arguments?,
            ..self.clone()
        })
    }

    /// The program for one value of an argument.
    ///
    /// # Errors
    /// Invalid input when there is no such argument, or it is of another type.
    pub fn with_value(&self, argument: usize, value: Literal) -> Result<Self, EngineError> {
        let mut program = self.clone();
        let count = program.arguments.len();
        let Some(fact) = program.arguments.get_mut(argument) else {
            let what = format!("there is no argument {argument}: the program has {count}");
            return Err(EngineError::invalid_input(what));
        };
        fact.ty = Type::Tensor(Arc::clone(value.ty()));
        fact.value = Some(value);
        Self::new(program.module, program.entry, program.arguments, program.scope)
    }
}

fn check_facts(function: &Function, facts: &[ArgumentFact]) -> Result<(), EngineError> {
    let (want, got) = (function.arguments.len(), facts.len());
    if want != got {
        let what = format!(
            "@{} has {want} arguments, something is said of {got}",
            function.name
        );
        return Err(EngineError::invalid_input(what));
    }
    for (index, (declared, fact)) in function.arguments.iter().zip(facts).enumerate() {
        let of_value = fact.value.as_ref().map(|value| value.ty());
        let fits_value = of_value.is_none_or(|ty| fact.ty.as_tensor() == Some(ty));
        if !fits_value || !may_be(&declared.ty, &fact.ty) {
            let (name, declared, fact) = (&function.name, &declared.ty, &fact.ty);
            let what = format!("argument {index} of @{name} is {declared}, and is said to be {fact}");
            return Err(EngineError::invalid_input(what));
        }
    }
    Ok(())
}

/// Whether a value of type `actual` may stand where `declared` is written: the same but for sizes, of which none contradicts
/// another or a bound.
pub(crate) fn may_be(declared: &Type, actual: &Type) -> bool {
    match (declared, actual) {
        (Type::Tensor(declared), Type::Tensor(actual)) => {
            Arc::ptr_eq(declared, actual)
                || (declared.element == actual.element
                    && declared.rank() == actual.rank()
                    && declared
                        .dims
                        .iter()
                        .zip(&actual.dims)
                        .all(|(a, b)| a.compatible(b))
                    && keeps_bounds(declared, actual))
        }
        (Type::Tuple(declared), Type::Tuple(actual)) | (Type::Future(declared), Type::Future(actual)) => {
            declared.len() == actual.len() && declared.iter().zip(actual.iter()).all(|(a, b)| may_be(a, b))
        }
        (declared, actual) => declared == actual,
    }
}

fn keeps_bounds(declared: &TensorType, actual: &TensorType) -> bool {
    let bounds = declared.bounds().unwrap_or_default();
    actual.dims.iter().zip(bounds).all(|(size, bound)| {
        size.as_static()
            .zip(*bound)
            .is_none_or(|(size, bound)| size <= bound)
    })
}

fn with_sizes(ty: &Type, sizes: &Assignment) -> Result<Type, EngineError> {
    let Type::Tensor(tensor) = ty else {
        return Ok(ty.clone());
    };
    let mut sized = TensorType::clone(tensor);
    for dim in &mut sized.dims {
        if let Dim::Symbolic(size) = dim {
            *dim = Dim::from(size.compute(&mut Substitution(sizes)).map_err(|error| {
                let what = format!("the size {size} has no value where {sizes}");
                EngineError::invalid_input(what).because(error)
            })?);
        }
    }
    Ok(sized.into())
}

/// Expressions with numbers in place of some variables.
struct Substitution<'a>(&'a Assignment);

impl Algebra for Substitution<'_> {
    type Value = Expr;
    type Error = ExprError;

    fn constant(&mut self, value: i64) -> Result<Expr, ExprError> {
        Ok(Expr::constant(value))
    }

    fn variable(&mut self, variable: &Variable) -> Result<Expr, ExprError> {
        let number = self.0.get(variable).map(Expr::constant);
        Ok(number.unwrap_or_else(|| Expr::variable(variable.clone())))
    }

    fn add(&mut self, left: Expr, right: Expr) -> Result<Expr, ExprError> {
        left.add(&right)
    }

    fn multiply(&mut self, left: Expr, right: Expr) -> Result<Expr, ExprError> {
        left.mul(&right)
    }

    fn floordiv(&mut self, left: (&Expr, Expr), right: (&Expr, Expr)) -> Result<Expr, ExprError> {
        left.1.floordiv(&right.1)
    }

    fn maximum(&mut self, left: Expr, right: Expr) -> Result<Expr, ExprError> {
        left.maximum(&right)
    }
}

#[cfg(test)]
mod tests {
    use artifact_ir::types::ElementType::F32;

    use super::*;

    fn symbolic(size: &str) -> Type {
        let size: Expr = size.parse().unwrap();
        TensorType::new([Dim::Symbolic(size), Dim::Static(3)], F32).into()
    }

    #[test]
    fn sizes_are_put_in() {
        let b = Variable::new("b").unwrap();
        let sizes: Assignment = [(b, 4)].into_iter().collect();
        let check = |size: &str, want: &str| {
            let Type::Tensor(ty) = with_sizes(&symbolic(size), &sizes).unwrap() else {
                panic!("{size}");
            };
            let shown = ty.dims[0]
                .expression()
                .map_or_else(String::new, |size| size.to_string());
            assert_eq!(shown, want, "{size}");
        };
        check("2*b + 1", "9");
        check("floordiv(b*c, 2)", "2*c");
        check("max(b, 7)", "7");
        check("c", "c");
    }

    #[test]
    fn facts_do_not_contradict_types() {
        let open: Type = TensorType::new([Dim::Unknown, Dim::Static(3)], F32).into();
        assert!(may_be(&open, &symbolic("b")) && may_be(&open, &Type::tensor(&[2, 3], F32)));
        assert!(!may_be(&open, &Type::tensor(&[2, 4], F32)) && !may_be(&open, &Type::tensor(&[2], F32)));
        assert!(may_be(&Type::Token, &Type::Token) && !may_be(&Type::Token, &open));
    }
}
