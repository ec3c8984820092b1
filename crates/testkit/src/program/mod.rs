//! Random programs that verify, over the whole opset, with inputs: what engines are compared on.
//!
//! A program is made of a stream of [`Choices`], so that it can be repeated, made smaller, or driven by a fuzzer. Each value
//! carries what is known of its elements ([`Facts`]), from which follows what a result may differ by.
//!
//! Entry point: [`generate`].

mod client;
mod contraction;
mod control;
mod coverage;
mod draft;
mod elementwise;
mod facts;
mod functions;
mod indexing;
mod linalg;
mod movement;
mod quantized;
mod reduction;
mod sequences;
mod shapes;
mod value;
mod windows;

use std::sync::Arc;

use artifact_dims::{Assignment, Expr, Variable};
use artifact_ir::builder::{BuildError, Builder};
use artifact_ir::literal::Literal;
use artifact_ir::module::{Module, Visibility};
use artifact_ir::types::{Dim, TensorType, Type};

pub use coverage::Coverage;
pub use facts::Facts;
pub use value::{Pattern, array};

use crate::choices::Choices;
use draft::{Draft, Helper, Made, Setting, size_at};
use value::Known;

/// A program, and how to call it.
#[derive(Debug)]
pub struct Case {
    /// The program; the entry is `main`. Open sizes are expressions over variables.
    pub module: Module,
    /// Whether a product and a sum may become one rounding.
    pub contraction: bool,
    /// A small number by which to choose among what should make no difference, such as the target.
    pub variant: usize,
    /// The variables that sizes are named by; none where all are numbers.
    pub variables: Vec<Variable>,
    /// The sizes of each call; one without variables where all sizes are numbers.
    pub bindings: Vec<Assignment>,
    /// What is known of each result.
    pub results: Vec<Facts>,
    arguments: Vec<Argument>,
}

#[derive(Debug)]
struct Argument {
    ty: TensorType,
    pattern: Pattern,
    seed: u64,
}

impl Case {
    /// The arguments of a call with these sizes.
    #[must_use]
    pub fn inputs(&self, binding: &Assignment) -> Vec<Literal> {
        let input = |argument: &Argument| {
            let sizes = argument
                .ty
                .dims
                .iter()
                .map(|dim| size_at(dim, binding).unwrap_or(0));
            let shape: Vec<u64> = sizes.collect();
            let ty = TensorType::of_static(&shape, argument.ty.element.clone());
            array(&Arc::new(ty), argument.pattern, argument.seed)
        };
        self.arguments.iter().map(input).collect()
    }
}

/// Most operations that are drawn for a program; each may take some more to prepare its operands.
const STEPS_MAX: usize = 25;

/// Most arguments of a program, and most results.
const ARGUMENTS_MAX: usize = 4;
const RESULTS_MAX: usize = 4;

/// Most elements of an array: of most programs, and of those that are large enough for several threads.
const SMALL_MAX: u64 = 8192;
const LARGE_MAX: u64 = 1 << 17;

/// Draws a program.
///
/// # Errors
/// When an operation breaks a rule, which is a mistake here or in the builder.
pub fn generate(choices: &Choices) -> Result<Case, BuildError> {
    let mut setting = setting(choices);
    let mut module = Module::new();
    choices.mark();
    if choices.once_in(3) {
        for number in 0..=choices.below(2) {
            let (function, helper) = helper(choices, &setting, number)?;
            module.add_function(function);
            setting.helpers.push(helper);
        }
    }
    let arguments = arguments(choices, &setting);
    let types: Vec<Type> = arguments
        .iter()
        .map(|argument| argument.ty.clone().into())
        .collect();
    let mut builder = Builder::new("main", &types).within(&module);
    let ids = builder.arguments();
    let mut draft = draft(choices, &setting, &mut builder);
    for (id, argument) in ids.into_iter().zip(&arguments) {
        draft.keep(id, argument.pattern.facts(argument.ty.element.storage()));
    }
    for _ in 0..STEPS_MAX {
        choices.mark();
        // The last of so many ends the program, on average.
        if choices.below(if setting.is_large { 5 } else { 12 }) == 0 {
            break;
        }
        step(&mut draft)?;
    }
    let results = results(&draft);
    let variant = choices.below(4);
    let returned: Vec<_> = results.iter().map(|known| known.id).collect();
    let function = builder.finish(&returned)?;
    module.add_function(function);
    Ok(Case {
        module,
        contraction: setting.contraction,
        variant,
        variables: setting.variables,
        bindings: setting.bindings,
        results: results.iter().map(|known| known.facts).collect(),
        arguments,
    })
}

fn setting(choices: &Choices) -> Setting {
    let contraction = choices.flip();
    let is_large = choices.once_in(12);
    let names: &[&str] = match choices.weighted(&[(5, 0), (2, 1), (1, 2)]) {
        0 => &[],
        1 => &["b"],
        _ => &["b", "n"],
    };
    let variables: Vec<Variable> = names.iter().filter_map(|name| Variable::new(name).ok()).collect();
    let calls = if variables.is_empty() {
        1
    } else {
        2 + choices.below(2)
    };
    let binding = |_| {
        let size = |variable: &Variable| (variable.clone(), *choices.pick(&[2, 3, 1, 7, 16, 33, 65, 0]));
        variables.iter().map(size).collect()
    };
    Setting {
        elements_max: if is_large { LARGE_MAX } else { SMALL_MAX },
        is_large,
        contraction,
        bindings: (0..calls).map(binding).collect(),
        variables,
        helpers: Vec::new(),
    }
}

