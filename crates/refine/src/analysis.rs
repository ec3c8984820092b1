//! Abstract interpretation: runs every function on what is known of its arguments, once for each way in which it is called.

use std::collections::{BTreeMap, HashMap};

use artifact_core::entity::EntityId as _;
use artifact_core::limit::Limit;
use artifact_dims::{Expr, Scope, Variable};
use artifact_ir::attribute::SymbolRef;
use artifact_ir::attribute::sdy::TensorSharding;
use artifact_ir::inference::{RegionTypes, manual_parts};
use artifact_ir::module::{Body, Function, FunctionId, Module, OpId, Operation, RegionId, ValueId};
use artifact_ir::op::{Control, ManualComputation, Op, Sharding, Testing};
use artifact_ir::types::Type;

use crate::arithmetic::{Arithmetic, Obligation};
use crate::assertion::{self, Assertion};
use crate::error::{RefineError, RefineProblem};
use crate::fact::Fact;
use crate::known::{Element, is_followed};
use crate::requirement::Requirement;
use crate::result;
use crate::types::{Scale, join, meet, scaled};

/// Operations that are examined, those of functions that are called in several ways and of loops several times.
const WORK: Limit = Limit::new("the work of refinement", 4_000_000, "operations");
/// Functions, each for every way in which it is called.
const INSTANCES: Limit = Limit::new("the functions of a refined program", 1 << 14, "functions");
/// Tensors with more elements are not positions.
const ANONYMOUS_MAX: usize = 8;
/// Calls and regions inside each other.
const NESTING: Limit = Limit::new("nesting of calls and regions", 512, "levels");

/// A function as it is called with some arguments.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) function: FunctionId,
    /// What is known of each value of the body.
    pub(crate) facts: Vec<Fact>,
    /// The instance that each symbol of an operation stands for, in the order of the operation's symbols.
    pub(crate) callees: BTreeMap<OpId, Vec<usize>>,
    /// What its operations depend on.
    pub(crate) notes: BTreeMap<OpId, Notes>,
    pub(crate) results: Vec<Fact>,
}

/// What an operation depends on.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) obligations: Vec<Obligation>,
    /// Sizes that it needs to be equal.
    pub(crate) requirements: Vec<Requirement>,
    /// The assertion that it makes, unless it always holds.
    pub(crate) assertion: Option<Assertion>,
    /// Whether it is an assertion that always holds.
    pub(crate) discharged: bool,
}

/// A body that is being examined.
struct Frame<'m> {
    body: &'m Body,
    instance: Instance,
}

/// Instances by function and arguments.
pub(crate) struct Analysis<'m, 's> {
    module: &'m Module,
    arithmetic: Arithmetic<'s>,
    pub(crate) instances: Vec<Instance>,
    by_call: HashMap<(FunctionId, Vec<Fact>), usize>,
    work: u64,
    depth: u64,
    /// Numbers of which nothing is known, so far.
    anonymous: u64,
}

impl<'m, 's> Analysis<'m, 's> {
    pub(crate) fn new(module: &'m Module, scope: &'s Scope) -> Self {
        Self {
            module,
            arithmetic: Arithmetic::new(scope),
            instances: Vec::new(),
            by_call: HashMap::new(),
            work: 0,
            depth: 0,
            anonymous: 0,
        }
    }

    /// Examines a function as it is called with these arguments, unless that was done before.
    pub(crate) fn instance(&mut self, id: FunctionId, arguments: Vec<Fact>) -> Result<usize, RefineError> {
        let key = (id, arguments);
        if let Some(known) = self.by_call.get(&key) {
            return Ok(*known);
        }
        INSTANCES.check(self.instances.len() as u64 + 1)?;
        let function = &self.module.functions[id];
        let instance = match &function.body {
            Some(body) => self.enter(function, id, body, &key.1)?,
            None => declaration(function, id),
        };
        self.instances.push(instance);
        let index = self.instances.len() - 1;
        self.by_call.insert(key, index);
        Ok(index)
    }

    /// The function as it is declared.
    pub(crate) fn as_declared(&mut self, id: FunctionId) -> Result<usize, RefineError> {
        let parameters = &self.module.functions[id].arguments;
        let arguments = parameters
            .iter()
            .map(|parameter| Fact::of_type(parameter.ty.clone()));
        self.instance(id, arguments.collect())
    }

