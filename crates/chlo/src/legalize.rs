//! From CHLO operations to composites, or to calls.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use artifact_ir::attribute::SymbolRef;
use artifact_ir::builder::BuildError;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Body, Function, FunctionId, Module, OpId, Visibility};
use artifact_ir::op::{Call, Chlo, Composite, Control, Op};
use artifact_ir::types::{ElementType, Type};
use artifact_ir::verify::OpError;

use crate::decompose::{Refusal, Scan, decompose, scan};
use crate::outline::{compact, live_ops, outline};
use crate::symbols::{self, Names};
use crate::{COMPOSITE_VERSION, attributes};

/// What stands in place of a CHLO operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Composites, with a copy of the region where the operation has one: VHLO from 1.14 on.
    CompositesWithRegions,
    /// Composites, and calls of the decomposition for an operation with a region: VHLO from 0.19 up to 1.13.
    Composites,
    /// Calls of the decomposition, or its one operation: any version. Nothing tells the operation afterwards.
    Calls,
}

impl Form {
    /// The form that says most in a version of VHLO.
    #[must_use]
    pub const fn for_vhlo(major: u32, minor: u32) -> Self {
        match (major, minor) {
            (0, ..=18) => Self::Calls,
            (0, _) | (1, ..=13) => Self::Composites,
            _ => Self::CompositesWithRegions,
        }
    }
}

/// A CHLO operation that has no form in StableHLO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalizeError {
    /// Name of the operation.
    pub op: &'static str,
    /// The function that it is in.
    pub function: Arc<str>,
    /// Where in the file.
    pub source: SourceOffset,
    /// Why.
    pub kind: LegalizeErrorKind,
}

/// Why a CHLO operation has no form in StableHLO.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LegalizeErrorKind {
    /// It is not defined for elements of this type.
    Element(ElementType),
    /// It has a form that is not decomposed: a lowercase fragment that reads after its name.
    Form(&'static str),
    /// It breaks a rule of its own.
    Rule(OpError),
    /// Its decomposition breaks a rule.
    Decomposition(BuildError),
}

impl fmt::Display for LegalizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' op in function @{} ", self.op, self.function)?;
        match &self.kind {
            LegalizeErrorKind::Element(element) => write!(
                f,
                "has no form in StableHLO for elements of type {element}; convert its operands first"
            ),
            LegalizeErrorKind::Form(reason) => write!(f, "has no form in StableHLO: it {reason}"),
            LegalizeErrorKind::Rule(_) => f.write_str("breaks a rule; verify the module first"),
            LegalizeErrorKind::Decomposition(_) => f.write_str("could not be decomposed"),
        }
    }
}

impl std::error::Error for LegalizeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            LegalizeErrorKind::Rule(error) => Some(error),
            LegalizeErrorKind::Decomposition(error) => Some(error),
            LegalizeErrorKind::Element(_) | LegalizeErrorKind::Form(_) => None,
        }
    }
}

impl From<Refusal> for LegalizeErrorKind {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Form(reason) => Self::Form(reason),
            Refusal::Element(element) => Self::Element(element),
            Refusal::Build(error) => Self::Decomposition(error),
            Refusal::Rule(error) => Self::Rule(error),
        }
    }
}

/// Replaces every CHLO operation of a verified module, those in regions included. Equal operations on equal types share one
/// private function, which is added at the end.
///
/// # Errors
/// [`LegalizeError`], for the first operation that has no decomposition; the module is then as it was.
pub fn legalize(module: &mut Module, form: Form) -> Result<(), LegalizeError> {
    let mut legalization = Legalization {
        names: Names::new(symbols::all(module)),
        module: module.clone(),
        form,
        known: HashMap::new(),
        pending: Vec::new(),
    };
    legalization.run()?;
    *module = legalization.module;
    Ok(())
}

/// What equal operations have in common, apart from their attributes.
#[derive(PartialEq, Eq, Hash)]
struct Signature {
    name: &'static str,
    operands: Vec<Type>,
    results: Vec<Type>,
}

/// What computes an operation.
#[derive(Clone)]
enum Replacement {
    /// A private function.
    Function(Arc<str>),
    /// One operation on the same operands.
    Operation(Box<Op>, Vec<usize>),
}

struct Legalization {
    module: Module,
    form: Form,
    names: Names,
    known: HashMap<Signature, Vec<(Chlo, Replacement)>>,
    /// Functions that were not looked through yet: those of the module, and bodies of scans.
    pending: Vec<FunctionId>,
}

impl Legalization {
    fn run(&mut self) -> Result<(), LegalizeError> {
        self.pending = self.module.functions.iter().map(|(id, _)| id).collect();
        self.pending.reverse();
        while let Some(id) = self.pending.pop() {
            self.function(id)?;
        }
        Ok(())
    }