fn draft<'d, 'm>(choices: &'d Choices, setting: &'d Setting, builder: &'d mut Builder<'m>) -> Draft<'d, 'm> {
    Draft {
        choices,
        setting,
        builder,
        values: Vec::new(),
        depth: 0,
    }
}

fn arguments(choices: &Choices, setting: &Setting) -> Vec<Argument> {
    let argument = || {
        let element = shapes::element(choices);
        let shape = shapes::shape(choices, setting, 4);
        let mut ty = TensorType::of_static(&shape, element);
        for at in 0..shape.len() {
            if setting.is_symbolic() && choices.flip() {
                let mut open = ty.clone();
                open.dims[at] = Dim::Symbolic(Expr::variable(choices.pick(&setting.variables).clone()));
                if setting
                    .count(&open)
                    .is_some_and(|count| count <= setting.elements_max / 2)
                {
                    ty = open;
                }
            }
        }
        Argument {
            ty,
            pattern: Pattern::draw(choices),
            seed: choices.seed(),
        }
    };
    let mut arguments = Vec::new();
    for number in 0..ARGUMENTS_MAX {
        choices.mark();
        if number > 0 && choices.below(3) == 0 {
            break;
        }
        arguments.push(argument());
    }
    arguments
}

/// A function of its own, which takes and returns bits that are the same everywhere.
fn helper(
    choices: &Choices,
    setting: &Setting,
    number: usize,
) -> Made<(artifact_ir::module::Function, Helper)> {
    let argument = |_| TensorType::of_static(&shapes::shape(choices, setting, 2), shapes::element(choices));
    let arguments: Vec<TensorType> = (0..=choices.below(2)).map(argument).collect();
    let types: Vec<Type> = arguments.iter().map(|ty| ty.clone().into()).collect();
    let name = format!("helper{number}");
    let mut builder = Builder::new(name.as_str(), &types);
    let ids = builder.arguments();
    let mut draft = draft(choices, setting, &mut builder);
    for id in ids {
        draft.keep(id, control::EXACT);
    }
    for _ in 0..choices.below(4) {
        step(&mut draft)?;
    }
    let exact = |known: &Known| known.facts.is_exact() && known.ty.is_static();
    let returned = draft.find(exact).unwrap_or_else(|| draft.values[0].clone());
    let mut function = builder.finish(&[returned.id])?;
    function.visibility = Visibility::Private;
    let helper = Helper {
        name,
        arguments: arguments.into_iter().map(Arc::new).collect(),
        result: returned.ty,
    };
    Ok((function, helper))
}

/// The last value, and some others.
fn results(draft: &Draft<'_, '_>) -> Vec<Known> {
    let mut results: Vec<Known> = draft.values.last().cloned().into_iter().collect();
    for _ in 1..RESULTS_MAX {
        draft.choices.mark();
        if draft.choices.flip() {
            results.extend(draft.find(|_| true));
        }
    }
    results
}

type Step = fn(&mut Draft<'_, '_>) -> Made<()>;

/// One operation, and what it needs.
fn step(draft: &mut Draft<'_, '_>) -> Made<()> {
    const STEPS: &[(usize, Step)] = &[
        (16, elementwise::binary),
        (10, elementwise::unary),
        (8, functions::transcendental),
        (3, functions::binary_function),
        (6, elementwise::compare),
        (6, elementwise::select),
        (3, elementwise::clamp),
        (8, elementwise::convert),
        (3, elementwise::bitcast),
        (3, elementwise::complex),
        (2, elementwise::reduce_precision),
        (8, movement::broadcast),
        (7, movement::reshape),
        (7, movement::transpose),
        (4, movement::reverse),
        (6, movement::slice),
        (5, movement::dynamic_slice),
        (5, movement::dynamic_update_slice),
        (7, movement::pad),
        (6, movement::concatenate),
        (2, movement::dimension_size),
        (6, movement::creation),
        (10, reduction::reduce),
        (5, windows::reduce_window),
        (3, windows::select_and_scatter),
        (6, reduction::sort),
        (2, reduction::map),
        (7, indexing::gather),
        (7, indexing::scatter),
        (9, contraction::dot_general),
        (2, contraction::legacy_dot),
        (6, contraction::convolution),
        (2, linalg::cholesky),
        (2, linalg::triangular_solve),
        (3, linalg::fft),
        (3, linalg::batch_norm),
        (2, linalg::random_bits),
        (3, control::branches),
        (3, control::while_loop),
        (2, control::call),
        (2, control::tuple),
        (2, control::barrier),
        (5, client::function),
        (2, client::function_of_two),
        (1, client::classify),
        (1, client::constant),
        (2, sequences::top_k),
        (1, sequences::scan),
        (1, sequences::ragged_dot),
        (1, quantized::quantize),
        (4, client::broadcasting),
        (2, client::broadcasting_function),
    ];
    draft.choices.weighted(STEPS)(draft)
}

#[cfg(test)]
mod tests {
    use artifact_ir::verify::verify;

    use super::*;

    #[test]
    fn programs_verify_and_have_every_operation() {
        let mut coverage = Coverage::default();
        for seed in 0..4000 {
            let case =
                generate(&Choices::of_seed(seed)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let findings = verify(&case.module);
            assert!(findings.is_empty(), "seed {seed}: {findings:?}");
            coverage.add(&case.module);
        }
        assert_eq!(coverage.missing(), [""; 0]);
    }

    #[test]
    fn the_simplest_program_returns_its_argument() {
        let case = generate(&Choices::of_taken(&[])).unwrap();
        assert_eq!((case.results.len(), case.bindings.len()), (1, 1));
        assert_eq!(case.inputs(&case.bindings[0]).len(), 1);
    }
}
