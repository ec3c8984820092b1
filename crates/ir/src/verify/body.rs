//! The inside of a function: blocks, terminators, visibility of values, and each operation's own rules.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use artifact_core::entity::EntityId as _;

use super::context::{OpContext, OpError, OpResult, RegionTypes, Results, ensure, owned};
use super::sharding::{self, ManualAxesInForce};
use super::{Findings, NESTING, calls, types};
use crate::diagnostic::Diagnostic;
use crate::infer::{self, quoted, types_compatible};
use crate::literal::Literal;
use crate::module::{BlockId, Body, Definition, Function, Module, OpId, Operation, RegionId, ValueId};
use crate::op::{Collective, Control, Count, Creation, Op, Shape, Sharding};
use crate::types::Type;

/// The check of one function's body.
pub(super) struct BodyCheck<'a> {
    module: Option<&'a Module>,
    function: &'a Function,
    body: &'a Body,
    findings: &'a mut Findings,
    /// Which values may be used here: defined earlier in this block or in one around it, up to an isolated region.
    visible: Visible,
    /// Axes on which a body around this place is that of one device.
    manual: ManualAxesInForce,
    /// How often each value is used, for those who ask.
    uses: OnceCell<HashMap<ValueId, usize>>,
    /// Regions that have been entered, so that a body that names one twice does not repeat its work without end.
    entered: HashSet<RegionId>,
    /// Memory for the types of the operands and the results of one operation.
    operand_types: Vec<&'a Type>,
    result_types: Vec<&'a Type>,
}

/// The values that may be used at a place.
struct Visible {
    /// By value id.
    flags: Vec<bool>,
    /// Values in the order in which they became visible, to be hidden again when their block ends.
    stack: Vec<ValueId>,
}

impl Visible {
    fn new(count: usize) -> Self {
        Self {
            flags: vec![false; count],
            stack: Vec::new(),
        }
    }

    fn contains(&self, value: ValueId) -> bool {
        self.flags.get(value.index()).copied().unwrap_or(false)
    }

    fn show(&mut self, value: ValueId) {
        if let Some(flag) = self.flags.get_mut(value.index()) {
            *flag = true;
            self.stack.push(value);
        }
    }

    /// Hides everything shown since there were `count` values.
    fn hide_to(&mut self, count: usize) {
        for value in self.stack.drain(count.min(self.stack.len())..) {
            self.flags[value.index()] = false;
        }
    }

    /// Hides everything, and returns what to show again.
    fn isolate(&mut self) -> Vec<ValueId> {
        let hidden = std::mem::take(&mut self.stack);
        for value in &hidden {
            self.flags[value.index()] = false;
        }
        hidden
    }
}

