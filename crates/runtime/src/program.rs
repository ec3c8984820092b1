//! A program of a session.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use artifact_dims::Assignment;
use artifact_engine::{
    Argument, ArgumentFact, Buffer, CompileOptions, Engine, EngineError, Executable, ExecuteOptions, Outcome,
    Plan, Program as Compilable, Report, Value,
};
use artifact_export::{Argument as Input, Signature};
use artifact_ir::literal::Literal;
use artifact_ir::types::Type;
use artifact_refine::{Fact, Obligation, RefineError, refine};

use crate::binding::{Binding, Bound};
use crate::definition::Definition;
use crate::error::{BindError, CallError, LoadError};
use crate::variants::{Key, Variants};

/// Bindings of one program that are kept, the ones that were made last.
const BINDINGS_MAX: usize = 16;

/// A program that can be called with any sizes that fit it. Cloning is cheap, and clones share what was compiled.
#[derive(Clone, Debug)]
pub struct Program(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    engine: Arc<dyn Engine>,
    options: Arc<CompileOptions>,
    compilable: Compilable,
    signature: Signature,
    /// The value of the first input, where callers do not give it.
    pub(crate) platform_position: Option<Value>,
    pub(crate) constants: Vec<Value>,
    plan: OnceLock<Result<Plan, EngineError>>,
    obligations: OnceLock<Result<Vec<Obligation>, RefineError>>,
    variants: Variants,
    bindings: Mutex<Vec<Arc<Bound>>>,
}