    fn enter(
        &mut self,
        function: &Function,
        id: FunctionId,
        body: &'m Body,
        arguments: &[Fact],
    ) -> Result<Instance, RefineError> {
        let facts = body
            .values
            .iter()
            .map(|(_, value)| Fact::of_type(value.ty.clone()));
        let mut frame = Frame {
            body,
            instance: Instance {
                function: id,
                facts: facts.collect(),
                callees: BTreeMap::new(),
                notes: BTreeMap::new(),
                results: Vec::new(),
            },
        };
        let returned = self
            .region(&mut frame, body.root, Some(arguments))
            .map_err(|error| error.at(function.source))?;
        let mut instance = frame.instance;
        for (parameter, mut result) in function.results.iter().zip(returned) {
            result.known = result
                .known
                .filter(|known| !known.iter().any(Element::is_anonymous));
            result.ty = meet(&parameter.ty, &result.ty)
                .map_err(|reason| RefineError::operation("func.func", reason).at(function.source))?;
            instance.results.push(result);
        }
        Ok(instance)
    }

    /// The fact with an anonymous number for each integer of a small tensor that is not known: two that are computed from
    /// one may still be known to differ by a number.
    fn followed(&mut self, mut fact: Fact) -> Fact {
        let count = fact
            .tensor()
            .filter(|ty| ty.element.storage().is_integer())
            .and_then(is_followed);
        let Some(count) = count.filter(|count| *count <= ANONYMOUS_MAX) else {
            return fact;
        };
        let mut next = || {
            self.anonymous += 1;
            Element::Int(Expr::variable(Variable::anonymous(self.anonymous)))
        };
        fact.known = match fact.known {
            None => Some((0..count).map(|_| next()).collect()),
            Some(known) if known.iter().any(Element::is_involved) => {
                let each = |element: &Element| {
                    if element.is_involved() {
                        next()
                    } else {
                        element.clone()
                    }
                };
                Some(known.iter().map(each).collect())
            }
            known => known,
        };
        fact
    }

    /// Examines a region; what its terminator returns comes back. Without `arguments` those of its block are as declared.
    fn region(
        &mut self,
        frame: &mut Frame<'m>,
        region: RegionId,
        arguments: Option<&[Fact]>,
    ) -> Result<Vec<Fact>, RefineError> {
        NESTING.check(self.depth + 1)?;
        let body = frame.body;
        let Some(block) = body.single_block(region).map(|block| &body.blocks[block]) else {
            return Ok(Vec::new());
        };
        for (index, id) in block.arguments.iter().enumerate() {
            let declared = body.ty(*id);
            let fact = match arguments.and_then(|arguments| arguments.get(index)) {
                Some(fact) => Fact {
                    ty: meet(declared, &fact.ty).map_err(|reason| {
                        RefineError::new(RefineProblem::Argument(format!("argument {index}: {reason}")))
                    })?,
                    known: fact.known.clone(),
                },
                None => Fact::of_type(declared.clone()),
            };
            frame.instance.facts[id.index()] = self.followed(fact);
        }
        self.depth += 1;
        for id in &block.ops {
            self.operation(frame, *id)?;
        }
        self.depth -= 1;
        let terminator = block.ops.last().map(|op| &body.ops[*op]);
        Ok(terminator.map(|op| frame.facts(&op.operands)).unwrap_or_default())
    }

    fn operation(&mut self, frame: &mut Frame<'m>, id: OpId) -> Result<(), RefineError> {
        self.work += 1;
        WORK.check(self.work)?;
        let op = &frame.body.ops[id];
        let results = self.results(frame, id, op).map_err(|error| error.at(op.source))?;
        let mut notes = Notes {
            obligations: self.arithmetic.take_obligations(),
            requirements: self.arithmetic.take_requirements(),
            ..Notes::default()
        };
        if let Op::Control(Control::CustomCall(call)) = &op.op
            && call.call_target_name.as_str() == Some(assertion::TARGET)
        {
            let asserted = assertion::examine(op, &frame.facts(&op.operands));
            notes.assertion = asserted.map_err(|error| error.at(op.source))?;
            notes.discharged = notes.assertion.is_none();
        }
        frame.instance.notes.insert(id, notes);
        for (value, fact) in op.results.iter().zip(results) {
            frame.instance.facts[value.index()] = self.followed(fact);
        }
        Ok(())
    }

