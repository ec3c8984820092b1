//! What a program needs of its sizes: that it computes none in integers that are too narrow for it.

use artifact_dims::{Assignment, Expr, Range, Scope, Variable};
use artifact_engine::EngineError;
use artifact_eval::Value;
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{TensorType, Type};
use artifact_refine::{Fact, Obligation, refine};

/// The obligations of a program, each open size of an argument being a variable; or why they are not known.
#[derive(Debug)]
pub(crate) struct Obligations(Result<Vec<Obligation>, String>);

impl Obligations {
    pub(crate) fn of(module: &Module, entry: FunctionId) -> Self {
        Self(find(module, entry))
    }

    /// Why they are not known, for who calls the program.
    pub(crate) fn note(&self) -> Option<String> {
        let error = self.0.as_ref().err()?;
        Some(format!(
            "whether sizes are computed in integers that are wide enough is not checked: {error}"
        ))
    }

    /// Refuses inputs that break one.
    ///
    /// # Errors
    /// Invalid input, with the operation that computes the size.
    pub(crate) fn check(
        &self,
        module: &Module,
        entry: FunctionId,
        inputs: &[Value],
    ) -> Result<(), EngineError> {
        let mut sizes = Assignment::default();
        for_each_open_size(module, entry, |variable, argument, dim| {
            let tensor = inputs.get(argument).and_then(|input| input.as_tensor().ok());
            let size = tensor.and_then(|tensor| tensor.ty().dims.get(dim)?.as_static());
            if let Some(size) = size.and_then(|size| i64::try_from(size).ok()) {
                sizes.insert(variable, size);
            }
        });
        let obligations = self.0.as_deref().unwrap_or_default();
        let broken = |one: &Obligation| Some((one.broken(&sizes)?, one.source));
        match obligations.iter().find_map(broken) {
            None => Ok(()),
            Some((message, source)) => Err(EngineError::invalid_input(message).at(source)),
        }
    }
}

fn find(module: &Module, entry: FunctionId) -> Result<Vec<Obligation>, String> {
    let arguments = module.functions[entry].arguments.iter();
    let mut types: Vec<Type> = arguments.map(|argument| argument.ty.clone()).collect();
    let mut scope = Scope::builder();
    for_each_open_size(module, entry, |variable, argument, dim| {
        if let Type::Tensor(tensor) = &types[argument] {
            let mut open = TensorType::clone(tensor);
            open.dims[dim] = Expr::variable(variable.clone()).into();
            types[argument] = open.into();
        }
        scope = std::mem::take(&mut scope).range(variable, Range::at_least(0));
    });
    let scope = scope.build().map_err(|error| error.to_string())?;
    let facts: Vec<Fact> = types.into_iter().map(Fact::of_type).collect();
    match refine(module, entry, &facts, &scope) {
        Ok(refined) => Ok(refined.obligations),
        Err(error) => Err(error.to_string()),
    }
}

/// Calls `found` with each open size of an argument: a variable for it, the argument and the dimension.
fn for_each_open_size(module: &Module, entry: FunctionId, mut found: impl FnMut(Variable, usize, usize)) {
    let mut number = 0;
    for (argument, parameter) in module.functions[entry].arguments.iter().enumerate() {
        let dims = parameter.ty.as_tensor().map(|ty| &*ty.dims).unwrap_or_default();
        for (dim, _) in dims.iter().enumerate().filter(|(_, dim)| !dim.is_static()) {
            // A name that says which size it is where it is shown.
            if let Ok(variable) = Variable::new(&format!("size{number}")) {
                found(variable, argument, dim);
            }
            number += 1;
        }
    }
}