impl<'a> BodyCheck<'a> {
    pub(super) fn new(
        module: Option<&'a Module>,
        function: &'a Function,
        body: &'a Body,
        findings: &'a mut Findings,
    ) -> Self {
        let visible = Visible::new(body.values.len());
        Self {
            module,
            function,
            body,
            findings,
            visible,
            manual: ManualAxesInForce::default(),
            uses: OnceCell::new(),
            entered: HashSet::new(),
            operand_types: Vec::new(),
            result_types: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        self.region(self.body.root, None, 0);
    }

    fn report(&mut self, operation: &Operation, error: impl std::fmt::Display) {
        self.findings.report(Diagnostic {
            message: format!("'{}' op {error}", operation.op.name()),
            source: operation.source,
            location: operation.location,
        });
    }

    fn report_function(&mut self, message: String) {
        self.findings.report(Diagnostic {
            message: format!("'func.func' op @{} {message}", self.function.name),
            source: self.function.source,
            location: self.function.location,
        });
    }

    /// Checks the blocks of a region of `parent`, or of the function.
    fn region(&mut self, region: RegionId, parent: Option<&'a Operation>, depth: u64) {
        let known = self
            .body
            .regions
            .get(region)
            .filter(|_| self.entered.insert(region));
        let (Some(found), Ok(())) = (known, NESTING.check(depth)) else {
            let message = format!(
                "nests regions more than {} deep, or names one twice",
                NESTING.max()
            );
            match parent {
                Some(parent) => self.report(parent, message),
                None => self.report_function(message),
            }
            return;
        };
        let foreign = parent.is_some_and(|parent| matches!(parent.op, Op::Foreign(_)));
        if !foreign && found.blocks.len() != 1 {
            let message = format!("expects regions of one block, but one has {}", found.blocks.len());
            match parent {
                Some(parent) => self.report(parent, message),
                None => self.report_function(message),
            }
        }
        let hidden = if parent.is_some_and(|parent| parent.op.is_isolated()) {
            self.visible.isolate()
        } else {
            Vec::new()
        };
        let shown = self.visible.stack.len();
        if let Some(parent) = parent {
            self.manual.enter(&parent.op);
        }
        for block in &found.blocks {
            self.block(*block, parent, depth);
            self.visible.hide_to(shown);
        }
        if let Some(parent) = parent {
            self.manual.leave(&parent.op);
        }
        for value in hidden {
            self.visible.show(value);
        }
    }

    fn block(&mut self, block: BlockId, parent: Option<&'a Operation>, depth: u64) {
        let Some(block) = self.body.blocks.get(block) else {
            self.report_function("names a block that is not of its body".to_owned());
            return;
        };
        for argument in &block.arguments {
            if let (Some(parent), Some(value)) = (parent, self.body.values.get(*argument))
                && let Err(error) = types::check(&value.ty)
            {
                self.report(parent, format!("block argument: {error}"));
            }
            self.visible.show(*argument);
        }
        for (index, op) in block.ops.iter().enumerate() {
            if self.findings.is_full() {
                return;
            }
            let Some(operation) = self.body.ops.get(*op) else {
                self.report_function("names an operation that is not of its body".to_owned());
                return;
            };
            self.operation(*op, operation, depth);
            let is_last = index + 1 == block.ops.len();
            let place = check_place(operation, parent, is_last);
            if let Err(error) = place.and_then(|()| self.check_function_end(operation, parent)) {
                self.report(operation, error);
            }
        }
        if block.ops.is_empty() && !parent.is_some_and(|parent| matches!(parent.op, Op::Foreign(_))) {
            let message = "expects each block to end with a terminator, but one is empty";
            match parent {
                Some(parent) => self.report(parent, message),
                None => self.report_function(message.to_owned()),
            }
        }
    }

    /// Checks one operation, then the regions in it, then shows its results.
    fn operation(&mut self, id: OpId, operation: &'a Operation, depth: u64) {
        if let Err(error) = self.rules(id, operation) {
            self.report(operation, error);
        }
        for region in &operation.regions {
            self.region(*region, Some(operation), depth + 1);
        }
        for result in &operation.results {
            self.visible.show(*result);
        }
    }

    fn rules(&mut self, id: OpId, operation: &'a Operation) -> OpResult<()> {
        // Lists that are made for each operation keep their memory.
        let mut operands = std::mem::take(&mut self.operand_types);
        let mut results = std::mem::take(&mut self.result_types);
        let outcome = self.rules_of(id, operation, &mut operands, &mut results);
        (self.operand_types, self.result_types) = (operands, results);
        outcome
    }

    fn rules_of(
        &self,
        id: OpId,
        operation: &'a Operation,
        operands: &mut Vec<&'a Type>,
        results: &mut Vec<&'a Type>,
    ) -> OpResult<()> {
        for (index, operand) in operation.operands.iter().enumerate() {
            ensure!(
                self.visible.contains(*operand),
                "operand #{index} does not dominate this use: it is defined later or in a region that is not around it"
            );
        }
        self.fill(operands, &operation.operands)?;
        self.fill(results, &operation.results)?;
        let (operands, results) = (&*operands, &*results);
        for (index, (result, ty)) in operation.results.iter().zip(results).enumerate() {
            let made_here = self.body.values.get(*result).is_some_and(|value| {
                matches!(value.definition, Definition::Result { op, index: at } if op == id && at as usize == index)
            });
            ensure!(made_here, "result #{index} is a value that something else makes");
            types::check(ty).map_err(|error| OpError::new(format!("result #{index}: {error}")))?;
        }
        check_counts(
            &operation.op,
            [operands.len(), results.len(), operation.regions.len()].map(Some),
        )?;
        let place = sharding::Place {
            module: self.module,
            manual: &self.manual,
            values: sharding::Values {
                function: self.function,
                body: self.body,
                uses: &self.uses,
            },
        };
        sharding::check_operation(operation, operands, results, &place)?;
        if matches!(operation.op, Op::Foreign(_)) {
            return Ok(());
        }
        let mut regions = Vec::with_capacity(operation.regions.len());
        for region in &operation.regions {
            regions.push(self.signature(*region)?);
        }
        if matches!(operation.op, Op::Control(Control::FuncReturn)) {
            self.check_function_results(operands)?;
        }
        self.check_async_body(operation)?;
        let constants = self.constants(operation);
        let cx = OpContext {
            operands,
            constants: &constants,
            results,
            regions: &regions,
            module: self.module,
        };
        check_results(&operation.op, &cx)
    }

    fn types_of(&self, values: &[ValueId]) -> OpResult<Vec<Type>> {
        let mut types = Vec::with_capacity(values.len());
        self.fill(&mut types, values)?;
        Ok(owned(&types))
    }

    /// The types of values, in place of what was in the list.
    fn fill(&self, types: &mut Vec<&'a Type>, values: &[ValueId]) -> OpResult<()> {
        types.clear();
        for value in values {
            match self.body.values.get(*value) {
                Some(value) => types.push(&value.ty),
                None => return Err(OpError::new("names a value that is not of its body")),
            }
        }
        Ok(())
    }

    /// What a region is entered with and returns.
    fn signature(&self, region: RegionId) -> OpResult<RegionTypes> {
        let block = self
            .body
            .regions
            .get(region)
            .and_then(|region| region.blocks.first())
            .and_then(|block| self.body.blocks.get(*block))
            .ok_or_else(|| OpError::new("expects regions that are not empty"))?;
        let terminator = block.ops.last().and_then(|op| self.body.ops.get(*op));
        let Some(terminator) = terminator.filter(|terminator| terminator.op.is_terminator()) else {
            return Err(OpError::new("expects each region to end with a terminator"));
        };
        Ok(RegionTypes {
            arguments: self.types_of(&block.arguments)?,
            returns: self.types_of(&terminator.operands)?,
        })
    }

    /// `stablehlo.return` may end a function too: JAX writes comparators so.
    fn check_function_end(&self, operation: &Operation, parent: Option<&Operation>) -> OpResult<()> {
        match (&operation.op, parent) {
            (Op::Control(Control::Return), None) => {
                let mut operands = Vec::new();
                self.fill(&mut operands, &operation.operands)?;
                self.check_function_results(&operands)
            }
            _ => Ok(()),
        }
    }

    /// What ends a function gives its results.
    fn check_function_results(&self, operands: &[&Type]) -> OpResult<()> {
        let declared: Vec<&Type> = self.function.results.iter().map(|result| &result.ty).collect();
        ensure!(
            operands.len() == declared.len(),
            "has {} operands, but the enclosing function (@{}) returns {}",
            operands.len(),
            self.function.name,
            declared.len()
        );
        ensure!(
            operands == declared,
            "has operands of types {}, but the enclosing function (@{}) returns {}",
            quoted(operands),
            self.function.name,
            quoted(&declared)
        );
        Ok(())
    }

    /// `async_start` holds one operation that can be asynchronous (spec, "async_start").
    fn check_async_body(&self, operation: &Operation) -> OpResult<()> {
        let (Op::Control(Control::AsyncStart), [region]) = (&operation.op, operation.regions.as_slice())
        else {
            return Ok(());
        };
        let block = self
            .body
            .single_block(*region)
            .and_then(|block| self.body.blocks.get(block));
        let ops = block.map_or([].as_slice(), |block| block.ops.as_slice());
        let [only, _] = ops else {
            return Err(OpError::new(
                "region must contain exactly one operation and a return",
            ));
        };
        let allowed = self
            .body
            .ops
            .get(*only)
            .is_some_and(|inner| can_be_asynchronous(&inner.op));
        ensure!(allowed, "region must contain a collective or slice operation");
        Ok(())
    }

    /// The value of each operand that a constant makes, for operations that look at values.
    fn constants(&self, operation: &Operation) -> Vec<Option<&'a Literal>> {
        if !reads_constants(&operation.op) {
            return Vec::new();
        }
        operation
            .operands
            .iter()
            .map(|operand| constant(self.body, *operand))
            .collect()
    }
}

