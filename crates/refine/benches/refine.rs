//! What refinement takes: the symbolic programs of the corpus, and programs of more and more operations.
//!
//! `ARTIFACT_CORPUS_DIR=... cargo bench -p artifact-refine --bench refine`. Programs are read into memory first; shown is the
//! middle of several runs. Sizes of arguments are variables of their own.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops where a program is not as it should be"
)]

use std::fmt::Write as _;
use std::hint::black_box;

use artifact_dims::{Expr, Scope, Variable};
use artifact_ir::module::Module;
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_refine::{Fact, refine};
use artifact_stablehlo::parse::parse_module;
use artifact_testkit::corpus::programs;
use artifact_testkit::timing::middle;

const RUNS: usize = 21;

fn main() {
    for program in programs("jax").unwrap_or_default() {
        if program.name.ends_with(".sym.mlir") {
            measure(&program.name, &program.text);
        }
    }
    for count in [1_000, 10_000, 100_000] {
        measure("generated", &generated(count));
    }
}

fn measure(name: &str, text: &str) {
    let module = parse_module(text).into_module().unwrap();
    let entry = module.entry().unwrap();
    let arguments = arguments(&module);
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    let count: usize = bodies.map(|body| body.ops.len()).sum();
    let time = middle(RUNS, || {
        black_box(refine(&module, entry, &arguments, &Scope::default()).unwrap());
    });
    let each = time.as_nanos() as f64 / count as f64;
    println!("{name:<32} {count:>7} operations {time:>10.2?}  {each:>6.0} ns each");
}

/// Arguments with a variable for each size that is not known.
fn arguments(module: &Module) -> Vec<Fact> {
    let mut count = 0;
    let mut open = |dim: &Dim| match dim {
        Dim::Unknown => {
            count += 1;
            Dim::Symbolic(Expr::variable(Variable::new(&format!("d{count}")).unwrap()))
        }
        known => known.clone(),
    };
    let arguments = &module.functions[module.entry().unwrap()].arguments;
    let arguments = arguments.iter().map(|argument| match &argument.ty {
        Type::Tensor(ty) => {
            let dims: Box<[Dim]> = ty.dims.iter().map(&mut open).collect();
            Fact::of_type(TensorType::new(dims, ty.element.clone()).into())
        }
        other => Fact::of_type(other.clone()),
    });
    arguments.collect()
}

/// A program that asks for a size, computes a shape and reshapes to it, again and again.
fn generated(count: usize) -> String {
    let mut text = "func.func @main(%y0: tensor<?x4xf32>) -> tensor<?x4xf32> {\n\
                    %four = stablehlo.constant dense<4> : tensor<1xi32>\n"
        .to_owned();
    for step in 0..count / 5 {
        let next = step + 1;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "%d{step} = stablehlo.get_dimension_size %y{step}, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>\n\
             %r{step} = stablehlo.reshape %d{step} : (tensor<i32>) -> tensor<1xi32>\n\
             %s{step} = stablehlo.concatenate %r{step}, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n\
             %b{step} = stablehlo.dynamic_reshape %y{step}, %s{step} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>\n\
             %y{next} = stablehlo.add %b{step}, %y{step} : tensor<?x4xf32>"
        );
    }
    let last = count / 5;
    let _ = write!(text, "return %y{last} : tensor<?x4xf32>\n}}");
    text
}
