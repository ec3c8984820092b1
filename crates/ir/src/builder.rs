//! A checked builder of functions.
//!
//! Each operation is checked as it is added, and its result types are inferred unless they are given. [`Builder::finish`]
//! then checks the function as a whole, so that what it returns is well-formed.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::infer;
use crate::literal::Literal;
use crate::location::LocationId;
use crate::module::{
    BlockId, Body, Definition, Function, Module, NewOperation, OpId, Parameter, Value, ValueId, ValueList,
};
use crate::op::{Constant, Control, Creation, Op, Sharding};
use crate::types::Type;
use crate::verify::context::{OpContext, Results};
use crate::verify::{Findings, OpError, RegionTypes, body, function};

/// Builds one function from its first operation to its last.
#[derive(Debug)]
pub struct Builder<'m> {
    module: Option<&'m Module>,
    function: Function,
    body: Body,
    block: BlockId,
}

/// An operation that cannot be built, or a function that is not well-formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// An operation breaks a rule.
    Op {
        /// Full name of the operation.
        name: String,
        /// The rule.
        error: OpError,
    },
    /// The function as a whole is not well-formed: the first finding.
    Function(Diagnostic),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Op { name, error } => write!(f, "'{name}' op {error}"),
            Self::Function(finding) => write!(f, "{finding}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// A region that is about to be built: types of its block's arguments, and what adds its operations and names what it returns.
pub struct RegionBuilder<'f, 'm> {
    arguments: Vec<Type>,
    build: Box<BuildRegion<'f, 'm>>,
}

type BuildRegion<'f, 'm> = dyn FnOnce(&mut Builder<'m>, &[ValueId]) -> Result<Vec<ValueId>, BuildError> + 'f;

impl<'f, 'm> RegionBuilder<'f, 'm> {
    /// A region whose block has arguments of these types. `build` gets them and returns the terminator's operands.
    pub fn new(
        arguments: Vec<Type>,
        build: impl FnOnce(&mut Builder<'m>, &[ValueId]) -> Result<Vec<ValueId>, BuildError> + 'f,
    ) -> Self {
        Self {
            arguments,
            build: Box::new(build),
        }
    }
}

impl fmt::Debug for RegionBuilder<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegionBuilder")
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

impl<'m> Builder<'m> {
    /// A function with arguments of these types and no operation yet.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, arguments: &[Type]) -> Self {
        let mut function = Function::new(name);
        let mut body = Body::new();
        let block = body.add_block(body.root);
        for ty in arguments {
            function.arguments.push(Parameter::new(ty.clone()));
            body.add_argument(block, ty.clone(), LocationId::UNKNOWN);
        }
        Self {
            module: None,
            function,
            body,
            block,
        }
    }

    /// Checks calls against the functions of `module`, to which the function will be added.
    #[must_use]
    pub const fn within(mut self, module: &'m Module) -> Self {
        self.module = Some(module);
        self
    }

    /// The function's arguments.
    #[must_use]
    pub fn arguments(&self) -> Vec<ValueId> {
        let entry = self.body.entry_block();
        entry
            .map(|block| self.body.blocks[block].arguments.clone())
            .unwrap_or_default()
    }

    /// The type of a value of this function; `None` for one of another.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> Option<&Type> {
        self.body.values.get(value).map(|value| &value.ty)
    }

    /// Adds an operation without regions, and infers the types of its results.
    ///
    /// # Errors
    /// [`BuildError::Op`] when it breaks a rule or its result types do not follow from its operands.
    pub fn op(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> Result<Vec<ValueId>, BuildError> {
        self.add(op.into(), operands, None, Vec::new())
    }

    /// Adds an operation without regions, with results of these types.
    ///
    /// # Errors
    /// [`BuildError::Op`] when it breaks a rule.
    pub fn op_with_types(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        results: &[Type],
    ) -> Result<Vec<ValueId>, BuildError> {
        self.add(op.into(), operands, Some(results), Vec::new())
    }

    /// Adds an operation with regions; the types of its results are inferred unless they are given.
    ///
    /// # Errors
    /// [`BuildError::Op`] when it, or an operation in a region, breaks a rule. The builder must not be used after that.
    pub fn op_with_regions(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        results: Option<&[Type]>,
        regions: Vec<RegionBuilder<'_, 'm>>,
    ) -> Result<Vec<ValueId>, BuildError> {
        self.add(op.into(), operands, results, regions)
    }

    /// Adds a constant.
    ///
    /// # Errors
    /// As [`Builder::op`].
    pub fn constant(&mut self, value: Literal) -> Result<ValueId, BuildError> {
        let results = self.op(Creation::Constant(Constant { value }), &[])?;
        // A constant has one result; the row of the operation says so and was checked.
        results.first().copied().ok_or_else(|| BuildError::Op {
            name: "stablehlo.constant".to_owned(),
            error: OpError::new("has no result"),
        })
    }

    /// Ends the function, which returns these values.
    ///
    /// # Errors
    /// [`BuildError::Function`] when the function is not well-formed.
    pub fn finish(mut self, returns: &[ValueId]) -> Result<Function, BuildError> {
        let ret = Op::from(Control::FuncReturn);
        let types = self.types_of(&ret, returns)?;
        self.function.results = types.into_iter().map(Parameter::new).collect();
        self.body
            .add_op(self.block, NewOperation::new(ret, returns.to_vec()), Vec::new());
        self.function.body = Some(self.body);
        let mut findings = Findings::default();
        function::check(self.module, &self.function, &mut findings);
        match findings.into_vec().into_iter().next() {
            Some(finding) => Err(BuildError::Function(finding)),
            None => Ok(self.function),
        }
    }

    fn add(
        &mut self,
        op: Op,
        operands: &[ValueId],
        results: Option<&[Type]>,
        regions: Vec<RegionBuilder<'_, 'm>>,
    ) -> Result<Vec<ValueId>, BuildError> {
        let operand_types = self.types_of(&op, operands)?;
        let operand_types: Vec<&Type> = operand_types.iter().collect();
        let result_types: Vec<&Type> = results.unwrap_or_default().iter().collect();
        let id = self.body.add_op(
            self.block,
            NewOperation::new(op.clone(), operands.to_vec()),
            Vec::new(),
        );
        let region_types = regions
            .into_iter()
            .map(|region| self.region(id, region))
            .collect::<Result<Vec<_>, _>>()?;
        let constants: Vec<Option<&Literal>> =
            operands.iter().map(|value| self.constant_of(*value)).collect();
        let cx = OpContext {
            operands: &operand_types,
            constants: &constants,
            results: &result_types,
            regions: &region_types,
            module: self.module,
        };
        match types_of_results(&op, &cx, results) {
            Ok(types) => Ok(self.add_results(id, types)),
            Err(error) => {
                // An operation without regions leaves no trace.
                self.body.blocks[self.block].ops.retain(|other| *other != id);
                Err(BuildError::Op {
                    name: op.name().to_owned(),
                    error,
                })
            }
        }
    }

    fn region(&mut self, parent: OpId, region: RegionBuilder<'_, 'm>) -> Result<RegionTypes, BuildError> {
        let id = self.body.add_region(parent);
        let block = self.body.add_block(id);
        let arguments: Vec<ValueId> = region
            .arguments
            .iter()
            .map(|ty| self.body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
            .collect();
        let outer = std::mem::replace(&mut self.block, block);
        let returns = (region.build)(self, &arguments);
        self.block = outer;
        let returns = returns?;
        let ret = match &self.body.ops[parent].op {
            Op::Sharding(_) => Op::from(Sharding::Return),
            _ => Op::from(Control::Return),
        };
        let types = self.types_of(&ret, &returns)?;
        self.body
            .add_op(block, NewOperation::new(ret, returns), Vec::new());
        Ok(RegionTypes {
            arguments: region.arguments,
            returns: types,
        })
    }

    fn add_results(&mut self, op: OpId, types: Vec<Type>) -> Vec<ValueId> {
        let add = |(index, ty): (usize, Type)| {
            let definition = Definition::Result {
                op,
                index: index as u32,
            };
            self.body.values.push(Value { ty, definition })
        };
        let results: ValueList = types.into_iter().enumerate().map(add).collect();
        self.body.ops[op].results.clone_from(&results);
        results.into_vec()
    }

    fn types_of(&self, op: &Op, values: &[ValueId]) -> Result<Vec<Type>, BuildError> {
        let types: Option<Vec<Type>> = values.iter().map(|value| self.ty(*value).cloned()).collect();
        types.ok_or_else(|| BuildError::Op {
            name: op.name().to_owned(),
            error: OpError::new("names a value of another function"),
        })
    }

    fn constant_of(&self, value: ValueId) -> Option<&Literal> {
        body::constant(&self.body, value)
    }
}

/// The result types: those given, when they are right, else the inferred ones.
fn types_of_results(op: &Op, cx: &OpContext<'_>, given: Option<&[Type]>) -> Result<Vec<Type>, OpError> {
    let results = given.map(<[Type]>::len);
    body::check_counts(op, [Some(cx.operands.len()), results, Some(cx.regions.len())])?;
    match given {
        Some(types) => {
            body::check_results(op, cx)?;
            Ok(types.to_vec())
        }
        None => match infer::rules(op, cx)? {
            Results::Inferred(types) => Ok(types),
            Results::Declared if op.spec().is_some_and(|spec| spec.results.max == Some(0)) => Ok(Vec::new()),
            Results::Declared => Err(OpError::new(
                "has result types that do not follow from its operands and must be given",
            )),
        },
    }
}
