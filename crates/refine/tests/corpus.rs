//! Programs with symbolic dimensions that nobody here wrote: every value gets a shape of expressions.

#![expect(clippy::unwrap_used, reason = "a program that cannot be read fails its test")]

use std::collections::BTreeMap;

use artifact_dims::{Expr, Scope, Variable, parse_shape};
use artifact_ir::module::{FunctionId, Module};
use artifact_ir::types::{Dim, ElementType, TensorType, Type};
use artifact_ir::verify::verify;
use artifact_refine::{Element, Fact, Refined, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_testkit::corpus::{Program, programs, text};
use serde_json::Value;

/// Refines the programs of a folder and demands that every value of each gets a shape.
fn check(folder: &str, arguments: impl Fn(&Program, &Module) -> Option<Vec<Fact>>) {
    let Some(programs) = programs(folder) else { return };
    let (mut all, mut surprises) = (0, Vec::new());
    for program in &programs {
        let name = &program.name;
        let module = parse_module(&program.text).into_module().unwrap();
        let Some(arguments) = arguments(program, &module) else {
            continue;
        };
        all += 1;
        let refined = refine(&module, module.entry().unwrap(), &arguments, &Scope::default());
        let unknown = match refined {
            // What exporters and their tests wrote fits for all sizes: they compared them.
            Ok(Refined { requirements, .. }) if !requirements.is_empty() => {
                surprises.push(format!("{name}: {requirements:?}"));
                continue;
            }
            Ok(Refined { unknown, .. }) => unknown,
            Err(error) => {
                surprises.push(format!("{name}: {error}"));
                continue;
            }
        };
        if let Some(first) = unknown.first() {
            surprises.push(format!("{name}: {}: {}", first.ty, first.reason));
        }
    }
    assert!(all > 0, "{folder}");
    assert!(surprises.is_empty(), "{folder}:\n{}", surprises.join("\n"));
}

fn read_json(file: &str) -> Option<Value> {
    Some(serde_json::from_str(&text(file)?).unwrap())
}

/// JAX's exports: the manifest has the shapes of the last arguments as they were written.
#[test]
fn jax() {
    let Some(manifest) = read_json("jax/manifest.json") else {
        return;
    };
    check("jax", |program, module| {
        let name = program.name.strip_suffix(".sym.mlir")?;
        let shapes = manifest["programs"][name]["symbolic"].as_array().unwrap();
        let declared = &module.functions[module.entry().unwrap()].arguments;
        let first = declared.len() - shapes.len();
        let fact = |(index, ty): (usize, &Type)| match index.checked_sub(first) {
            Some(index) => with_dims(ty, &parse_shape(shapes[index].as_str().unwrap(), None).unwrap()),
            None => Fact::of_type(ty.clone()),
        };
        Some(
            declared
                .iter()
                .map(|argument| &argument.ty)
                .enumerate()
                .map(fact)
                .collect(),
        )
    });
}

/// Upstream's programs: the first arguments are the values of dimensions. Which of them a size is shows in the cases.
#[test]
fn upstream() {
    let Some(list) = read_json("stablehlo/dynamic/cases.json") else {
        return;
    };
    check("stablehlo/dynamic", |program, module| {
        let name = program.name.strip_suffix(".mlir")?;
        let cases = list.get(name)?["cases"].as_array()?;
        let declared = &module.functions[module.entry().unwrap()].arguments;
        let variables = cases[0]["dims"].as_array()?.len();
        let variable = |index: usize| Expr::variable(Variable::new(&format!("d{index}")).unwrap());
        let mut others = BTreeMap::new();
        let facts = declared.iter().enumerate().map(|(index, argument)| {
            if index < variables {
                return Fact {
                    ty: argument.ty.clone(),
                    known: Some([Element::Int(variable(index))].into()),
                };
            }
            let Type::Tensor(ty) = &argument.ty else {
                return Fact::of_type(argument.ty.clone());
            };
            let sizes: Vec<Vec<u64>> = cases.iter().map(|case| sizes(&case["in_types"][index])).collect();
            let dims: Vec<Expr> = (0..ty.rank())
                .map(|dim| {
                    if let Some(size) = ty.dims[dim].as_static() {
                        return Expr::constant(size as i64);
                    }
                    let values: Vec<u64> = sizes.iter().map(|sizes| sizes[dim]).collect();
                    let is_it = |variable: &usize| {
                        let mut values = values.iter().zip(cases);
                        values.all(|(value, case)| case["dims"][*variable].as_u64() == Some(*value))
                    };
                    (0..variables).find(is_it).map_or_else(
                        || {
                            let next = variables + others.len();
                            variable(*others.entry(values.clone()).or_insert(next))
                        },
                        variable,
                    )
                })
                .collect();
            with_dims(&argument.ty, &dims)
        });
        Some(facts.collect())
    });
}

fn with_dims(ty: &Type, dims: &[Expr]) -> Fact {
    let dims: Box<[Dim]> = dims.iter().cloned().map(Dim::from).collect();
    let ty = ty.as_tensor().unwrap();
    Fact::of_type(TensorType::new(dims, ty.element.clone()).into())
}

/// The sizes in `tensor<3x4xf32>`.
fn sizes(text: &Value) -> Vec<u64> {
    let inside = text.as_str().unwrap().trim_start_matches("tensor<");
    inside.split('x').map_while(|size| size.parse().ok()).collect()
}

/// What upstream refuses and we do not: a function that is called with different sizes stands once for each, and an assertion
/// that is not decided is kept.
const ACCEPTED: [&str; 2] = ["refine_shapes.s53.mlir", "check_shape_assertions.s03.mlir"];

/// Upstream's tests of its passes: text before, and after as comments for FileCheck. What is compared is what a refinement
/// says: the static types that must be there afterwards, and the operations that must be gone. Operations may be written
/// otherwise, folded further, or removed with their uses.
#[test]
fn upstream_passes() {
    let Some(index) = read_json("stablehlo/refine/index.json") else {
        return;
    };
    let programs = programs("stablehlo/refine").unwrap();
    let mut surprises = Vec::new();
    for program in &programs {
        let negative = index["programs"][&program.name]["negative"].as_bool().unwrap()
            && !ACCEPTED.contains(&program.name.as_str());
        let outcome = after(program);
        let problem = match outcome {
            Err(error) if negative => Err(format!("refused: {error}")),
            Err(error) => Ok(format!("refused: {error}")),
            Ok(_) if negative => Ok("it is accepted".to_owned()),
            Ok(text) => missing(&program.text, &text).map_or_else(|| Err(String::new()), Ok),
        };
        if let Ok(problem) = problem {
            surprises.push(format!("{}: {problem}", program.name));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// The text of a module after refinement for the arguments that its entry declares, or for those of upstream's command line.
fn after(program: &Program) -> Result<String, String> {
    let parsed = parse_module(&program.text).into_module();
    let module = parsed.map_err(|findings| format!("{:?}", findings.first().map(|first| &first.message)))?;
    if let Some(finding) = verify(&module).first() {
        return Err(finding.message.clone());
    }
    let of_one_function = program.name.starts_with("refine_shapes");
    let entries: Vec<FunctionId> = match module.entry() {
        Some(entry) => vec![entry],
        None if of_one_function => return Err("no function is called `main`".to_owned()),
        None => module.functions.iter().map(|(id, _)| id).collect(),
    };
    let mut printed = String::new();
    for entry in entries {
        let declared = module.functions[entry].arguments.iter();
        let facts: Vec<Fact> = if program.name.starts_with("refine_parameters") {
            given()
        } else {
            declared
                .map(|argument| Fact::of_type(argument.ty.clone()))
                .collect()
        };
        let refined = refine(&module, entry, &facts, &Scope::default()).map_err(|error| error.to_string())?;
        printed.push_str(&print_module(&refined.module, &PrintOptions::default()));
    }
    Ok(printed)
}

/// The types that upstream refines the arguments of `refine_parameters` to.
fn given() -> Vec<Fact> {
    let shapes: [&[u64]; 5] = [&[], &[1], &[2], &[1, 4, 6], &[8, 10]];
    let tensors = shapes.map(|shape| Fact::of_type(Type::tensor(shape, ElementType::F32)));
    tensors.into_iter().chain([Fact::of_type(Type::Token)]).collect()
}

/// What the comments expect and the text has not, or the other way round.
fn missing(before: &str, after: &str) -> Option<String> {
    let comments = before.lines().filter_map(|line| line.trim().strip_prefix("//"));
    let checks = comments.filter_map(|comment| comment.trim().strip_prefix("CHECK"));
    for check in checks {
        let Some((kind, pattern)) = check.split_once(':') else {
            continue;
        };
        if kind == "-NOT" {
            let op = pattern.trim();
            if op.starts_with("stablehlo.") && !op.contains(' ') && after.contains(op) {
                return Some(format!("`{op}` is still there in\n{after}"));
            }
            continue;
        }
        for ty in pattern
            .split("tensor<")
            .skip(1)
            .filter_map(|rest| rest.split_once('>'))
        {
            let ty = format!("tensor<{}>", ty.0);
            let plain = !ty.contains(['?', '{', '[', '*', '!', ',']);
            if plain && !after.contains(&ty) {
                return Some(format!("no {ty} in\n{after}"));
            }
        }
    }
    None
}