    fn function(&mut self, id: FunctionId) -> Result<(), LegalizeError> {
        let Some(mut body) = self.module.functions[id].body.take() else {
            return Ok(());
        };
        let is_chlo = |op: &OpId| matches!(body.ops[*op].op, Op::Chlo(_));
        let found: Vec<OpId> = live_ops(&body).into_iter().filter(is_chlo).collect();
        let mut drops_regions = false;
        for op in found {
            let done = self.operation(&mut body, op);
            drops_regions |= done.map_err(|(name, kind)| LegalizeError {
                op: name,
                function: Arc::clone(&self.module.functions[id].name),
                source: body.ops[op].source,
                kind,
            })?;
        }
        if drops_regions && let Some(compacted) = compact(&body) {
            body = compacted;
        }
        self.module.functions[id].body = Some(body);
        Ok(())
    }

    /// Replaces one operation; whether it lost its regions.
    fn operation(&mut self, body: &mut Body, id: OpId) -> Result<bool, (&'static str, LegalizeErrorKind)> {
        let operation = &body.ops[id];
        let Op::Chlo(op) = operation.op.clone() else {
            return Ok(false);
        };
        let name = op.spec().name;
        let has_regions = !operation.regions.is_empty();
        let as_composite = match self.form {
            Form::CompositesWithRegions => true,
            Form::Composites => !has_regions,
            Form::Calls => false,
        };
        let replacement = self
            .replacement(&op, body, id, as_composite)
            .map_err(|kind| (name, kind))?;
        let operation = &mut body.ops[id];
        match replacement {
            Replacement::Operation(op, order) => {
                operation.operands = order.iter().map(|index| operation.operands[*index]).collect();
                operation.op = *op;
            }
            Replacement::Function(function) if as_composite => {
                operation.op = Op::from(Control::Composite(Box::new(Composite {
                    name: name.into(),
                    composite_attributes: attributes::encode(&op),
                    decomposition: SymbolRef::flat(function),
                    version: COMPOSITE_VERSION,
                })));
            }
            Replacement::Function(function) => {
                operation.op = Op::from(Control::Call(Call {
                    callee: SymbolRef::flat(function),
                }));
            }
        }
        if has_regions && !as_composite {
            operation.regions.clear();
        }
        Ok(has_regions && !as_composite)
    }

    /// What computes an operation: found among those of equal operations, or made.
    fn replacement(
        &mut self,
        op: &Chlo,
        body: &Body,
        id: OpId,
        as_composite: bool,
    ) -> Result<Replacement, LegalizeErrorKind> {
        let types = |values: &[artifact_ir::module::ValueId]| {
            values.iter().map(|value| body.ty(*value).clone()).collect()
        };
        let operation = &body.ops[id];
        let signature = Signature {
            name: op.spec().name,
            operands: types(&operation.operands),
            results: types(&operation.results),
        };
        if let Chlo::Scan(_) = op {
            return self.scan(op, body, id, &signature);
        }
        let known = self.known.get(&signature).into_iter().flatten();
        if let Some((_, replacement)) = known.into_iter().find(|(other, _)| other == op) {
            return Ok(replacement.clone());
        }
        let mut function = decompose(op, "", &signature.operands, &signature.results)?;
        let single = if as_composite {
            None
        } else {
            single_operation(&function)
        };
        let replacement = match single {
            Some(replacement) => replacement,
            None => {
                let name = self.names.unused(&format!("{}.impl", signature.name));
                function.name = Arc::clone(&name);
                self.add(function);
                Replacement::Function(name)
            }
        };
        let known = self.known.entry(signature).or_default();
        known.push((op.clone(), replacement.clone()));
        Ok(replacement)
    }

    /// Adds the body of a scan and its loop. Regions are not compared, so that each has functions of its own.
    fn scan(
        &mut self,
        op: &Chlo,
        body: &Body,
        id: OpId,
        signature: &Signature,
    ) -> Result<Replacement, LegalizeErrorKind> {
        let Chlo::Scan(attributes) = op else {
            return Err(LegalizeErrorKind::Form("is no scan"));
        };
        let step_name = self.names.unused(&format!("{}.body", signature.name));
        let region = body.ops[id].regions.first();
        let step = region.and_then(|region| outline(body, *region, &step_name));
        let step = step.ok_or(LegalizeErrorKind::Form("has no region that is a function"))?;
        let name = self.names.unused(&format!("{}.impl", signature.name));
        let description = Scan {
            op: attributes,
            operands: &signature.operands,
            results: &signature.results,
            body: &step,
        };
        let function = scan(&description, &name)?;
        self.add(function);
        let step = self.add(step);
        self.pending.push(step);
        Ok(Replacement::Function(name))
    }

    fn add(&mut self, mut function: Function) -> FunctionId {
        function.visibility = Visibility::Private;
        self.module.add_function(function)
    }
}

/// The only operation of a function that returns its results.
fn single_operation(function: &Function) -> Option<Replacement> {
    let body = function.body.as_ref()?;
    let block = body.entry_block()?;
    let [first, last] = body.blocks[block].ops.as_slice() else {
        return None;
    };
    let (operation, terminator) = (&body.ops[*first], &body.ops[*last]);
    if terminator.operands != operation.results || !operation.regions.is_empty() {
        return None;
    }
    let arguments = &body.blocks[block].arguments;
    let order = operation
        .operands
        .iter()
        .map(|operand| arguments.iter().position(|argument| argument == operand));
    let order = order.collect::<Option<Vec<_>>>()?;
    Some(Replacement::Operation(Box::new(operation.op.clone()), order))
}
