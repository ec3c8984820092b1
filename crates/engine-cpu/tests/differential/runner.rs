//! Runs one random program in every way and looks for differences.
//!
//! * The reference evaluator and this engine agree: bit for bit where the program says so, within the bound of the result elsewhere.
//! * One thread and several give the same bits, and so do one compile for all sizes and one for each.
//! * What one refuses the other refuses too, and nobody panics.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use artifact_dims::{Assignment, Range, Scope, ScopeBuilder, Variable};
use artifact_engine::{
    Argument, ArgumentFact, Buffer, CompileOptions, Engine, Executable, ExecuteOptions, Program, Target,
    Value,
};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_reference::ReferenceEngine;
use artifact_ir::float;
use artifact_ir::literal::Literal;
use artifact_ir::types::ElementType;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_testkit::choices::{Choices, shrink};
use artifact_testkit::program::{Case, Facts, generate};

/// The engines that are compared.
pub(crate) struct Runner {
    reference: ReferenceEngine,
    /// Of one thread, and of several.
    engines: [CpuEngine; 2],
}

/// Where two disagree.
#[derive(Debug)]
pub(crate) struct Difference {
    what: String,
    /// The sizes of the call.
    sizes: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sizes.as_str() {
            "" => f.write_str(&self.what),
            sizes => write!(f, "where {sizes}: {}", self.what),
        }
    }
}

/// A program that shows a difference, made as small as could be.
pub(crate) struct Finding {
    pub(crate) text: String,
    pub(crate) difference: Difference,
    inputs: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}inputs: {}", self.difference, self.text, self.inputs)
    }
}

/// Attempts to make a program smaller.
const ATTEMPTS: usize = 3000;

type Results = Result<Vec<Value>, String>;

impl Runner {
    pub(crate) fn new(threads: usize) -> Result<Self, String> {
        let engine = |threads| {
            let settings = Settings {
                threads: Some(threads),
                guard_pages: true,
                ..Settings::default()
            };
            CpuEngine::new(&settings).map_err(|error| error.to_string())
        };
        Ok(Self {
            reference: ReferenceEngine::new().map_err(|error| error.to_string())?,
            engines: [engine(1)?, engine(threads)?],
        })
    }

    /// The first difference of a program, if there is one.
    pub(crate) fn check(&self, case: &Case) -> Result<(), Difference> {
        let everywhere = |what: String| Difference {
            what,
            sizes: String::new(),
        };
        let program = program(case).map_err(everywhere)?;
        let mut options = CompileOptions::for_engine(&self.engines[0]);
        options.contraction = case.contraction;
        options.target = self.target(case.variant);
        let loaded = self.load(&program, options);
        for binding in &case.bindings {
            let at = |what: String| Difference {
                what,
                sizes: binding.to_string(),
            };
            let inputs = case.inputs(binding);
            loaded.check(binding, &inputs, &case.results).map_err(at)?;
        }
        Ok(())
    }

    /// One of the targets that this machine runs, its own first.
    fn target(&self, variant: usize) -> Target {
        let supported = self.engines[0].targets().into_iter().rev();
        let targets: Vec<Target> = supported
            .filter(|one| one.missing.is_none())
            .map(|one| one.target)
            .collect();
        let own = || self.engines[0].target();
        targets
            .get(variant % targets.len().max(1))
            .cloned()
            .unwrap_or_else(own)
    }

    /// A program in every engine.
    pub(crate) fn load<'a>(&'a self, program: &'a Program, options: CompileOptions) -> Loaded<'a> {
        let portable = CompileOptions::for_engine(&self.reference);
        Loaded {
            reference: load(&self.reference, program, &portable),
            engines: self
                .engines
                .each_ref()
                .map(|engine| load(engine, program, &options)),
            runner: self,
            program,
            options,
        }
    }

    /// Draws a program; what comes back is a smaller one that shows the same where it shows a difference.
    pub(crate) fn find(&self, choices: Choices) -> (Option<Case>, Option<Finding>) {
        let outcome = self.attempt(&choices);
        let (taken, marks) = choices.into_taken();
        match outcome {
            Ok((case, Ok(()))) => (Some(case), None),
            _ => {
                let mut fails = |taken: &[u64]| {
                    let choices = Choices::of_taken(taken);
                    let fails = !matches!(self.attempt(&choices), Ok((_, Ok(()))));
                    fails.then(|| choices.into_taken().1)
                };
                let smallest = shrink(taken, marks, ATTEMPTS, &mut fails);
                (None, self.finding(&Choices::of_taken(&smallest)))
            }
        }
    }

    fn attempt(&self, choices: &Choices) -> Result<(Case, Result<(), Difference>), String> {
        let made = catch_unwind(AssertUnwindSafe(|| generate(choices)));
        let case = made
            .map_err(|_| "the generator panicked".to_owned())?
            .map_err(|error| error.to_string())?;
        let outcome = self.check(&case);
        Ok((case, outcome))
    }

