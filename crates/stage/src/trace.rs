//! The function that is being staged: its body so far, its dimensions, and the first mistake.

use std::collections::HashMap;
use std::panic::Location as SourcePlace;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_dims::{Algebra, Comparison, Constraint, Expr, Range, Scope, Variable};
use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::inference::{OpContext, RegionTypes, Results, infer};
use artifact_ir::literal::Literal;
use artifact_ir::location::{Location, LocationId, Locations};
use artifact_ir::module::{
    BlockId, Body, Definition, NewOperation, OpId, Parameter, Value, ValueId, ValueList,
};
use artifact_ir::op::{
    Binary, Compare, Concatenate, Constant, Control, Creation, DimensionSize, Elementwise, Op, Shape, Unary,
};
use artifact_ir::types::{Dim, ElementType, TensorType, Type};

use crate::error::StageError;

/// Where a call stands in the user's source.
pub(crate) type Place = &'static SourcePlace<'static>;

/// An argument, as it was declared.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) shape: Vec<Expr>,
    pub(crate) dtype: ElementType,
    pub(crate) value: ValueId,
}

/// Everything that tensors of one function share.
pub(crate) struct Trace {
    pub(crate) body: Body,
    /// The block that operations are added to, and those around it, innermost last; each with the sizes computed in it.
    blocks: Vec<(BlockId, HashMap<Expr, ValueId>)>,
    pub(crate) arguments: Vec<Declared>,
    pub(crate) locations: Locations,
    pub(crate) constraints: Vec<Constraint>,
    scope: Scope,
    error: Option<StageError>,
}

impl Trace {
    pub(crate) fn new() -> Self {
        let mut body = Body::new();
        let entry = body.add_block(body.root);
        Self {
            body,
            blocks: vec![(entry, HashMap::new())],
            arguments: Vec::new(),
            locations: Locations::default(),
            constraints: Vec::new(),
            scope: Scope::default(),
            error: None,
        }
    }

    /// Keeps the first mistake; what comes after it may only follow from it.
    pub(crate) fn fail(&mut self, message: impl Into<String>, place: Place) {
        if self.error.is_none() {
            self.error = Some(StageError::new(message, place));
        }
    }

    pub(crate) fn error(&self) -> Option<StageError> {
        self.error.clone()
    }

    pub(crate) const fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    pub(crate) const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Adds a constraint, after which all must still be satisfiable.
    pub(crate) fn constrain(&mut self, constraints: Vec<Constraint>) -> Result<(), String> {
        let mut all = self.constraints.clone();
        all.extend(constraints);
        let mut builder = Scope::builder();
        for argument in &self.arguments {
            for variable in argument.shape.iter().flat_map(Expr::variables) {
                builder = builder.range(variable, Range::default());
            }
        }
        for constraint in &all {
            builder = builder.constraint(constraint.clone());
        }
        self.scope = builder.build().map_err(|error| error.to_string())?;
        self.constraints = all;
        Ok(())
    }

    pub(crate) fn declare(&mut self, name: &str, dtype: ElementType, shape: Vec<Expr>) -> ValueId {
        let entry = self.blocks[0].0;
        let location = self.locations.intern(Location::Name {
            name: name.into(),
            child: LocationId::UNKNOWN,
        });
        let value = self.body.add_argument(entry, type_of(&shape, dtype), location);
        self.arguments.push(Declared {
            name: name.to_owned(),
            shape,
            dtype,
            value,
        });
        value
    }

    /// The arguments as parameters of the function.
    pub(crate) fn parameters(&mut self) -> Vec<Parameter> {
        let declared = self.arguments.clone();
        let parameter = |declared: Declared| Parameter {
            location: self.locations.intern(Location::Name {
                name: declared.name.as_str().into(),
                child: LocationId::UNKNOWN,
            }),
            ..Parameter::new(type_of(&declared.shape, declared.dtype))
        };
        declared.into_iter().map(parameter).collect()
    }

    fn block(&self) -> BlockId {
        // The entry is never left.
        self.blocks[self.blocks.len() - 1].0
    }

    /// Adds an operation without regions and with one result of a type.
    pub(crate) fn emit(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        result: Type,
    ) -> Result<ValueId, String> {
        let values = self.emit_all(op.into(), operands, vec![result])?;
        Ok(values[0])
    }