impl Program {
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        options: Arc<CompileOptions>,
        definition: Definition,
    ) -> Result<Self, LoadError> {
        let Definition {
            module,
            entry,
            signature,
            constants,
            platform_position,
        } = definition;
        let inputs = signature.inputs.iter().map(|input| input.ty.clone());
        // New weights do not make another program: of a constant only the type is said.
        let hoisted = constants
            .iter()
            .map(|constant| Type::Tensor(Arc::clone(constant.ty())));
        let facts = inputs.chain(hoisted).map(ArgumentFact::of_type).collect();
        let compilable = Compilable::new(module, entry, facts, signature.dimensions.clone())?;
        // They are arguments of every call.
        let value = |constant: &Literal| -> Result<Value, LoadError> {
            Ok(engine.to_device(Buffer::of_literal(constant)?.into())?)
        };
        let constants = constants.iter().map(value).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Shared {
            engine,
            options,
            compilable,
            signature,
            platform_position,
            constants,
            plan: OnceLock::new(),
            obligations: OnceLock::new(),
            variants: Variants::default(),
            bindings: Mutex::default(),
        })))
    }

    /// What a caller gives, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        let first = usize::from(self.0.platform_position.is_some());
        self.0.signature.inputs.get(first..).unwrap_or_default()
    }

    /// What comes out, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Input] {
        &self.0.signature.outputs
    }

    /// Names and types of all that goes in and comes out, and what is known of its dimensions.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// What must be known before the program is compiled.
    ///
    /// # Errors
    /// When the engine does not compile the program, whatever is known.
    pub fn plan(&self) -> Result<&Plan, EngineError> {
        self.0.plan()
    }

    /// Checks sizes: `types` are those of the inputs that a caller gives, of static shape, and `given` are values of dimension
    /// variables that no input tells.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(&self, types: &[Type], given: &Assignment) -> Result<Binding, BindError> {
        let position = self.0.platform_position.as_ref().map(Value::ty);
        let all: Vec<Type> = position.into_iter().chain(types.iter().cloned()).collect();
        let sizes = self.0.signature.bind(&all, given).map_err(BindError::Sizes)?;
        self.0.check_obligations(&sizes)?;
        Ok(self.binding(Arc::new(Bound::new(types.to_vec(), sizes))))
    }

    /// Calls it with borrowed inputs and without limits.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call(&self, inputs: &[Value]) -> Result<Outcome, CallError> {
        let mut arguments: Vec<Argument<'_>> = inputs.iter().map(Argument::from).collect();
        let mut results = Vec::new();
        let report = self.run(&mut arguments, &mut results, &ExecuteOptions::default())?;
        Ok(Outcome { results, report })
    }

    /// Calls it. `results` takes the results, and its memory is used for them ([`Executable::execute`]). Sizes are bound when they
    /// come for the first time.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn run(
        &self,
        inputs: &mut [Argument<'_>],
        results: &mut Vec<Value>,
        options: &ExecuteOptions,
    ) -> Result<Report, CallError> {
        let binding = match self.known_binding(inputs) {
            Some(binding) => binding,
            None => self.new_binding(inputs).inspect_err(|_| results.clear())?,
        };
        Ok(binding.run(inputs, results, options)?)
    }

    fn binding(&self, bound: Arc<Bound>) -> Binding {
        Binding {
            program: Arc::clone(&self.0),
            bound,
        }
    }

    fn known_binding(&self, inputs: &[Argument<'_>]) -> Option<Binding> {
        let bindings = self.0.bindings();
        let known = bindings.iter().rev().find(|bound| bound.is_for(inputs));
        known.map(|bound| self.binding(Arc::clone(bound)))
    }

    fn new_binding(&self, inputs: &[Argument<'_>]) -> Result<Binding, CallError> {
        let (want, got) = (self.inputs().len(), inputs.len());
        if want != got {
            let what = format!("the program takes {want} inputs, {got} were given");
            return Err(EngineError::invalid_input(what).into());
        }
        let ty = |(index, input): (usize, &Argument<'_>)| {
            let given_away = || {
                let name = &self.inputs()[index].name;
                EngineError::invalid_input(format!("the input `{name}` was donated to an earlier call"))
            };
            input.value().map(Value::ty).ok_or_else(given_away)
        };
        let types: Result<Vec<Type>, EngineError> = inputs.iter().enumerate().map(ty).collect();
        let binding = self.bind(&types?, &Assignment::default())?;
        let mut bindings = self.0.bindings();
        if bindings.len() >= BINDINGS_MAX {
            bindings.remove(0);
        }
        bindings.push(Arc::clone(&binding.bound));
        Ok(binding)
    }
}

impl Shared {
    fn bindings(&self) -> MutexGuard<'_, Vec<Arc<Bound>>> {
        // The list is whole even where a thread panicked.
        self.bindings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan(&self) -> Result<&Plan, EngineError> {
        let plan = self
            .plan
            .get_or_init(|| self.engine.plan(&self.compilable, &self.options));
        plan.as_ref().map_err(Clone::clone)
    }

    /// What the program needs of its named dimensions holds for these sizes.
    fn check_obligations(&self, sizes: &Assignment) -> Result<(), BindError> {
        if self.signature.dimensions.ranges().next().is_none() {
            return Ok(());
        }
        let obligations = self.obligations.get_or_init(|| {
            let facts = self.compilable.arguments().iter();
            let facts: Vec<Fact> = facts.map(|fact| Fact::of_type(fact.ty.clone())).collect();
            let (module, entry) = (self.compilable.module(), self.compilable.entry());
            refine(module, entry, &facts, &self.signature.dimensions).map(|refined| refined.obligations)
        });
        let obligations = obligations.as_ref().map_err(Clone::clone)?;
        let broken = |one: &Obligation| {
            Some(BindError::Obligation {
                message: one.broken(sizes)?,
                source_offset: one.source,
            })
        };
        obligations.iter().find_map(broken).map_or(Ok(()), Err)
    }

    /// What runs all arguments, constants among them, of these sizes.
    pub(crate) fn executable(
        &self,
        sizes: &Assignment,
        arguments: &[Argument<'_>],
    ) -> Result<Arc<dyn Executable>, EngineError> {
        let plan = self.plan()?;
        // It holds the values that the key needs.
        let compilable = plan.specialized(&self.compilable, sizes, arguments)?;
        let values = plan
            .values
            .iter()
            .filter_map(|residual| compilable.arguments().get(residual.argument)?.value.clone());
        let key = Key {
            sizes: plan.residual_sizes(sizes)?,
            values: values.collect(),
        };
        self.variants.of(key, || {
            let module = self.engine.compile(&compilable, &self.options)?;
            self.engine.load(&module)
        })
    }
}