    fn finding(&self, choices: &Choices) -> Option<Finding> {
        let nothing = |what: String| Finding {
            text: String::new(),
            difference: Difference {
                what,
                sizes: String::new(),
            },
            inputs: String::new(),
        };
        match self.attempt(choices) {
            Ok((_, Ok(()))) => Some(nothing(
                "a difference went away when it was looked for again".to_owned(),
            )),
            Err(error) => Some(nothing(error)),
            Ok((case, Err(difference))) => Some(Finding {
                text: print_module(&case.module, &PrintOptions::default()),
                difference,
                inputs: shown_inputs(&case),
            }),
        }
    }
}

/// A program in every engine, or why one refuses it.
pub(crate) struct Loaded<'a> {
    reference: Result<Arc<dyn Executable>, String>,
    /// Of one thread, and of several.
    engines: [Result<Arc<dyn Executable>, String>; 2],
    runner: &'a Runner,
    program: &'a Program,
    options: CompileOptions,
}

impl Loaded<'_> {
    /// Refuses a call of which results differ by more than is allowed.
    pub(crate) fn check(
        &self,
        binding: &Assignment,
        inputs: &[Literal],
        allowed: &[Facts],
    ) -> Result<(), String> {
        let inputs = values(inputs)?;
        let outcome = |loaded: &Result<Arc<dyn Executable>, String>| match loaded {
            Ok(loaded) => run(&**loaded, &inputs),
            Err(error) => Err(error.clone()),
        };
        let reference = outcome(&self.reference);
        no_panic("the reference evaluator", &reference)?;
        let [one, several] = self.engines.each_ref().map(outcome);
        no_panic("the engine", &one)?;
        no_panic("the engine with threads", &several)?;
        same("one thread", &one, "several", &several)?;
        if let (Ok(loaded), Ok(several)) = (&self.engines[1], several) {
            let again = run_again(&**loaded, &inputs, &several);
            no_panic("the engine in used memory", &again)?;
            same("a call", &Ok(several), "the same call in used memory", &again)?;
        }
        if binding.iter().next().is_some() {
            let sized = self
                .program
                .with_sizes(binding)
                .map_err(|error| error.to_string())?;
            let sized = outcome(&load(&self.runner.engines[0], &sized, &self.options));
            no_panic("the engine with known sizes", &sized)?;
            same("open sizes", &one, "known sizes", &sized)?;
        }
        match (&reference, &one) {
            (Err(_), Err(_)) => Ok(()),
            (Err(error), Ok(_)) => Err(format!("only the reference refuses: {error}")),
            (Ok(_), Err(error)) => Err(format!("only the engine refuses: {error}")),
            (Ok(want), Ok(got)) => agree(want, got, allowed),
        }
    }
}

fn shown_inputs(case: &Case) -> String {
    let shown = |literal: &Literal| {
        let bytes = literal.as_dense().map(|bytes| bytes.to_vec()).unwrap_or_default();
        let start = &bytes[..bytes.len().min(24)];
        format!("{} {start:02x?}", literal.ty())
    };
    let calls = case.bindings.iter().map(|binding| {
        let inputs: Vec<String> = case.inputs(binding).iter().map(shown).collect();
        format!(
            "[{binding}] contraction {} {}",
            case.contraction,
            inputs.join(", ")
        )
    });
    calls.collect::<Vec<_>>().join("; ")
}

/// The program as its text says it, with what is known of the sizes.
fn program(case: &Case) -> Result<Program, String> {
    let text = print_module(&case.module, &PrintOptions::default());
    let module = parse_module(&text)
        .into_module()
        .map_err(|findings| format!("not read again: {findings:?}"))?;
    if let Some(finding) = verify(&module).into_iter().next() {
        return Err(format!("does not verify when it is read again: {finding}"));
    }
    let named = |id| {
        case.module.functions[id]
            .arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect()
    };
    let types: Vec<_> = case.module.entry().map(named).unwrap_or_default();
    let facts = types.into_iter().map(ArgumentFact::of_type).collect();
    let entry = module.entry().ok_or("there is no entry")?;
    let bounded =
        |scope: ScopeBuilder, variable: &Variable| scope.range(variable.clone(), Range::at_least(0));
    let scope = case.variables.iter().fold(Scope::builder(), bounded);
    let scope = scope.build().map_err(|error| error.to_string())?;
    Program::new(Arc::new(module), entry, facts, scope).map_err(|error| error.to_string())
}

fn values(literals: &[Literal]) -> Result<Vec<Value>, String> {
    let value = |literal: &Literal| {
        let bytes = literal.as_dense().ok_or("an input is no list of elements")?;
        let buffer = Buffer::copy_of(Arc::clone(literal.ty()), bytes);
        buffer.map(Value::Array).map_err(|error| error.to_string())
    };
    literals.iter().map(value).collect()
}