    /// Adds an operation without regions.
    pub(crate) fn emit_all(
        &mut self,
        op: Op,
        operands: &[ValueId],
        results: Vec<Type>,
    ) -> Result<Vec<ValueId>, String> {
        self.check(&op, operands, &results, &[])?;
        let id = self
            .body
            .add_op(self.block(), NewOperation::new(op, operands.to_vec()), results);
        Ok(self.body.ops[id].results.to_vec())
    }

    fn check(
        &self,
        op: &Op,
        operands: &[ValueId],
        results: &[Type],
        regions: &[RegionTypes],
    ) -> Result<(), String> {
        let of_another = || "a tensor of another function is used".to_owned();
        let types = operands
            .iter()
            .map(|value| self.body.values.get(*value).map(|value| &value.ty));
        let types: Vec<&Type> = types.collect::<Option<_>>().ok_or_else(of_another)?;
        let context = OpContext {
            operands: &types,
            constants: &[],
            results: &results.iter().collect::<Vec<_>>(),
            regions,
            module: None,
        };
        let name = op.name();
        match infer(op, &context).map_err(|error| format!("'{name}' op {error}"))? {
            Results::Inferred(inferred) => {
                let fits = inferred.len() == results.len()
                    && inferred
                        .iter()
                        .zip(results)
                        .all(|(inferred, result)| compatible(inferred, result));
                if fits {
                    Ok(())
                } else {
                    let list =
                        |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
                    Err(format!(
                        "'{name}' gives {} and not {}",
                        list(&inferred),
                        list(results)
                    ))
                }
            }
            Results::Declared => Ok(()),
        }
    }

    /// Begins an operation with regions; its results come when these are staged.
    pub(crate) fn begin(&mut self, op: Op, operands: &[ValueId]) -> OpId {
        self.body
            .add_op(self.block(), NewOperation::new(op, operands.to_vec()), Vec::new())
    }

