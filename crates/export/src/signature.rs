//! How a program is called: names and types of what goes in and comes out.

use std::collections::HashMap;

use artifact_ir::location::{Location, LocationId, Locations};
use artifact_ir::module::{Function, Module, Parameter};
use artifact_ir::types::Type;

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
}

impl Signature {
    /// The signature of a function, with the names that its exporter recorded: JAX puts the name of an argument into its
    /// location, and that of a result into `jax.result_info`. Where there is none, or where two would be the same, names are
    /// `arg0`, `result0`.
    #[must_use]
    pub fn of(module: &Module, function: &Function) -> Self {
        let argument_name = |parameter: &Parameter| location_name(&module.locations, parameter.location);
        Self {
            function: function.name.to_string(),
            inputs: name_all("arg", &function.arguments, argument_name),
            outputs: name_all("result", &function.results, result_info),
        }
    }
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
    recorded: impl Fn(&Parameter) -> Option<String>,
) -> Vec<Argument> {
    let names: Vec<Option<String>> = parameters.iter().map(recorded).collect();
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