    /// What is known of the results of an operation.
    fn results(
        &mut self,
        frame: &mut Frame<'m>,
        id: OpId,
        op: &'m Operation,
    ) -> Result<Vec<Fact>, RefineError> {
        let operands = frame.facts(&op.operands);
        match &op.op {
            Op::Control(Control::Call(call)) => return self.call(frame, id, &call.callee, operands),
            Op::Control(Control::Composite(composite)) => {
                return self.call(frame, id, &composite.decomposition, operands);
            }
            Op::Control(Control::While) => return self.repeated(frame, op, operands),
            Op::Sharding(Sharding::ManualComputation(manual)) => {
                return self.manual(frame, op, manual, &operands);
            }
            Op::Sharding(Sharding::NamedComputation(_)) => {
                let declared = frame.types(&op.results);
                return self.entered(frame, op, &operands, &operands, |_| Ok(declared));
            }
            _ => {}
        }
        self.symbols(frame, id, op)?;
        let mut regions = Vec::new();
        let mut returned: Vec<Vec<Fact>> = Vec::new();
        for region in &op.regions {
            let returns = self.region(frame, *region, None)?;
            regions.push(RegionTypes {
                arguments: frame.argument_types(*region),
                returns: returns.iter().map(|fact| fact.ty.clone()).collect(),
            });
            returned.push(returns);
        }
        if matches!(op.op, Op::Control(Control::If | Control::Case)) {
            return Ok(self.chosen(&operands, returned));
        }
        let declared = frame.types(&op.results);
        result::facts(
            op,
            &operands,
            &declared,
            &regions,
            self.module,
            &mut self.arithmetic,
        )
    }

    /// A body that is entered once, with `arguments`. `results` says what it knows of the results from what is returned.
    fn entered(
        &mut self,
        frame: &mut Frame<'m>,
        op: &'m Operation,
        operands: &[Fact],
        arguments: &[Fact],
        results: impl FnOnce(&[Type]) -> Result<Vec<Type>, RefineError>,
    ) -> Result<Vec<Fact>, RefineError> {
        let mut regions = Vec::new();
        for region in &op.regions {
            let returns = self.region(frame, *region, Some(arguments))?;
            regions.push(RegionTypes {
                arguments: frame.argument_types(*region),
                returns: returns.into_iter().map(|fact| fact.ty).collect(),
            });
        }
        let returns = regions.first().map_or(&[][..], |region| &region.returns);
        let declared = results(returns)?;
        result::facts(
            op,
            operands,
            &declared,
            &regions,
            self.module,
            &mut self.arithmetic,
        )
    }

    /// A body that sees a part of each operand, and returns a part of each result.
    fn manual(
        &mut self,
        frame: &mut Frame<'m>,
        op: &'m Operation,
        manual: &ManualComputation,
        operands: &[Fact],
    ) -> Result<Vec<Fact>, RefineError> {
        let module = self.module;
        let scaled = |ty: &Type, sharding: &TensorSharding, scale: Scale| {
            scaled(
                ty,
                &manual_parts(manual, sharding, module).unwrap_or_default(),
                scale,
            )
            .map_err(|reason| RefineError::operation("sdy.manual_computation", reason))
        };
        let arguments = operands
            .iter()
            .zip(&manual.in_shardings.0)
            .map(|(fact, sharding)| Ok(Fact::of_type(scaled(&fact.ty, sharding, Scale::Part)?)))
            .collect::<Result<Vec<Fact>, RefineError>>()?;
        let declared = frame.types(&op.results);
        self.entered(frame, op, operands, &arguments, |returns| {
            let results = declared.iter().zip(returns).zip(&manual.out_shardings.0);
            results
                .map(|((declared, returned), sharding)| {
                    meet(declared, &scaled(returned, sharding, Scale::Whole)?)
                        .map_err(|reason| RefineError::operation("sdy.manual_computation", reason))
                })
                .collect()
        })
    }

    fn call(
        &mut self,
        frame: &mut Frame<'m>,
        id: OpId,
        callee: &SymbolRef,
        arguments: Vec<Fact>,
    ) -> Result<Vec<Fact>, RefineError> {
        let missing =
            || RefineError::operation("func.call", format!("there is no function @{}", callee.root));
        let function = self.module.function(&callee.root).ok_or_else(missing)?;
        // An anonymous number is one of this body; to the callee it is as good as unknown.
        let known = |mut fact: Fact| {
            fact.known = fact
                .known
                .filter(|known| !known.iter().any(Element::is_anonymous));
            fact
        };
        let arguments = arguments.into_iter().map(known).collect();
        let instance = self.instance(function, arguments)?;
        frame.instance.callees.insert(id, vec![instance]);
        Ok(self.instances[instance].results.clone())
    }