    /// Enters a new region of an operation, whose block has arguments of these types.
    pub(crate) fn enter(&mut self, op: OpId, arguments: &[Type]) -> Vec<ValueId> {
        let region = self.body.add_region(op);
        let block = self.body.add_block(region);
        let values = arguments
            .iter()
            .map(|ty| self.body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
            .collect();
        self.blocks.push((block, HashMap::new()));
        values
    }

    /// Ends the region that was entered last.
    pub(crate) fn leave(&mut self, returns: &[ValueId]) {
        let ret = NewOperation::new(Control::Return, returns.to_vec());
        self.body.add_op(self.block(), ret, Vec::new());
        if self.blocks.len() > 1 {
            self.blocks.pop();
        }
    }

    /// Ends an operation with regions, which then has results of these types.
    pub(crate) fn end(&mut self, op: OpId, results: &[Type]) -> Result<Vec<ValueId>, String> {
        let signature = |region: &artifact_ir::module::RegionId| {
            let block = self
                .body
                .single_block(*region)
                .map(|block| &self.body.blocks[block]);
            let types =
                |values: &[ValueId]| values.iter().map(|value| self.body.ty(*value).clone()).collect();
            let returns = block
                .and_then(|block| block.ops.last())
                .map(|op| self.body.ops[*op].operands.as_slice());
            RegionTypes {
                arguments: types(block.map(|block| block.arguments.as_slice()).unwrap_or_default()),
                returns: types(returns.unwrap_or_default()),
            }
        };
        let operation = &self.body.ops[op];
        let regions: Vec<RegionTypes> = operation.regions.iter().map(signature).collect();
        self.check(&operation.op, &operation.operands, results, &regions)?;
        let values = results.iter().enumerate().map(|(index, ty)| {
            let definition = Definition::Result {
                op,
                index: index as u32,
            };
            self.body.values.push(Value {
                ty: ty.clone(),
                definition,
            })
        });
        let values: ValueList = values.collect();
        self.body.ops[op].results.clone_from(&values);
        Ok(values.into_vec())
    }

    /// A constant of which every element is the same.
    pub(crate) fn splat(&mut self, value: f64, dtype: ElementType, shape: &[u64]) -> Result<ValueId, String> {
        let ty = Arc::new(TensorType::of_static(shape, dtype));
        let literal =
            Literal::splat(Arc::clone(&ty), &encoded(value, dtype)?).map_err(|error| error.to_string())?;
        self.constant(literal)
    }

    pub(crate) fn constant(&mut self, value: Literal) -> Result<ValueId, String> {
        let ty = Type::Tensor(Arc::clone(value.ty()));
        self.emit(Creation::Constant(Constant { value }), &[], ty)
    }

    /// A scalar that holds a size.
    pub(crate) fn size(&mut self, size: &Expr) -> Result<ValueId, String> {
        let known = self
            .blocks
            .iter()
            .rev()
            .find_map(|(_, sizes)| sizes.get(size).copied());
        if let Some(known) = known {
            return Ok(known);
        }
        let value = size.compute(&mut Sizes { trace: self })?;
        let last = self.blocks.len() - 1;
        self.blocks[last].1.insert(size.clone(), value);
        Ok(value)
    }

    /// A vector of sizes: the operand of operations whose result's shape is not static.
    pub(crate) fn shape_operand(&mut self, shape: &[Expr]) -> Result<ValueId, String> {
        let one = Type::tensor(&[1], ElementType::I32);
        let numbers: Option<Vec<i32>> = shape
            .iter()
            .map(|size| i32::try_from(size.as_constant()?).ok())
            .collect();
        if let Some(numbers) = numbers {
            let ty = TensorType::of_static(&[numbers.len() as u64], ElementType::I32);
            let bytes = numbers
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect::<Vec<u8>>();
            let literal = Literal::dense(ty.into(), Blob::new(bytes)).map_err(|error| error.to_string())?;
            return self.constant(literal);
        }
        let mut parts = Vec::new();
        for size in shape {
            let value = self.size(size)?;
            parts.push(self.emit(Shape::Reshape, &[value], one.clone())?);
        }
        let ty = Type::tensor(&[shape.len() as u64], ElementType::I32);
        self.emit(Shape::Concatenate(Concatenate { dimension: 0 }), &parts, ty)
    }
}

/// The type of a tensor in the program: StableHLO has numbers and `?`.
pub(crate) fn type_of(shape: &[Expr], dtype: ElementType) -> Type {
    let dim = |size: &Expr| match Dim::from(size.clone()) {
        Dim::Static(size) => Dim::Static(size),
        Dim::Symbolic(_) | Dim::Unknown => Dim::Unknown,
    };
    TensorType::new(shape.iter().map(dim).collect::<Box<[Dim]>>(), dtype).into()
}

fn compatible(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Tensor(a), Type::Tensor(b)) => {
            a.element == b.element
                && a.rank() == b.rank()
                && a.dims.iter().zip(&b.dims).all(|(a, b)| a.compatible(b))
        }
        _ => a == b,
    }
}

/// The bytes of a number in a type.
pub(crate) fn encoded(value: f64, dtype: ElementType) -> Result<Vec<u8>, String> {
    let refuse = || format!("{value} is no number of type {dtype}");
    if dtype.is_boolean() {
        return Ok(vec![u8::from(value != 0.0)]);
    }
    if dtype.is_integer() {
        let whole = value as i128;
        let bits = dtype.bits();
        let (min, max) = if dtype.is_signed_integer() {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        if whole as f64 != value || whole < min || whole > max {
            return Err(refuse());
        }
        return Ok(whole.to_le_bytes()[..dtype.bytes()].to_vec());
    }
    let bits = match dtype {
        ElementType::F64 => value.to_bits(),
        ElementType::F32 => u64::from((value as f32).to_bits()),
        other => artifact_ir::float::encode(other, value).ok_or_else(refuse)?,
    };
    Ok(bits.to_le_bytes()[..dtype.bytes()].to_vec())
}

/// Computes sizes as i32 scalars, in operations of the program.
struct Sizes<'a> {
    trace: &'a mut Trace,
}

impl Sizes<'_> {
    fn scalar() -> Type {
        Type::tensor(&[], ElementType::I32)
    }

    fn binary(&mut self, op: Binary, left: ValueId, right: ValueId) -> Result<ValueId, String> {
        self.trace.emit(op, &[left, right], Self::scalar())
    }

    fn differs(&mut self, left: ValueId, right: ValueId) -> Result<ValueId, String> {
        let compare = Compare {
            comparison_direction: ComparisonDirection::Ne,
            compare_type: Some(ComparisonType::Signed),
        };
        self.trace.emit(
            Elementwise::Compare(compare),
            &[left, right],
            Type::tensor(&[], ElementType::I1),
        )
    }
}