/// The value of a result of a constant.
pub(crate) fn constant(body: &Body, value: ValueId) -> Option<&Literal> {
    let Definition::Result { op, .. } = body.values.get(value)?.definition else {
        return None;
    };
    match &body.ops.get(op)?.op {
        Op::Creation(Creation::Constant(constant)) | Op::Sharding(Sharding::Constant(constant)) => {
            Some(&constant.value)
        }
        _ => None,
    }
}

/// Checks counts against the operation's row; `None` where there is none to check yet.
pub(crate) fn check_counts(op: &Op, [operands, results, regions]: [Option<usize>; 3]) -> OpResult<()> {
    let Some(spec) = op.spec() else {
        return Ok(());
    };
    let allowed = [spec.operands, spec.results, spec.regions];
    let fits = |(allowed, found): (Count, Option<usize>)| found.is_none_or(|found| allowed.allows(found));
    if allowed.into_iter().zip([operands, results, regions]).all(fits) {
        return Ok(());
    }
    for (what, allowed, found) in [
        ("operands", spec.operands, operands),
        ("results", spec.results, results),
        ("regions", spec.regions, regions),
    ] {
        if let Some(found) = found {
            ensure!(allowed.allows(found), "expects {allowed} {what}, but has {found}");
        }
    }
    Ok(())
}