    /// Functions that an operation names and calls in its own way are kept as they are declared.
    fn symbols(&mut self, frame: &mut Frame<'m>, id: OpId, op: &Operation) -> Result<(), RefineError> {
        let named: Vec<&SymbolRef> = match &op.op {
            Op::Control(Control::CustomCall(call)) => call.called_computations.iter().collect(),
            Op::Testing(Testing::RunParallel(run)) => {
                let programs = run.programs.iter().flatten();
                programs.chain(run.infeed.iter().flatten()).collect()
            }
            _ => return Ok(()),
        };
        let mut callees = Vec::new();
        for symbol in named {
            if let Some(function) = self.module.function(&symbol.root) {
                callees.push(self.as_declared(function)?);
            }
        }
        frame.instance.callees.insert(id, callees);
        Ok(())
    }

    /// The results of the branch that is taken, or what all branches have in common.
    fn chosen(&mut self, operands: &[Fact], returned: Vec<Vec<Fact>>) -> Vec<Fact> {
        let decider = &mut self.arithmetic.decider;
        let taken = operands.first().and_then(Fact::branch).map(|branch| {
            // Out of range means the last one (spec, "case").
            usize::try_from(branch)
                .unwrap_or(usize::MAX)
                .min(returned.len().saturating_sub(1))
        });
        let mut branches = returned.into_iter();
        if let Some(taken) = taken {
            return branches.nth(taken).unwrap_or_default();
        }
        let mut common = branches.next().unwrap_or_default();
        for branch in branches {
            for (fact, other) in common.iter_mut().zip(&branch) {
                *fact = join(fact, other, decider);
            }
        }
        common
    }

    /// A loop: what is known of a carried value must hold in each iteration. What the body does not keep is given up until
    /// it keeps the rest.
    fn repeated(
        &mut self,
        frame: &mut Frame<'m>,
        op: &'m Operation,
        operands: Vec<Fact>,
    ) -> Result<Vec<Fact>, RefineError> {
        let mut carried = operands;
        loop {
            match self.iteration(frame, op, &carried) {
                Ok(returned) => {
                    let decider = &mut self.arithmetic.decider;
                    let kept: Vec<Fact> = carried
                        .iter()
                        .zip(&returned)
                        .map(|(before, after)| join(before, after, decider))
                        .collect();
                    if kept == carried {
                        return Ok(carried);
                    }
                    carried = kept;
                }
                // What holds for the first iteration may be wrong for others: the body may only be judged by what holds
                // for all. The declared types do.
                Err(error) => {
                    self.arithmetic.take_obligations();
                    self.arithmetic.take_requirements();
                    let declared: Vec<Fact> = op
                        .results
                        .iter()
                        .map(|value| Fact::of_type(frame.body.ty(*value).clone()))
                        .collect();
                    if declared == carried {
                        return Err(error);
                    }
                    carried = declared;
                }
            }
        }
    }

    fn iteration(
        &mut self,
        frame: &mut Frame<'m>,
        op: &Operation,
        carried: &[Fact],
    ) -> Result<Vec<Fact>, RefineError> {
        let depth = self.depth;
        let mut returned = Ok(Vec::new());
        for region in &op.regions {
            returned = self.region(frame, *region, Some(carried));
            if returned.is_err() {
                self.depth = depth;
                break;
            }
        }
        returned
    }
}

impl Instance {
    /// What is known of a value of its body.
    pub(crate) fn fact(&self, value: ValueId) -> &Fact {
        &self.facts[value.index()]
    }
}

impl Frame<'_> {
    fn facts(&self, values: &[ValueId]) -> Vec<Fact> {
        let facts = &self.instance.facts;
        values.iter().map(|value| facts[value.index()].clone()).collect()
    }

    /// The types of values as the program declares them.
    fn types(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|value| self.body.ty(*value).clone()).collect()
    }

    fn argument_types(&self, region: RegionId) -> Vec<artifact_ir::types::Type> {
        let block = self.body.single_block(region);
        let arguments = block.map(|block| self.body.blocks[block].arguments.as_slice());
        let types = arguments.unwrap_or_default().iter();
        types
            .map(|value| self.instance.facts[value.index()].ty.clone())
            .collect()
    }
}

/// A function without a body: nothing more is known than what it declares.
fn declaration(function: &Function, id: FunctionId) -> Instance {
    let results = function
        .results
        .iter()
        .map(|result| Fact::of_type(result.ty.clone()));
    Instance {
        function: id,
        facts: Vec::new(),
        callees: BTreeMap::new(),
        notes: BTreeMap::new(),
        results: results.collect(),
    }
}