impl Algebra for Sizes<'_> {
    type Value = ValueId;
    type Error = String;

    fn constant(&mut self, value: i64) -> Result<ValueId, String> {
        self.trace.splat(value as f64, ElementType::I32, &[])
    }

    fn variable(&mut self, variable: &Variable) -> Result<ValueId, String> {
        let (argument, dimension, scale, offset) = self.trace.definition(variable)?;
        let op = Shape::GetDimensionSize(DimensionSize { dimension });
        let mut value = self.trace.emit(op, &[argument], Self::scalar())?;
        if offset != 0 {
            let offset = self.constant(-offset)?;
            value = self.add(value, offset)?;
        }
        if scale != 1 {
            let scale = self.constant(scale)?;
            value = self.binary(Binary::Divide, value, scale)?;
        }
        Ok(value)
    }

    fn add(&mut self, left: ValueId, right: ValueId) -> Result<ValueId, String> {
        self.binary(Binary::Add, left, right)
    }

    fn multiply(&mut self, left: ValueId, right: ValueId) -> Result<ValueId, String> {
        self.binary(Binary::Multiply, left, right)
    }

    /// `divide` rounds towards zero, which is another number where the signs differ and something remains.
    fn floordiv(&mut self, left: (&Expr, ValueId), right: (&Expr, ValueId)) -> Result<ValueId, String> {
        let zero = Expr::constant(0);
        let scope = self.trace.scope();
        let whole = scope.ge(left.0, &zero).is_yes() && scope.gt(right.0, &zero).is_yes();
        let quotient = self.binary(Binary::Divide, left.1, right.1)?;
        if whole {
            return Ok(quotient);
        }
        let [sign, other] =
            [left.1, right.1].map(|value| self.trace.emit(Unary::Sign, &[value], Self::scalar()));
        let signs_differ = self.differs(sign?, other?)?;
        let remainder = self.binary(Binary::Remainder, left.1, right.1)?;
        let zero = self.constant(0)?;
        let inexact = self.differs(remainder, zero)?;
        let down = self.trace.emit(
            Binary::And,
            &[signs_differ, inexact],
            Type::tensor(&[], ElementType::I1),
        )?;
        let one = self.constant(1)?;
        let less = self.binary(Binary::Subtract, quotient, one)?;
        self.trace
            .emit(Elementwise::Select, &[down, less, quotient], Self::scalar())
    }

    fn maximum(&mut self, left: ValueId, right: ValueId) -> Result<ValueId, String> {
        self.binary(Binary::Maximum, left, right)
    }
}

impl Trace {
    /// The argument and dimension that tell a variable: the size is `scale * variable + offset`.
    fn definition(&self, variable: &Variable) -> Result<(ValueId, i64, i64, i64), String> {
        let at = |size: &Expr, value: i64| {
            let values = [(variable.clone(), Expr::constant(value))].into();
            size.substitute(&values).ok()?.as_constant()
        };
        let mut found: Option<(ValueId, i64, i64, i64)> = None;
        for argument in &self.arguments {
            for (dimension, size) in argument.shape.iter().enumerate() {
                if size.variables().len() != 1 {
                    continue;
                }
                let Some(((zero, one), two)) = at(size, 0).zip(at(size, 1)).zip(at(size, 2)) else {
                    continue;
                };
                let (scale, offset) = (one - zero, zero);
                let linear = Expr::variable(variable.clone())
                    .mul(&Expr::constant(scale))
                    .and_then(|product| product.add(&Expr::constant(offset)));
                if scale > 0 && two - one == scale && linear.as_ref() == Ok(size) {
                    let candidate = (argument.value, dimension as i64, scale, offset);
                    // A dimension that is the variable itself needs no arithmetic.
                    if (scale, offset) == (1, 0) {
                        return Ok(candidate);
                    }
                    found = found.or(Some(candidate));
                }
            }
        }
        found.ok_or_else(|| {
            format!("no argument tells the size '{variable}': give one a dimension of '{variable}', or of a multiple of it")
        })
    }

    /// Whether two sizes are equal for all sizes within the constraints.
    pub(crate) fn equal(&self, left: &Expr, right: &Expr) -> artifact_dims::Decision {
        self.scope
            .decide(&Constraint::new(left.clone(), Comparison::Eq, right.clone()))
    }
}
