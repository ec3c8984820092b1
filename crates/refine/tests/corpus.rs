//! Programs with symbolic dimensions that nobody here wrote: every value gets a shape of expressions.

#![expect(clippy::unwrap_used, reason = "a program that cannot be read fails its test")]

use std::collections::BTreeMap;

use artifact_dims::{Expr, Scope, Variable, parse_shape};
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Element, Fact, Refined, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_testkit::corpus::{Program, programs, text};
use serde_json::Value;

/// Refines the programs of a folder and demands that all but these get a shape for every value.
fn check(folder: &str, expected: &[&str], arguments: impl Fn(&Program, &Module) -> Option<Vec<Fact>>) {
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
            Ok(Refined { unknown, .. }) => unknown,
            Err(error) => {
                surprises.push(format!("{name}: {error}"));
                continue;
            }
        };
        let found = unknown
            .first()
            .map(|first| format!("{}: {}", first.ty, first.reason));
        if found.is_some() != expected.contains(&name.as_str()) {
            surprises.push(format!("{name}: {found:?}"));
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
    // A slice from the position of a loop to the next one: its size is 1, but no dimension tells the position.
    let expected = ["lstm_scan.sym.mlir"];
    check("jax", &expected, |program, module| {
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
    // Its bounds are data.
    let expected = ["dynamlic_slice_t2.mlir"];
    let Some(list) = read_json("stablehlo/dynamic/cases.json") else {
        return;
    };
    check("stablehlo/dynamic", &expected, |program, module| {
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