/// How the text of a panic begins.
const PANIC: &str = "panic: ";

fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("{PANIC}{}", text.unwrap_or_default()))
    })
}

fn load(
    engine: &dyn Engine,
    program: &Program,
    options: &CompileOptions,
) -> Result<Arc<dyn Executable>, String> {
    guarded(|| {
        let plan = engine.plan(program, options).map_err(|error| error.to_string())?;
        if !plan.is_complete() {
            return Err(format!("asks for {plan:?}"));
        }
        let module = engine
            .compile(program, options)
            .map_err(|error| error.to_string())?;
        engine.load(&module).map_err(|error| error.to_string())
    })
}

fn run(executable: &dyn Executable, inputs: &[Value]) -> Results {
    guarded(|| {
        let mut arguments: Vec<Argument<'_>> = inputs.iter().map(Argument::from).collect();
        let outcome = executable.call(&mut arguments, &ExecuteOptions::default());
        outcome
            .map(|outcome| outcome.results)
            .map_err(|error| error.to_string())
    })
}

/// A call with arguments that are given away, and results in memory that has held these.
fn run_again(executable: &dyn Executable, inputs: &[Value], results: &[Value]) -> Results {
    guarded(|| {
        let own = |value: &Value| match value {
            Value::Array(buffer) => {
                Buffer::copy_of(Arc::clone(buffer.ty()), buffer.bytes()).map(Value::Array)
            }
            other => Ok(other.clone()),
        };
        let results = results.iter().map(own).collect::<Result<Vec<_>, _>>();
        let mut results = results.map_err(|error| error.to_string())?;
        let mut arguments: Vec<Argument<'_>> = inputs.iter().cloned().map(Argument::donate).collect();
        let outcome = executable.run(&mut arguments, &mut results, &ExecuteOptions::default());
        outcome.map(|_| results).map_err(|error| error.to_string())
    })
}

fn no_panic(who: &str, results: &Results) -> Result<(), String> {
    match results {
        Err(error) if error.starts_with(PANIC) => Err(format!("{who}: {error}")),
        _ => Ok(()),
    }
}

/// Refuses results that differ in a bit.
fn same(first: &str, one: &Results, second: &str, other: &Results) -> Result<(), String> {
    match (one, other) {
        (Err(_), Err(_)) => Ok(()),
        (Err(error), Ok(_)) => Err(format!("{first} refuses and {second} does not: {error}")),
        (Ok(_), Err(error)) => Err(format!("{second} refuses and {first} does not: {error}")),
        (Ok(one), Ok(other)) if one == other => Ok(()),
        (Ok(one), Ok(other)) => {
            let exact = vec![Facts::ANY; one.len()];
            let where_ = agree(one, other, &exact)
                .err()
                .unwrap_or_else(|| "NaNs differ".to_owned());
            Err(format!("{first} and {second} differ: {where_}"))
        }
    }
}

fn agree(want: &[Value], got: &[Value], facts: &[Facts]) -> Result<(), String> {
    if want.len() != got.len() || want.len() != facts.len() {
        return Err(format!(
            "{} and {} results, expected {}",
            want.len(),
            got.len(),
            facts.len()
        ));
    }
    for (index, ((want, got), facts)) in want.iter().zip(got).zip(facts).enumerate() {
        let (Some(want), Some(got)) = (want.as_array(), got.as_array()) else {
            return Err(format!("result {index} is no array"));
        };
        agree_in(want, got, facts).map_err(|error| format!("result {index}, {error}"))?;
    }
    Ok(())
}

fn agree_in(want: &Buffer, got: &Buffer, facts: &Facts) -> Result<(), String> {
    if want.ty() != got.ty() {
        return Err(format!("expected a {}, got a {}", want.ty(), got.ty()));
    }
    let part = want.ty().element.storage().part();
    let width = part.bytes();
    let pairs = want
        .bytes()
        .chunks_exact(width)
        .zip(got.bytes().chunks_exact(width));
    for (position, (want, got)) in pairs.enumerate() {
        if want != got && !is_near(part, want, got, facts.error) {
            let number = |bytes: &[u8]| float::decode(part, bits(bytes));
            let (wanted, had) = (number(want), number(got));
            return Err(format!(
                "{part} {position}: expected {wanted:?} {want:02x?}, got {had:?} {got:02x?}, allowed {:e}",
                facts.error
            ));
        }
    }
    Ok(())
}

fn bits(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Whether two floats of different bits may stand for each other: both NaN, or each as far from the exact value as is allowed.
fn is_near(part: ElementType, want: &[u8], got: &[u8], error: f64) -> bool {
    let (Some(want), Some(got)) = (float::decode(part, bits(want)), float::decode(part, bits(got))) else {
        return false;
    };
    want.is_nan() && got.is_nan() || (want - got).abs() <= 2.0 * error && error > 0.0
}