/// Applies the operation's rules and compares inferred with declared result types.
pub(crate) fn check_results(op: &Op, cx: &OpContext<'_>) -> OpResult<()> {
    calls::check(op, cx)?;
    let Results::Inferred(inferred) = infer::rules(op, cx)? else {
        return Ok(());
    };
    ensure!(
        types_compatible(&inferred, cx.results),
        "inferred type(s) {} are incompatible with return type(s) of operation {}",
        quoted(&inferred),
        quoted(cx.results)
    );
    Ok(())
}

/// Terminators stand at the end of a block and nowhere else, each in the regions of its dialect.
fn check_place(operation: &Operation, parent: Option<&Operation>, is_last: bool) -> OpResult<()> {
    let foreign = parent.is_some_and(|parent| matches!(parent.op, Op::Foreign(_)));
    if !operation.op.is_terminator() {
        ensure!(!is_last || foreign, "ends a block, but is not a terminator");
        return Ok(());
    }
    ensure!(is_last, "must be the last operation of its block");
    match &operation.op {
        Op::Control(Control::FuncReturn) => {
            ensure!(parent.is_none(), "expects parent op 'func.func'");
        }
        Op::Sharding(Sharding::Return) => {
            ensure!(
                foreign || parent.is_some_and(|parent| matches!(parent.op, Op::Sharding(_))),
                "must end a region of a Shardy operation"
            );
        }
        Op::Control(Control::Return) => {
            let in_sharding = parent.is_some_and(|parent| matches!(parent.op, Op::Sharding(_)));
            ensure!(!in_sharding, "cannot end a region of a Shardy operation");
        }
        _ => ensure!(foreign, "cannot end a region of this operation"),
    }
    Ok(())
}

/// What `async_start` may hold.
const fn can_be_asynchronous(op: &Op) -> bool {
    matches!(
        op,
        Op::Collective(
            Collective::AllGather(_)
                | Collective::AllReduce(_)
                | Collective::AllToAll(_)
                | Collective::CollectiveBroadcast(_)
                | Collective::CollectivePermute(_)
                | Collective::CollectiveReduce(_)
                | Collective::ReduceScatter(_)
        ) | Op::Shape(Shape::DynamicSlice(_) | Shape::DynamicUpdateSlice | Shape::Slice(_))
    )
}

/// Whether the rules look at the values of operands: shapes, paddings, slice sizes.
const fn reads_constants(op: &Op) -> bool {
    use crate::op::{Contraction, Indexing};
    matches!(
        op,
        Op::Shape(
            Shape::DynamicBroadcastInDim(_)
                | Shape::DynamicPad
                | Shape::DynamicReshape
                | Shape::RealDynamicSlice
                | Shape::SetDimensionSize(_)
        ) | Op::Creation(Creation::DynamicIota(_) | Creation::Rng(_))
            | Op::Contraction(Contraction::DynamicConv(_))
            | Op::Indexing(Indexing::DynamicGather(_))
    )
}
